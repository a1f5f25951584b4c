"""What a table is read once more for: whether its strata are known, and whether it is the table that was counted.

LDP, LIP and what is like them hold at the distribution in the file, robust ones at those of a set around it. Where the
letters of a table have another law than chance explains, every promise is measured at that table if the secret is in
it, with exact confidence limits (theory 5.9), and a release is refused where even the lower limit exceeds what is
promised. Whoever releases it all the same does so at the levels that were measured.
"""

from __future__ import annotations

import math
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
from discreet.audit.least_levels import TableSample, at_one_law, least_level, outside_of_set
from discreet.exceptions import InputError, ReleaseError
from discreet.files.atomic_file import PIPE
from discreet.joint import Joint
from discreet.notions.notion import Notion, words_of
from discreet.phrases import percent, rounded_down, rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.persons import Rule, WhoseRows
from discreet.records.source import Weighted, open_records
from discreet.release.batches import BatchSanitiser
from discreet.release.law_change import HOLDS, by_chance, channel_at, law_of, strata_and_letters
from discreet.release.secret_cells import merged_away, secret_columns, secrets_in
from discreet.release.whose_rows import RowsInForce
from discreet.uncertainty.confidence import MOST_RECORDS, Confidence, beforehand

MOST_CELLS: Final = 20_000
"""Cells of a stratum whose confidence limits are computed: some seconds."""
SAFELY: Final = 0.99
"""Of the most records, on average: the draw is some thousands off."""
STATED_DIGITS: Final = 2
"""Of a level that was measured at the released table, where it is published."""
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
) -> LevelThere | None:
    """ReleaseError where letters that were met, stratum by stratum, have another law than those counted and the promise
    is broken at this table for certain, unless it is released `anyway`: then at the levels that are returned. A warning
    where they only have another law. A stream was counted as it `passed`."""
    if met is None or not rests_on_law(protocol) or not rows.as_counted:
        return None
    letters = met.reshape(len(strata_of(protocol)), -1)[:, :-1]
    prior = law_of(protocol, [one.joint.prior for one in strata_of(protocol)])
    if not letters.sum():
        return None
    distance = float(np.abs(letters / letters.sum() - prior).sum() / 2)
    if distance <= by_chance(protocol, prior, int(letters.sum())):
        return None
    there = _counted(table, protocol, rows, encoding) if readable_twice(table) else passed.known
    found = None if there is None else levels_there(protocol, there)
    broken = refuse_law(found, anyway=anyway)
    told = "what that means for the promise depends on the secret, which was not read"
    if there is not None:
        told = "what that means for this promise was not measured; `dc.audit(protocol, joint)` tells"
    if found is not None:
        if not found.outside:
            return None
        told = f"at this table {found.told}"
    warnings.warn(
        f"not the law that was counted, changed by {distance:.3g}: {told}. {HOLDS}",
        OtherTable,
        stacklevel=4,
    )
    return found if broken else None


@dataclass(frozen=True)
class LevelThere:
    """Of one promise at a table it was not proven for, and what the level where the table came from is at least; the
    levels of all promises there, by name."""

    promise: Notion
    measured: float
    least: float
    outside: bool
    levels: tuple[tuple[str, float], ...] = ()

    @property
    def told(self) -> str:
        what = "the level" if len(self.levels) == 1 else f"the level of {words_of(self.promise).name}"
        return f"{what} is {_shown(self.measured)}, where {rounded_up(self.promise.epsilon)} is promised"

    @property
    def broken(self) -> bool:
        """For certain."""
        return self.least > self.promise.epsilon

    @property
    def stated(self) -> dict[str, float]:
        """The levels as they may be published, rounded up to few digits: more would confirm a guess about a record."""
        return {name: _coarse(level) for name, level in self.levels}


def _shown(level: float) -> str:
    return rounded_up(level) if math.isfinite(level) else "without bound"


def _coarse(level: float) -> float:
    if not (level > 0 and math.isfinite(level)):
        return level
    unit = 10.0 ** (math.floor(math.log10(level)) + 1 - STATED_DIGITS)
    return float(f"{math.ceil(level / unit) * unit:.{STATED_DIGITS}g}")


def rests_on_law(protocol: AnyProtocol) -> bool:
    """Whether the promise holds at some distributions alone, for rows that are counted as they are released: weighted
    records stand for a population that the table does not show."""
    rows = protocol.statement.rows
    return (
        not protocol.joint.weight
        and any(at_one_law(one) is not None for one in protocol.notion.promises)
        and not (isinstance(rows, WhoseRows) and rows.rule in (Rule.tied, Rule.independent))
    )


def refuse_law(found: LevelThere | None, *, anyway: bool) -> bool:
    """ReleaseError where the level of a table exceeds what is promised even at its lower limit, unless that is meant;
    nobody can mean a level that has no bound. Whether it does."""
    if found is None or not found.broken:
        return False
    bounded = all(math.isfinite(level) for _, level in found.levels)
    if anyway and bounded:
        return True
    meant = "; or release it all the same, at the levels that hold there (--law-anyway, law_anyway=True)"
    raise ReleaseError(
        f"not the table that was counted: here {found.told}, and it is at least {rounded_down(found.least)} with "
        f"confidence {percent(1 - DOUBT)}",
        where="the table",
        remedy=f"Design on this table, or promise ordinary LDP (--notion ordinary-ldp, dc.OrdinaryLDP), which holds "
        f"for every table{meant if bounded else ''}.",
    )


def levels_there(protocol: AnyProtocol, counts: Integers) -> LevelThere | None:
    """At a table with these counts of secret and release, a row for each stratum: the promise that is kept least, with
    the confidence that holds in all strata at once; None where none was measured."""
    strata = strata_of(protocol)
    if protocol.joint.probabilities.size > MOST_CELLS:
        return None
    promises = promise_of(protocol).promises
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
        for promise, stratum in zip(promises, one.notion.promises, strict=True):
            least, single = least_level(promise, sample), at_one_law(promise)
            if least is not None and single is not None:
                measured = single.level(channel, there).epsilon
                found.append(LevelThere(promise, measured, least, outside_of_set(stratum, one.joint, sample)))
    if not found:
        return None
    levels = {name: max(one.measured for one in found if words_of(one.promise).name == name) for name in _names(found)}
    return replace(max(found, key=_breach), levels=tuple(levels.items()))


def _names(found: Sequence[LevelThere]) -> list[str]:
    return list(dict.fromkeys(words_of(one.promise).name for one in found))


def _thinned(there: Joint) -> Joint:
    """So many of the records, at random, as exact limits are computed for: fewer are a sample too."""
    if there.counts is None or there.n is None or there.n <= MOST_RECORDS:
        return there
    kept = np.random.default_rng(0).binomial(there.counts, SAFELY * MOST_RECORDS / there.n)
    return replace(Joint.from_counts(kept, there.secrets, there.releases), form=there.form)


def _breach(found: LevelThere) -> tuple[bool, bool, float]:
    """Certain breaches first, then what no set covers, then by how much the promise is exceeded."""
    return found.broken, found.outside, (found.least if found.broken else found.measured) / found.promise.epsilon


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
