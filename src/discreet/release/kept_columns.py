"""What columns that are kept as they are tell about the secret: by themselves, and beside what is released.

The promise is towards somebody who looks at the released column only; every reader of a file with kept columns looks at
both. S and K fair coins, X = S xor K: publishing X tells nothing, and everything beside K. Where the secret is in the
table this can be measured (`kept_levels`). Whoever knows several columns knows each of them: columns that make rare
cells together are judged one by one as well.
"""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Integers
from discreet.exceptions import ReleaseError
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.average import OnAverage
from discreet.notions.guess import Guess
from discreet.notions.notion import Notion
from discreet.phrases import rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.letters import LetterReader
from discreet.records.no_numbers import MOST_UNKNOWN
from discreet.records.source import open_records
from discreet.release.kept_levels import DOUBT, KeptLevels, kept_levels, level_shuffled
from discreet.release.record_counts import LetterColumn, RecordCounts, ValueColumn, distinct
from discreet.release.whose_rows import RowsInForce

MOST_CELLS = 1_000_000
"""Different combinations of kept values, secret and letter; beyond, every column is judged by itself only."""
MOST_SETS: Final = 56
"""Sets of kept columns that are judged: all together, each, and as many pairs: all of them for ten columns."""
UNIQUE = 0.5
"""A column with more different values than this part of the records names people rather than groups."""


class KeptColumns(UserWarning):
    """Kept columns that were not judged, or that tell something about the secret."""


def not_given(protocol: AnyProtocol, keep: Sequence[str]) -> tuple[str, ...]:
    """The kept columns that a promise does not look at already."""
    given = {one.name for one in protocol.given} if isinstance(protocol, StratifiedProtocol) else set()
    return tuple(name for name in keep if name not in given)


def check_kept(
    table: Any,
    protocol: AnyProtocol,
    keep: Sequence[str],
    identity: str | None,
    anyway: bool,
    encoding: str | None = None,
    rows: RowsInForce | None = None,
) -> KeptLevels | None:
    """ReleaseError if kept columns tell more about the secret than the notion's ε, at the lower limit, unless they
    are to be kept anyway; None where there is nothing to measure: no kept column, or a table without the secret. Where
    one row of each person is released, so many are judged."""
    asked, rows = not_given(protocol, keep), rows or RowsInForce()
    whole = _counted(table, protocol, asked, encoding, rows)
    if whole is None:
        return None
    counts = [whole]
    if too_many(whole):
        told = f"{', '.join(asked)} have too many combinations: each was judged by itself"
        warnings.warn(told, KeptColumns, stacklevel=5)
        counts = counted_each(table, protocol, asked, encoding, rows)
    return judged_kept(counts, protocol, identity, anyway)


def judged_kept(
    counts: Sequence[RecordCounts], protocol: AnyProtocol, identity: str | None, anyway: bool, *, stacklevel: int = 5
) -> KeptLevels | None:
    """`check_kept`, from counts of the columns together, or of each."""
    people = [name for one in counts for name in naming_people(one, identity)]
    if people:
        warnings.warn(f"kept columns that name people: {', '.join(people)}", KeptColumns, stacklevel=stacklevel)
    asked = [column.name for one in counts for column in one.values if column.name not in people]
    found = levels_beside(counts, protocol, asked)
    if told := strange_secrets(counts, protocol):
        warnings.warn(f"not judged: {told}", KeptColumns, stacklevel=stacklevel)
    if found is not None and not anyway:
        refuse_kept(found, protocol)
    return found


def refuse_kept(found: KeptLevels, protocol: AnyProtocol) -> None:
    """ReleaseError where kept columns tell more than is promised, at the lower limit."""
    alone, beside = most_told(protocol)
    if found.alone_limit <= alone and found.beside_limit <= beside:
        return
    most = alone if found.alone_limit > alone else beside
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    columns = " ".join(f"--given {shlex.quote(name)}" for name in [*given, *found.columns])
    raise ReleaseError(
        f"kept columns tell about the secret: level {_shown(found.alone)} by themselves, {_shown(found.beside)} beside "
        f"the release (at least {rounded_up(found.alone_limit)} and {rounded_up(found.beside_limit)} with confidence "
        f"95 %, {_shown(found.shuffled)} if X is shuffled), and {rounded_up(most)} is promised",
        where=", ".join(found.columns),
        remedy=f"Design again with {columns}, which protects the secret among people who agree in them; leave them "
        "out; or keep them anyway (--keep-anyway, keep_anyway=True).",
    )


def most_told(protocol: AnyProtocol) -> tuple[float, float]:
    """What kept columns may tell by themselves, and a release beside them, by the promise that allows least. An average
    says nothing of single outputs; kept columns may tell no more than it: a guess is right with probability b where the
    chance of a secret rises from max p to b."""
    every = [(one, _most(one, part.joint)) for one in promise_of(protocol).promises for part in strata_of(protocol)]
    of_outputs = [most for one, most in every if not isinstance(one, OnAverage)]
    return min(most for _, most in every), min(of_outputs, default=math.inf)


def _most(promise: Notion, joint: Joint) -> float:
    if isinstance(promise, Guess):
        return max(0.0, math.log(promise.epsilon / float(joint.secret_prior.max())))
    return max(promise.low, promise.up) if isinstance(promise, ALIP) else promise.epsilon


# ---- counting -------------------------------------------------------------------------------------------------------


def kept_counts(protocol: AnyProtocol, asked: Sequence[str]) -> RecordCounts:
    """Of a table with the secret: what is counted to judge these columns, before anything was read."""
    letters = {one.name: LetterColumn(one) for one in (*protocol.joint.reads, *protocol.joint.secrets)}
    stratified = isinstance(protocol, StratifiedProtocol)
    return RecordCounts(tuple(letters.values()), tuple(map(ValueColumn, asked)), stratified)


def kept_needs(protocol: AnyProtocol, asked: Sequence[str]) -> list[str]:
    """The columns that are read for it."""
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    read = [one.name for one in (*protocol.joint.secrets, *protocol.joint.reads)]
    return list(dict.fromkeys((*read, *given, *asked)))


def count_kept(
    counts: RecordCounts, protocol: AnyProtocol, batch: pa.RecordBatch, times: Integers | None = None
) -> None:
    """Records, or different ones with how often each occurs."""
    strata = None
    if isinstance(protocol, StratifiedProtocol):
        reader = LetterReader(protocol.given)
        codes = reader.codes([batch.column(name) for name in reader.columns])
        strata = np.maximum(protocol.numbers.take(codes.astype(np.int64)), 0)
    counts.add(batch, strata, times)


def too_many(counts: RecordCounts) -> bool:
    return not counts.complete or len(counts.counts) > MOST_CELLS


def naming_people(counts: RecordCounts, identity: str | None) -> list[str]:
    """Columns that number people rather than group them: the one that was named, and those of nearly unique values."""
    most = UNIQUE * max(counts.records, 1)
    return [one.name for one in counts.values if one.name == identity or len(one.values) > most]


def _counted(
    table: Any, protocol: AnyProtocol, asked: Sequence[str], encoding: str | None, rows: RowsInForce
) -> RecordCounts | None:
    if not asked:
        return None
    counts, secrets = kept_counts(protocol, asked), [one.name for one in protocol.joint.secrets]
    needs = [name for name in kept_needs(protocol, asked) if name not in secrets]
    in_order = rows.judged is not None
    with open_records(table, needs, optional=secrets, encoding=encoding, in_order=in_order) as source:
        if not set(secrets) <= set(source.schema.names):
            return None
        for batch in rows.of(source, rows.judged):
            count_kept(counts, protocol, batch)
    return counts


def counted_each(
    table: Any, protocol: AnyProtocol, asked: Sequence[str], encoding: str | None, rows: RowsInForce
) -> list[RecordCounts]:
    """Every column by itself."""
    each = (_counted(table, protocol, (name,), encoding, rows) for name in asked)
    return [one for one in each if one is not None]


@dataclass(frozen=True, eq=False)
class KeptInPassing:
    """Kept columns of a table that can be read once: counted together, and each by itself, while it is released."""

    protocol: AnyProtocol
    counts: tuple[RecordCounts, ...]

    @classmethod
    def of(cls, protocol: AnyProtocol, keep: Sequence[str], there: Sequence[str], twice: bool) -> KeptInPassing:
        """Nothing is counted of tables that were judged before, or that do not have the secret."""
        asked = not_given(protocol, keep)
        if twice or not asked or not {one.name for one in protocol.joint.secrets} <= set(there):
            return cls(protocol, ())
        sets = [asked] if len(asked) == 1 else [asked, *((name,) for name in asked)]
        return cls(protocol, tuple(kept_counts(protocol, one) for one in sets))

    def watching(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for one in self.counts:
                count_kept(one, self.protocol, batch)
            yield batch

    def check(self, identity: str | None, anyway: bool) -> None:
        """Before anything is entered or published."""
        if self.counts:
            whole, *each = self.counts
            judged_kept([whole] if not each or not too_many(whole) else each, self.protocol, identity, anyway)


# ---- levels ---------------------------------------------------------------------------------------------------------


def strange_secrets(counts: Sequence[RecordCounts], protocol: AnyProtocol) -> str:
    """Records whose secret is no letter of the protocol, where they are more than may be unknown: what kept columns
    tell about those is not known. Missing secrets are not counted."""
    unknown = max((one.unknown(protocol.joint.secrets) for one in counts), default=0)
    records = max((one.records for one in counts), default=0)
    if unknown <= MOST_UNKNOWN * records:
        return ""
    return f"{unknown:,} of {records:,} values of the secret are unknown to the protocol"


def levels_beside(counts: Sequence[RecordCounts], protocol: AnyProtocol, asked: Sequence[str]) -> KeptLevels | None:
    """The levels of the set of these columns that tells most for certain; of all of them if none tells any."""
    sets: list[tuple[tuple[str, ...], Integers]] = []
    for one in counts:
        names = [column.name for column in one.values if column.name in asked]
        rows = None if too_many(one) or not names else _rows(one, protocol, names)
        if rows is not None:
            sets += [(chosen, _projected(rows, [names.index(name) for name in chosen])) for chosen in _sets(names)]
    matrices = _matrices(protocol) if sets else []
    found = [kept_levels(rows, matrices, chosen, DOUBT / len(sets)) for chosen, rows in sets]
    if not found:
        return None
    place = max(range(len(found)), key=lambda i: found[i].limit)
    return replace(found[place], shuffled=level_shuffled(sets[place][1], matrices))


def _sets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """All columns first, then each, then pairs."""
    every = [tuple(names), *((name,) for name in names), *combinations(names, 2)]
    return list(dict.fromkeys(every))[: max(MOST_SETS, 1 + len(names))]


def _rows(counts: RecordCounts, protocol: AnyProtocol, names: Sequence[str]) -> Integers | None:
    """One row per kind of record with a known secret: stratum, secret, letter, records, and the kept values."""
    joint = protocol.joint
    secret = counts.codes(joint.secrets)
    known = (secret < len(joint.secret_letters)) & (counts.counts > 0)
    if not known.any():
        return None
    kept = dict(zip((one.name for one in counts.values), counts.kept(), strict=True))
    columns = [counts.strata(), secret, counts.codes(joint.reads), counts.counts, *(kept[name] for name in names)]
    return np.column_stack([column[known] for column in columns])


def _projected(rows: Integers, chosen: Sequence[int]) -> Integers:
    """Rows (stratum, kept cell, secret, letter, records) for these of the kept columns."""
    _, cell = np.unique(rows[:, [4 + place for place in chosen]], axis=0, return_inverse=True)
    found, sums = distinct([rows[:, 0], cell.reshape(-1), rows[:, 1], rows[:, 2]], rows[:, 3])
    return np.column_stack([*found, sums])


def _matrices(protocol: AnyProtocol) -> list[Floats]:
    protocols = protocol.strata.values() if isinstance(protocol, StratifiedProtocol) else [protocol]
    return [np.column_stack([one.matrix, one.marginal / 2.0**one.bits]) for one in protocols]


def _shown(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.2f}"
