"""Rational bounds of e^x, in integers only: every rounding goes to the safe side.

Σ xⁿ/n! with every term rounded down is a lower bound wherever it is cut off. Rounded up, and cut at n ≥ 2x, what is
left out is at most the last term, because from there on the terms at least halve.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

GUARD_BITS = 64
LARGEST = 256
"""e^x beyond this is bounded below by e^256, which is sound and keeps the integers small."""


@lru_cache(maxsize=4096)
def exp_lower(x: Fraction, bits: int) -> int:
    """An integer at most 2^bits · e^x, and within a few units of it for x ≤ 256."""
    if x < 0:
        return (1 << 2 * bits) // exp_upper(-x, bits)
    width = bits + GUARD_BITS
    power = _floor(min(x, Fraction(LARGEST)), width)
    term = total = 1 << width
    n = 0
    while term:
        n += 1
        term = (term * power >> width) // n
        total += term
    return total >> GUARD_BITS


@lru_cache(maxsize=4096)
def exp_upper(x: Fraction, bits: int) -> int:
    """An integer at least 2^bits · e^x."""
    if x < 0:
        return ceil_div(1 << 2 * bits, max(1, exp_lower(-x, bits)))
    if x > LARGEST:
        raise OverflowError(f"no upper bound of e^x is kept beyond x = {LARGEST}")
    width = bits + GUARD_BITS
    power = -_floor(-x, width)
    term = total = 1 << width
    n = 0
    while term > 1 or n < 2 * x:
        n += 1
        term = ceil_div(ceil_div(term * power, 1 << width), n)
        total += term
    return ceil_div(total + term, 1 << GUARD_BITS)


def ceil_div(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)


def _floor(x: Fraction, bits: int) -> int:
    return (x.numerator << bits) // x.denominator
