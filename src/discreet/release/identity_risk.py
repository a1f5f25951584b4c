"""How easily a person is found among published columns, and how well a secret is guessed from them.

A cell is a combination of values of the columns that are published as they are. Somebody who knows these values of a
person finds the k records of the cell: k = 1 names the person. A cell whose records share one secret value tells the
secret of everybody in it without any guessing.

The best guess of the secret of a record drawn from the table is right with probability Σ_c max_s n(s, c) / n, where c
is what is known: nothing, the cell, or the cell and the output y of the release. The last is exact in expectation over
the draws: Σ_c Σ_y max_s Σ_z n(s, z, c) Q[y, z] / n, with q in place of Q[·, z] where a record has no letter (theory 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Integers
from discreet.release.record_counts import distinct

FEW_RECORDS: Final = (3, 5)
"""The thresholds that statistical offices use most."""
TOLD: Final = 3
"""Columns that are named as adding most."""
BLOCK: Final = 1 << 21
"""Numbers held at a time while guesses are summed: 16 MB."""


@dataclass(frozen=True)
class IdentityRisk:
    """Records with k = 1, k < 3 and k < 5 in the published columns; the columns without which most of the last go.

    `single_secret` counts the records in cells of one secret value, and the cells; None where the secret is not known.
    """

    columns: tuple[str, ...]
    cells: int
    unique: int
    below_3: int
    below_5: int
    smallest: int
    single_secret_cells: int | None
    single_secret_records: int | None
    adding_most: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class BestGuess:
    """Chances that the best guess of the secret is right."""

    nothing: float
    kept: float
    release: float
    kept_and_release: float


def identity_risk(
    names: Sequence[str], kept: Sequence[Integers], counts: Integers, secret: Integers | None
) -> IdentityRisk:
    """`kept` has one row per column, `counts` and `secret` one entry per kind."""
    cells, records = distinct(kept, counts)
    unique, below_3, below_5 = _small(records)
    adding = []
    for position, name in enumerate(names):
        others = [row for i, row in enumerate(cells) if i != position]
        left = _small(distinct(others, records)[1])[2] if others else 0
        adding.append((name, below_5 - left))
    adding.sort(key=lambda one: -one[1])
    cells_alone, records_alone = (None, None) if secret is None else _single(kept, counts, secret)
    smallest = int(records.min()) if len(records) else 0
    return IdentityRisk(
        tuple(names), len(records), unique, below_3, below_5, smallest, cells_alone, records_alone, tuple(adding[:TOLD])
    )  # fmt: skip


def _small(records: Integers) -> tuple[int, int, int]:
    """Records in cells of one, of fewer than 3, of fewer than 5."""
    few, fewer = FEW_RECORDS
    return int((records == 1).sum()), int(records[records < few].sum()), int(records[records < fewer].sum())


def smallest_cell(kept: Sequence[Integers], counts: Integers) -> int:
    """The k of the published columns."""
    return int(distinct(kept, counts)[1].min()) if len(kept) and len(counts) else 0


def _single(kept: Sequence[Integers], counts: Integers, secret: Integers) -> tuple[int, int]:
    pairs, records = distinct([*kept, secret], counts)
    cell = _numbered(pairs[:-1])
    secrets = np.bincount(cell)
    alone = secrets[cell] == 1
    return int((secrets == 1).sum()), int(records[alone].sum())


def _numbered(rows: Integers) -> Integers:
    """The same number for equal columns of `rows`, from 0 on."""
    number = np.zeros(rows.shape[1], np.int64)
    for row in rows:
        _, number = np.unique(number * (int(row.max(initial=0)) + 1) + row, return_inverse=True)
    return number


def best_guess(
    kept: Sequence[Integers], secret: Integers, letters: Integers, counts: Integers, law: sparse.csc_array
) -> BestGuess | None:
    """`law[y, z]` is Q with q as its last column; kinds whose secret is unknown are left out before."""
    total = int(counts.sum())
    if not total:
        return None
    everybody = np.zeros((1, len(counts)), np.int64)
    cells = np.array(kept) if len(kept) else everybody
    return BestGuess(
        _known(everybody, secret, counts) / total,
        _known(cells, secret, counts) / total,
        _with_release(everybody, secret, letters, counts, law) / total,
        _with_release(cells, secret, letters, counts, law) / total,
    )


def _known(cells: Integers, secret: Integers, counts: Integers) -> int:
    pairs, records = distinct([*cells, secret], counts)
    cell = _numbered(pairs[:-1])
    most = np.zeros(int(cell.max(initial=0)) + 1, np.int64)
    np.maximum.at(most, cell, records)
    return int(most.sum())


def _with_release(
    cells: Integers, secret: Integers, letters: Integers, counts: Integers, law: sparse.csc_array
) -> float:
    """Σ_c Σ_y max_s Σ_z n(s, z, c) Q[y, z]; a cell with one secret value adds its records."""
    rows, records = distinct([*cells, secret, letters], counts)
    cell = _numbered(rows[:-2])
    pairs = _numbered(np.array([cell, rows[-2]]))
    order = np.lexsort((pairs, cell))
    cell, pairs, letter, records = cell[order], pairs[order], rows[-1][order], records[order]
    first = np.flatnonzero(np.diff(pairs, prepend=-1))
    secrets = np.bincount(cell[first])
    several = secrets[cell] > 1
    right = float(records[~several].sum())
    cell, pairs, letter, records = cell[several], pairs[several], letter[several], records[several]
    entries = np.diff(law.indptr)[letter]
    edges = np.flatnonzero(np.diff(cell, prepend=-1))
    blocks = (np.cumsum(entries) - entries)[edges] // BLOCK
    starts = edges[np.flatnonzero(np.diff(blocks, prepend=-1))]
    for start, stop in pairwise([*starts.tolist(), len(cell)]):
        part = slice(start, stop)
        pair = np.cumsum(np.diff(pairs[part], prepend=pairs[start]) > 0)
        owner = cell[part][np.flatnonzero(np.diff(pair, prepend=-1))]
        met = sparse.csr_array((records[part].astype(float), (pair, letter[part])), (len(owner), law.shape[1]))
        seen = sparse.coo_array(met @ law.T)
        right += _largest(owner[seen.row] * law.shape[0] + seen.col, seen.data)
    return right


def _largest(place: Integers, values: Floats) -> float:
    """The largest value of every place, added up."""
    order = np.argsort(place, kind="stable")
    return float(np.maximum.reduceat(values[order], np.flatnonzero(np.diff(place[order], prepend=-1))).sum())
