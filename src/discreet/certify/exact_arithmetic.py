"""Whole numbers only: e^x and ln x between integers, exact products, and a float matrix as integer weights.

Numbers are fixed-point: X stands for X/2^width, and every rounding goes to the safe side. e^x = 2^k e^r with
0 ≤ r < ln 2; the Taylor series of e^r with every term rounded down is a lower bound wherever it is cut off, and what
rounding and cutting lose is counted.

The prior enters every notion only through ratios, so integers proportional to it will do: the counts themselves, or
the floats of a given distribution, each of which is an integer times a power of two. Products of integers are made of
floating-point products of limbs so narrow that nothing is rounded. Columns of weights add up to 2^bits exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csc_array

from discreet.arrays import Floats, Indices, Integers, Rows, Weights
from discreet.exceptions import ChannelError, ParameterError, ProofError
from discreet.joint import Joint

GUARD = 32
LARGEST = 4096
"""Nothing that a proof needs is beyond e^±4096. No upper bound is given there, and lower bounds stop following."""
ExactIntegers = NDArray[Any]
"""Arrays of Python integers, as wide as they need to be."""
MANTISSA = 53
SUM_BITS = 62
"""Sums of products below 2^62 are whole numbers of 64 bits, sign included."""
BITS = 52
"""Weights of at most 2^52 are exact in every language that reads JSON, and leave room for the sampler's tables."""
MAX_BITS = 60
"""Sums of two weights of at most 2^60 stay below 2^62 (`SUM_BITS`), whole numbers of 64 bits."""


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


# ---- the prior and the weights, multiplied without rounding ----------------------------------------------------------


def exact_prior(joint: Joint) -> ExactIntegers:
    """Integers proportional to P(s, x1, …, xm), in the shape of `joint.probabilities`."""
    if joint.counts is not None and joint.noise is None:
        return joint.counts.astype(object)
    mantissas, exponents = np.frexp(joint.probabilities)
    whole = np.ldexp(mantissas, MANTISSA).astype(np.int64).astype(object)
    lowest = exponents[joint.probabilities > 0].min()
    return np.asarray(whole << np.maximum(exponents - lowest, 0).astype(object))


def exact_products(left: ExactIntegers, right: NDArray[np.int64]) -> ExactIntegers:
    """left @ right.T for integers ≥ 0, exact.

    Both sides are cut into limbs so narrow that a sum of products of limbs stays below 2^53: floating-point matrix
    products of such limbs are exact in whatever order they are added.
    """
    width = (MANTISSA - int(left.shape[1]).bit_length()) // 2
    left_limbs, right_limbs = _limbs(left, width), _limbs(right, width)
    totals = np.zeros((len(left_limbs) + len(right_limbs) - 1, len(left), len(right)), dtype=np.int64)
    for i, first in enumerate(left_limbs):
        for j, second in enumerate(right_limbs):
            totals[i + j] += (first @ second.T).astype(np.int64)
    result: ExactIntegers = totals[-1].astype(object)
    for part in totals[-2::-1]:
        result = (result << width) + part
    return result


def _limbs(whole: NDArray[np.int64] | ExactIntegers, width: int) -> list[NDArray[np.float64]]:
    """Σ_i 2^(width·i) limb_i = whole, each limb a float below 2^width."""
    count = max(1, -(-int(whole.max()).bit_length() // width))
    mask = (1 << width) - 1
    small = whole.astype(np.int64) if int(whole.max()) < 2**62 else whole
    return [((small >> width * i) & mask).astype(np.float64) for i in range(count)]


def sparse_product(weights: csc_array, letters: ExactIntegers) -> ExactIntegers:
    """weights @ letters for integers ≥ 0, exact, in a number of products in proportion to the weights that are there.

    Limbs are so narrow that the sum of all products of an output stays below 2^62. Running totals wrap around at 2^64,
    and their differences, which are those sums, come out right.
    """
    rows = weights.tocsr()
    most = int(np.diff(rows.indptr).max(initial=1))
    width = (SUM_BITS - most.bit_length()) // 2
    left, right = _whole_limbs(rows.data, width), _whole_limbs(letters, width)
    totals = np.zeros((len(left) + len(right) - 1, rows.shape[0]), dtype=object)
    for j, second in enumerate(right):
        chosen = second[rows.indices]
        for i, first in enumerate(left):
            running = np.concatenate([[0], np.cumsum(first * chosen)])
            totals[i + j] += np.diff(running[rows.indptr])
    result: ExactIntegers = totals[-1]
    for part in totals[-2::-1]:
        result = (result << width) + part
    return result


def _whole_limbs(whole: NDArray[np.int64] | ExactIntegers, width: int) -> list[Integers]:
    """Σ_i 2^(width·i) limb_i = whole, each limb below 2^width."""
    largest = int(whole.max(initial=0))
    small = whole.astype(np.int64) if largest < 2**62 else whole
    mask = (1 << width) - 1
    return [((small >> width * i) & mask).astype(np.int64) for i in range(max(1, -(-largest.bit_length() // width)))]


def secret_weights(weights: Weights, joint: Joint, prior: ExactIntegers) -> ExactIntegers:
    """Σ_x prior[s, x] weights[y, (s, x)], one row per secret, one column per output: P(s, y) up to a factor."""
    cells = prior.reshape(len(prior), -1)
    if not isinstance(weights, np.ndarray):
        k = cells.shape[1]
        parts = [weights[:, s * k : (s + 1) * k] if joint.reads_secret else weights for s in range(len(cells))]
        return np.stack([sparse_product(part, row) for part, row in zip(parts, cells, strict=True)])
    if not joint.reads_secret:
        return exact_products(cells, weights)
    by_secret = weights.reshape(len(weights), *cells.shape)
    return np.vstack([exact_products(cells[s : s + 1], by_secret[:, s]) for s in range(len(cells))])


# ---- rounding --------------------------------------------------------------------------------------------------------


def round_columns(given: Rows, bits: int = BITS) -> Weights:
    """Integers W ≥ 0 near 2^bits · given with Σ_y W[y, z] = 2^bits for every z; zeros stay zero, empty columns empty.
    An array gives an array, a sparse array sparse columns, with the same weights.

    Rounded down first; what a column then lacks goes in proportion to its entries, and the last few units to the
    entries that lost most.
    """
    if not 1 <= bits <= MAX_BITS:
        raise ParameterError(f"{bits} bits", where="bits", remedy=f"Use 1 to {MAX_BITS}.")
    columns = sparse.csc_array(given, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    size = columns.shape[1]
    letter = np.repeat(np.arange(size), np.diff(columns.indptr))
    target: Floats = np.ldexp(columns.data / np.bincount(letter, columns.data, size)[letter], bits)
    weights: Integers = np.floor(target).astype(np.int64)
    lost, used = target - weights, np.diff(columns.indptr) > 0

    def total() -> Integers:
        running = np.concatenate([[0], np.cumsum(weights)])  # wraps around; the differences come out right
        return np.asarray(np.diff(running[columns.indptr]))

    def missing() -> Integers:
        return np.where(used, (1 << bits) - total(), 0)

    if (missing() < 0).any():
        surplus = np.minimum(missing(), 0)[letter] / total()[letter]
        _spread(weights, np.ceil(weights * surplus).astype(np.int64))
    lack = np.maximum(missing(), 0)[letter] / total()[letter]
    _spread(weights, np.floor(weights * lack).astype(np.int64))
    _settle(weights, lost, letter, missing)
    found = sparse.csc_array((weights, columns.indices, columns.indptr), shape=columns.shape)
    return found if sparse.issparse(given) else np.asarray(found.toarray(order="C"))


def marginal_weights(weights: Weights, bits: int, joint: Joint) -> Integers:
    """q_y = P(Y = y) as weights over 2^bits: what a value outside the alphabet is drawn from.

    In integers from the exact prior, so that every machine finds the same: rounded down, then one unit each where
    rounding took most. An output that a known value can have is never left out, or it would tell that the value was
    known: it gets at least one unit, from the likeliest. So there must be at most 2^bits outputs.
    """
    prior = exact_prior(joint).reshape(len(joint.probabilities), -1)
    letters = prior.reshape(1, -1) if joint.reads_secret else prior.sum(axis=0, keepdims=True)
    if isinstance(weights, np.ndarray):
        masses, possible = exact_products(letters, weights)[0], np.flatnonzero(weights.any(axis=1))
    else:
        masses, possible = sparse_product(weights, letters[0]), np.unique(weights.indices)
    return apportioned(masses, bits, possible)


def apportioned(masses: ExactIntegers, bits: int, possible: Indices) -> Integers:
    """Whole numbers in proportion to the masses that add up to 2^bits: rounded down, then one unit each where rounding
    took most, and at least one for each that is `possible`."""
    shares, lost = (masses << bits) // masses.sum(), (masses << bits) % masses.sum()
    order = np.argsort(-lost, kind="stable")
    shares[order[: (1 << bits) - int(shares.sum())]] += 1
    left_out = possible[shares[possible] == 0]
    shares[left_out] = 1
    order = np.argsort(-shares, kind="stable")
    spare = np.cumsum(np.maximum(shares[order] - 1, 0))
    shares[order] -= np.diff(np.minimum(spare, len(left_out)), prepend=0)
    return np.asarray(shares, dtype=np.int64)


def _spread(weights: Integers, change: Integers) -> None:
    weights += np.maximum(change, -weights)


def _settle(weights: Integers, lost: Floats, letter: Integers, missing: Callable[[], Integers]) -> None:
    """Unit by unit until every column is exact: added where rounding took most, taken from the largest."""
    order = np.lexsort((-lost, letter))
    usable = np.bincount(letter)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.repeat(np.cumsum(usable) - usable, usable)
    for _ in range(64):
        left = missing()
        if not left.any():
            return
        whole, rest = np.divmod(np.abs(left[: len(usable)]), np.maximum(usable, 1))
        units = (whole[letter] + (rank < rest[letter])) * np.sign(left)[letter]
        _spread(weights, units)
    raise ChannelError("a column cannot be rounded", where="round_columns", remedy="Use more bits.")
