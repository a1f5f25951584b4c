"""The funnel with two secrets: pricing is a list of pairs of letters (theory 8.2).

The best rows have at most two letters. On the pair (i, j), with weight u on j and τ = P(s=1|y) = a_i + u d, the gain

    F(u) = (1−u) (ln((1−u)/p_i) − α_i/p_i) + u (ln(u/p_j) − α_j/p_j) − λ (τ ln(τ/P_1) + (1−τ) ln((1−τ)/P_0))

has F''(u) u(1−u) τ(1−τ) = τ(1−τ) − λ d² u(1−u), a quadratic that is not negative at either end: F is convex, concave
between its roots, and convex again. So the largest F is at an end of the interval that the ceiling leaves to u, or the
one interior maximum of the concave part, where a tangent bounds what the search for it leaves open.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import compiled
from discreet.solvers.columns.average_pricing import AveragePricer
from discreet.solvers.columns.boxes import ROUNDING
from discreet.solvers.columns.pricing import PricedRows
from discreet.solvers.columns.simplex import never
from discreet.solvers.problem import Problem
from discreet.utilities.utility import MutualInformation

HALVINGS = 60
STEPS = 12
"""Newton steps towards the interior maximum, which bisection takes over where they leave the concave part."""
PARALLEL = 1e-10
"""Conditions that are functions of P(s|x), up to rounding."""
BEST = 64
"""Rows of a round beside the best one of every letter."""


def suits_pairs(problem: Problem) -> bool:
    """Two secrets, I(X;Y) judged letter by letter, and a ceiling that looks at P(s|y) alone."""
    average, seen = problem.average, problem.prior > 0
    known = average is not None and average.measure is MutualInformation and problem.measure is MutualInformation
    if average is None or not known or len(average.masses) != 2:
        return False
    if not problem.one_to_one or not problem.cone.complete or not seen.all():
        return False
    terms = problem.cone.rows / problem.prior
    basis = np.vstack([np.ones(len(problem.prior)), average.forms[1] * average.masses[1] / problem.prior]).T
    left = terms.T - basis @ np.linalg.lstsq(basis, terms.T, rcond=None)[0]
    return bool(np.abs(left).max(initial=0.0) <= PARALLEL * max(1.0, np.abs(terms).max(initial=0.0)))


class FunnelPairs(AveragePricer):
    """All pairs of letters at once; a climb is the best pair of every letter, wherever it starts."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.average is not None
        self._odds = problem.average.masses
        self._chance = np.clip(problem.average.forms[1] * self._odds[1] / problem.prior, 0.0, 1.0)
        self._terms = np.ascontiguousarray((problem.cone.rows / problem.prior).T)
        self._looked = 0

    @property
    def boxes(self) -> int:
        return self._looked

    def climb(self, rows: Floats, alpha: Floats, late: Callable[[], bool] = never) -> Floats:
        return self._best(alpha)[0]

    def price(
        self,
        alpha: Floats,
        floor: float,
        enough: int,
        stop: Callable[[], bool],
        margin: float = 0.0,
        most: float = np.inf,
    ) -> PricedRows:
        rows, bound = self._best(alpha)
        return PricedRows(rows[self.gains(rows, alpha) > floor], bound)

    def _best(self, alpha: Floats) -> tuple[Floats, float]:
        """The best pair of every letter and the best ones altogether; a bound on the gain of every row."""
        n, average = len(self.problem.prior), self.problem.average
        assert average is not None
        price = float(alpha[n]) / average.limit
        cost = np.log(self.problem.prior) + alpha[:n] / self.problem.prior
        gains, shares, bounds = np.empty((n, n)), np.empty((n, n)), np.empty(n)
        price_pairs(self._chance, cost, price, self._odds[1], self._odds[0], self._terms, gains, shares, bounds)
        upper = np.where(np.triu(np.ones((n, n), dtype=bool)), gains, -np.inf)
        both = np.maximum(upper, upper.T)
        partner = both.argmax(axis=1)
        flat = np.argpartition(-upper, min(BEST, upper.size - 1), axis=None)[:BEST]
        first, second = np.concatenate([np.arange(n), flat // n]), np.concatenate([partner, flat % n])
        low, high = np.minimum(first, second), np.maximum(first, second)
        low, high = np.unique(np.stack([low, high]), axis=1)
        permitted = upper[low, high] > -np.inf
        low, high = low[permitted], high[permitted]
        rows = np.zeros((len(low), n))
        which = np.arange(len(low))
        rows[which, low] = (1 - shares[low, high]) / self.problem.prior[low]
        rows[which, high] += shares[low, high] / self.problem.prior[high]
        single = low == high
        rows[which[single], low[single]] = 1 / self.problem.prior[low[single]]
        return rows, float(bounds.max()) + ROUNDING * (1 + price)


@compiled(nogil=True)
def price_pairs(chance, cost, price, one, zero, terms, gains, shares, bounds):  # type: ignore[no-untyped-def]
    """The best share of the second letter and the gain for every pair, and a bound on all pairs of every first one."""
    n, conditions = terms.shape
    for i in range(n):
        bounds[i] = -np.inf
        for j in range(i, n):
            low, high = 0.0, 1.0 if j > i else 0.0
            for k in range(conditions):
                start, end = terms[i, k], terms[j, k]
                if start > 0:
                    low = max(low, start / (start - end)) if end < 0 else 2.0
                elif end > 0:
                    high = min(high, -start / (end - start))
            gains[i, j], shares[i, j] = -np.inf, 0.0
            if low > high:
                continue
            for u in (low, high):
                gain = _pair_gain(u, chance[i], chance[j], cost[i], cost[j], price, one, zero)
                bounds[i] = max(bounds[i], gain)
                if gain > gains[i, j]:
                    gains[i, j], shares[i, j] = gain, u
            if j > i and price > 1:
                bound = _inside(i, j, low, high, chance, cost, price, one, zero, gains, shares)
                bounds[i] = max(bounds[i], bound)


@compiled()
def _inside(i, j, low, high, chance, cost, price, one, zero, gains, shares):  # type: ignore[no-untyped-def]
    """The concave part of a pair: its maximum, and a bound on it from the tangent where the search ended."""
    a, d = chance[i], chance[j] - chance[i]
    # a(1−a) + u (d(1−2a) − λd²) + u² d²(λ−1) < 0
    square, linear, constant = d * d * (price - 1), d * (1 - 2 * a) - price * d * d, a * (1 - a)
    inner = linear * linear - 4 * square * constant
    if inner <= 0 or square <= 0:
        return -np.inf
    root = np.sqrt(inner)
    first, last = max(low, (-linear - root) / (2 * square)), min(high, (-linear + root) / (2 * square))
    first, last = max(first, 1e-300), min(last, 1 - 1e-16)
    if not first < last:
        return -np.inf
    if _pair_slope(first, a, d, cost[i], cost[j], price, one, zero) <= 0:
        return _pair_gain(first, a, a + d, cost[i], cost[j], price, one, zero)
    if _pair_slope(last, a, d, cost[i], cost[j], price, one, zero) >= 0:
        return _pair_gain(last, a, a + d, cost[i], cost[j], price, one, zero)
    begin, end = first, last
    u = (begin + end) / 2
    for step in range(STEPS + HALVINGS):
        slope = _pair_slope(u, a, d, cost[i], cost[j], price, one, zero)
        if slope > 0:
            begin = u
        else:
            end = u
        if slope == 0 or end - begin < 1e-15 or abs(slope) * (last - first) < ROUNDING:
            break
        tau = a + u * d
        bend = 1 / (u * (1 - u)) - price * d * d / max(tau * (1 - tau), 1e-300)
        newton = u - slope / bend if bend < 0 else -1.0
        u = newton if step < STEPS and begin < newton < end else (begin + end) / 2
    gain = _pair_gain(u, a, a + d, cost[i], cost[j], price, one, zero)
    if gain > gains[i, j]:
        gains[i, j], shares[i, j] = gain, u
    slope = _pair_slope(u, a, d, cost[i], cost[j], price, one, zero)
    return gain + max(slope * (last - u), slope * (first - u))


@compiled()
def _pair_gain(u, chance_i, chance_j, cost_i, cost_j, price, one, zero):  # type: ignore[no-untyped-def]
    tau = chance_i + u * (chance_j - chance_i)
    gain = -(1 - u) * cost_i - u * cost_j
    if u < 1:
        gain += (1 - u) * log(1 - u)
    if u > 0:
        gain += u * log(u)
    if tau > 0:
        gain -= price * tau * log(tau / one)
    if tau < 1:
        gain -= price * (1 - tau) * log((1 - tau) / zero)
    return gain


@compiled()
def _pair_slope(u, a, d, cost_i, cost_j, price, one, zero):  # type: ignore[no-untyped-def]
    tau = a + u * d
    return (
        log(u / (1 - u))
        + cost_i
        - cost_j
        - price * d * (log(max(tau, 1e-300) / one) - log(max(1 - tau, 1e-300) / zero))
    )
