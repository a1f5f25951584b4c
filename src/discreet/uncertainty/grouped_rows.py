"""Rows that are mostly zero, over a Rényi ball: letters of equal value as one (theory 10.4).

Grouping letters never raises a Rényi divergence, and a distribution that keeps the shares of P̂ inside every group has
the divergence of the grouped one. So the largest and the smallest mean of a row over the ball are those of its values
over the ball around the grouped P̂: a row with m letters that are not zero has m + 1 groups, however long the alphabet
is. A group without letters is written as a second one of a value that the row has, with no mass, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.arrays import Floats, Indices
from discreet.joint import Joint
from discreet.uncertainty.renyi_ball import RenyiBall

BLOCK_ENTRIES = 400_000
"""Values of the rows that are taken together: some hundred megabytes for all splits of a budget."""


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Values and P̂_{U|s} of the groups, arrays (output, secret, group), and which outputs these are."""

    outputs: Indices
    values: Floats
    laws: Floats


def grouped_rows(entries: sparse.csr_array, joint: Joint, ball: RenyiBall) -> Iterator[GroupedRows]:
    """The rows of a channel, those with about as many letters together; a letter whose column is empty is released as
    outputs are on average."""
    c, k = joint.table.shape
    parts = c if joint.reads_secret else 1
    owners = sparse.csr_array(entries.reshape((entries.shape[0] * parts, entries.shape[1] // parts)))
    silent = np.bincount(entries.indices, minlength=entries.shape[1]).reshape(parts, k) == 0
    average = np.asarray(entries @ joint.prior)
    sizes = np.diff(owners.indptr).reshape(-1, parts).max(axis=1)
    classes = np.ceil(np.log2(np.maximum(sizes, 2))).astype(int)
    for one in np.unique(classes):
        outputs = np.flatnonzero(classes == one)
        width = int(sizes[outputs].max())
        step = max(1, BLOCK_ENTRIES // (c * (width + 2)))
        for start in range(0, len(outputs), step):
            mine = outputs[start : start + step]
            yield _grouped(owners, mine, width, parts, ball, silent, average)


def _grouped(
    owners: sparse.csr_array, outputs: Indices, width: int, parts: int, ball: RenyiBall, silent: NDArray[np.bool_],
    average: Floats,
) -> GroupedRows:  # fmt: skip
    c, k = ball.conditional.shape
    rows = (outputs[:, None] * parts + np.arange(parts)).ravel()
    part = owners[rows]
    sizes = np.diff(part.indptr)
    owner = np.repeat(np.arange(len(rows)), sizes)
    place = np.arange(part.nnz) - part.indptr[owner]
    first = np.where(sizes > 0, part.data[np.minimum(part.indptr[:-1], max(part.nnz - 1, 0))] if part.nnz else 0.0, 0.0)
    values = np.repeat(first[:, None], width + 2, axis=1)
    values[owner, place] = part.data
    letters = np.full((len(rows), width), -1)
    letters[owner, place] = part.indices
    unreleased = silent.sum(axis=1)[np.arange(len(rows)) % parts]
    values[:, width] = np.where(sizes + unreleased < k, 0.0, first)
    values[:, width + 1] = np.where(unreleased > 0, np.repeat(average[outputs], parts), values[:, width])
    shape = (len(outputs), c)
    values = np.broadcast_to(values.reshape(len(outputs), parts, -1), (*shape, width + 2))
    letters = np.broadcast_to(letters.reshape(len(outputs), parts, -1), (*shape, width))
    quiet = np.where(silent, ball.conditional, 0.0).sum(axis=1)
    laws = np.zeros(values.shape)
    laws[:, :, :width] = np.where(letters >= 0, ball.conditional[np.arange(c)[:, None], letters], 0.0)
    laws[:, :, width + 1] = quiet
    seen = (ball.conditional > 0).sum(axis=1) - (silent & (ball.conditional > 0)).sum(axis=1)
    met = (laws[:, :, :width] > 0).sum(axis=2)
    rest = np.maximum(1 - laws.sum(axis=2), 0.0)
    laws[:, :, width] = np.where(met < seen, rest, 0.0)
    return GroupedRows(outputs, np.ascontiguousarray(values), laws)
