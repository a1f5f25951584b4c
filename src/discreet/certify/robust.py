"""RLDP over a Rényi ball, proven output by output and pair by pair with numbers that a float search suggests.

For secrets s ≠ t that share the budget κ (theory 1.7), any ν ≥ max v_s, ν' ≥ −min v_t and E ≤ e^ε,

    P_{U|s}·v_s − E P_{U|t}·v_t  ≤  h(x) = ν − T_s(x) + E (ν' − T_t(κ − x))      for some x in [0, κ].

From order 1/2 on h is concave, so its tangent at any one x bounds it, and a line is largest at an end: two comparisons
of integers prove the pair. Below, T is concave in x, so h is largest at an end of every piece of [0, κ]; pieces are
halved until they are proven. The float search only proposes x, ν and ν'. A wrong proposal proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.certify import grid
from discreet.certify.integers import Integers
from discreet.certify.linear import RATIO_BITS, Weights
from discreet.certify.renyi import BUDGET_BITS, ExactBall, Terms, terms
from discreet.certify.rows import VALUE_BITS, Rows, falling_multiplier, integers, rising_multiplier, rows_of
from discreet.joint import Joint
from discreet.uncertainty.ball import Ball
from discreet.uncertainty.pair import Pairs
from discreet.uncertainty.worst import worst_excess

Indices = NDArray[np.intp]
Floats = NDArray[np.float64]
BLOCK_CELLS, PAIRS_AT_ONCE = 100_000, 10_000
PIECES, FINEST = 16, 14


@dataclass(frozen=True, eq=False)
class Excess:
    """Per output: at least 2^(96 + unit) times the largest h over all pairs, and the pair; proven where it is ≤ 0."""

    upper: Integers
    first: Indices
    second: Indices
    unit: int


def excess(weights: Weights, bits: int, joint: Joint, exact: ExactBall, ball: Ball, price: int) -> Excess:
    """The largest h of every output at E = price/2^96, a block of outputs at a time."""
    c, k = joint.table.shape
    size = max(1, BLOCK_CELLS // (c * max(c, k)))
    blocks = [rows_of(weights[start : start + size], bits, joint) for start in range(0, len(weights), size)]
    found = [_block(rows, exact, ball, price) for rows in blocks]
    upper, first, second = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Excess(upper, first, second, blocks[0].unit)


def _block(rows: Rows, exact: ExactBall, ball: Ball, price: int) -> tuple[Integers, Indices, Indices]:
    """Pairs are proven by their one-sided bounds, else by tangents at common splits, else one by one."""
    outputs, secrets = rows.exact.shape[:2]
    most, least = _one_sided(rows, exact, ball)
    doubtful = (most[:, :, None] << RATIO_BITS) > price * least[:, None, :]
    y, s, t = np.nonzero(doubtful & ~np.eye(secrets, dtype=bool))
    if exact.order * 2 >= 1 and grid.worthwhile(y, s, t, secrets):
        left = grid.unproven(rows, exact, ball, price, y, s, t)
        y, s, t = y[left], s[left], t[left]
    upper, first, second = np.full(outputs, -1, dtype=object), np.zeros(outputs, np.intp), np.ones(outputs, np.intp)
    for start in range(0, len(y), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        for i, bound in enumerate(_pairs(rows, exact, ball, price, y[part], s[part], t[part]), start):
            if bound > upper[y[i]]:
                upper[y[i]], first[y[i]], second[y[i]] = bound, s[i], t[i]
    return upper, first, second


def _one_sided(rows: Rows, exact: ExactBall, ball: Ball) -> tuple[Integers, Integers]:
    """Bounds of the largest and the smallest mean of every row when its secret may spend the whole budget."""
    outputs, secrets = rows.exact.shape[:2]
    y, s = (index.ravel() for index in np.indices((outputs, secrets)))
    spent = np.full(len(s), exact.budget, dtype=object)
    above = rising_multiplier(rows, ball, y, s, ball.radii[s])
    below = falling_multiplier(rows, ball, y, s, ball.radii[s])
    most = above - terms(exact, s, above[:, None] - rows.exact[y, s], spent, rows.unit).low
    least = terms(exact, s, below[:, None] + rows.exact[y, s], spent, rows.unit).low - below
    return most.reshape(outputs, secrets), least.reshape(outputs, secrets)


def _pairs(rows: Rows, exact: ExactBall, ball: Ball, price: int, y: Indices, s: Indices, t: Indices) -> Integers:
    """An upper bound of h, in units of 2^−(96 + unit), for every pair."""
    pairs = Pairs(ball, s, t, rows.floats[y, s], rows.floats[y, t])
    worst = worst_excess(pairs, price / 2.0**RATIO_BITS)
    if exact.order * 2 < 1:
        found = np.maximum(integers(np.nan_to_num(worst.value) * rows.scale[y], RATIO_BITS + VALUE_BITS), 1)
        hopeful = np.flatnonzero(worst.value < 0)
        found[hopeful] = _in_pieces(rows, exact, price, pairs.take(hopeful), y[hopeful])
        return found
    split = np.clip(np.nan_to_num(worst.split), 0.0, exact.budget / 2.0**BUDGET_BITS)
    spent = np.minimum(integers(split, BUDGET_BITS), exact.budget)
    return _tangent(_sides(rows, exact, pairs, y, split), price, spent)


@dataclass(frozen=True, eq=False)
class Sides:
    """ν and ν' proposed for a split of the budget, with ν − v_s and ν' + v_t, and the bounds they give at any split."""

    exact: ExactBall
    pairs: Pairs
    unit: int
    nu: Integers
    nu_prime: Integers
    gaps: Integers
    gaps_prime: Integers

    def first(self, spent: Integers) -> Terms:
        """T_s(x)"""
        return terms(self.exact, self.pairs.s, self.gaps, spent, self.unit)

    def second(self, spent: Integers) -> Terms:
        """T_t(κ − x)"""
        return terms(self.exact, self.pairs.t, self.gaps_prime, self.exact.budget - spent, self.unit)


def _sides(rows: Rows, exact: ExactBall, pairs: Pairs, y: Indices, split: Floats) -> Sides:
    ball, s, t = pairs.ball, pairs.s, pairs.t
    nu = rising_multiplier(rows, ball, y, s, ball.reach(split, s))
    nu_prime = falling_multiplier(rows, ball, y, t, ball.reach(pairs.rest(split), t))
    gaps, gaps_prime = nu[:, None] - rows.exact[y, s], nu_prime[:, None] + rows.exact[y, t]
    return Sides(exact, pairs, rows.unit, nu, nu_prime, gaps, gaps_prime)


def _tangent(sides: Sides, price: int, spent: Integers) -> Integers:
    """The tangent of h at x, at the ends 0 and κ."""
    first, second, rest = sides.first(spent), sides.second(spent), sides.exact.budget - spent
    rise, fall = sides.nu - first.low, sides.nu_prime - second.low
    at_zero = ((rise - first.fall_low(spent)) << RATIO_BITS) + price * (fall + second.fall_high(spent))
    at_kappa = ((rise + first.fall_high(rest)) << RATIO_BITS) + price * (fall - second.fall_low(rest))
    return np.asarray(np.maximum(at_zero, at_kappa))


def _in_pieces(rows: Rows, exact: ExactBall, price: int, pairs: Pairs, y: Indices) -> Integers:
    """Below order 1/2: the largest bound over pieces of [0, κ], each halved until it is proven or too fine.

    Bounds get better with the square of a piece, so failures that multiply are not worth following."""
    worst = np.full(len(y), -1, dtype=object)
    cuts = integers(np.sin(np.linspace(0, np.pi / 2, PIECES + 1)) ** 2, BUDGET_BITS) * exact.budget >> BUDGET_BITS
    cuts[-1] = exact.budget
    owner = np.repeat(np.arange(len(y)), PIECES)
    left, right = np.tile(cuts[:-1], len(y)), np.tile(cuts[1:], len(y))
    for depth in range(FINEST + 1):
        middle = (left + right) // 2
        sides = _sides(rows, exact, pairs.take(owner), y[owner], (middle / 2**BUDGET_BITS).astype(float))
        bound = _piece(sides, price, left, right)
        failed = np.flatnonzero(np.asarray(bound > 0, dtype=bool))
        if depth == FINEST or len(failed) > PIECES * len(y):
            for i in failed:
                worst[owner[i]] = max(worst[owner[i]], bound[i])
            break
        left, right = np.r_[left[failed], middle[failed]], np.r_[middle[failed], right[failed]]
        owner = np.r_[owner[failed], owner[failed]]
    return worst


def _piece(sides: Sides, price: int, left: Integers, right: Integers) -> Integers:
    """h on [left, right]: at most its larger end where T is concave throughout, otherwise at most what either side
    gives when it may spend more than the other leaves."""
    first, second = (sides.first(left), sides.first(right)), (sides.second(left), sides.second(right))

    def h(low: Integers, low_: Integers) -> Integers:
        return np.asarray(((sides.nu - low) << RATIO_BITS) + price * (sides.nu_prime - low_))

    ends = np.maximum(h(first[0].low, second[0].low), h(first[1].low, second[1].low))
    crude = h(first[1].low, second[0].low)
    concave = (_exhausted(sides, sides.pairs.s, left) == _exhausted(sides, sides.pairs.s, right)) & (
        _exhausted(sides, sides.pairs.t, sides.exact.budget - left)
        == _exhausted(sides, sides.pairs.t, sides.exact.budget - right)
    )
    return np.where(concave, np.minimum(ends, crude), crude)


def _exhausted(sides: Sides, secrets: Indices, spent: Integers) -> NDArray[np.bool_]:
    """Whether the secret's conditional is arbitrary after spending this much."""
    return np.asarray(spent * sides.exact.records >= sides.exact.masses[secrets] << BUDGET_BITS, dtype=bool)
