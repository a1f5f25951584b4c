"""Exact confidence intervals for what a secret says about the letters (theory 5.1): a set F with an honest 95 %.

Given n_s records of secret s, the count of a letter u is binomial with R_u = P(u|s). Clopper–Pearson limits with tails
β/(2K), K the number of all cells, empty ones included, contain every R_u at once with probability at least 1 − β, for
every P and every n (union bound), if letters and groups were not chosen by these counts. F = {P : l_s ≤ P(·|s) ≤ u_s
for every s} has no budget to share between secrets. With limits for the masses P(s) as well (RLIP) there are
K + c of them.

Counts with noise: n_s lies in M_s ± t with probability 1 − β/(5c) each; the limits of Bin(n_s, R) + Z then have tails
0.8 β/(2K), the lower at the largest n_s, the upper at the smallest (theory 5.4). For masses the number n of all records
with declared letters is one more such number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Integers
from discreet.attribute import Attribute
from discreet.exceptions import DistributionError, ParameterError
from discreet.joint import Joint
from discreet.phrases import percent
from discreet.uncertainty.intervals import Intervals, IntervalSet
from discreet.uncertainty.met_letters import unmet_share
from discreet.uncertainty.tail_guesses import limit_guesses, met_guesses
from discreet.uncertainty.tails import (
    ONE,
    Decay,
    lower_limit,
    lower_limit_met,
    noise_reach,
    upper_limit,
    upper_limit_met,
)
from discreet.uncertainty.uncertainty import BETWEEN_0_AND_1, SetWords, Uncertainty, registered_set

UNMET_SHARE = Fraction(1, 5)
"""The part of β for the shares of people whose letter was never met."""
MASSES_SHARE = Fraction(1, 5)
"""The part of β for the masses of secrets that were met."""
SIZES_SHARE = Fraction(1, 5)
"""The part of β for the unknown numbers of records when counts are noisy."""
MOST_RECORDS = 1 << 23
"""Tails in integers take a factorial of the number of records: eight million take some seconds."""
MOST_CELLS = 1 << 15
"""Each cell takes about two milliseconds where counts differ: a minute."""
KEPT = 64
"""Sets of limits that are remembered: a design asks for the same ones again and again."""


@registered_set
@dataclass(frozen=True)
class Confidence(Uncertainty):
    """F contains the true conditionals (and masses) with at least this probability, for every P and every n.

    Arguments:
        confidence: this probability, between 0 and 1.

    Raises:
        ParameterError: a number that is not between 0 and 1.

    Example:
        >>> import discreet
        >>> discreet.RLDP(0.5, discreet.Confidence(0.99)).uncertainty.confidence
        0.99
    """

    confidence: float = field(default=0.95, metadata=BETWEEN_0_AND_1)
    words = SetWords(
        "Confidence",
        lambda stated: (
            "This holds for every distribution within exact confidence limits of the counts, which contain the true "
            f"one with probability at least {percent(stated.confidence)}, however few or many records there are."
        ),
    )

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence outside (0, 1)", where="Confidence", remedy="Try 0.95.")

    @property
    def beta(self) -> Fraction:
        """1 − confidence, as it is written in decimals."""
        return 1 - Fraction(repr(float(self.confidence)))

    def around(self, joint: Joint) -> IntervalSet:
        """The conditionals within their limits: what RLDP looks at."""
        return IntervalSet(self.limits(joint, masses=False), joint.table)

    def with_masses(self, joint: Joint) -> IntervalSet:
        """Conditionals and masses within their limits: what RLIP looks at."""
        return IntervalSet(self.limits(joint, masses=True), joint.table)

    def limits(self, joint: Joint, *, masses: bool) -> Intervals:
        """From the counts of the joint, computed once."""
        check_chosen_beforehand((*joint.secrets, *joint.releases))
        met = tuple(place for place, one in enumerate(joint.releases, start=1) if one.met)
        if joint.weight:
            counts = effective_counts(joint).reshape(joint.probabilities.shape)
            return _remembered(self, counts.tobytes(), counts.shape, masses, None, None, met)
        if joint.counts is None:
            raise ParameterError(
                "exact confidence limits without counts",
                where="Confidence",
                remedy="Build the joint from a table or from counts, or state another set.",
            )
        noise = None if joint.noise is None else joint.noise.exact
        records = joint.n if joint.noise is None or joint.noise.size_is_public else None
        return _remembered(self, joint.counts.tobytes(), joint.counts.shape, masses, noise, records, met)

    def intervals(
        self, counts: ArrayLike, *, noise: Fraction | None = None, records: int | None = None, masses: bool = False
    ) -> Intervals:
        """Limits from counts[s, u]; `noise` is ε0 of noisy counts, of at most so many `records` if that is public."""
        table = np.asarray(counts, dtype=np.int64)
        if table.ndim != 2 or not table.size:
            raise DistributionError("counts that are not a table", where="Confidence", remedy="One row per secret.")
        _check_size(table)
        if noise is None:
            if (table < 0).any():
                raise DistributionError("a negative count", where="Confidence", remedy="Say which noise was added.")
            return self._exact(table, masses)
        if records is not None and records <= 0:
            raise ParameterError("noisy counts of no records", where="Confidence", remedy="Count at least one.")
        return self._noisy(table, noise, records, masses)

    def met_intervals(self, counts: Integers, columns: tuple[int, ...], *, masses: bool = False) -> Intervals:
        """Limits from counts[s, x1, …] where the letters of these columns were met, not declared (theory 5.1)."""
        table = counts.reshape(len(counts), -1)
        _check_size(table)
        each = (1 - MASSES_SHARE if masses else 1) * self.beta / len(table)
        tail, unknown = (1 - UNMET_SHARE) * each / 2, UNMET_SHARE * each / len(columns)
        sizes = table.sum(axis=1)
        lower, upper = _met_limits(np.repeat(sizes, table.shape[1]), table.ravel(), tail)
        margins = [counts.sum(axis=tuple({*range(1, counts.ndim)} - {column})) for column in columns]
        unmet = [min(ONE, sum(unmet_share(one, s, unknown) for one in margins)) for s in range(len(table))]
        high = _among_known(upper.reshape(table.shape), np.array(unmet, dtype=object)[:, None])
        found = Intervals(lower.reshape(table.shape), high, table, unmet=np.array(unmet, dtype=np.int64))
        if not masses:
            return found
        shared = MASSES_SHARE * self.beta  # whatever the number of secrets met, which these counts decide
        mass_lower, mass_upper = _met_limits(
            np.full(len(table), int(sizes.sum())), sizes, (1 - UNMET_SHARE) * shared / 2
        )
        others = unmet_share(sizes[None, :], 0, UNMET_SHARE * shared)
        return replace(found, mass_lower=mass_lower, mass_upper=_among_known(mass_upper, others))

    def tail(self, cells: int, secrets: int, *, noisy: bool, masses: bool) -> Fraction:
        """What each of the limits may cost."""
        share = 1 - SIZES_SHARE if noisy else Fraction(1)
        return share * self.beta / (2 * (cells + (secrets if masses else 0)))

    def _exact(self, table: Integers, masses: bool) -> Intervals:
        tail, sizes = self.tail(table.size, len(table), noisy=False, masses=masses), table.sum(axis=1)
        lower, upper = _limits(np.repeat(sizes, table.shape[1]), np.repeat(sizes, table.shape[1]), table.ravel(), tail)
        of_masses = _mass_limits(int(sizes.sum()), int(sizes.sum()), sizes, sizes, tail) if masses else (None, None)
        return Intervals(lower.reshape(table.shape), upper.reshape(table.shape), table, *of_masses)

    def _noisy(self, table: Integers, noise: Fraction, records: int | None, masses: bool) -> Intervals:
        secrets, letters = table.shape
        decay = Decay.of(Fraction(noise) / 2)
        unknown = SIZES_SHARE * self.beta / (secrets + (1 if masses else 0))
        tail = self.tail(table.size, secrets, noisy=True, masses=masses)
        least, most = _sizes(table.sum(axis=1), noise_reach(letters, decay, unknown), records)
        rate = float(noise) / 2
        lower, upper = _limits(
            np.repeat(most, letters), np.repeat(least, letters), table.ravel(), tail, decay, float(np.exp(-rate))
        )
        of_masses: tuple[Integers | None, Integers | None] = (None, None)
        if masses:
            whole = _sizes(table.sum(keepdims=True).ravel(), noise_reach(table.size, decay, unknown), records)
            of_masses = _mass_limits(int(whole[0][0]), int(whole[1][0]), least, most, tail)
        return Intervals(lower.reshape(table.shape), upper.reshape(table.shape), table, *of_masses)


def has_limits(notion: Any) -> bool:
    """Whether a promise is over exact limits, so that it matters who chose the letters."""
    return any(isinstance(getattr(one, "uncertainty", None), Confidence) for one in notion.promises)


def beforehand(joint: Joint) -> Joint:
    """The same, of a table that chose neither the letters nor the groups in which it is counted."""
    secrets, releases = (tuple(one.beforehand for one in columns) for columns in (joint.secrets, joint.releases))
    return replace(joint, secrets=secrets, releases=releases)


def _check_size(table: Integers) -> None:
    """ParameterError where limits would take too long."""
    if table.size > MOST_CELLS or int(table.max()) > MOST_RECORDS or int(table.sum()) > MOST_RECORDS:
        raise ParameterError(
            f"more than {MOST_RECORDS:,} records or {MOST_CELLS:,} cells",
            where="Confidence",
            remedy="Count a random sample of the table, or merge letters.",
        )


def check_chosen_beforehand(columns: Iterable[Attribute]) -> None:
    """ParameterError for groups that the counts themselves chose: what is merged because few records had it had few by
    chance as well, so that its limits miss the truth far more often than they say (theory 5.1)."""
    if learnt := [column.name for column in columns if column.grouping is not None and column.grouping.learnt]:
        raise ParameterError(
            "confidence limits of groups that were chosen by the same counts",
            where=", ".join(learnt),
            remedy="Give edges (--bins age=18,65) and values by name (--merge 'column: A, B -> C'), from a codebook or "
            "from other records than those counted.",
        )


def _sizes(noisy: Integers, reach: int, records: int | None) -> tuple[Integers, Integers]:
    """The least and the largest numbers of records that noisy sums stand for."""
    return np.clip(noisy - reach, 0, records), np.clip(noisy + reach, 0, records)


def _limits(
    most: Integers, least: Integers, counts: Integers, tail: Fraction, decay: Decay | None = None, a: float = 0.0
) -> tuple[Integers, Integers]:
    """Lower limits at the largest sizes, upper limits at the smallest ones; [0, 1] where there may be no record."""
    low_guess, high_guess = limit_guesses(most, least, counts, float(tail), a)
    lower, upper = np.zeros(len(counts), np.int64), np.full(len(counts), ONE, np.int64)
    known: dict[tuple[bool, int, int], int] = {}

    def once(find: Callable[..., int], n: int, m: int, guess: float) -> int:
        key = (find is lower_limit, n, m)
        if key not in known:
            known[key] = find(n, m, tail, decay, guess)
        return known[key]

    for i, m in enumerate(counts.tolist()):
        if most[i] > 0:
            lower[i] = once(lower_limit, int(most[i]), m, float(low_guess[i]))
        if least[i] > 0:
            upper[i] = once(upper_limit, int(least[i]), m, float(high_guess[i]))
    return lower, upper


def _met_limits(sizes: Integers, counts: Integers, tail: Fraction) -> tuple[Integers, Integers]:
    """Limits of every letter that may exist: each may miss its own with probability `tail` times its own."""
    low_guess, high_guess = met_guesses(sizes, counts, float(tail))
    lower, upper = np.zeros(len(counts), np.int64), np.full(len(counts), ONE, np.int64)
    known: dict[tuple[int, int], tuple[int, int]] = {}
    for i, (n, m) in enumerate(zip(sizes.tolist(), counts.tolist(), strict=True)):
        if n > 0:
            if (n, m) not in known:
                low = lower_limit_met(n, m, tail, float(low_guess[i])) if m > 1 else 0
                known[n, m] = low, upper_limit_met(n, m, tail, float(high_guess[i]))
            lower[i], upper[i] = known[n, m]
    return lower, upper


def _among_known(upper: Integers, unmet: Any) -> Integers:
    """u/(1 − r), rounded up: of those with a letter that was met, where at most a share r has others."""
    rest = np.maximum(ONE - np.asarray(unmet, dtype=object), 1)
    return np.asarray(np.minimum(-(-upper.astype(object) * ONE // rest), ONE)).astype(np.int64)


def _mass_limits(
    fewest: int, all_of_them: int, least: Integers, most: Integers, tail: Fraction
) -> tuple[Integers, Integers]:
    """Limits of P(s) from n_s between `least` and `most` among n records, n between `fewest` and `all_of_them`: the
    lower at the smallest n_s and the largest n, the upper at the largest n_s and the smallest n."""
    many, few = np.full(len(least), all_of_them), np.full(len(least), fewest)
    return _limits(many, many, least, tail)[0], _limits(few, few, np.minimum(most, fewest), tail)[1]


def effective_counts(joint: Joint) -> Integers:
    """Whole numbers near n* P(s, x), at least 1 where there is any weight: what weighted records are worth, about."""
    cells = np.rint(joint.table * (joint.n or 0)).astype(np.int64)
    return np.where(joint.table > 0, np.maximum(cells, 1), 0)


@lru_cache(maxsize=KEPT)
def _remembered(
    stated: Confidence,
    counts: bytes,
    shape: tuple[int, ...],
    masses: bool,
    noise: Fraction | None,
    records: int | None,
    met: tuple[int, ...],
) -> Intervals:
    table = np.frombuffer(counts, dtype=np.int64).reshape(shape)
    if met and noise is None:
        return stated.met_intervals(table, met, masses=masses)
    return stated.intervals(table.reshape(len(table), -1), noise=noise, records=records, masses=masses)
