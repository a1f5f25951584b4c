"""What a table is read once more for: whether its strata are known, and whether it is the table that was counted.

LDP, LIP and what is like them hold at the distribution in the file. Where the letters of a table have another law than
chance explains, every promise is measured at that table if the secret is in it, with exact confidence limits (theory
5.9), and a release is refused where even the lower limit exceeds what is promised.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from os.path import isfile
from typing import Any, Final

import narwhals as nw
import numpy as np
import pyarrow as pa
from narwhals.exceptions import DuplicateError

from discreet.arrays import Integers
from discreet.audit.least_levels import TableSample, least_level
from discreet.exceptions import InputError, ReleaseError
from discreet.files.atomic_file import PIPE
from discreet.joint import Joint
from discreet.notions.notion import Notion, at_prior, words_of
from discreet.phrases import percent, rounded_down, rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.persons import Rule, WhoseRows
from discreet.records.source import Weighted, open_records
from discreet.release.batches import BatchSanitiser
from discreet.release.law_change import by_chance, channel_at, law_of, strata_and_letters
from discreet.release.secret_cells import merged_away, secret_columns, secrets_in
from discreet.release.whose_rows import RowsInForce
from discreet.uncertainty.confidence import MOST_RECORDS, Confidence, beforehand

MOST_CELLS: Final = 20_000
"""Cells of a stratum whose confidence limits are computed: some seconds."""
SAFELY: Final = 0.99
"""Of the most records, on average: the draw is some thousands off."""
DOUBT: Final = 0.05
"""A lower limit is wrong for one table in twenty, which then is refused, or passes, without need."""


class OtherTable(UserWarning):
    """A table that is not the one that the promise was proven for."""


def readable_twice(table: Any) -> bool:
    """Whether a table can be read before it is released: not a pipe, not a stream, nor what may be one."""
    if isinstance(table, str | PathLike):
        return str(table) != PIPE and isfile(table)
    if isinstance(table, pa.RecordBatchReader | Iterator):
        return False
    if isinstance(table, pa.Table | pa.RecordBatch | Weighted):
        return True
    try:
        return isinstance(nw.from_native(table, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except DuplicateError:  # a frame, which its reader refuses in words
        return True


def check_table(kernel: BatchSanitiser, table: Any, encoding: str | None) -> None:
    """What is wrong with a table, before anything of it is drawn."""
    check_secret_once(kernel, table, encoding)
    check_known_strata(kernel, table, encoding)


def check_secret_once(kernel: BatchSanitiser, table: Any, encoding: str | None) -> None:
    """AlphabetError where the column of the secret is there twice: what is measured beside the secret would not be.
    Frames have no two columns of one name; of a stream it is seen when that is opened."""
    if isinstance(table, str | PathLike | pa.Table | pa.RecordBatch) and readable_twice(table):
        with open_records(table, kernel.reading.columns[:1], optional=kernel.hidden, encoding=encoding):
            pass


def check_known_strata(kernel: BatchSanitiser, table: Any, encoding: str | None) -> None:
    """Every stratum has a mechanism, before anything is drawn. A pipe or a stream is checked batch by batch as it is
    read: nothing of it is published if a stratum is unknown."""
    if not isinstance(kernel.protocol, StratifiedProtocol) or not readable_twice(table):
        return
    with open_records(table, kernel.given, encoding=encoding, in_order=False) as source:
        unknown = sum(int((kernel.stratum_numbers(batch) < 0).sum()) for batch in source)
    kernel.refuse_strata(unknown)


def check_same_law(
    table: Any,
    protocol: AnyProtocol,
    met: Integers | None,
    rows: RowsInForce,
    encoding: str | None,
    anyway: bool,
    passed: LawMet,
) -> None:
    """ReleaseError where letters that were met, stratum by stratum, have another law than those counted and the promise
    is broken at this table for certain; a warning where they only have another law. `anyway` allows both. A stream
    was counted as it `passed`."""
    if met is None or not rests_on_law(protocol) or not rows.as_counted:
        return
    letters = met.reshape(len(strata_of(protocol)), -1)[:, :-1]
    prior = law_of(protocol, [one.joint.prior for one in strata_of(protocol)])
    if not letters.sum():
        return
    distance = float(np.abs(letters / letters.sum() - prior).sum() / 2)
    if distance <= by_chance(protocol, prior, int(letters.sum())):
        return
    there = _counted(table, protocol, rows, encoding) if readable_twice(table) else passed.known
    found = None if there is None else levels_there(protocol, there)
    if found is not None and not anyway:
        refuse_law(found)
    told = "what that means for the promise depends on the secret, which was not read"
    if there is not None:
        told = "what that means for this promise was not measured; `dc.audit(protocol, joint)` tells"
    if found is not None:
        told = f"at this table {found.told}"
    warnings.warn(
        f"not the law that was counted, changed by {distance:.3g}: {told}. RLDP and RLIP hold for other tables too",
        OtherTable,
        stacklevel=4,
    )


@dataclass(frozen=True)
class LevelThere:
    """Of one promise at a table it was not proven for, and what the level where the table came from is at least."""

    promise: Notion
    measured: float
    least: float
    alone: bool

    @property
    def told(self) -> str:
        what = "the level" if self.alone else f"the level of {words_of(self.promise).name}"
        return f"{what} is {rounded_up(self.measured)}, where {rounded_up(self.promise.epsilon)} is promised"


def rests_on_law(protocol: AnyProtocol) -> bool:
    """Whether the promise holds at a distribution alone, for rows that are counted as they are released: weighted
    records stand for a population that the table does not show."""
    rows = protocol.statement.rows
    return (
        not protocol.joint.weight
        and at_prior(protocol.notion)
        and not (isinstance(rows, WhoseRows) and rows.rule in (Rule.tied, Rule.independent))
    )


def refuse_law(found: LevelThere) -> None:
    """ReleaseError where the level of a table exceeds what is promised even at its lower limit."""
    if found.least <= found.promise.epsilon:
        return
    raise ReleaseError(
        f"not the table that was counted: here {found.told}, and it is at least {rounded_down(found.least)} with "
        f"confidence {percent(1 - DOUBT)}",
        where="the table",
        remedy="Design on this table, or promise RLIP or RLDP, which hold for other tables too; or release it all the "
        "same (--law-anyway, law_anyway=True).",
    )


def levels_there(protocol: AnyProtocol, counts: Integers) -> LevelThere | None:
    """At a table with these counts of secret and release, a row for each stratum: the promise that is kept least, with
    the confidence that holds in all strata at once; None where none was measured."""
    strata = strata_of(protocol)
    if protocol.joint.probabilities.size > MOST_CELLS:
        return None
    promises = [one for one in promise_of(protocol).promises if at_prior(one)]
    sure, found = Confidence(1 - DOUBT / len(strata)), []
    for one, mine in zip(strata, counts, strict=True):
        if not mine.any():
            continue
        table = Joint.from_counts(mine.reshape(one.joint.probabilities.shape), one.joint.secrets, one.joint.releases)
        there = beforehand(replace(table, form=one.joint.form))
        channel = channel_at(one, there)
        if channel is None:
            return None
        sample = TableSample(channel, _thinned(there), sure)
        for promise in promises:
            least = least_level(promise, sample)
            if least is not None:
                measured = promise.level(channel, there).epsilon
                found.append(LevelThere(promise, measured, least, alone=len(promises) == 1))
    return max(found, key=_breach, default=None)


def _thinned(there: Joint) -> Joint:
    """So many of the records, at random, as exact limits are computed for: fewer are a sample too."""
    if there.counts is None or there.n is None or there.n <= MOST_RECORDS:
        return there
    kept = np.random.default_rng(0).binomial(there.counts, SAFELY * MOST_RECORDS / there.n)
    return replace(Joint.from_counts(kept, there.secrets, there.releases), form=there.form)


def _breach(found: LevelThere) -> tuple[bool, float]:
    """Certain breaches first, then by how much the promise is exceeded."""
    epsilon = found.promise.epsilon
    certain = found.least > epsilon
    return certain, (found.least if certain else found.measured) / epsilon


@dataclass(eq=False)
class LawMet:
    """Records by stratum, secret and release, as they are read; `counts` is None where they are not counted: without
    the secret, or in too many cells."""

    protocol: AnyProtocol
    counts: Integers | None

    @classmethod
    def nothing(cls, protocol: AnyProtocol) -> LawMet:
        return cls(protocol, None)

    @classmethod
    def of(cls, protocol: AnyProtocol, there: Sequence[str]) -> LawMet:
        """Before anything was read of a table with these columns."""
        size = protocol.joint.probabilities.size
        needs = {*law_needs(protocol)} - {*secret_columns(protocol.joint)}
        if size > MOST_CELLS or not rests_on_law(protocol) or not needs <= set(there):
            return cls.nothing(protocol)
        if secrets_in(protocol.joint, there) is None:
            return cls.nothing(protocol)
        return cls(protocol, np.zeros((len(strata_of(protocol)), size + 1), np.int64))

    def add(self, batch: pa.RecordBatch) -> None:
        if self.counts is None:
            return
        joint = self.protocol.joint
        try:
            np.add.at(self.counts, strata_and_letters(self.protocol, (*joint.secrets, *joint.releases), batch), 1)
        except InputError:
            self.counts = None

    @property
    def known(self) -> Integers | None:
        """Without the records that have no letter; None where merged secrets cannot be read."""
        lost = 0 if self.counts is None else int(self.counts[:, -1].sum())
        if self.counts is None or merged_away(self.protocol.joint, lost, int(self.counts.sum())):
            return None
        return self.counts[:, :-1]


def law_needs(protocol: AnyProtocol) -> list[str]:
    """The columns that the law of a table is counted from."""
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    attributes = (*protocol.joint.releases, *given)
    return list(dict.fromkeys((*secret_columns(protocol.joint), *(one.name for one in attributes))))


def _counted(table: Any, protocol: AnyProtocol, rows: RowsInForce, encoding: str | None) -> Integers | None:
    """Of a whole table; None where it has no secret."""
    columns, secrets = law_needs(protocol), secret_columns(protocol.joint)
    law = LawMet.of(protocol, columns)
    if law.counts is None:
        return None
    others = [name for name in columns if name not in secrets]
    in_order = rows.judged is not None
    with open_records(table, others, optional=secrets, encoding=encoding, in_order=in_order) as source:
        if secrets_in(protocol.joint, source.schema.names) is None:
            return None
        for batch in rows.of(source, rows.judged):
            law.add(batch)
    return law.known
