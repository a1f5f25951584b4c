"""What columns that are kept as they are tell about the secret: by themselves, and beside what is released.

The promise is towards somebody who looks at the released column only; every reader of a file with kept columns looks at
both. S and K fair coins, X = S xor K: publishing X tells nothing, and everything beside K. Where the secret is in the
table this can be measured, on cells with at least 50 records, with a lower limit that holds for all cells together with
probability 95 %, so that rare cells frighten nobody, and with what shuffling X among people of equal secret would show.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import betaincinv, ndtri

from discreet.arrays import Floats, Integers
from discreet.exceptions import AlphabetError, ReleaseError
from discreet.phrases import rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.cells import indexed
from discreet.records.letters import Alphabet, LetterReader
from discreet.records.source import open_records
from discreet.release.record_counts import distinct
from discreet.release.whose_rows import RowsInForce

ENOUGH = 50
"""Records of a secret in a kept cell, at least, for the cell to be judged."""
DOUBT = 0.05
MOST_CELLS = 1_000_000
"""Different combinations of kept values, secret and letter; beyond, the kept columns are as good as an id."""
UNIQUE = 0.5
"""A column with more different values than this part of the records names people rather than groups."""


class KeptColumns(UserWarning):
    """Kept columns that were not judged, or that tell something about the secret."""


@dataclass(frozen=True)
class KeptLevels:
    """max |ln P(s|k)/P(s)| and max |ln P(s|y,k)/P(s|k)|, each with its lower limit; and the latter, X shuffled."""

    alone: float
    alone_limit: float
    beside: float
    beside_limit: float
    shuffled: float

    @property
    def limit(self) -> float:
        return max(self.alone_limit, self.beside_limit)


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
    given = [one.name for one in protocol.given] if isinstance(protocol, StratifiedProtocol) else []
    asked = [name for name in keep if name not in given]
    if not asked:
        return None
    return judged_kept(_counted(table, protocol, asked, identity, encoding, rows), protocol, given, asked, anyway)


def judged_kept(
    counts: Integers | None, protocol: AnyProtocol, given: Sequence[str], asked: Sequence[str], anyway: bool
) -> KeptLevels | None:
    """`check_kept`, from counts."""
    if counts is None:
        return None
    found = kept_levels(counts, _matrices(protocol))
    if not anyway:
        refuse_kept(found, protocol, given, asked)
    return found


def refuse_kept(found: KeptLevels, protocol: AnyProtocol, given: Sequence[str], asked: Sequence[str]) -> None:
    """ReleaseError where kept columns tell more than is promised, at the lower limit."""
    if found.limit <= protocol.notion.epsilon:
        return
    columns = " ".join(f"--given {name}" for name in [*given, *asked])
    raise ReleaseError(
        f"kept columns tell about the secret: level {_shown(found.alone)} by themselves, {_shown(found.beside)} beside "
        f"the release (at least {rounded_up(found.alone_limit)} and {rounded_up(found.beside_limit)} with confidence "
        f"95 %, {_shown(found.shuffled)} if X is shuffled), and {rounded_up(protocol.notion.epsilon)} is promised",
        where=", ".join(asked),
        remedy=f"Design again with {columns}, which protects the secret among people who agree in them; leave them "
        "out; or keep them anyway (--keep-anyway, keep_anyway=True).",
    )


def kept_kinds(
    strata: Integers, kept: Sequence[Integers], secret: Integers, letters: Integers, records: Integers
) -> Integers | None:
    """Rows (stratum, kept cell, secret, letter, records) from kinds of records that were counted already; None where
    there is nothing to judge, or too much."""
    known = records > 0
    if not kept or not known.any():
        return None
    cells = [row[known] for row in (strata, *kept, secret, letters)]
    rows, sums = distinct(cells, records[known])
    if len(sums) > MOST_CELLS:
        return None
    _, cell = np.unique(rows[1:-2], axis=1, return_inverse=True)
    return np.column_stack([rows[0], cell.reshape(-1), rows[-2], rows[-1], sums])


def kept_levels(counts: Integers, matrices: Sequence[Floats]) -> KeptLevels:
    """From rows (stratum, kept cell, secret, letter, records) and the mechanism of every stratum."""
    draws = np.random.default_rng(0)
    alone, beside, shuffled = (0.0, 0.0), (0.0, 0.0), 0.0
    for stratum in np.unique(counts[:, 0]):
        mine, matrix = counts[counts[:, 0] == stratum][:, 1:], matrices[int(stratum)]
        cells, k = np.unique(mine[:, 0], return_inverse=True)
        table = np.zeros((len(cells), int(mine[:, 1].max()) + 1, matrix.shape[1]))
        np.add.at(table, (k, mine[:, 1], mine[:, 2]), mine[:, 3])
        alone = _larger(alone, _alone(table.sum(axis=2)))
        beside = _larger(beside, _beside(table, matrix))
        shuffled = max(shuffled, _beside(_shuffled(table, draws), matrix)[0])
    return KeptLevels(*alone, *beside, shuffled)


def _alone(table: Floats) -> tuple[float, float]:
    """The largest |ln P(s|k)/P(s)| over cells with enough records, and its lower limit by Clopper and Pearson."""
    whole, sizes = table.sum(axis=0) / table.sum(), table.sum(axis=1)
    k, s = np.nonzero((sizes[:, None] >= ENOUGH) & (whole > 0))
    if not len(k):
        return 0.0, 0.0
    n, m, tail = sizes[k], table[k, s], DOUBT / (2 * len(k))
    low = np.where(m > 0, betaincinv(np.maximum(m, 1), n - m + 1, tail), 0.0)
    high = np.where(m < n, betaincinv(m + 1, np.maximum(n - m, 1), 1 - tail), 1.0)
    return _moves(m / n, whole[s]), _least(low, high, whole[s], whole[s])


def _beside(table: Floats, matrix: Floats) -> tuple[float, float]:
    """The largest |ln P(y|s,k)/P(y|k)| over (k, s) with enough records, and its lower limit by Bernstein's inequality
    for the means of Q[y, X] over the records of (k, s) and of k."""
    sizes = table.sum(axis=2)
    k, s = np.nonzero(sizes >= ENOUGH)
    if not len(k):
        return 0.0, 0.0
    z = float(-ndtri(DOUBT / (4 * len(k) * len(matrix))))

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


def _counted(
    table: Any,
    protocol: AnyProtocol,
    keep: Sequence[str],
    identity: str | None,
    encoding: str | None,
    rows: RowsInForce | None,
) -> Integers | None:
    rows = rows or RowsInForce()
    cells = KeptCells(protocol, tuple(keep), identity)
    try:
        with open_records(table, cells.secret.columns, encoding=encoding, in_order=False):
            pass
    except AlphabetError:
        return None
    with open_records(table, cells.columns, encoding=encoding, in_order=rows.judged is not None) as source:
        for batch in rows.of(source, rows.judged):
            cells.add(batch)
            if cells.too_many:
                break
    return cells.counts(stacklevel=6)


@dataclass(eq=False)
class KeptCells:
    """Records by stratum, kept cell, secret and letter, the letter of none included; of tables with the secret."""

    protocol: AnyProtocol
    keep: tuple[str, ...]
    identity: str | None
    records: int = 0
    too_many: bool = False
    _totals: dict[tuple[int, ...], int] = field(default_factory=dict, repr=False)

    @cached_property
    def secret(self) -> LetterReader:
        return LetterReader(self.protocol.joint.secrets)

    @cached_property
    def _letters(self) -> LetterReader:
        return LetterReader(self.protocol.joint.reads)

    @cached_property
    def _alphabets(self) -> dict[str, Alphabet]:
        return {name: Alphabet.of_texts(name) for name in self.keep}

    @property
    def columns(self) -> list[str]:
        given = [one.name for one in self.protocol.given] if isinstance(self.protocol, StratifiedProtocol) else []
        return list(dict.fromkeys((*self.secret.columns, *self._letters.columns, *given, *self.keep)))

    def add(self, batch: pa.RecordBatch, times: Integers | None = None) -> None:
        """Records, or different ones with how often each occurs."""
        times = np.ones(len(batch), np.int64) if times is None else times
        rows = [_stratum(self.protocol, batch), *(_numbers(self._alphabets[name], batch) for name in self.keep)]
        rows += [_codes(self.secret, batch), _codes(self._letters, batch)]
        known = rows[-2] < self.secret.size
        cells, sums = distinct([row[known] for row in rows], times[known])
        for cell, n in zip(map(tuple, cells.T.tolist()), sums.tolist(), strict=True):
            self._totals[cell] = self._totals.get(cell, 0) + n
        self.records += int(times.sum())
        self.too_many = self.too_many or len(self._totals) > MOST_CELLS

    def counts(self, stacklevel: int = 3) -> Integers | None:
        """Rows (stratum, kept cell, secret, letter, records); None where the columns cannot be judged, with a warning
        that says why."""
        keep, alphabets = self.keep, self._alphabets
        if self.too_many:
            warnings.warn(
                f"not judged: {', '.join(keep)} have too many combinations", KeptColumns, stacklevel=stacklevel
            )
            return None
        most = UNIQUE * max(self.records, 1)
        people = [name for name in keep if name == self.identity or len(alphabets[name]) > most]
        if people:
            warnings.warn(f"kept columns that name people: {', '.join(people)}", KeptColumns, stacklevel=stacklevel)
        judged = [1 + place for place, name in enumerate(keep) if name not in people]
        if not judged or not self._totals:
            return None
        raw = np.array([[*cell, n] for cell, n in self._totals.items()], np.int64)
        _, kept = np.unique(raw[:, judged], axis=0, return_inverse=True)
        return np.column_stack([raw[:, 0], kept.reshape(-1), raw[:, -3:]])


def _stratum(protocol: AnyProtocol, batch: pa.RecordBatch) -> Integers:
    if not isinstance(protocol, StratifiedProtocol):
        return np.zeros(len(batch), np.int64)
    return np.maximum(protocol.numbers.take(_codes(LetterReader(protocol.given), batch)), 0)


def _codes(reader: LetterReader, batch: pa.RecordBatch) -> Integers:
    return reader.codes([batch.column(name) for name in reader.columns]).astype(np.int64)


def _numbers(alphabet: Alphabet, batch: pa.RecordBatch) -> Integers:
    values, indices = indexed(batch.column(alphabet.name))
    return alphabet.numbers(values).take(indices).astype(np.int64)


def _shown(level: float) -> str:
    return "∞" if math.isinf(level) else f"{level:.2f}"
