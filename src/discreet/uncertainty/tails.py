"""Tails of counts in integers only: what proves a confidence limit (theory 5.1 and 5.4).

A count of n records with probability p each, and discrete Laplace noise Z with P(z) ∝ a^|z| where counts are noisy:

    P(B + Z ≥ m) = Σ_b P(B = b) P(Z ≥ m − b),   P(Z ≥ j) = a^j/(1 + a) for j ≥ 1,  1 − a^(1−j)/(1 + a) for j ≤ 0.

Every term is positive and rounded up; terms left out fall geometrically and are counted. p is a whole number over 2^40.
The largest p whose tail is proven to be at most τ is *the* limit: one number on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from discreet.exceptions import ParameterError

BITS = 40
"""Limits are whole numbers over 2^40: a unit is 2,000 times smaller than the limit of one record among a million."""
ONE = 1 << BITS
WIDTH = 96
"""Terms are fixed-point with so many bits beside the first one."""
NEGLIGIBLE = WIDTH - 64
"""Terms below 2^−64 of the first one are bounded by a geometric series."""
MANTISSA = 128
STRIDE = 256
"""Factorials are kept at multiples of this."""


@dataclass(frozen=True)
class Decay:
    """Integers on either side of 2^96 · a, a = e^−rate: one step of the noise."""

    low: int
    high: int

    @classmethod
    def of(cls, rate: Fraction) -> Decay:
        """e^−x = (e^(−x/2^j))^(2^j) with x/2^j ≤ 1/2; there the alternating series encloses it."""
        if rate <= 0:
            raise ParameterError("noise without a positive ε0", where="Noise", remedy="Try Noise(1.0).")
        halvings = max(0, (2 * rate.numerator // rate.denominator).bit_length())
        fine = WIDTH + 2 * halvings + 16
        x = Fraction(rate, 1 << halvings)
        low = high = term_low = term_high = 1 << fine
        n, sign = 0, -1
        while term_high > 1:
            n += 1
            term_low = term_low * x.numerator // (x.denominator * n)
            term_high = ceil_ratio(term_high * x.numerator, x.denominator * n)
            low, high = (low - term_high, high - term_low) if sign < 0 else (low + term_low, high + term_high)
            sign = -sign
        low, high = low - 2, high + 2
        for _ in range(halvings):
            low, high = low * low >> fine, ceil_ratio(high * high, 1 << fine)
        return cls(low >> fine - WIDTH, ceil_ratio(high, 1 << fine - WIDTH))


def lower_limit(n: int, m: int, tail: Fraction, decay: Decay | None, guess: float) -> int:
    """The largest whole L with P(M ≥ m) ≤ tail proven at p = L/2^40; 0 where there is none. The guess saves time only.

    P(M ≥ m) rises with p, so every p below the limit has a smaller tail, and the true p is below it with probability at
    most `tail`.
    """

    def proven(limit: int) -> bool:
        return limit <= 0 or (limit <= ONE and tail_upper(n, m, limit, decay) <= tail)

    return _last(proven, min(max(int(guess * ONE), 0), ONE))


def upper_limit(n: int, m: int, tail: Fraction, decay: Decay | None, guess: float) -> int:
    """The smallest whole U with P(M ≤ m) ≤ tail proven at p = U/2^40, at most 2^40: the lower limit of what is not
    counted, n − m, whose noise has the same law."""
    return ONE - lower_limit(n, n - m, tail, decay, 1.0 - guess)


def lower_limit_met(n: int, m: int, tail: Fraction, guess: float) -> int:
    """The largest whole L with P(B ≥ m) ≤ tail · p proven at p = L/2^40: for letters that were met, however many there
    may be, since Σ p = 1 (theory 5.1). P(B ≥ m)/p rises with p up to (m − 1)/(n − 1), where the limit is kept; one
    record proves nothing."""

    def proven(limit: int) -> bool:
        return limit <= 0 or (limit * (n - 1) <= (m - 1) * ONE and tail_upper(n, m, limit, None) <= tail * limit / ONE)

    return _last(proven, min(max(int(guess * ONE), 0), ONE))


def upper_limit_met(n: int, m: int, tail: Fraction, guess: float) -> int:
    """The smallest whole U with P(B ≤ m) ≤ tail · p proven at p = U/2^40, at most 2^40; P(B ≤ m)/p falls with p."""

    def proven(rest: int) -> bool:
        return rest <= 0 or (rest <= ONE and tail_upper(n, n - m, rest, None) <= tail * (ONE - rest) / ONE)

    return ONE - _last(proven, min(max(int((1 - guess) * ONE), 0), ONE))


def tail_upper(n: int, m: int, limit: int, decay: Decay | None) -> Fraction:
    """At least P(M ≥ m) at p = limit/2^40; simply one where m is not above the mean, for no limit lies there."""
    if decay is None and m <= 0:
        return Fraction(1)
    if decay is None and m > n:
        return Fraction(0)
    if limit in (0, ONE):
        return _noise_tail(m - n if limit else m, decay)
    if m <= n * limit >> BITS:
        return Fraction(1)
    start = min(max(m, 0), n)
    up, down = limit, ONE - limit
    total = _above(n, start, m, up, down, decay)
    if decay is not None:
        total += _below(n, start, m, up, down, decay)
    return _scaled(total, _first_term(n, start, up, down))


def noise_reach(cells: int, decay: Decay, tail: Fraction) -> int:
    """The smallest t for which P(|Z_1 + … + Z_cells| > t) ≤ tail is proven.

    The sum is the difference of two negative binomials: P(sum > t) = Σ_j f(j) F(j − t − 1), f and F their mass and
    cumulative functions, f(j) = C(cells−1+j, j) (1−a)^cells a^j, rounded up; what lies beyond f < 2^−64 is a remainder.
    """
    one = 1 << WIDTH
    term = one
    for _ in range(cells):
        term = ceil_ratio(term * (one - decay.low), one)
    mass, j = [term], 0
    while True:
        j += 1
        ratio = Fraction((cells - 1 + j) * decay.high, j << WIDTH)
        term = ceil_ratio(mass[-1] * ratio.numerator, ratio.denominator)
        mass.append(term)
        following = Fraction((cells + j) * decay.high, (j + 1) << WIDTH)
        if following < 1 and term.bit_length() <= NEGLIGIBLE:
            rest = ceil_ratio(term * following.numerator, following.denominator - following.numerator)
            break
    total, cumulative = 0, []
    for value in mass:
        total += value
        cumulative.append(min(total, one))

    def beyond(t: int) -> int:
        """At least 2^192 · P(sum > t); F at arguments past the list is at most one, and their f add up to the rest."""
        inside = sum(mass[i] * cumulative[i - t - 1] for i in range(t + 1, len(mass)))
        return inside + (rest << WIDTH)

    def proven(t: int) -> bool:
        return Fraction(2 * beyond(t), 1 << 2 * WIDTH) <= tail

    low, high = -1, 1
    while not proven(high):
        low, high = high, 2 * high
        if low > len(mass):
            raise ParameterError("a confidence out of reach", where="Confidence", remedy="Use a lower confidence.")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if proven(middle) else (middle, high)
    return high


def _above(n: int, start: int, m: int, up: int, down: int, decay: Decay | None) -> int:
    """Σ over b ≥ max(start, m) of P(b) P(Z ≥ m − b), over 2^96 and in units of P(start)."""
    one = 1 << WIDTH
    term, total, b = one, 0, start
    if b < m:
        return 0
    missing = 0
    if decay is not None:
        missing = (one << WIDTH) // (one + decay.low)
        for _ in range(1 + b - m):
            missing = missing * decay.low >> WIDTH
    while True:
        total += term if decay is None else ceil_ratio(term * (one - missing), one)
        if b == n:
            return total
        numerator, denominator = (n - b) * up, (b + 1) * down
        if numerator < denominator and term.bit_length() <= NEGLIGIBLE:
            return total + ceil_ratio(term * numerator, denominator - numerator)
        term = ceil_ratio(term * numerator, denominator)
        b += 1
        if decay is not None:
            missing = missing * decay.low >> WIDTH


def _below(n: int, start: int, m: int, up: int, down: int, decay: Decay) -> int:
    """Σ over b < m of P(b) a^(m−b)/(1 + a), over 2^96 and in units of P(start)."""
    one = 1 << WIDTH
    b, term = start, one
    if start == m:
        if b == 0:
            return 0
        term = ceil_ratio(term * b * down * decay.high, (n - b + 1) * up << WIDTH)
        b -= 1
    elif start < m:
        for _ in range(m - start):
            term = ceil_ratio(term * decay.high, one)
    else:
        return 0
    total = 0
    while True:
        total += term
        if b == 0:
            break
        numerator, denominator = b * down * decay.high, (n - b + 1) * up << WIDTH
        if numerator < denominator and term.bit_length() <= NEGLIGIBLE:
            total += ceil_ratio(term * numerator, denominator - numerator)
            break
        term = ceil_ratio(term * numerator, denominator)
        b -= 1
    return ceil_ratio(total << WIDTH, one + decay.high)


def _noise_tail(j: int, decay: Decay | None) -> Fraction:
    """At least P(Z ≥ j)."""
    if decay is None:
        return Fraction(1 if j <= 0 else 0)
    a = Fraction(decay.high if j >= 1 else decay.low, 1 << WIDTH)
    return a**j / (1 + a) if j >= 1 else 1 - a ** (1 - j) / (1 + a)


Big = tuple[int, int]
"""mantissa · 2^exponent"""


def _first_term(n: int, b: int, up: int, down: int) -> Big:
    """At least C(n, b) p^b (1 − p)^(n−b)."""
    value = trim(_factorial(n)[1], up=True)
    for below in (_factorial(b)[0], _factorial(n - b)[0]):
        value = trim((ceil_ratio(value[0] << 2 * MANTISSA, below[0]), value[1] - 2 * MANTISSA - below[1]), up=True)
    for factor in (power((up, 0), b, up=True), power((down, 0), n - b, up=True)):
        value = trim((value[0] * factor[0], value[1] + factor[1]), up=True)
    return value[0], value[1] - BITS * n


def power(base: Big, exponent: int, *, up: bool) -> Big:
    """base^exponent, rounded one way."""
    result, square = (1, 0), base
    while exponent:
        if exponent & 1:
            result = trim((result[0] * square[0], result[1] + square[1]), up=up)
        square = trim((square[0] * square[0], 2 * square[1]), up=up)
        exponent >>= 1
    return result


def _factorial(n: int) -> tuple[Big, Big]:
    """Numbers on either side of n!, from the nearest one kept."""
    low, high = _kept_factorial(n // STRIDE)
    for i in range(n // STRIDE * STRIDE + 1, n + 1):
        low, high = trim((low[0] * i, low[1]), up=False), trim((high[0] * i, high[1]), up=True)
    return low, high


_KEPT: list[tuple[Big, Big]] = [((1, 0), (1, 0))]  # 0! = 1, from below and from above


def _kept_factorial(place: int) -> tuple[Big, Big]:
    while len(_KEPT) <= place:
        low, high = _KEPT[-1]
        first = (len(_KEPT) - 1) * STRIDE + 1
        for i in range(first, first + STRIDE):
            low, high = trim((low[0] * i, low[1]), up=False), trim((high[0] * i, high[1]), up=True)
        _KEPT.append((low, high))
    return _KEPT[place]


def trim(value: Big, *, up: bool) -> Big:
    """At most 128 bits of mantissa, rounded up or down."""
    mantissa, exponent = value
    excess = mantissa.bit_length() - MANTISSA
    if excess <= 0:
        return value
    return (ceil_ratio(mantissa, 1 << excess) if up else mantissa >> excess), exponent + excess


def _scaled(total: int, first: Big) -> Fraction:
    """total/2^96 times the first term; what is below 2^−1024 counts as that much."""
    exponent = first[1] - WIDTH
    if exponent + (total * first[0]).bit_length() < -1024:
        return Fraction(1, 1 << 1024)
    return Fraction(total * first[0]) * (Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent))


def _last(proven: Callable[[int], bool], guess: int) -> int:
    """The last whole number in [0, 2^40] that is proven, looked for around the guess; what is proven is a beginning."""
    known = lru_cache(maxsize=None)(proven)
    step = 1
    if known(guess):
        low, high = guess, guess + 1
        while high <= ONE and known(high):
            low, high, step = high, high + step, 2 * step
        high = min(high, ONE + 1)
    else:
        low, high = guess - 1, guess
        while not known(low):
            low, high, step = max(low - step, 0), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if known(middle) else (low, middle)
    return low


def ceil_ratio(numerator: int, denominator: int) -> int:
    return -(-numerator // denominator)
