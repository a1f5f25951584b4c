"""Bounds of e^x and ln x in integers only: every rounding goes to the safe side.

Numbers are fixed-point: X stands for X/2^width. e^x = 2^k e^r with 0 ≤ r < ln 2; the Taylor series of e^r with every
term rounded down is a lower bound wherever it is cut off, and what rounding and cutting lose is counted.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from discreet.exceptions import ProofError

GUARD = 32
LARGEST = 4096
"""Nothing that a proof needs is beyond e^±4096. No upper bound is given there, and lower bounds stop following."""


@lru_cache(maxsize=1024)
def exp_lower(x: Fraction, bits: int) -> int:
    """An integer at most 2^bits · e^x, and within a few units of it up to x = 4096."""
    x = min(x, Fraction(LARGEST))
    return exp_bounds((x.numerator << bits + GUARD) // x.denominator, bits + GUARD)[0] >> GUARD


@lru_cache(maxsize=1024)
def exp_upper(x: Fraction, bits: int) -> int:
    """An integer at least 2^bits · e^x."""
    return ceil_div(exp_bounds(ceil_div(x.numerator << bits + GUARD, x.denominator), bits + GUARD)[1], 1 << GUARD)


def exp_bounds(x: int, width: int) -> tuple[int, int]:
    """Integers on either side of 2^width · e^(x / 2^width); ProofError where x is too large for an upper bound."""
    limit = LARGEST << width
    if x > limit:
        raise ProofError("a power beyond e^4096", where="certify", remedy="Use an order nearer to 1.")
    if x < -limit:
        return 0, exp_bounds(-limit, width)[1]
    fine = width + GUARD
    low_ln2, high_ln2 = _ln2(fine)
    k = (x << GUARD) // high_ln2
    shift = k * high_ln2, k * low_ln2
    low, high = (x << GUARD) - max(shift), (x << GUARD) - min(shift)
    return _scaled(_taylor(low, fine)[0], k - GUARD, up=False), _scaled(_taylor(high, fine)[1], k - GUARD, up=True)


def ln_bounds(x: int, width: int) -> tuple[int, int]:
    """Integers on either side of 2^width · ln x, for a whole number x ≥ 1."""
    fine = width + GUARD
    exponent = x.bit_length() - 1
    low_ln2, high_ln2 = _ln2(fine)
    low, high = _ln_near_one(x, 1 << exponent, fine)
    return (low + exponent * low_ln2) >> GUARD, ceil_div(high + exponent * high_ln2, 1 << GUARD)


def ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def _taylor(r: int, width: int) -> tuple[int, int]:
    """e^r for r < 0.7. The n-th term inherits r/n of the last one's loss and loses at most 1 + 1/n itself, so every
    term is low by less than 3 units; those left out add up to less than 3. A slightly negative r has 1 + r ≤ e^r ≤ 1.
    """
    if r <= 0:
        return (1 << width) + r, 1 << width
    term = total = 1 << width
    n = 0
    while term:
        n += 1
        term = (term * r >> width) // n
        total += term
    return total, total + 3 * n + 3


def _ln_near_one(numerator: int, denominator: int, width: int) -> tuple[int, int]:
    """ln(numerator/denominator) for a ratio in [1, 2]: 2 Σ z^(2i+1)/(2i+1) with z = (n − d)/(n + d) ≤ 1/3.

    Every power of z is below its true value by less than 2 units and every quotient by less than one more, so n terms
    lose less than 3n; the terms left out add up to less than 3.
    """
    z = ((numerator - denominator) << width) // (numerator + denominator)
    square = z * z >> width
    power, total, n = z, 0, 0
    while power:
        total += power // (2 * n + 1)
        power = power * square >> width
        n += 1
    return 2 * total, 2 * (total + 3 * n + 3)


@lru_cache(maxsize=64)
def _ln2(width: int) -> tuple[int, int]:
    return _ln_near_one(2, 1, width)


def _scaled(value: int, power: int, *, up: bool) -> int:
    """value · 2^power, rounded up or down."""
    if power >= 0:
        return value << power
    return ceil_div(value, 1 << -power) if up else value >> -power
