"""Means over a Rényi ball, bounded in integers by a number ν that anyone may choose (theory 1.7).

F = {P : D_α(P̂ ‖ P) ≤ B}. For weights v, conditionals R of secret s that cost at most x of the budget κ, any ν ≥ max v,
and β = (α − 1)/α, Hölder's inequality gives

    R·v ≤ ν − T_s(x),    T_s(x) = (G/ρ)^(1/β),    G = Σ_u P̂(u|s) (ν − v_u)^β,    ρ = 1 + sign(β) x/P̂_s,

and at order 1, by Jensen's, T_s(x) = exp(Σ_u P̂(u|s) ln(ν − v_u) − x/P̂_s). With −v in place of v it bounds R·v below.
No search is needed to check it, and the best ν makes it an equality. G is rounded so that T is too small.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.certify.exponential import LARGEST, ceil_div, exp_bounds, exp_lower, exp_upper, ln_bounds
from discreet.certify.integers import Integers, exact_prior
from discreet.certify.quantile import chi_square_quantile_upper
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.uncertainty import ChiSquare, Renyi

BUDGET_BITS = 96
POWER_BITS = 128
ROOT_BITS = 32
LARGEST_RADIUS = 500


@dataclass(frozen=True, eq=False)
class ExactBall:
    """P̂ as integers `cells[s, u]`, the order α, and κ rounded up: `budget` is at least 2^96 κ."""

    cells: Integers
    order: Fraction
    budget: int

    @property
    def masses(self) -> Integers:
        return np.asarray(self.cells.sum(axis=1))

    @property
    def records(self) -> int:
        return int(self.cells.sum())

    @property
    def elasticity(self) -> Fraction:
        """|d ln T / d ln ρ| = |1/β|, and 1 at order 1, where x/P̂_s itself plays the part of ln ρ."""
        return self.order / abs(self.order - 1) if self.order != 1 else Fraction(1)


def exact_ball(joint: Joint, uncertainty: ChiSquare | Renyi) -> ExactBall | None:
    """F with its budget rounded up; None if it is so large that it counts as everything."""
    cells = exact_prior(joint).reshape(joint.table.shape)
    if isinstance(uncertainty, ChiSquare):
        if joint.n is None:
            raise ParameterError("a confidence set without n", where="ChiSquare", remedy="Build the joint from counts.")
        if joint.counts is not None and joint.n != int(joint.counts.sum()):
            raise ParameterError("n is not the sum of the counts", where="ChiSquare", remedy="Use Joint.from_counts.")
        quantile = chi_square_quantile_upper(joint.table.size - 1, Fraction(uncertainty.confidence))
        square = 1 + quantile / joint.n
        scaled = ceil_div(square.numerator << 2 * BUDGET_BITS, square.denominator)
        return ExactBall(cells, Fraction(2), math.isqrt(scaled) + 1 - (1 << BUDGET_BITS))
    order, radius = Fraction(uncertainty.order), Fraction(uncertainty.radius)
    if radius > LARGEST_RADIUS:
        return None
    if order == 1:
        return ExactBall(cells, order, ceil_div(radius.numerator << BUDGET_BITS, radius.denominator))
    power = (order - 1) / order * radius
    if abs(power) > LARGEST_RADIUS:
        return None
    if order > 1:
        return ExactBall(cells, order, exp_upper(power, BUDGET_BITS) - (1 << BUDGET_BITS))
    return ExactBall(cells, order, (1 << BUDGET_BITS) - exp_lower(power, BUDGET_BITS))


@dataclass(frozen=True, eq=False)
class Terms:
    """T_s(x) at one x for many comparisons: bounds on either side, and `rate` with |dT/dx| = T · rate.

    `rate` is a fraction with numerator and denominator apart; over the whole of [0, κ] T is convex in x for orders from
    1/2 on, so its tangent lies below it.
    """

    low: Integers
    high: Integers
    rate: tuple[Integers, Integers]

    def fall_low(self, distance: Integers) -> Integers:
        """At most |dT/dx| times a distance ≥ 0 in the budget, in units of 2^−96."""
        return np.asarray(self.low * self.rate[0] * distance // self.rate[1])

    def fall_high(self, distance: Integers) -> Integers:
        """At least |dT/dx| times the distance."""
        return np.asarray(-(-self.high * self.rate[0] * distance // self.rate[1]))


def terms(ball: ExactBall, secrets: Integers, gaps: Integers, spent: Integers, unit: int) -> Terms:
    """T_s(x) for gaps[i, u] = 2^unit (ν − v_u) ≥ 0 and spent[i] = 2^96 x, in the units of the gaps.

    A secret never seen, or one that spent all it has below order 1, has T = 0: its conditional is arbitrary.
    """
    counts, masses = ball.cells[secrets], ball.masses[secrets]
    sign = (ball.order > 1) - (ball.order < 1)
    left = (masses << BUDGET_BITS) + sign * spent * ball.records
    bound = np.asarray((masses > 0) & (left > 0), dtype=bool)
    left = np.where(bound, left, 1)
    if ball.order == 2:
        low, high = _square(counts, gaps, left)
    else:
        low, high = _general(ball, counts, gaps, left, spent, unit)
    elasticity = ball.elasticity
    rate = np.full(len(left), elasticity.numerator * ball.records, dtype=object), left * elasticity.denominator
    return Terms(np.where(bound, low, 0), np.where(bound, high, 0), rate)


def _square(counts: Integers, gaps: Integers, left: Integers) -> tuple[Integers, Integers]:
    """Order 2: T = (Σ_u n_su √gap_u · 2^96 / left)², exact up to the square roots, which are rounded down."""
    roots = np.frompyfunc(math.isqrt, 1, 1)(gaps << 2 * ROOT_BITS)
    quotient = ((counts * roots).sum(axis=1) << BUDGET_BITS) // left
    return quotient**2 >> 2 * ROOT_BITS, ((quotient + 1) ** 2 >> 2 * ROOT_BITS) + 1


def _general(
    ball: ExactBall, counts: Integers, gaps: Integers, left: Integers, spent: Integers, unit: int
) -> tuple[Integers, Integers]:
    """Any other order, through logarithms: ln T = (1/β)(ln G − ln ρ)."""
    found = [
        _one(ball, row.tolist(), gap.tolist(), int(rest), int(x), unit)
        for row, gap, rest, x in zip(counts, gaps, left, spent, strict=True)
    ]
    low, high = (np.array([bounds[side] for bounds in found], dtype=object) for side in (0, 1))
    return low, high


def _one(ball: ExactBall, counts: list[int], gaps: list[int], left: int, spent: int, unit: int) -> tuple[int, int]:
    live = [(count, gap) for count, gap in zip(counts, gaps, strict=True) if count > 0]
    if not live or (ball.order <= 1 and any(gap == 0 for _, gap in live)):
        return 0, 0
    beta = (ball.order - 1) / ball.order
    shift = unit * ln_bounds(2, POWER_BITS)[0], unit * ln_bounds(2, POWER_BITS)[1]
    if ball.order == 1:
        mass = sum(count for count, _ in live)
        total = sum(count * (ln_bounds(gap, POWER_BITS)[0] - shift[1]) for count, gap in live)
        exponent = total // mass - ceil_div((spent * ball.records) << POWER_BITS, mass << BUDGET_BITS)
        return _exponential(exponent, exponent + 2, unit)
    power = 0
    for count, gap in live:
        if gap:
            log = ln_bounds(gap, POWER_BITS)
            if beta > 0:
                power += count * exp_bounds(_times(beta, log[0] - shift[1], up=False), POWER_BITS)[0]
            else:
                exponent = _times(beta, log[0] - shift[1], up=True)
                if exponent > LARGEST << POWER_BITS:
                    return 0, 0
                power += count * exp_bounds(exponent, POWER_BITS)[1]
    if power == 0:
        return 0, 0
    above, below = ln_bounds(power << BUDGET_BITS, POWER_BITS), ln_bounds(left << POWER_BITS, POWER_BITS)
    low, high = (above[0] - below[1], above[1] - below[0]) if beta > 0 else (above[1] - below[0], above[0] - below[1])
    return _exponential(_times(1 / beta, low, up=False), _times(1 / beta, high, up=True), unit)


def _exponential(low: int, high: int, unit: int) -> tuple[int, int]:
    """2^unit e^low rounded down, 2^unit e^high rounded up."""
    return (
        exp_bounds(low, POWER_BITS)[0] << unit >> POWER_BITS,
        ceil_div(exp_bounds(high, POWER_BITS)[1] << unit, 1 << POWER_BITS),
    )


def _times(factor: Fraction, value: int, *, up: bool) -> int:
    numerator = factor.numerator * value
    return ceil_div(numerator, factor.denominator) if up else numerator // factor.denominator
