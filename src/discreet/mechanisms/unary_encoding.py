"""Optimised Unary Encoding (funnel-2, eq. 30): one noisy bit per letter, so 2^a outputs.

With r = 1/(e^α + 1), the bit of the true letter is fair and every other bit is set with probability r. An output is the
set y of letters whose bit is set; its likelihood depends on x only through x ∈ y. Hence everything follows from the
masses P(y) = Σ_{x∈y} p_x of the 2^a subsets: the utility is a sum over them, and the worst subset for a pair of
distributions is one of a prefixes in the order of their likelihood ratio, so levels need no enumeration at all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import log_ratio, ordered_pairs

LISTED_LETTERS = 16
SUMMED_LETTERS = 22
DRAWS = 1_000_000
"""The utility is summed over all 2^a outputs for up to 22 letters (4 million), and drawn beyond; as a matrix the
mechanism is written for up to 16 (65,536 outputs)."""


@dataclass(frozen=True)
class MonteCarlo:
    """A value and its standard error, which is zero where the value is exact."""

    value: float
    standard_error: float


def oue(joint: Joint, strength: float) -> Channel:
    """OUE^α on the target letters, written out: for at most 16 letters."""
    a = len(joint.target_letters)
    if a > LISTED_LETTERS:
        raise ParameterError(
            f"2^{a} outputs cannot be listed", where="oue", remedy="Use oue_information and oue_level, or GRR."
        )
    bits = (np.arange(2**a)[:, None] >> np.arange(a)) & 1
    inside, outside = _likelihoods(bits.sum(axis=1), a, strength)
    matrix = np.where(bits == 1, inside[:, None], outside[:, None])
    names = tuple(tuple(compress(joint.target_letters, row)) for row in bits)
    return Channel(matrix[:, joint.target_of], joint.letters, names)


def oue_information(joint: Joint, strength: float, seed: int = 0) -> MonteCarlo:
    """I(T;Y): exact up to 22 letters, above that estimated from a million draws with its standard error."""
    p = joint.target_prior
    if len(p) > SUMMED_LETTERS:
        return _estimated_information(p, strength, np.random.default_rng(seed))
    masses, sizes = subset_masses(p)
    inside, outside = _likelihoods(sizes, len(p), strength)
    average = masses * inside + (1 - masses) * outside
    used = average > 0
    masses, inside, outside, average = masses[used], inside[used], outside[used], average[used]
    parts = masses * xlogy(inside, inside / average) + (1 - masses) * xlogy(outside, outside / average)
    return MonteCarlo(float(parts.sum()), 0.0)


def oue_level(joint: Joint, strength: float, notion: LDP | LIP) -> float:
    """The exact level of OUE^α (eq. 32 for LIP) in O(c² a log a), for any number of letters."""
    conditionals = np.array([_target_masses(joint, row) for row in joint.letter_given_secret])
    if isinstance(notion, LIP):
        average = np.broadcast_to(joint.target_prior, conditionals.shape)
        first, second = np.vstack([conditionals, average]), np.vstack([average, conditionals])
    else:
        i, j = ordered_pairs(len(conditionals))
        first, second = conditionals[i], conditionals[j]
    if math.isinf(strength):
        return float(log_ratio(first, second).max(initial=0.0))
    order = np.argsort(-log_ratio(first, second), axis=1)
    offset = 1 / math.expm1(strength) if strength > 0 else math.inf
    if math.isinf(offset):
        return 0.0
    tops = offset + np.cumsum(np.take_along_axis(first, order, axis=1), axis=1)
    bottoms = offset + np.cumsum(np.take_along_axis(second, order, axis=1), axis=1)
    return float(log_ratio(tops, bottoms).max(initial=0.0))


def subset_masses(p: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """P(y) and #y for every subset y, the bits of its index telling the members."""
    masses, sizes = np.zeros(1), np.zeros(1, dtype=np.int64)
    for mass in p:
        masses, sizes = np.concatenate([masses, masses + mass]), np.concatenate([sizes, sizes + 1])
    return masses, sizes


def _likelihoods(sizes: NDArray[np.int64], a: int, strength: float) -> tuple[Floats, Floats]:
    """P(y | x) for x ∈ y and for x ∉ y, given #y (eq. 31). The first is unused, and zero, for the empty set."""
    r = float(expit(-strength))
    inside = 0.5 * np.power(r, np.maximum(sizes - 1, 0)) * np.power(1 - r, a - sizes)
    outside = 0.5 * np.power(r, sizes) * np.power(1 - r, np.maximum(a - 1 - sizes, 0))
    return np.where(sizes > 0, inside, 0.0), np.where(sizes < a, outside, 0.0)


def _target_masses(joint: Joint, masses: Floats) -> Floats:
    return np.bincount(joint.target_of, weights=masses, minlength=len(joint.target_letters)).astype(float)


def _estimated_information(p: Floats, strength: float, rng: np.random.Generator) -> MonteCarlo:
    """The mean of ln P(y | x) / P(y) over draws of (x, y): α·[x ∈ y] − ln(1 + (e^α − 1) P(y))."""
    r = float(expit(-strength))
    terms = np.empty(DRAWS)
    block = max(1, 20_000_000 // len(p))
    for start in range(0, DRAWS, block):
        count = min(block, DRAWS - start)
        x = rng.choice(len(p), size=count, p=p / p.sum())
        bits = rng.random((count, len(p))) < r
        truth = rng.random(count) < 0.5
        bits[np.arange(count), x] = truth
        masses = bits @ p
        if math.isinf(strength):
            terms[start : start + count] = np.where(truth, -np.log(p[x]), 0.0)
        else:
            with np.errstate(divide="ignore"):
                log_average = np.logaddexp(np.log1p(-np.minimum(masses, 1.0)), strength + np.log(masses))
            terms[start : start + count] = strength * truth - log_average
    return MonteCarlo(float(terms.mean()), float(terms.std(ddof=1) / math.sqrt(DRAWS)))
