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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.mechanisms.products import Condition, Product, attribute_prior, paper_condition, safe_condition
from discreet.notions.srlip import SRLIP
from discreet.solvers import enumeration
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import Ending, solve
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.two_secrets.pair_generation import generate_pairs

STEPS_EACH = 4
"""Budgets are shared out in steps of ε / (4 m): fine enough to begin with, few enough to solve them all."""
LARGEST_SCALE = 1e3
"""Shares that are private even at a thousand times ε bind nothing."""
SCALE_TOLERANCE = 1e-7
"""Budgets to seven digits: the level follows them one to one, and what is left of ε is worth nothing."""
MOVES = (1.4, 1.15, 1.05, 1.01)
"""Factors by which single budgets are raised and lowered, coarse ones first."""
GROWTH = 1e-6
"""Another round of moves has to gain this share."""
FIRST_SHARE, FIRST_SECONDS = 0.4, 5.0
"""The part of the time for a product that another search begins with, and seconds where nobody gave a limit."""
PRODUCTS = "products are for SRLIP on X"


@dataclass(frozen=True, eq=False)
class BudgetedProduct:
    """A product, its budgets, its proven SRLIP level and its I(X;Y)."""

    product: Product
    budgets: Floats
    level: float
    value: float


def refuses_product(problem: Problem) -> str | None:
    joint, notion = problem.asked
    return None if isinstance(notion, SRLIP) and not joint.reads_secret else PRODUCTS


def safe_product(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The best product under the safe condition whose proven bound on the SRLIP level is at most ε."""
    joint, _ = problem.asked
    return _written_out(problem, effort, safe_condition, lambda product: product.safe_level(joint))


def audited_product(problem: Problem, effort: Effort, condition: Condition = paper_condition) -> Iterator[Solution]:
    """The best product under a condition on each attribute whose exact SRLIP level is at most ε."""
    joint, _ = problem.asked
    return _written_out(problem, effort, condition, lambda product: product.level(joint))


def product_first(problem: Problem, effort: Effort, known_bound: float = np.inf) -> Iterator[Solution]:
    """Column generation; where there are too many side channels to list them, after a product, which is soon there."""
    if refuses_product(problem) is None and not problem.cone.complete:
        part = effort.share(FIRST_SHARE).unless_told(FIRST_SECONDS).quiet()
        yield from (replace(one, status=Status.BEGUN) for one in safe_product(problem, part))
    yield from generate_columns(problem, effort, known_bound)


def _written_out(
    problem: Problem, effort: Effort, condition: Condition, level: Callable[[Product], float]
) -> Iterator[Solution]:
    """One solution, at the end: the matrix of a product is large. No bound: other mechanisms need not be products."""
    if refused := refuses_product(problem):
        raise ParameterError(refused, where="product", remedy="Use dc.SRLIP(epsilon).")
    joint, notion = problem.asked
    found, status = search_budgets(joint, notion.epsilon, condition, level, effort)
    yield Solution.of_channel(problem, found.product.channel(joint), status=status)


def search_budgets(
    joint: Joint, epsilon: float, condition: Condition, level: Callable[[Product], float], effort: Effort
) -> tuple[BudgetedProduct, Status]:
    """The product with the largest I(X;Y) among those tried, and how the search ended."""
    search = _BudgetSearch(_Attributes(joint, condition, effort), epsilon, level, effort)
    with (ending := Ending()):
        late = search.run()
    return search.best, ending.status or (Status.TIME_LIMIT if late else Status.SEARCHED)


class _BudgetSearch:
    """The budgets with the largest I(X;Y) among those tried whose product has level ε at most."""

    def __init__(
        self, attributes: _Attributes, epsilon: float, level: Callable[[Product], float], effort: Effort
    ) -> None:
        self._attributes, self._epsilon, self._level, self._effort = attributes, epsilon, level, effort
        self._size = len(attributes.joint.shape)
        nothing = np.zeros(self._size)
        self.best = BudgetedProduct(attributes.product(nothing), nothing, 0.0, 0.0)

    def run(self) -> bool:
        """Whether it ended because time was up."""
        try:
            self._scale(np.full(self._size, 1 / self._size))
            self._scale(self._attributes.best_shares(self._epsilon))
            for factor in MOVES:
                while self._move(factor):
                    pass
        except _OutOfTime:
            return True
        return False

    def _try(self, budgets: Floats) -> float:
        """The level of these budgets; they are kept if it is permitted and nothing better was."""
        product = self._attributes.product(budgets)
        level = self._level(product)
        if level <= self._epsilon:
            self._keep(product, budgets, level)
        return level

    def _keep(self, product: Product, budgets: Floats, level: float) -> None:
        value = product.mutual_information(self._attributes.joint)
        if value > self.best.value:
            self.best = BudgetedProduct(product, budgets, level, value)
            self._effort.tell(value, np.inf)

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
        before = self.best.value
        for j in range(self._size):
            for i in range(self._size):
                budgets = self.best.budgets.copy()
                budgets[j] = max(budgets[j], self._epsilon * (factor - 1) / self._size) * factor
                if i != j:
                    budgets[i] /= factor
                product = self._attributes.product(budgets)
                if product.mutual_information(self._attributes.joint) > self.best.value:
                    self._try(budgets)
        return self.best.value > before * (1 + GROWTH)


class _OutOfTime(Exception):
    """Inside this file only: the search ends with what it has."""


class _Attributes:
    """The best mechanism of every attribute for every budget asked for, each found once."""

    def __init__(self, joint: Joint, condition: Condition, effort: Effort) -> None:
        if joint.reads_secret:
            raise ParameterError(
                "a product for a mechanism that reads the secret", where="product", remedy="Release X alone."
            )
        self.joint, self._effort = joint, effort.quiet()
        self._cones = [condition(joint, j) for j in range(len(joint.shape))]
        self._known: dict[tuple[int, float], tuple[Channel, float]] = {}

    def best(self, j: int, budget: float) -> tuple[Channel, float]:
        """Q^j and I(X^j; Y^j)"""
        if (j, budget) not in self._known:
            self._known[j, budget] = self._solved(j, budget)
        return self._known[j, budget]

    def product(self, budgets: Floats) -> Product:
        if self._effort.late() and budgets.any():
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
        prior = attribute_prior(self.joint, j)
        problem = Problem.of_rows(prior, self._cones[j](budget)).reduced()
        if 2 < len(prior) == len(problem.prior) <= enumeration.MOST_LETTERS:
            rows, weights = enumeration.best_rows(problem)
            found = Solution(problem, rows, weights, float(weights @ problem.values(rows)))
        else:
            found = solve(generate_pairs if len(problem.prior) <= 2 else generate_columns, problem, self._effort)
        return Channel(found.matrix, attribute.letters), found.value
