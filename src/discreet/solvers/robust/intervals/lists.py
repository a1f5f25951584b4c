"""All rows that one secret may need, as a list (theory 5.5).

An extreme row of {A ≤ high, B ≥ low} has at most two levels above zero: call a set T bad if R⁺(T)/R⁻(T) > high/low.
A good T gives a·1_T with a = low/R⁻ and a = high/R⁺; T1 ⊂ T12 of which one is bad give b·1_T12 + g·1_T1 with
bR⁺(T12) + gR⁺(T1) = high and bR⁻(T12) + gR⁻(T1) = low. To price a row is to look at them all: 2^k and 3^k of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.compiling import compiled
from discreet.solvers.robust.intervals.linear import best_row
from discreet.uncertainty.filling import range_of_sets, sums_over_sets

LISTED = 16
"""Three levels are listed for up to 16 letters (43 million pairs of sets), two levels as well."""
CLIMBS = 12
MUCH, SOME = 1.0, 2.0
ALSO = 8
LITTLE = 3e-3
"""A letter that a row leaves out is priced as if the row had this much of it: the slope of x ln x at zero is −∞."""


@dataclass(frozen=True, eq=False)
class Secret:
    """One secret: its probability, P̂(u|s), the limits of P(u|s)."""

    mass: float
    estimate: Floats
    lower: Floats
    upper: Floats

    @cached_property
    def listed(self) -> bool:
        return len(self.estimate) <= LISTED

    @cached_property
    def ranges(self) -> tuple[Floats, Floats]:
        return range_of_sets(self.lower, self.upper)

    @cached_property
    def masses(self) -> Floats:
        return sums_over_sets(self.estimate)

    def worth(self, rows: Floats, damping: float = 0.0) -> Floats:
        """p_s (Σ_u P̂(u|s) v ln v − damping · t ln t) of every row."""
        return np.asarray(self.mass * (xlogy(rows, rows) @ self.estimate - damping * self.told(rows)))

    def told(self, rows: Floats) -> Floats:
        """t ln t, t the mean of a row."""
        means = rows @ self.estimate
        return np.asarray(xlogy(means, means))

    def promising(
        self, alpha: Floats, high: float, low: float, starts: Floats, damping: float = 0.0, *, thorough: bool = True
    ) -> Floats:
        """Rows that gain much at prices α: climbed from pairs of letters and from starts; thoroughly, from the best row
        of two levels as well.

        For every letter the best row that has most of it."""
        rows = self._climbed(alpha, high, low, damping, np.concatenate([self._pairs, np.maximum(starts, LITTLE)]))
        gains = self.worth(rows, damping) - rows @ alpha
        if self.listed and thorough:
            found = _two_levels(self.mass, self.masses, *self.ranges, sums_over_sets(alpha), high, low, damping)
            listed = np.array([_row(len(alpha), *found)])
            rows = np.concatenate([listed, self._climbed(alpha, high, low, damping, listed), rows])
            gains = self.worth(rows, damping) - rows @ alpha
        order = np.argsort(-gains)
        _, first = np.unique(rows[order].argmax(axis=1), return_index=True)
        return np.asarray(rows[order[np.union1d(first, np.arange(min(ALSO, len(order))))]])

    def _climbed(self, alpha: Floats, high: float, low: float, damping: float, starts: Floats) -> Floats:
        return np.asarray(
            climb_rows(self.mass, self.estimate, self.lower, self.upper, alpha, high, low, damping, starts)
        )

    @cached_property
    def _pairs(self) -> Floats:
        """Where climbing to three levels begins: much of one letter and some of another, little of the rest; or much of
        one letter, little of another, some of the rest."""
        k, letters = len(self.estimate), np.arange(len(self.estimate))
        few, many = np.full((k, k, k), LITTLE), np.full((k, k, k), SOME)
        few[:, letters, letters], many[:, letters, letters] = SOME, LITTLE
        few[letters, :, letters] = many[letters, :, letters] = MUCH / np.maximum(self.upper, LITTLE)[:, None]
        return np.concatenate([few, many]).reshape(2 * k * k, k)

    def largest_gain(
        self, alpha: Floats, high: float, low: float, damping: float = 0.0, floor: float = -np.inf
    ) -> tuple[float, Floats | None]:
        """max of p_s (μ(v) − damping · h(t)) − α·v over every permitted row, or the floor if none exceeds it: the whole
        list. For a damping of at most one the gain is convex, so no row outside the list gains more."""
        costs = sums_over_sets(alpha)
        gain, *entry = _three_levels(self.mass, self.masses, *self.ranges, costs, high, low, damping, floor)
        return float(gain), (_row(len(alpha), *entry) if gain > floor else None)


def _row(k: int, inner: float, outer: float, x: float, y: float) -> Floats:
    """x on the inner set, y on the rest of the outer one, zero outside."""
    bits = 1 << np.arange(k)
    return np.where(int(inner) & bits, x, np.where(int(outer) & bits, y, 0.0))


@compiled(inline="always")
def _h(x: float) -> float:
    return x * np.log(x) if x > 0 else 0.0


@compiled()
def _two_levels(
    weight: float, mass: Floats, most: Floats, least: Floats, cost: Floats, high: float, low: float,
    damping: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """The best row of two levels, or of one: inner set, outer set, levels."""
    full = len(mass) - 1
    best, found = -np.inf, (0.0, 0.0, 0.0, 0.0)
    for inner in range(1, full + 1):
        up, down = most[inner], least[inner]
        if up * low > high * down:
            rise = (high - low) / (up - down)
            y = max(low - rise * down, 0.0)
            x, outer = y + rise, full
            gain = weight * (mass[inner] * _h(x) + (mass[outer] - mass[inner]) * _h(y))
            gain -= cost[inner] * x + (cost[outer] - cost[inner]) * y
            gain -= damping * weight * _h(mass[inner] * x + (mass[outer] - mass[inner]) * y)
            if gain > best:
                best, found = gain, (float(inner), float(outer), x, y)
        else:
            for a in (low / down, high / up):
                gain = weight * (mass[inner] * _h(a) - damping * _h(mass[inner] * a)) - cost[inner] * a
                if gain > best:
                    best, found = gain, (float(inner), float(inner), a, 0.0)
    return found


@compiled(nogil=True)
def _three_levels(
    weight: float, mass: Floats, most: Floats, least: Floats, cost: Floats, high: float, low: float,
    damping: float, floor: float,
) -> tuple[float, float, float, float, float]:  # fmt: skip
    """The best row of the whole list above the floor: its gain, inner set, outer set, and levels.

    Most pairs need no logarithm: p h(x) + r h(y) ≤ t ln x for y ≤ x, and h(t) is at least its tangent."""
    full = len(mass) - 1
    best, best_inner, best_outer, best_x, best_y = floor, 0.0, 0.0, 0.0, 0.0
    near = np.sqrt(high * low)
    flat, steep = damping * near, damping * (1.0 + np.log(near))
    bad = most * low > high * least
    for outer in range(1, full + 1):
        up, down, whole, price = most[outer], least[outer], weight * mass[outer], cost[outer]
        if not bad[outer]:
            for a in (low / down, high / up):
                gain = whole * _h(a) - damping * weight * _h(mass[outer] * a) - price * a
                if gain > best:
                    best, best_inner, best_outer, best_x, best_y = gain, outer, outer, a, 0.0
        inner = (outer - 1) & outer
        while inner:
            if bad[inner] != bad[outer]:
                det = up * least[inner] - most[inner] * down
                y = (high * least[inner] - low * most[inner]) / det
                x = y + (low * up - high * down) / det
                part = weight * mass[inner]
                rest = whole - part
                linear = cost[inner] * x + (price - cost[inner]) * y
                mean = part * x + rest * y
                if mean * (_log_above(x) - steep) + weight * flat - linear > best:
                    gain = part * _h(x) + rest * _h(y) - linear - damping * weight * _h(mean / weight)
                    if gain > best:
                        best, best_inner, best_outer, best_x, best_y = gain, inner, outer, x, y
            inner = (inner - 1) & outer
    return best, best_inner, best_outer, best_x, best_y


@compiled(inline="always")
def _log_above(x: float) -> float:
    """At least ln x, without a logarithm: ln x ≤ (x − 1)/√x for x ≥ 1."""
    return (x - 1.0) / np.sqrt(x) if x > 1.0 else 0.0


@compiled()
def climb_rows(
    weight: float, p: Floats, lower: Floats, upper: Floats, alpha: Floats, high: float, low: float, damping: float,
    rows: Floats,
) -> Floats:  # fmt: skip
    """Linearise p_s μ − α, take the best row, repeat while it gains: rows that are locally best. Where climbing begins
    need not be permitted."""
    k = rows.shape[1]
    found = rows.copy()
    c, row = np.empty(k), np.empty(k)
    for i in range(len(rows)):
        gain = -np.inf
        for _ in range(CLIMBS):
            mean = 0.0
            for u in range(k):
                mean += p[u] * found[i, u]
            told = damping * (1.0 + np.log(mean)) if damping > 0 else 0.0
            for u in range(k):
                c[u] = weight * p[u] * (1.0 + np.log(max(found[i, u], LITTLE)) - told) - alpha[u]
            best_row(c, lower, upper, high, low, row)
            reached, mean = 0.0, 0.0
            for u in range(k):
                reached += weight * p[u] * _h(row[u]) - alpha[u] * row[u]
                mean += p[u] * row[u]
            reached -= damping * weight * _h(mean)
            if reached <= gain + 1e-13:
                break
            gain = reached
            found[i] = row
    return found
