"""Letters that were met rather than declared (theory 5.1): how much of a secret's people may have others.

A table shows the letters of those who are in it. The share ρ_s of people with secret s whose value is no letter of the
table may be bounded all the same. Take each record of s out with probability f, independently; of the m records taken
out, those whose value nobody else has left are Bin(m, ρ') with ρ' ≥ ρ_s. If ρ_s ≥ x, the mean of 1[none]/(1 − x)^m
is at most 1, and so is its mean over what might have been taken out, which has a closed form: with g = 1/(1 − x)

    e(x) = ∏_u ((fg + 1 − f)^N_u − [only s has u] (fg)^N_u).

So ρ_s ≥ x and e(x) ≥ J/τ happen together with probability at most τ/J (Markov), and the smallest of J fixed x at which
e is so large bounds ρ_s with probability 1 − τ. The mean of e over several f serves as well. In integers, rounded down.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.arrays import Integers
from discreet.uncertainty.tails import BITS, MANTISSA, ONE, Big, ceil_ratio, power, trim

TAKEN = (Fraction(1, 2), Fraction(7, 8), Fraction(1))
"""Half serves where letters are rare, all of them where others have every letter of this secret too."""
OCTAVES = 20
"""Shares are looked for down to 2^−20, which eight million records do not reach."""
KEPT = 1 << 12
"""Powers that are remembered: letters of one size share them."""
SHARES = tuple(part << BITS - 2 - octave for octave in range(OCTAVES) for part in (3, 2))
"""3/4, 1/2, 3/8, 1/4, …: whole numbers over 2^40, in falling order."""


def unmet_share(column: Integers, secret: int, tail: Fraction) -> int:
    """At least ρ_s of one column with probability 1 − `tail`, over 2^40, from its counts[s, letter]."""
    own = column[secret]
    alone = own == column.sum(axis=0)
    shared, only = int(own[~alone].sum()), own[alone & (own > 0)]
    sizes, times = np.unique(only, return_counts=True)
    letters = list(zip(sizes.tolist(), times.tolist(), strict=True))
    enough = len(SHARES) * len(TAKEN) / tail
    least = ONE
    for share in SHARES:
        if not _reached(share, shared, letters, enough):
            break
        least = share
    return least


def _reached(share: int, shared: int, letters: list[tuple[int, int]], enough: Fraction) -> bool:
    """Whether the mean of e(x) over f is proven to be at least J/τ: the sum is at least len(TAKEN) times that."""
    goal = ceil_ratio(enough.numerator, enough.denominator)
    total = Fraction(0)
    for mantissa, exponent in _evidence(share, shared, letters):
        size = mantissa.bit_length() + exponent
        if mantissa and size > goal.bit_length():
            return True
        if mantissa and size > 0:
            total += Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))
    return total >= goal


def _evidence(share: int, shared: int, letters: list[tuple[int, int]]) -> Iterator[Big]:
    """At most e(x) for every f. With x = share/2^40 and f = a/b: fg + 1 − f = (b − (b − a)x) / (b(1 − x))."""
    for taken in TAKEN:
        a, b = taken.numerator, taken.denominator
        whole, part, below = b * ONE - (b - a) * share, a * ONE, b * (ONE - share)
        value = _ratio_power(whole, below, shared)
        for size, times in letters:
            more, less = _ratio_power(whole, below, size), _ratio_power(part, below, size, up=True)
            value = _times(value, power(_less(more, less), times, up=False))
        yield value


@lru_cache(maxsize=KEPT)
def _ratio_power(numerator: int, denominator: int, exponent: int, *, up: bool = False) -> Big:
    """(numerator / denominator)^exponent, rounded one way."""
    over, under = power((numerator, 0), exponent, up=up), power((denominator, 0), exponent, up=not up)
    shifted = over[0] << under[0].bit_length() + MANTISSA
    quotient = ceil_ratio(shifted, under[0]) if up else shifted // under[0]
    return trim((quotient, over[1] - under[1] - under[0].bit_length() - MANTISSA), up=up)


def _times(first: Big, second: Big) -> Big:
    return trim((first[0] * second[0], first[1] + second[1]), up=False)


def _less(first: Big, second: Big) -> Big:
    """At most the difference, at least 0."""
    if first[1] - second[1] > 2 * MANTISSA:  # the other is below one unit
        return first[0] - 1, first[1]
    if second[1] - first[1] > 2 * MANTISSA:
        return 0, 0
    low = min(first[1], second[1])
    return max((first[0] << first[1] - low) - (second[0] << second[1] - low), 0), low
