"""RLDP and RLIP over intervals, proven with sums of integers (theory 5.2 and 5.3).

Limits are whole numbers over 2^40, weights are whole numbers, and the extremes of R·w over l ≤ R ≤ u, Σ R = 1 are
greedy fills: integers as well, without any rounding. With A_s and B_s the largest and smallest R·w_s of one output,

    RLDP:  A_s ≤ e^ε B_t for all s ≠ t,
    RLIP:  A_s ≤ e^ε min_π (π_s A_s + Σ_{t≠s} π_t B_t)   and   max_π (π_s B_s + Σ_{t≠s} π_t A_t) ≤ e^ε B_s,

π within the limits of the masses: the same fill once more. Where letters were met rather than declared, a share of at
most r_s of secret s has others, whose value is drawn from the law m of all outputs: A_s is then the larger of A_s and
(1 − r_s) A_s + r_s m, and B_s the smaller of B_s and (1 − r_s) B_s + r_s m. Only e^ε is irrational; a lower bound of it
stands in. The limits themselves are computed again from the counts whenever something is proven.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers, Weights
from discreet.certify.exact_arithmetic import ExactIntegers, marginal_weights
from discreet.certify.proof import PROVERS, ProofAttempt, check_weights, dense_blocks
from discreet.certify.ratio_proofs import RatioProver, Ratios, bounded_ratios, check_pairs
from discreet.exceptions import ChannelError, ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions.notion import BEFORE, Notion, Witness
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.intervals import Intervals
from discreet.uncertainty.tails import ONE

MOST_BITS = 62
"""Counts stay below 2^62, so that two of them add up to a whole number of 64 bits."""


@dataclass(frozen=True)
class WorstRatio:
    """The largest P(y|s)/P(y|t) (RLDP) or P(y|s)/P(y) either way round (RLIP) over F, exactly, and where it is."""

    numerator: int
    denominator: int
    secret: int
    other: int | None

    def worse(self, other: WorstRatio) -> WorstRatio:
        """The larger of two; nothing is larger than a ratio to zero, and zero to zero is no ratio at all."""
        if self.numerator == 0 or other.numerator == 0:
            return self if other.numerator == 0 else other
        return other if other.numerator * self.denominator > self.numerator * other.denominator else self


@dataclass(frozen=True)
class IntervalProver:
    """The proof of RLDP, or of RLIP, over exact confidence limits."""

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        return self._ratios(bits, joint, notion).check(weights, bits, joint, notion, epsilon)

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        return self._ratios(bits, joint, notion).level(weights, bits, joint, notion)

    def _ratios(self, bits: int, joint: Joint, notion: Notion) -> RatioProver:
        if not (isinstance(notion, (RLDP, RLIP)) and isinstance(notion.uncertainty, Confidence)):
            raise ParameterError("not robust over Confidence", where="IntervalProver", remedy="See PROVERS.")
        informed = isinstance(notion, RLIP)
        return _over(notion.uncertainty, bits, joint, masses=informed, informed=informed)


def apart_upper_bound(weights: Weights, bits: int, joint: Joint, notion: RLIP) -> float:
    """The largest ln P(y|s)/P(y|s') over the F of RLIP, proven. Masses share its confidence, so its conditionals have
    wider limits than those of RLDP."""
    check_weights(weights, bits, joint, notion)
    if not isinstance(notion.uncertainty, Confidence):
        raise ParameterError("not robust over Confidence", where="IntervalProver", remedy="See PROVERS.")
    return _over(notion.uncertainty, bits, joint, masses=True, informed=False).level(weights, bits, joint, notion)


def _over(stated: Confidence, bits: int, joint: Joint, *, masses: bool, informed: bool) -> RatioProver:
    intervals = stated.limits(joint, masses=masses)

    def ratios(weights: Weights, joint: Joint) -> Ratios:
        law = None if intervals.unmet is None else marginal_weights(weights, bits, joint)
        return interval_ratios(weights, joint, intervals, informed=informed, law=law)

    return RatioProver(ratios)


def interval_ratios(
    weights: Weights, joint: Joint, intervals: Intervals, *, informed: bool, law: Integers | None = None
) -> Ratios:
    """The worst ratio of every output; `law` is what other letters than those met are drawn from."""
    check_pairs(weights, joint)
    worst, found = worst_informed if informed else worst_pairs, list[WorstRatio]()
    for block in dense_blocks(weights):
        found += worst(block, intervals, None if law is None else law[len(found) : len(found) + len(block)])
    parts = [np.array([getattr(one, name) for one in found], dtype=object) for name in ("numerator", "denominator")]
    one = np.full(len(found), ONE * ONE if informed else ONE, dtype=object)  # masses have a unit of their own
    names = joint.secret_letters

    def witness(y: int) -> Witness:
        other = found[y].other
        return Witness(y, names[found[y].secret], BEFORE if other is None else names[other])

    return bounded_ratios(parts[0], one, parts[1], one, witness)


def worst_pairs(weights: Integers, intervals: Intervals, law: Integers | None = None) -> list[WorstRatio]:
    """max of A_s/B_t over secrets s ≠ t for every output."""
    most, least = extremes(weights, intervals, law)
    found = []
    for above, below in zip(most.tolist(), least.tolist(), strict=True):
        order = sorted(range(len(below)), key=below.__getitem__)
        pairs = [(s, order[0] if order[0] != s else order[1]) for s in range(len(above))]
        found.append(reduce(WorstRatio.worse, (WorstRatio(above[s], below[t], s, t) for s, t in pairs)))
    return found


def worst_informed(weights: Integers, intervals: Intervals, law: Integers | None = None) -> list[WorstRatio]:
    """max of P(y|s)/P(y) and P(y)/P(y|s) over secrets, conditionals and masses for every output."""
    if intervals.mass_lower is None or intervals.mass_upper is None:
        raise ProofError("no limits for the masses", where="RLIP", remedy="Build the intervals with masses=True.")
    low, high = intervals.mass_lower, intervals.mass_upper
    most, least = extremes(weights, intervals, law)
    found: list[list[WorstRatio]] = [[] for _ in most]
    for s in range(most.shape[1]):
        others_low, others_high = least.copy(), most.copy()
        others_low[:, s], others_high[:, s] = most[:, s], least[:, s]
        smallest = _fill(others_low, low, high, largest=False)
        largest = _fill(others_high, low, high, largest=True)
        for y, several in enumerate(found):
            several.append(WorstRatio(int(most[y, s] * ONE), int(smallest[y]), s, None))
            several.append(WorstRatio(int(largest[y]), int(least[y, s] * ONE), s, None))
    return [reduce(WorstRatio.worse, several) for several in found]


def extremes(
    weights: Integers, intervals: Intervals, law: Integers | None = None
) -> tuple[ExactIntegers, ExactIntegers]:
    """2^40 · A_s and 2^40 · B_s of every output, one column per secret; exact without unmet letters, outward with."""
    if (law is None) != (intervals.unmet is None):
        raise ProofError("no law for letters that were never met", where="intervals", remedy="Prove it again.")
    secrets, letters = intervals.lower.shape
    table = np.asarray(weights)
    reads_secret = table.ndim == 2 and table.shape[1] == secrets * letters
    if table.ndim != 2 or table.dtype.kind not in "iu" or table.shape[1] not in (letters, secrets * letters):
        raise ChannelError("weights of another alphabet", where="intervals", remedy="One column per input letter.")
    if table.size == 0 or int(table.min()) < 0 or int(table.max()) >> MOST_BITS:
        raise ChannelError("a weight below zero or too large, or no output", where="intervals", remedy="Round again.")
    table = table.astype(np.int64)
    most, least = np.empty((len(table), secrets), object), np.empty((len(table), secrets), object)
    for s in range(secrets):
        rows = table[:, s * letters : (s + 1) * letters] if reads_secret else table
        most[:, s] = _fill(rows, intervals.lower[s], intervals.upper[s], largest=True)
        least[:, s] = _fill(rows, intervals.lower[s], intervals.upper[s], largest=False)
    if law is None or intervals.unmet is None:
        return most, least
    unmet, drawn = intervals.unmet.astype(object), law.astype(object)[:, None]
    mixed = ((ONE - unmet) * side + unmet * drawn * ONE for side in (most, least))
    above, below = next(mixed), next(mixed)
    return np.maximum(most, -(-above // ONE)), np.minimum(least, below // ONE)


def _fill(rows: NDArray[Any], lower: Integers, upper: Integers, *, largest: bool) -> ExactIntegers:
    """2^40 · the extreme of R·row for every row, by the greedy fill; every number is a whole one."""
    order = np.argsort(-rows if largest else rows, axis=1, kind="stable")
    room = (upper - lower)[order]
    before = np.cumsum(room, axis=1) - room
    filled = lower[order] + np.clip(ONE - int(lower.sum()) - before, 0, room)
    if not (filled.sum(axis=1) == ONE).all():
        raise ProofError("limits that no distribution meets", where="intervals", remedy="Count the table again.")
    return np.asarray((filled.astype(object) * np.take_along_axis(rows, order, 1).astype(object)).sum(axis=1))


def same_limits(intervals: Intervals, again: Intervals) -> bool:
    """Whether two sets have the same limits, to the unit: limits in a file are compared with those counted again."""
    pairs = [
        (getattr(intervals, name), getattr(again, name)) for name in ("lower", "upper", "mass_lower", "mass_upper")
    ]
    return all(
        (first is None and second is None)
        or (first is not None and second is not None and np.array_equal(first, second))
        for first, second in pairs
    )


PROVERS.update({(RLDP, Confidence): IntervalProver(), (RLIP, Confidence): IntervalProver()})
