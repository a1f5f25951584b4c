"""SRLIP attribute by attribute: the best product mechanism under a condition on each factor, and the best budgets.

Each attribute has a splitting problem of its own over its few letters, solved to optimality for I(X^j; Y^j). The
budgets ε_j are found from the *level of the product*, never from their sum: shares of a total (equal ones, and those
with the largest Σ_j I(X^j; Y^j)) are scaled until the level is ε, then single budgets are moved as long as I(X;Y)
grows.

`audited_product` uses the exact level. With the papers' condition this is the only use that can be made of it (theory
3.1). `safe_product` uses the safe condition and the bound it proves, which grows with the sum of the attributes'
sizes and not with their product.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.mechanisms.attribute import Condition, attribute_prior, paper_condition, safe_condition
from discreet.mechanisms.product import Product
from discreet.notions.cone import Floats
from discreet.solvers import binary, columns, corners
from discreet.solvers.alone import Progress
from discreet.solvers.problem import Split, Splitting

STEPS_EACH = 4
LARGEST_SCALE = 1e3
SCALE_TOLERANCE = 1e-7
MOVES = (1.4, 1.15, 1.05, 1.01)


@dataclass(frozen=True, eq=False)
class Found:
    """A product, its budgets, its proven SRLIP level and its I(X;Y). No bound: other mechanisms need not be products.

    `status` is "searched", or why the search ended before that: "time limit", "interrupted".
    """

    product: Product
    budgets: Floats
    level: float
    value: float
    status: str


def safe_product(
    joint: Joint,
    epsilon: float,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Found:
    """The best product under the safe condition whose proven bound on the SRLIP level is at most ε."""
    attributes = _Attributes(joint, safe_condition, gap, time_limit)
    return _Search(attributes, epsilon, lambda product: product.safe_level(joint), progress).run()


def audited_product(
    joint: Joint,
    epsilon: float,
    condition: Condition = paper_condition,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Found:
    """The best product under a condition on each attribute whose exact SRLIP level is at most ε."""
    attributes = _Attributes(joint, condition, gap, time_limit)
    return _Search(attributes, epsilon, lambda product: product.level(joint), progress).run()


class _Search:
    """The budgets with the largest I(X;Y) among those tried whose product has level ε at most."""

    def __init__(
        self, attributes: _Attributes, epsilon: float, level: Callable[[Product], float], progress: Progress | None
    ) -> None:
        self._attributes, self._epsilon, self._level, self._progress = attributes, epsilon, level, progress
        self._size = len(attributes.joint.shape)
        self._best = Found(attributes.product(np.zeros(self._size)), np.zeros(self._size), 0.0, 0.0, "searched")

    def run(self) -> Found:
        try:
            self._scale(np.full(self._size, 1 / self._size))
            self._scale(self._attributes.best_shares(self._epsilon))
            for factor in MOVES:
                while self._move(factor):
                    pass
        except _OutOfTime:
            return replace(self._best, status="time limit")
        except KeyboardInterrupt:
            return replace(self._best, status="interrupted")
        return self._best

    def _try(self, budgets: Floats) -> float:
        """The level of these budgets; they are kept if it is permitted and nothing better was."""
        product = self._attributes.product(budgets)
        level = self._level(product)
        if level <= self._epsilon:
            self._keep(product, budgets, level)
        return level

    def _keep(self, product: Product, budgets: Floats, level: float) -> None:
        value = product.mutual_information(self._attributes.joint)
        if value > self._best.value:
            self._best = Found(product, budgets, level, value, "searched")
            if self._progress is not None:
                self._progress(value, np.inf, time.monotonic() - self._attributes.started)

    def _scale(self, shares: Floats) -> None:
        """Scale the shares until the level is ε. It may jump; then the largest scale found below the jump stays."""

        def excess(scale: float) -> float:
            return min(self._try(scale * self._epsilon * shares), 2 * self._epsilon) - self._epsilon

        low, high = 0.0, 1.0
        while high < LARGEST_SCALE and excess(high) <= 0:
            low, high = high, 2 * high
        if high < LARGEST_SCALE:
            brentq(excess, low, high, xtol=SCALE_TOLERANCE)

    def _move(self, factor: float) -> bool:
        """Raise one budget, alone or at the cost of another one: whether that helped."""
        before = self._best.value
        for j in range(self._size):
            for i in range(self._size):
                budgets = self._best.budgets.copy()
                budgets[j] = max(budgets[j], self._epsilon * (factor - 1) / self._size) * factor
                if i != j:
                    budgets[i] /= factor
                product = self._attributes.product(budgets)
                if product.mutual_information(self._attributes.joint) > self._best.value:
                    self._try(budgets)
        return self._best.value > before * (1 + 1e-6)


class _OutOfTime(Exception):
    """Inside this file only: the search ends with what it has."""


class _Attributes:
    """The best mechanism of every attribute for every budget asked for, each found once."""

    def __init__(self, joint: Joint, condition: Condition, gap: float, time_limit: float | None) -> None:
        if joint.reads_secret:
            raise ParameterError(
                "a product for a mechanism that reads the secret", where="product", remedy="Release X alone."
            )
        self.joint, self.started = joint, time.monotonic()
        self._cones = [condition(joint, j) for j in range(len(joint.shape))]
        self._gap = gap
        self._deadline = np.inf if time_limit is None else self.started + time_limit
        self._known: dict[tuple[int, float], tuple[Channel, float]] = {}

    def best(self, j: int, budget: float) -> tuple[Channel, float]:
        """Q^j and I(X^j; Y^j)"""
        if (j, budget) not in self._known:
            self._known[j, budget] = self._solved(j, budget)
        return self._known[j, budget]

    def product(self, budgets: Floats) -> Product:
        if time.monotonic() > self._deadline and budgets.any():
            raise _OutOfTime
        return Product(tuple(self.best(j, float(budget))[0] for j, budget in enumerate(budgets)))

    def best_shares(self, epsilon: float) -> Floats:
        """Shares of ε in steps of 1/(4m) with the largest Σ_j I(X^j; Y^j): dynamic programming over attributes."""
        m = len(self.joint.shape)
        steps = STEPS_EACH * m
        reach = np.full(steps + 1, -np.inf)
        reach[0] = 0.0
        choices = []
        for j in range(m):
            worth = np.array([self.best(j, epsilon * k / steps)[1] for k in range(steps + 1)])
            totals = np.array(
                [[reach[n - k] + worth[k] if k <= n else -np.inf for k in range(steps + 1)] for n in range(steps + 1)]
            )
            choices.append(totals.argmax(axis=1))
            reach = totals.max(axis=1)
        shares, left = np.zeros(m), steps
        for j in reversed(range(m)):
            shares[j] = choices[j][left] / steps
            left -= int(choices[j][left])
        return shares

    def _solved(self, j: int, budget: float) -> tuple[Channel, float]:
        attribute = self.joint.releases[j]
        if budget <= 0:
            return Channel(np.ones((1, len(attribute))), attribute.letters), 0.0
        left = max(self._deadline - time.monotonic(), 0.0)
        prior = attribute_prior(self.joint, j)
        problem = Splitting(prior, np.arange(len(prior)), self._cones[j](budget)).reduced()
        if 2 < len(prior) == len(problem.prior) <= corners.MOST_LETTERS:
            rows, weights = corners.best_rows(problem)
        else:
            solve = binary.solve if len(problem.prior) <= 2 else columns.solve
            split = solve(problem, gap=self._gap, time_limit=None if np.isinf(left) else left)
            rows, weights = split.rows, split.weights
        split = Split(rows, weights, float(weights @ problem.values(rows)), np.inf, "searched")
        return Channel(split.channel_matrix(problem), attribute.letters), split.value
