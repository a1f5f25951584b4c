"""Tails and limits in floating point: where the search for the proven ones begins, and enough for a simulation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, bdtrc, betaincinv, gammaln, xlog1py, xlogy

from discreet.arrays import Floats, Integers

HALVINGS = 50
DEEP = -600.0
"""Below e^−600 the incomplete beta function of SciPy is not trusted."""
FIXED = 15
"""Steps to a limit that is its own tail: each is closer by a factor of the count, or of n times the limit."""
SUMMED = 1e-17
"""Terms below this share of the sum no longer change it."""


def limit_guesses(most: Integers, least: Integers, counts: Integers, tail: float, a: float) -> tuple[Floats, Floats]:
    """The lower limits at the largest sizes, the upper ones at the smallest; a = 0 without noise."""
    if a == 0.0:
        with np.errstate(all="ignore"):
            low = betaincinv(counts, most - counts + 1, tail)
            high = 1 - betaincinv(least - counts, counts + 1, tail)
        return np.where(counts > 0, low, 0.0), np.where(counts < least, high, 1.0)
    low = _inverse(lambda p: closed_tail(most, counts, p, a) <= tail, len(counts))
    high = 1 - _inverse(lambda p: closed_tail(least, least - counts, p, a) <= tail, len(counts))
    return low, high


def met_guesses(sizes: Integers, counts: Integers, tail: float) -> tuple[Floats, Floats]:
    """Limits whose tails are `tail` times themselves: where the tail is a share of the limit before, over and over."""
    low, high = counts / np.maximum(sizes, 1), (counts + 1.0) / np.maximum(sizes, 1)
    for _ in range(FIXED):
        with np.errstate(all="ignore"):
            low = np.where(counts > 0, betaincinv(np.maximum(counts, 1), sizes - counts + 1, tail * low), 0.0)
            high = np.where(counts < sizes, 1 - betaincinv(np.maximum(sizes - counts, 1), counts + 1, tail * high), 1.0)
    return low, high


def closed_tail(n: ArrayLike, m: ArrayLike, p: ArrayLike, a: float) -> Floats:
    """P(B + Z ≥ m) with B ~ Bin(n, p) and P(Z = z) ∝ a^|z|; for a = 0 there is no noise.

    P(B ≥ m) + a^m (q+p/a)^n P(B' < m)/(1+a) − a^(1−m) (q+pa)^n P(B'' ≥ m)/(1+a), B' and B'' binomial with
    p' = (p/a)/(q+p/a) and p'' = pa/(q+pa): the noise tilts the binomial.
    """
    n, m, p = (np.asarray(part, dtype=float) for part in np.broadcast_arrays(n, m, p))
    plain = np.where(m <= 0, 1.0, np.where(m > n, 0.0, bdtrc(_inside(m - 1, n), n.astype(np.int64), p)))
    if a == 0.0:
        return plain
    up, down = (1 - p) + p / a, (1 - p) + p * a
    more = m * np.log(a) + xlogy(n, up) + _log_at_most(m - 1, n, np.minimum(p / a / up, 1))
    less = (1 - m) * np.log(a) + xlogy(n, down) + _log_at_most(n - m, n, np.minimum((1 - p) / down, 1))
    return np.asarray(np.clip(plain + (np.exp(more) - np.exp(less)) / (1 + a), 0.0, 1.0))


def _inside(b: Floats, n: Floats) -> Floats:
    return np.clip(b, 0, np.maximum(n - 1, 0))


def _log_at_most(b: Floats, n: Floats, p: Floats) -> Floats:
    """ln P(B ≤ b) of a binomial, b any whole number. Where floats underflow, the terms below b fall geometrically."""
    b, n, p = np.broadcast_arrays(b, n, p)
    with np.errstate(divide="ignore"):
        found = np.array(
            np.log(np.where(b < 0, 0.0, np.where(b >= n, 1.0, bdtr(_inside(b, n), n.astype(np.int64), p)))), order="C"
        )
    deep = np.flatnonzero(((found < DEEP) & (b >= 0) & (b < n) & (p < 1)).ravel())
    if len(deep):
        b, n, p = (part.ravel()[deep] for part in (b, n, p))
        first = gammaln(n + 1) - gammaln(b + 1) - gammaln(n - b + 1) + xlogy(b, p) + xlog1py(n - b, -p)
        total, term = np.ones(len(deep)), np.ones(len(deep))
        for i in range(int(b.max()) + 1):
            term = term * np.maximum(b - i, 0) * (1 - p) / ((n - b + i + 1) * p)
            total += term
            if (term < SUMMED * total).all():
                break
        found.reshape(-1)[deep] = first + np.log(total)
    return found


def _inverse(accepted: Callable[[Floats], NDArray[np.bool_]], size: int) -> Floats:
    """The largest p accepted, by halving."""
    low, high = np.zeros(size), np.ones(size)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        yes = accepted(middle)
        low, high = np.where(yes, middle, low), np.where(yes, high, middle)
    return low
