"""Survey weights: every record counts as much as its weight says, and how many records that is worth.

The joint is P̂(s, x) = Σ w_i over the records with (s, x), divided by Σ w_i. Weighted sums are no counts: limits that
are exact for counts are approximate here. They take the effective number of records n* in place of n, Kish's
(Σ w)² / Σ w², or less: so few that n* P̂(s) is at most the effective number of every secret's own records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats
from discreet.attribute import Attribute, Form
from discreet.exceptions import TableError
from discreet.joint import Joint
from discreet.records.cells import as_text, indexed, plain
from discreet.records.grouping import numbers_of
from discreet.records.source import times_of


def weighted_cells(
    batches: Iterable[pa.RecordBatch], columns: Sequence[Any], weight: str, check: Callable[[Sequence[Any]], None]
) -> tuple[Floats, Floats]:
    """Σ w and Σ w² for every combination of letters, with one axis per column; `check` refuses too many of them."""
    sums, squares = np.zeros([0] * len(columns)), np.zeros([0] * len(columns))
    for batch in batches:
        weights, times = weights_of(batch.column(weight), weight), times_of(batch)
        places = []
        for column in columns:
            values, indices = indexed(batch.column(column.name))
            places.append(column.numbers(values)[indices])
        check(columns)
        shape = tuple(len(column) for column in columns)
        sums, squares = (grown(cells, shape) for cells in (sums, squares))
        repeated = 1 if times is None else times
        np.add.at(sums, tuple(places), weights * repeated)
        np.add.at(squares, tuple(places), weights**2 * repeated)
    return sums, squares


def weights_of(cells: pa.Array, name: str) -> Floats:
    """The weights themselves; a record without one, or with a negative one, stops everything."""
    weights = numbers_of(as_text(plain(cells)))
    if np.isnan(weights).any() or (weights < 0).any():
        raise TableError(
            "a weight that is missing, negative or no number",
            where=name,
            remedy="Give every record a weight from 0 on, with a decimal point, or leave these records out.",
        )
    return weights


def grown(cells: Floats, shape: tuple[int, ...]) -> Floats:
    larger = np.zeros(shape)
    larger[tuple(slice(size) for size in cells.shape)] = cells
    return larger


def effective_records(sums: Floats, squares: Floats) -> int:
    """n*: at most Kish's number, and so few that no secret seems to have more records than its weights are worth."""
    total = float(sums.sum())
    by_secret = sums.reshape(len(sums), -1).sum(axis=1), squares.reshape(len(sums), -1).sum(axis=1)
    seen = by_secret[0] > 0
    own = by_secret[0][seen] * total / by_secret[1][seen]  # n*_s / P(s), with n*_s = (Σ_s w)² / Σ_s w²
    return max(1, int(min(total**2 / float(squares.sum()), float(own.min())) * (1 + 1e-12)))


def weighted_joint(
    sums: Floats,
    squares: Floats,
    secrets: tuple[Attribute, ...],
    releases: tuple[Attribute, ...],
    weight: str,
    *,
    form: Form = Form.FUNNEL,
) -> Joint:
    """The joint of these sums, which says that it is weighted and how many records it is worth."""
    return Joint(sums / sums.sum(), secrets, releases, n=effective_records(sums, squares), form=form, weight=weight)
