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
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Integers
from discreet.exceptions import ReleaseError
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.average import OnAverage
from discreet.notions.guess import Guess
from discreet.notions.notion import Notion
from discreet.phrases import rounded_down, rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.letters import LetterReader
from discreet.records.no_numbers import MOST_UNKNOWN
from discreet.records.source import open_records
from discreet.release.kept_levels import DOUBT, ENOUGH, KeptLevels, kept_levels, level_shuffled
from discreet.release.record_counts import LetterColumn, RecordCounts, ValueColumn, distinct
from discreet.release.secret_cells import secret_columns, secrets_in, with_secrets
from discreet.release.whose_rows import RowsInForce

MOST_CELLS = 1_000_000
"""Different combinations of kept values, secret and letter; beyond, every column is judged by itself only."""
MOST_SETS, MORE_SETS = 56, 500
"""Sets of kept columns that are judged, at least: all together, each, and as many pairs: all of them for ten columns.
More are where combinations are fewer than `MOST_CELLS`, up to these: all pairs of thirty columns."""
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
    are to be kept anyway; None where there is nothing to measure: no kept column, or a table without the secret. What
    is judged are rows with the law that is promised about: one of each person, a sample of a weighted population."""
    asked, rows = not_given(protocol, keep), rows or RowsInForce()
    counts = counted_together(table, protocol, asked, encoding, rows)
    return judged_kept(counts, protocol, identity, anyway, rows) if counts else None


def judged_kept(
    counts: Sequence[RecordCounts],
    protocol: AnyProtocol,
    identity: str | None,
    anyway: bool,
    rows: RowsInForce | None = None,
    *,
    stacklevel: int = 5,
) -> KeptLevels | None:
    """`check_kept`, from counts of the columns together, or of each; of `rows` as they are released if not given."""
    found = judgement(counts, protocol, [column.name for one in counts for column in one.values], identity)
    if found.people:
        told = f"kept columns that name people: {', '.join(found.people)}"
        warnings.warn(told, KeptColumns, stacklevel=stacklevel)
    for told in (*found.not_judged, *beyond_judgement(protocol, rows or RowsInForce())):
        warnings.warn(f"not judged: {told}", KeptColumns, stacklevel=stacklevel)
    if found.levels is not None and not anyway:
        refuse_kept(found.levels, protocol)
    return found.levels


def beyond_judgement(protocol: AnyProtocol, rows: RowsInForce) -> list[str]:
    """What these counts cannot know, whatever they are: other rows of a person than the one that is judged, and a
    population whose weights were not read."""
    weight, told = protocol.joint.weight, list[str]()
    if weight and rows.shares is None:
        told.append(f"kept columns in the population that {weight} weighs, which was not read")
    if not weight and not rows.as_counted:
        told.append("what kept columns of several rows of one person tell together: one row of each was looked at")
    return told


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
        f"the release (at least {rounded_down(found.alone_limit)} and {rounded_down(found.beside_limit)} with "
        f"confidence 95 %, {_shown(found.shuffled)} if X is shuffled), and {rounded_up(most)} is promised",
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
    """The columns that are read for it, whichever of them hold the secrets."""
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    secrets, joint = secret_columns(protocol.joint), protocol.joint
    read = [one.name for one in joint.reads if one not in joint.secrets]
    return list(dict.fromkeys((*secrets, *read, *given, *asked)))


def count_kept(
    counts: RecordCounts, protocol: AnyProtocol, batch: pa.RecordBatch, times: Integers | None = None
) -> None:
    """Records, or different ones with how often each occurs."""
    strata = None
    if isinstance(protocol, StratifiedProtocol):
        reader = LetterReader(protocol.given)
        codes = reader.codes([batch.column(name) for name in reader.columns])
        strata = np.maximum(protocol.numbers.take(codes.astype(np.int64)), 0)
    counts.add(with_secrets(protocol.joint, batch), strata, times)


def too_many(*counts: RecordCounts) -> bool:
    return any(not one.complete or len(one.counts) > MOST_CELLS for one in counts)


def _counted(
    table: Any, protocol: AnyProtocol, sets: Sequence[Sequence[str]], encoding: str | None, rows: RowsInForce
) -> list[RecordCounts]:
    """Counts of each of these sets of columns, in one pass; none of a table without the secret."""
    counts = [kept_counts(protocol, one) for one in sets if one]
    asked, secrets = [name for one in sets for name in one], secret_columns(protocol.joint)
    needs = [name for name in kept_needs(protocol, asked) if name not in secrets]
    if not counts:
        return []
    in_order = rows.judged is not None
    with open_records(table, needs, optional=secrets, encoding=encoding, in_order=in_order) as source:
        if secrets_in(protocol.joint, source.schema.names) is None:
            return []
        for batch in rows.of(source, rows.judged):
            for one in counts:
                count_kept(one, protocol, batch)
    return counts


def counted_together(
    table: Any, protocol: AnyProtocol, asked: Sequence[str], encoding: str | None, rows: RowsInForce
) -> list[RecordCounts]:
    """These columns together, or apart where they are too many; none of a table without the secret."""
    counts = _counted(table, protocol, [asked], encoding, rows)
    return counted_apart(table, protocol, asked, encoding, rows) if too_many(*counts) else counts


def counted_apart(
    table: Any, protocol: AnyProtocol, asked: Sequence[str], encoding: str | None, rows: RowsInForce
) -> list[RecordCounts]:
    """Every column by itself, and then the pairs that have so few combinations that they can be held together."""
    each = _counted(table, protocol, [(name,) for name in asked], encoding, rows)
    sizes = {one.values[0].name: len(one.counts) for one in each if not too_many(one)}
    room, pairs = MOST_CELLS, list[tuple[str, str]]()
    for one, two in sorted(combinations(sizes, 2), key=lambda pair: sizes[pair[0]] * sizes[pair[1]]):
        room -= sizes[one] * sizes[two]
        pairs += [(one, two)] if room >= 0 and len(pairs) < MOST_SETS else []
    return [*each, *_counted(table, protocol, pairs, encoding, rows)]


@dataclass(frozen=True, eq=False)
class KeptInPassing:
    """Kept columns of a table that can be read once: counted together, and each by itself, while it is released."""

    protocol: AnyProtocol
    counts: tuple[RecordCounts, ...]

    @classmethod
    def of(cls, protocol: AnyProtocol, keep: Sequence[str], there: Sequence[str], twice: bool) -> KeptInPassing:
        """Nothing is counted of tables that were judged before, or that do not have the secret."""
        asked = not_given(protocol, keep)
        if twice or not asked or secrets_in(protocol.joint, there) is None:
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


@dataclass(frozen=True)
class Judgement:
    """The levels of the set of kept columns that tells most for certain, or of all of them if none tells any; which of
    the columns name `people`; and what is not known, in words."""

    levels: KeptLevels | None
    people: tuple[str, ...]
    not_judged: tuple[str, ...]


def judgement(
    counts: Sequence[RecordCounts], protocol: AnyProtocol, asked: Sequence[str], identity: str | None
) -> Judgement:
    """From counts of these columns together, or of parts of them."""
    people = {name: None for one in counts for name in _naming_people(one, identity) if name in asked}
    parts = [_judged_values(one, asked, people) for one in counts]
    sets: dict[tuple[str, ...], Integers] = {}
    missed: set[str] = set()
    for one, kept in zip(counts, parts, strict=True):
        rows, names = _rows(one, protocol, kept), list(kept)
        if rows is None:
            missed |= {column.name for column in one.values}
        elif len(rows) and names:
            for chosen in _sets(names, len(rows)):
                if chosen not in sets:
                    sets[chosen] = _projected(rows, [names.index(name) for name in chosen])
    columns = [name for name in dict.fromkeys(asked) if name in missed or any(name in one for one in sets)]
    told = (*_left_out(columns, list(sets)), *_strange_secrets(counts, protocol))
    return Judgement(_most_telling(sets, protocol), tuple(people), told)


def _naming_people(counts: RecordCounts, identity: str | None) -> list[str]:
    """Columns that number people rather than group them: the one that was named, and those of nearly unique values."""
    most = UNIQUE * max(counts.records, 1)
    return [one.name for one in counts.values if one.name == identity or len(one.values) > most]


def _most_telling(sets: dict[tuple[str, ...], Integers], protocol: AnyProtocol) -> KeptLevels | None:
    matrices = _matrices(protocol) if sets else []
    found = [kept_levels(rows, matrices, chosen, DOUBT / len(sets)) for chosen, rows in sets.items()]
    if not found:
        return None
    most = max(found, key=lambda levels: levels.limit)
    return replace(most, shuffled=level_shuffled(sets[most.columns], matrices))


def _sets(names: Sequence[str], rows: int) -> list[tuple[str, ...]]:
    """All columns first, then each, then pairs: all of them where there are few rows to judge them by."""
    every = [tuple(names), *((name,) for name in names), *combinations(names, 2)]
    most = max(MOST_SETS, min(MORE_SETS, MOST_SETS * MOST_CELLS // max(rows, 1)))
    return list(dict.fromkeys(every))[: max(most, 1 + len(names))]


def _left_out(columns: Sequence[str], judged: Sequence[tuple[str, ...]]) -> list[str]:
    """What was too much to be judged."""
    told = [f"{name}, which has too many values" for name in columns if (name,) not in judged]
    pairs = math.comb(len(columns), 2)
    missed = pairs - sum(len(one) == 2 for one in judged)
    if not any(len(one) == len(columns) for one in judged) and len(columns) > 1:
        told.append(f"{', '.join(columns)} together have too many combinations: each was judged by itself")
    if missed > 0:
        told.append(f"{missed:,} of {pairs:,} pairs of kept columns, too many to look at")
    return told


def _strange_secrets(counts: Sequence[RecordCounts], protocol: AnyProtocol) -> list[str]:
    """Records whose secret is no letter of the protocol, where they are more than may be unknown: what kept columns
    tell about those is not known. Missing secrets are not counted."""
    unknown = max((one.unknown(protocol.joint.secrets) for one in counts), default=0)
    records = max((one.records for one in counts), default=0)
    if unknown <= MOST_UNKNOWN * records:
        return []
    return [f"{unknown:,} of {records:,} values of the secret are unknown to the protocol"]


def _judged_values(counts: RecordCounts, asked: Sequence[str], people: Container[str]) -> dict[str, Integers]:
    """The kept values of every kind by column. Of columns that name people the common values are judged, and the rare
    ones as one; one of rare values alone tells nothing that could be measured."""
    found: dict[str, Integers] = {}
    for column, numbers in zip(counts.values, counts.kept() if counts.complete else [], strict=False):
        if column.name in people:
            common = np.bincount(numbers, counts.counts) >= ENOUGH
            numbers = np.where(common[numbers], numbers, len(common))
        if column.name in asked and (column.name not in people or len(np.unique(numbers)) > 1):
            found[column.name] = numbers
    return found


def _rows(counts: RecordCounts, protocol: AnyProtocol, kept: dict[str, Integers]) -> Integers | None:
    """The kinds of record with a known secret: stratum, secret, letter, records, and the kept values; None where they
    are too many."""
    if not counts.complete:
        return None
    joint = protocol.joint
    secret = counts.codes(joint.secrets)
    known = (secret < len(joint.secret_letters)) & (counts.counts > 0)
    columns = [counts.strata(), secret, counts.codes(joint.reads), *kept.values()]
    found, times = distinct([column[known] for column in columns], counts.counts[known])
    return None if len(times) > MOST_CELLS else np.column_stack([*found[:3], times, *found[3:]])


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
