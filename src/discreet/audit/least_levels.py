"""The least level that a table proves for where it came from (theory 5.9).

A table is a sample of an unknown P. Within exact limits of its counts A_s and B_s are the largest and the smallest
P(y|s), and no P there has a level below the numbers here, so with the confidence of the limits the level at P is none
of those below. Every one bounds the notion at all P of the set at once, which is why outputs, secrets and statements
may be chosen by the same counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import ALIP, LDP, LIP, PML, RLDP, RLIP, SRLIP, Perfect, Shift
from discreet.notions.funnel import Funnel
from discreet.notions.guess import Guess
from discreet.notions.maximal_leakage import MaximalLeakage
from discreet.notions.notion import Notion, at_prior, log_ratio
from discreet.notions.rlip import extreme_averages, extreme_means
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.filling import largest_fill, smallest_fill
from discreet.uncertainty.intervals import IntervalSet
from discreet.uncertainty.sets import Everything
from discreet.uncertainty.uncertainty import UncertaintySet

SAME: Final = 1e-9
"""Chances nearer than this are one."""
MOST_TOLD: Final = 6.0
"""Limit of |ln P̂(s|y)/P̂(s)| in the bound of the funnel: any number is right, and rare cells should not rule it."""


@dataclass(frozen=True, eq=False)
class TableSample:
    """A mechanism and what the counts of a table say about the distribution behind it."""

    channel: Channel
    joint: Joint
    stated: Confidence

    @cached_property
    def conditionals(self) -> tuple[Floats, Floats]:
        """A and B where only conditionals have limits, which are narrower then: one row per output."""
        return extreme_means(self.channel, self.joint, self.stated.around(self.joint))

    @cached_property
    def known(self) -> IntervalSet:
        """Limits of conditionals and of masses."""
        return self.stated.with_masses(self.joint)

    @cached_property
    def means(self) -> tuple[Floats, Floats]:
        """A and B beside limits of the masses."""
        return extreme_means(self.channel, self.joint, self.known)

    @cached_property
    def masses(self) -> tuple[Floats, Floats]:
        return self.known.limits.masses

    @cached_property
    def counted(self) -> Floats:
        """P̂(y, s), one row per output."""
        cells = [self.joint.expand(rows) for _, rows in self.channel.blocks(self.joint.prior)]
        return np.concatenate([(block * self.joint.table).sum(axis=-1) for block in cells])

    def of_rows(self, rows: Floats) -> tuple[Floats, Floats]:
        """Largest and smallest mean of one row over z per secret, under its own secret."""
        most, least = self.known.ranges(self.joint.expand(rows))
        return np.diagonal(most.value).copy(), np.diagonal(least.value).copy()

    def joined(self, values: Floats) -> Floats:
        """Σ_y Q[y, z] values[y, s], one row over z per secret."""
        blocks = self.channel.blocks(self.joint.prior)
        return np.asarray(sum(values[places].T @ rows for places, rows in blocks))


def at_one_law(notion: Notion) -> Notion | None:
    """What a promise is at a single distribution, its own one or each of its set; None where it holds at every one."""
    if isinstance(notion, RLDP):
        return None if isinstance(notion.uncertainty, Everything) else LDP(notion.epsilon)
    if isinstance(notion, RLIP):
        return LIP(notion.epsilon)
    return notion if at_prior(notion) else None


def least_level(notion: Notion, sample: TableSample) -> float | None:
    """No distribution that the sample leaves has a smaller level; None for notions that rest on no distribution."""
    single = at_one_law(notion)
    found = None if single is None else LEAST.get(type(single))
    return None if found is None else max(0.0, found(single, sample))


def outside_of_set(notion: Notion, joint: Joint, sample: TableSample) -> bool:
    """Whether no distribution that the sample leaves lies in the set of a promise around this joint: some P(y|s), or
    some P(s), is another one for certain. A set of the estimate alone is never met again."""
    if at_prior(notion):
        return True
    known: UncertaintySet | None = None
    if isinstance(notion, RLDP):
        known, (most, least) = notion.uncertainty.around(joint), sample.conditionals
    elif isinstance(notion, RLIP):
        known, (most, least) = notion.known(joint), sample.means
    if known is None:
        return False
    highest, lowest = extreme_means(sample.channel, joint, known)
    if bool((least > highest + SAME).any() or (most < lowest - SAME).any()):
        return True
    if known.masses is None:
        return False
    (low, high), (fewest, largest) = known.masses, sample.masses
    return bool((fewest > high + SAME).any() or (largest < low - SAME).any())


def _between_secrets(_: Any, sample: TableSample) -> float:
    """max over outputs and pairs of ln B_s/A_t."""
    most, least = sample.conditionals
    return float(log_ratio(least.max(axis=1), most.min(axis=1)).max())


def _against_average(rise: float, fall: float, sample: TableSample) -> float:
    """max over outputs and secrets of rise · ln B_s / max_π (π_s B_s + Σ π_t A_t) and
    fall · ln min_π (π_s A_s + Σ π_t B_t) / A_s."""
    most, least = sample.means
    worst = 0.0
    for s in range(most.shape[1]):
        below, above = extreme_averages(sample.known, most, least, s)
        worst = max(worst, rise * float(log_ratio(least[:, s], above.value).max()))
        if fall:
            worst = max(worst, fall * float(log_ratio(below.value, most[:, s]).max()))
    return worst


def _shift(_: Any, sample: TableSample) -> float:
    """P(A|y) ≥ N/(N + D) with N the least Σ_A π_s B_s and D the largest Σ of the others' π_t A_t, and P(A) at most its
    largest mass; A is what y makes likelier by the counts."""
    (most, least), (low, high) = sample.means, sample.masses
    total = sample.counted.sum(axis=1, keepdims=True)
    likelier = sample.counted > total * sample.joint.secret_prior
    within = smallest_fill(np.where(likelier, least, 0.0), low, high).value
    without = largest_fill(np.where(likelier, 0.0, most), low, high).value
    before = largest_fill(likelier.astype(float), low, high).value
    together = within + without
    after = np.divide(within, together, out=np.zeros_like(within), where=together > 0)
    return float((after - before).max())


def _best_guesses(counted: Floats, sample: TableSample) -> Floats:
    """The least Σ P(y|s) over the outputs that guess s, for every s; which guess s is said by `counted`."""
    guessed = np.zeros(counted.shape)
    guessed[np.arange(len(counted)), counted.argmax(axis=1)] = 1.0
    return sample.of_rows(sample.joined(guessed))[1]


def _guess(_: Any, sample: TableSample) -> float:
    """Σ_y max_s P(s, y) is at least what any fixed guesses get: Σ_s π_s Σ_{y guesses s} P(y|s)."""
    return float(smallest_fill(_best_guesses(sample.counted, sample), *sample.masses).value)


def _maximal_leakage(_: Any, sample: TableSample) -> float:
    """ln Σ_y max_s P(y|s), in the same way."""
    masses = sample.joint.secret_prior
    likelihoods = np.divide(sample.counted, masses, out=np.zeros_like(sample.counted), where=masses > 0)
    everything = float(_best_guesses(likelihoods, sample).sum())
    return math.log(everything) if everything > 0 else 0.0


def _funnel(_: Any, sample: TableSample) -> float:
    """I(S;Y) ≥ E[T] − ln E'[e^T] for every T(s, y), E' the mean where S and Y are independent (Donsker and Varadhan);
    best at T = ln P(s|y)/P(s), so it is taken as the counts have it."""
    counted, masses = sample.counted, sample.joint.secret_prior
    apart = counted.sum(axis=1, keepdims=True) * masses
    ratio = np.divide(counted, apart, out=np.ones_like(counted), where=apart > 0)
    told = np.log(np.clip(ratio, math.exp(-MOST_TOLD), math.exp(MOST_TOLD)))
    gained = smallest_fill(sample.of_rows(sample.joined(told))[1], *sample.masses).value
    most, _ = sample.known.ranges(sample.joint.expand(sample.joined(np.exp(told))))
    averages = largest_fill(most.value, *sample.masses).value
    return float(gained - math.log(largest_fill(averages, *sample.masses).value))


def _lip(_: Any, sample: TableSample) -> float:
    return _against_average(1.0, 1.0, sample)


LEAST: Final[dict[type[Notion], Callable[[Any, TableSample], float]]] = {
    LDP: _between_secrets,
    LIP: _lip,
    Perfect: _lip,
    SRLIP: _lip,
    PML: lambda _, sample: _against_average(1.0, 0.0, sample),
    ALIP: lambda notion, sample: _against_average(1.0, notion.up / notion.low, sample),
    Shift: _shift,
    Guess: _guess,
    MaximalLeakage: _maximal_leakage,
    Funnel: _funnel,
}
"""SRLIP includes LIP, so what bounds LIP bounds it."""
