"""What columns that are kept as they are tell about the secret: by themselves, and beside what is released.

The promise is towards somebody who looks at the released column only; every reader of a file with kept columns looks at
both. S and K fair coins, X = S xor K: publishing X tells nothing, and everything beside K. Where the secret is in the
table this can be measured, on cells with at least 50 records, with a lower limit that holds for all cells together with
probability 95 %, so that rare cells frighten nobody, and with what shuffling X among people of equal secret would show.
Whoever knows several columns knows each of them: columns that make rare cells together are judged one by one as well.
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
from scipy.special import betaincinv, ndtri

from discreet.arrays import Floats, Integers
from discreet.exceptions import ReleaseError
from discreet.phrases import rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.letters import LetterReader
from discreet.records.source import open_records
from discreet.release.record_counts import LetterColumn, RecordCounts, ValueColumn, distinct
from discreet.release.whose_rows import RowsInForce

ENOUGH = 50
"""Records of a secret in a kept cell, at least, for the cell to be judged."""
DOUBT = 0.05
MOST_CELLS = 1_000_000
"""Different combinations of kept values, secret and letter; beyond, every column is judged by itself only."""
MOST_SETS: Final = 56
"""Sets of kept columns that are judged: all together, each, and as many pairs: all of them for ten columns."""
UNIQUE = 0.5
"""A column with more different values than this part of the records names people rather than groups."""


class KeptColumns(UserWarning):
    """Kept columns that were not judged, or that tell something about the secret."""


@dataclass(frozen=True)
class KeptLevels:
    """max |ln P(s|k)/P(s)| and max |ln P(s|y,k)/P(s|k)|, each with its lower limit; and the latter, X shuffled. K are
    these columns: all that were judged, or those of them that tell most for certain."""

    alone: float
    alone_limit: float
    beside: float
    beside_limit: float
    shuffled: float
    columns: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        return max(self.alone_limit, self.beside_limit)


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
    if found is not None and not anyway:
        refuse_kept(found, protocol)
    return found


def refuse_kept(found: KeptLevels, protocol: AnyProtocol) -> None:
    """ReleaseError where kept columns tell more than is promised, at the lower limit."""
    if found.limit <= protocol.notion.epsilon:
        return
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    columns = " ".join(f"--given {shlex.quote(name)}" for name in [*given, *found.columns])
    raise ReleaseError(
        f"kept columns tell about the secret: level {_shown(found.alone)} by themselves, {_shown(found.beside)} beside "
        f"the release (at least {rounded_up(found.alone_limit)} and {rounded_up(found.beside_limit)} with confidence "
        f"95 %, {_shown(found.shuffled)} if X is shuffled), and {rounded_up(protocol.notion.epsilon)} is promised",
        where=", ".join(found.columns),
        remedy=f"Design again with {columns}, which protects the secret among people who agree in them; leave them "
        "out; or keep them anyway (--keep-anyway, keep_anyway=True).",
    )


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


def kept_levels(
    counts: Integers, matrices: Sequence[Floats], columns: tuple[str, ...] = (), doubt: float = DOUBT
) -> KeptLevels:
    """From rows (stratum, kept cell, secret, letter, records) and the mechanism of every stratum; X is not shuffled."""
    alone, beside = (0.0, 0.0), (0.0, 0.0)
    tables = list(_tables(counts, matrices))
    for table, matrix in tables:
        alone = _larger(alone, _alone(table.sum(axis=2), doubt / len(tables)))
        beside = _larger(beside, _beside(table, matrix, doubt / len(tables)))
    return KeptLevels(*alone, *beside, 0.0, columns)


def level_shuffled(counts: Integers, matrices: Sequence[Floats]) -> float:
    """max |ln P(s|y,k)/P(s|k)| after shuffling X among people of equal secret."""
    draws = np.random.default_rng(0)
    every = (_beside(_shuffled(table, draws), matrix, DOUBT)[0] for table, matrix in _tables(counts, matrices))
    return max(every, default=0.0)


def _tables(counts: Integers, matrices: Sequence[Floats]) -> Iterator[tuple[Floats, Floats]]:
    """For every stratum the records of each (kept cell, secret, letter), and its mechanism; cells of fewer records than
    are judged are the last one together."""
    for stratum in np.unique(counts[:, 0]):
        mine, matrix = counts[counts[:, 0] == stratum][:, 1:], matrices[int(stratum)]
        _, k = np.unique(mine[:, 0], return_inverse=True)
        common = np.bincount(k, mine[:, 3]) >= ENOUGH
        cell = np.where(common, np.cumsum(common) - 1, np.count_nonzero(common))[k]
        table = np.zeros((np.count_nonzero(common) + 1, int(mine[:, 1].max()) + 1, matrix.shape[1]))
        np.add.at(table, (cell, mine[:, 1], mine[:, 2]), mine[:, 3])
        yield table, matrix


def _alone(table: Floats, doubt: float) -> tuple[float, float]:
    """The largest |ln P(s|k)/P(s)| over cells with enough records, and its lower limit by Clopper and Pearson."""
    whole, sizes = table.sum(axis=0) / table.sum(), table.sum(axis=1)
    k, s = np.nonzero((sizes[:-1, None] >= ENOUGH) & (whole > 0))
    if not len(k):
        return 0.0, 0.0
    n, m, tail = sizes[k], table[k, s], doubt / (2 * len(k))
    low = np.where(m > 0, betaincinv(np.maximum(m, 1), n - m + 1, tail), 0.0)
    high = np.where(m < n, betaincinv(m + 1, np.maximum(n - m, 1), 1 - tail), 1.0)
    return _moves(m / n, whole[s]), _least(low, high, whole[s], whole[s])


def _beside(table: Floats, matrix: Floats, doubt: float) -> tuple[float, float]:
    """The largest |ln P(y|s,k)/P(y|k)| over (k, s) with enough records, and its lower limit by Bernstein's inequality
    for the means of Q[y, X] over the records of (k, s) and of k."""
    sizes = table.sum(axis=2)
    k, s = np.nonzero(sizes[:-1] >= ENOUGH)
    if not len(k):
        return 0.0, 0.0
    z = float(-ndtri(doubt / (4 * len(k) * len(matrix))))

    def means(weights: Floats, n: Floats) -> tuple[Floats, Floats]:
        mean = weights @ matrix.T / n[:, None]
        spread = np.sqrt(np.maximum(weights @ (matrix**2).T / n[:, None] - mean**2, 0.0) / n[:, None])
        return mean, z * spread + z**2 * matrix.max(axis=1) / (3 * n[:, None])

    mine, wide = means(table[k, s], sizes[k, s])
    whole, slack = means(table[k].sum(axis=1), sizes[k].sum(axis=1))
    occurs = whole > 0
    limits = _least(
        np.maximum(mine - wide, 0.0)[occurs], (mine + wide)[occurs], np.maximum(whole - slack, 0)[occurs],
        (whole + slack)[occurs],
    )  # fmt: skip
    return _moves(mine[occurs], whole[occurs]), limits


def _moves(found: Floats, before: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(found) - np.log(before)).max(initial=0.0))


def _least(low: Floats, high: Floats, whole_low: Floats, whole_high: Floats) -> float:
    """The largest move that is certain: intervals that meet are no move."""
    with np.errstate(divide="ignore"):
        raised = np.log(low) - np.log(whole_high)
        lowered = np.log(whole_low) - np.log(high)
    return float(max(raised.max(initial=0.0), lowered.max(initial=0.0), 0.0))


def _larger(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    return max(first[0], second[0]), max(first[1], second[1])


def _shuffled(table: Floats, draws: np.random.Generator) -> Floats:
    """The counts after shuffling X among people of equal secret: (k, s) and (s, x) stay as they are."""
    found = np.zeros_like(table)
    for s in range(table.shape[1]):
        letters = table[:, s].sum(axis=0).astype(np.int64)
        for k, n in enumerate(table[:, s].sum(axis=1).astype(np.int64)):
            found[k, s] = draws.multivariate_hypergeometric(letters, int(n)) if n else 0
            letters = letters - found[k, s].astype(np.int64)
    return found


def _matrices(protocol: AnyProtocol) -> list[Floats]:
    protocols = protocol.strata.values() if isinstance(protocol, StratifiedProtocol) else [protocol]
    return [np.column_stack([one.matrix, one.marginal / 2.0**one.bits]) for one in protocols]


def _shown(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.2f}"
