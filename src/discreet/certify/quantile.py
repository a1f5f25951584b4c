"""An upper bound of the chi-square quantile that can be checked: a candidate is accepted once its cumulative
probability, bounded below in integers, reaches the confidence.

    P(χ²_d ≤ q) = x^a e^−x / Γ(a + 1) · Σ_n x^n / ((a + 1) ⋯ (a + n)),      a = d/2, x = q/2.

All terms are positive, so a cut-off series with every term rounded down is a lower bound. ln Γ comes from Stirling's
series, which is above ln Γ when cut after 1/(1260 z⁵), at an argument raised to 1,000 by Γ(z + 1) = z Γ(z).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from scipy.special import chdtri

from discreet.certify.exponential import ceil_div, exp_bounds, ln_bounds
from discreet.exceptions import ProofError

WIDTH = 128
PI_UPPER = Fraction(31415926535897932384626433832795028842, 10**37)
RAISED = 1000
SMALLEST = Fraction(1, 10**9)


@lru_cache(maxsize=256)
def chi_square_quantile_upper(degrees: int, confidence: Fraction) -> Fraction:
    """A number q with P(χ² ≤ q) ≥ confidence, proven, and within a relative 1e-9 of the smallest one."""
    guess = float(chdtri(degrees, float(1 - confidence)))
    for margin in (1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9):
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
