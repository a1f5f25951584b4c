"""The best mechanism on one attribute that is itself the secret, where 2^c subsets cannot be listed (theory 1.6).

What a notion permits on S alone is a `RowFamily`: `Staircases` for LDP, `LipRows` for LIP. It can relax a node of the
search to something solved by one sort, which bounds the gain μ(v) − α·v of all its rows, and it can split the node
where the relaxation is not exact. Best-first search over such nodes is exact pricing; the rest is column generation as
for any other problem (theory 1.3).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.tolerances import BOUND_ROUNDING

FREE, OUT, IN = -1, 0, 1  # of a secret in a node: not decided, without, with
Subset = NDArray[np.int8]
Node = TypeVar("Node")

EXACT = 1e-14
"""A relaxation is attained when its bound is this close to its row: rounding of terms of order one."""
CLOSED = 1e-12
"""Nodes that promise no more than this above the best are left: far below any gap, far above rounding."""
STABLE = 0.5
"""How much of the best prices so far is mixed into the next ones: plain prices swing, and their bounds with them."""
USEFUL = 0.01
"""Rows that gain less than this share of the gap cannot close it."""


@dataclass(frozen=True, eq=False)
class Relaxed(Generic[Node]):
    """What is known of a node: a bound on the gain of its rows, the best gain of the permitted `rows` met on the way,
    and how to split the node, None if the bound is attained.

    Gains may be in units of the family's own, as long as the gain μ(v) − α·v of a normalised row is never above them
    where they are positive.
    """

    bound: float
    best: float
    rows: Floats
    split: Callable[[], tuple[Node, Node]] | None


class RowFamily(Protocol[Node]):
    """The permitted rows v on one attribute of prior p > 0, normalised to p·v = 1."""

    @property
    def prior(self) -> Floats: ...

    def starts(self) -> Floats:
        """Some permitted rows."""
        ...

    def root(self) -> Node:
        """All permitted rows."""
        ...

    def relax(self, node: Node, prices: Floats) -> Relaxed[Node]: ...


def report_secret(problem: Problem, effort: Effort, family: RowFamily[Node]) -> Iterator[Solution]:
    """Better and better splits of the prior into rows of the family."""
    known = _KnownRows(problem, np.vstack([np.ones((1, len(family.prior))), family.starts()]), effort.deadline)
    best, alpha = known.best()
    bound, centre, trust, gap = np.inf, alpha, 0.0, effort.gap
    while True:
        prices = trust * centre + (1 - trust) * alpha
        total = float(prices.sum())
        rows, dearest = _priced(family, prices, max(0.0, best.value + gap / 2 - total), effort.late)
        reached = total + dearest + BOUND_ROUNDING * (1 + float(np.abs(prices).sum()))
        if reached < bound:
            bound, centre = reached, prices
        useful = rows[problem.values(rows) - rows @ alpha > USEFUL * gap]
        stalled = not len(useful) and trust == 0 and bound - best.value > gap and not effort.late()
        status = Status.STALLED if stalled else Status.SEARCHING
        yield Solution(problem, best.rows, best.weights, best.value, max(bound, best.value), status)
        if stalled:
            return
        if len(useful):
            known.add(useful)
            best, alpha = known.best()
        trust = STABLE if len(useful) else 0.0


class _KnownRows:
    """The rows known so far and their best split."""

    def __init__(self, problem: Problem, rows: Floats, deadline: float) -> None:
        n = len(problem.prior)
        self._problem, self._rows = problem, np.zeros((0, n))
        self._master = RestrictedMaster(np.ones(n), deadline)
        self.add(rows)

    def add(self, rows: Floats) -> None:
        self._master.add(rows, self._problem.values(rows))
        self._rows = np.vstack([self._rows, rows])

    def best(self) -> tuple[Solution, Floats]:
        """The best split into known rows, refined beyond the LP's tolerance, and the prices of the letters."""
        weighing = self._master.weigh()
        used = weighing.used()
        rows, weights = self._rows[used], weighing.weights[used]
        weights = np.maximum(weights + np.linalg.lstsq(rows.T, 1 - weights @ rows, rcond=None)[0], 0.0)
        value = float(weights @ self._problem.values(rows))
        return Solution(self._problem, rows, weights, value), weighing.prices


def _priced(family: RowFamily[Node], prices: Floats, floor: float, late: Callable[[], bool]) -> tuple[Floats, float]:
    """Rows met in a best-first search, and a proven bound on μ(v) − prices·v, exact above `floor` ≥ 0."""
    order = count()
    best = floor
    met: list[Floats] = []
    heap: list[tuple[float, int, Callable[[], tuple[Node, Node]]]] = []
    waiting: tuple[Node, ...] = (family.root(),)
    while True:
        for node in waiting:
            relaxed = family.relax(node, prices)
            if relaxed.best > best or not met:
                best = max(best, relaxed.best)
                met.append(relaxed.rows)
            if relaxed.split is not None:
                heapq.heappush(heap, (-relaxed.bound, next(order), relaxed.split))
        if not heap or -heap[0][0] <= best + CLOSED or late():
            break
        waiting = heapq.heappop(heap)[2]()
    return np.vstack(met), max(best + CLOSED, -heap[0][0] if heap else floor)


# ---- the two families -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Staircases:
    """The permitted rows of ε-LDP on an attribute of prior p. A node says of every letter: in T, out of T, or free.

    Every extreme row of ε-LDP on S alone is a staircase: e^ε on a subset T, 1 outside (Kairouz, Oh, Viswanath 2014).
    With e = e^ε, unnormalised rows r_T = 1 + (e − 1) 1_T and m = P(T) the problem is a linear program over subsets,

        maximise Σ_T θ_T G(P(T))  subject to  Σ_T θ_T r_T = 1,  θ ≥ 0,    G(m) = e ε m − (1 + (e−1) m) ln(1 + (e−1) m).

    For prices α a subset gains G(P(T)) − (e−1) α(T) − Σ_s α_s. G is concave, so this is a knapsack with a concave
    reward. If secrets may be taken in part, it is best to take them in the order of α_s / p_s until G' falls below that
    ratio: one sort, one closed form, and at most one secret in part. That bounds all subsets; splitting at the secret
    taken in part (in or out) makes it exact. The normalised row gains this divided by 1 + (e−1) m ≥ 1.
    """

    prior: Floats
    epsilon: float

    @property
    def step(self) -> float:
        return float(np.expm1(self.epsilon))

    def rows(self, subsets: NDArray[np.bool_]) -> Floats:
        """r_T / (1 + (e−1) P(T))"""
        return np.asarray((1 + self.step * subsets) / (1 + self.step * (subsets @ self.prior))[..., None])

    def reward(self, mass: Floats) -> Floats:
        """G(m)"""
        level = 1 + self.step * mass
        return np.asarray((1 + self.step) * self.epsilon * mass - level * np.log(level))

    def mass_at_slope(self, slope: Floats) -> Floats:
        """Where G' equals `slope`: G'(m) = e ε − (e−1)(1 + ln(1 + (e−1) m))."""
        with np.errstate(over="ignore"):
            return np.asarray(np.expm1(((1 + self.step) * self.epsilon - slope) / self.step - 1) / self.step)

    def starts(self) -> Floats:
        """Each letter against the rest, both ways."""
        one = np.eye(len(self.prior), dtype=bool)
        return self.rows(np.vstack([one, ~one]))

    def root(self) -> Subset:
        return np.full(len(self.prior), FREE, dtype=np.int8)

    def relax(self, node: Subset, prices: Floats) -> Relaxed[Subset]:
        taken, free = node == IN, np.flatnonzero(node == FREE)
        ratios = self.step * prices[free] / self.prior[free]
        by_ratio = np.argsort(ratios)
        free, ratios = free[by_ratio], ratios[by_ratio]
        mass = np.cumsum([self.prior[taken].sum(), *self.prior[free]])
        cost = np.cumsum([prices.sum() + self.step * prices[taken].sum(), *(self.step * prices[free])])
        gains = self.reward(mass) - cost
        k = int(gains.argmax())
        subset = taken.copy()
        subset[free[:k]] = True
        turning = self.mass_at_slope(ratios)
        partly = np.flatnonzero((mass[:-1] < turning) & (turning < mass[1:]))
        if not len(partly):
            return Relaxed(float(gains[k]), float(gains[k]), self.rows(subset[None, :]), None)
        j = int(partly[0])
        bound = self.reward(turning[j]) - cost[j] - ratios[j] * (turning[j] - mass[j])
        return Relaxed(
            float(bound), float(gains[k]), self.rows(subset[None, :]), lambda: _split_staircase(node, int(free[j]))
        )


def _split_staircase(node: Subset, at: int) -> tuple[Subset, Subset]:
    without, including = node.copy(), node.copy()
    without[at], including[at] = OUT, IN
    return without, including


@dataclass(frozen=True, eq=False)
class LipRows:
    """The permitted rows of ε-LIP on an attribute of prior p: e^−ε ≤ v_s ≤ e^ε. A node is a smaller box: its two ends.

    Pricing maximises the separable convex Σ_s p_s v_s ln v_s − α_s v_s over a box cut by p·v = 1. On a box every v ln v
    is at most its chord, and with chords it is a knapsack: fill the letters in the order of chord slope − α_s / p_s. At
    most one letter ends inside its interval, all others are exact there; splitting its interval at that value makes the
    bound exact in the end.
    """

    prior: Floats
    epsilon: float

    def starts(self) -> Floats:
        """Each letter as high, and as low, as it may go, the others alike."""
        n, p = len(self.prior), self.prior
        rows = []
        for end in (np.exp(self.epsilon), np.exp(-self.epsilon)):
            others = (1 - end * p) / (1 - p)
            inside = (others >= np.exp(-self.epsilon)) & (others <= np.exp(self.epsilon))
            block = np.where(np.eye(n, dtype=bool), end, others[:, None])
            rows.append(block[inside])
        return np.vstack(rows)

    def root(self) -> Floats:
        n = len(self.prior)
        return np.array([np.full(n, np.exp(-self.epsilon)), np.full(n, np.exp(self.epsilon))])

    def relax(self, node: Floats, prices: Floats) -> Relaxed[Floats]:
        p, (lower, upper) = self.prior, node
        width = upper - lower
        slopes = np.divide(xlogy(upper, upper) - xlogy(lower, lower), width, out=np.zeros_like(width), where=width > 0)
        order = np.argsort(prices / p - slopes)
        filled = np.cumsum((p * width)[order])
        room = 1 - p @ lower
        k = min(int(np.searchsorted(filled, room)), len(p) - 1)
        at = order[k]
        row = lower.copy()
        row[order[:k]] = upper[order[:k]]
        row[at] += (room - (filled[k - 1] if k else 0.0)) / p[at]
        chords = xlogy(lower, lower) + slopes * (row - lower)
        bound, value = p @ chords - prices @ row, p @ xlogy(row, row) - prices @ row
        exact = bound - value <= EXACT
        return Relaxed(
            float(bound), float(value), row[None, :], None if exact else lambda: _split_box(node, at, row[at])
        )


def _split_box(node: Floats, at: int, value: float) -> tuple[Floats, Floats]:
    below, above = node.copy(), node.copy()
    below[1, at] = above[0, at] = value
    return below, above
