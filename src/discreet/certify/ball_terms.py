"""Means over a Rényi ball, bounded in integers by a number ν that anyone may choose (theory 1.7).

F = {P : D_α(P̂ ‖ P) ≤ B}. For weights v, conditionals R of secret s that cost at most x of the budget κ, any ν ≥ max v,
and β = (α − 1)/α, Hölder's inequality gives

    R·v ≤ ν − T_s(x),    T_s(x) = (G/ρ)^(1/β),    G = Σ_u P̂(u|s) (ν − v_u)^β,    ρ = 1 + sign(β) x/P̂_s,

and at order 1, by Jensen's, T_s(x) = exp(Σ_u P̂(u|s) ln(ν − v_u) − x/P̂_s). With −v in place of v it bounds R·v below.
No search is needed to check it, and the best ν makes it an equality. G is rounded so that T is too small.

The radius of a chi-square set is a quantile, and has to be proven as well: a candidate is accepted once its cumulative
probability, bounded below in integers, reaches the confidence.

    P(χ²_d ≤ q) = x^a e^−x / Γ(a + 1) · Σ_n x^n / ((a + 1) ⋯ (a + n)),      a = d/2, x = q/2.

All terms are positive, so a cut-off series with every term rounded down is a lower bound. ln Γ comes from Stirling's
series, which is above ln Γ when cut after 1/(1260 z⁵), at an argument raised to 1,000 by Γ(z + 1) = z Γ(z).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import chdtri

from discreet.certify.exact_arithmetic import (
    LARGEST,
    ExactIntegers,
    ceil_div,
    exact_prior,
    exp_bounds,
    exp_lower,
    exp_upper,
    ln_bounds,
)
from discreet.exceptions import ParameterError, ProofError
from discreet.joint import Joint
from discreet.uncertainty import ChiSquare, Renyi

BUDGET_BITS = 96
"""Parts of the budget, in units of 2^−96."""
POWER_BITS = 128
"""Logarithms and powers: wide enough that what they lose is below the last bit of the budget."""
ROOT_BITS = 32
"""Binary places of square roots beyond those of the weights."""
LARGEST_RADIUS = 500
"""A ball with e^500 in its budget counts as everything."""
WIDTH = 128
PI_UPPER = Fraction(31415926535897932384626433832795028842, 10**37)
RAISED = 1000
"""At this argument Stirling's series is right to more than 20 digits."""
SMALLEST = Fraction(1, 10**9)
MARGINS = (1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
"""What is added to the float quantile, until it is proven."""


@dataclass(frozen=True, eq=False)
class ExactBall:
    """P̂ as integers `cells[s, u]`, the order α, and κ rounded up: `budget` is at least 2^96 κ."""

    cells: ExactIntegers
    order: Fraction
    budget: int

    @property
    def masses(self) -> ExactIntegers:
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
class BallTerms:
    """T_s(x) at one x for many comparisons: bounds on either side, and `rate` with |dT/dx| = T · rate.

    `rate` is a fraction with numerator and denominator apart; over the whole of [0, κ] T is convex in x for orders from
    1/2 on, so its tangent lies below it.
    """

    low: ExactIntegers
    high: ExactIntegers
    rate: tuple[ExactIntegers, ExactIntegers]

    def fall_low(self, distance: ExactIntegers) -> ExactIntegers:
        """At most |dT/dx| times a distance ≥ 0 in the budget, in units of 2^−96."""
        return np.asarray(self.low * self.rate[0] * distance // self.rate[1])

    def fall_high(self, distance: ExactIntegers) -> ExactIntegers:
        """At least |dT/dx| times the distance."""
        return np.asarray(-(-self.high * self.rate[0] * distance // self.rate[1]))


def terms(ball: ExactBall, secrets: ExactIntegers, gaps: ExactIntegers, spent: ExactIntegers, unit: int) -> BallTerms:
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
    return BallTerms(np.where(bound, low, 0), np.where(bound, high, 0), rate)


def _square(counts: ExactIntegers, gaps: ExactIntegers, left: ExactIntegers) -> tuple[ExactIntegers, ExactIntegers]:
    """Order 2: T = (Σ_u n_su √gap_u · 2^96 / left)², with roots, quotients and squares rounded outwards."""
    roots = np.frompyfunc(math.isqrt, 1, 1)(gaps << 2 * ROOT_BITS)
    above = roots + (roots**2 < gaps << 2 * ROOT_BITS).astype(int)
    low = ((counts * roots).sum(axis=1) << BUDGET_BITS) // left
    high = -(-((counts * above).sum(axis=1) << BUDGET_BITS) // left)
    return low**2 >> 2 * ROOT_BITS, -(-(high**2) >> 2 * ROOT_BITS)


def _general(
    ball: ExactBall, counts: ExactIntegers, gaps: ExactIntegers, left: ExactIntegers, spent: ExactIntegers, unit: int
) -> tuple[ExactIntegers, ExactIntegers]:
    """Any other order, through logarithms: ln T = (1/β)(ln G − ln ρ)."""
    found = [
        _one(ball, row.tolist(), gap.tolist(), int(rest), int(x), unit)
        for row, gap, rest, x in zip(counts, gaps, left, spent, strict=True)
    ]
    low, high = (np.array([bounds[side] for bounds in found], dtype=object) for side in (0, 1))
    return low, high


def _one(ball: ExactBall, counts: list[int], gaps: list[int], left: int, spent: int, unit: int) -> tuple[int, int]:
    """Bounds of T on either side; it is at most the largest gap, being a mean of gaps times a power of ρ below 1."""
    live = [(count, gap) for count, gap in zip(counts, gaps, strict=True) if count > 0]
    if not live or (ball.order <= 1 and any(gap == 0 for _, gap in live)):
        return 0, 0
    two = ln_bounds(2, POWER_BITS)
    logs = [(n, (low - unit * two[1], high - unit * two[0])) for n, low, high in _logarithms(live)]
    if not logs:
        return 0, 0
    if ball.order == 1:
        mass, cost = sum(n for n, _ in logs), (spent * ball.records) << POWER_BITS
        lowest, highest = (sum(n * log[side] for n, log in logs) for side in (0, 1))
        return (
            _exponential(lowest // mass - ceil_div(cost, mass << BUDGET_BITS), unit)[0],
            _exponential(ceil_div(highest, mass) - cost // (mass << BUDGET_BITS), unit)[1],
        )
    beta = (ball.order - 1) / ball.order
    powers = [(n, sorted((_times(beta, log[0], up=beta < 0), _times(beta, log[1], up=beta > 0)))) for n, log in logs]
    below = ln_bounds(left << POWER_BITS, POWER_BITS)
    small = sum(n * exp_bounds(min(power[0], LARGEST << POWER_BITS), POWER_BITS)[0] for n, power in powers)
    large = None
    if beta > 0 or max(power[1] for _, power in powers) <= LARGEST << POWER_BITS:
        large = sum(n * exp_bounds(power[1], POWER_BITS)[1] for n, power in powers)
    least = None if small == 0 else ln_bounds(small << BUDGET_BITS, POWER_BITS)[0] - below[1]
    most = None if large is None else ln_bounds(large << BUDGET_BITS, POWER_BITS)[1] - below[0]
    low, high = (least, most) if beta > 0 else (most, least)
    return (
        0 if low is None else _exponential(_times(1 / beta, low, up=False), unit)[0],
        max(gaps) if high is None else _exponential(_times(1 / beta, high, up=True), unit)[1],
    )


def _logarithms(live: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Counts with the bounds of ln gap, where there is a gap."""
    return [(count, *ln_bounds(gap, POWER_BITS)) for count, gap in live if gap]


def _exponential(exponent: int, unit: int) -> tuple[int, int]:
    """2^unit e^exponent, rounded down and rounded up."""
    low, high = exp_bounds(exponent, POWER_BITS)
    return low << unit >> POWER_BITS, ceil_div(high << unit, 1 << POWER_BITS)


def _times(factor: Fraction, value: int, *, up: bool) -> int:
    numerator = factor.numerator * value
    return ceil_div(numerator, factor.denominator) if up else numerator // factor.denominator


# ---- the chi-square quantile -----------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def chi_square_quantile_upper(degrees: int, confidence: Fraction) -> Fraction:
    """A number q with P(χ² ≤ q) ≥ confidence, proven, and within a relative 1e-9 of the smallest one."""
    guess = float(chdtri(degrees, float(1 - confidence)))
    for margin in MARGINS:
        candidate = max(Fraction(guess * (1 + margin)), SMALLEST)
        if Fraction(cumulative_lower(degrees, candidate), 1 << WIDTH) >= confidence:
            return candidate
    raise ProofError(
        "the chi-square quantile could not be bounded", where=f"{degrees} degrees", remedy="Use a lower confidence."
    )


def cumulative_lower(degrees: int, q: Fraction) -> int:
    """An integer at most 2^128 · P(χ²_d ≤ q)."""
    x_num, x_den = q.numerator, 2 * q.denominator
    log_x = ln_bounds(x_num, WIDTH)[0] - ln_bounds(x_den, WIDTH)[1]
    prefix = (degrees * log_x) // 2 - ceil_div(x_num << WIDTH, x_den) - _ln_gamma_upper(degrees + 2)
    term = total = 1 << WIDTH
    n = 0
    while term:
        n += 1
        term = term * 2 * x_num // (x_den * (degrees + 2 * n))
        total += term
    return exp_bounds(prefix, WIDTH)[0] * total >> WIDTH


def _ln_gamma_upper(halves: int) -> int:
    """An integer at least 2^128 · ln Γ(halves/2)."""
    raised, below = halves, 1
    while raised < 2 * RAISED:
        below *= raised
        raised += 2
    steps = (raised - halves) // 2
    z = Fraction(raised, 2)
    log_z = ln_bounds(raised, WIDTH)[1] - ln_bounds(2, WIDTH)[0]
    stirling = ceil_div((raised - 1) * log_z, 2) + _up(-z + 1 / (12 * z) - 1 / (360 * z**3) + 1 / (1260 * z**5))
    log_two_pi = ln_bounds(2 * PI_UPPER.numerator, WIDTH)[1] - ln_bounds(PI_UPPER.denominator, WIDTH)[0]
    lowered = ln_bounds(below, WIDTH)[0] - steps * ln_bounds(2, WIDTH)[1]
    return stirling + ceil_div(log_two_pi, 2) - lowered


def _up(value: Fraction) -> int:
    return ceil_div(value.numerator << WIDTH, value.denominator)
