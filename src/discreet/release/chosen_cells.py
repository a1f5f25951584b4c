"""How few records a combination of kept values may have where one of several rows of a person is chosen at random.

A person whose rows all have one combination is in its cell whatever is chosen; whoever has it in some rows may be. So a
cell has between as many records as the first and as many as both, and where nobody is in it for certain it may have one
record, or not be there at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from discreet.arrays import Integers
from discreet.records.cells import indexed
from discreet.release.record_counts import ValueColumn


@dataclass(frozen=True)
class ChosenCells:
    """The least and the most that the smallest cell may have."""

    least: int
    most: int

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch], names: Sequence[str], persons: Integers) -> ChosenCells:
        """Of all rows of a table, whose are those of these `persons`."""
        columns = [ValueColumn(name) for name in names]
        rows = [np.zeros((len(columns), 0), np.int64)]
        for batch in batches:
            cells = [(one, *indexed(batch.column(one.name))) for one in columns]
            rows.append(np.array([one.numbers(values)[places] for one, values, places in cells], np.int64))
        _, cell = np.unique(np.concatenate(rows, axis=1), axis=1, return_inverse=True)
        pairs = np.unique(np.stack([persons, cell.reshape(-1)]), axis=1)
        if not pairs.size:
            return cls(0, 0)
        different = np.bincount(pairs[0])
        some, sure = (np.bincount(one, minlength=pairs[1].max() + 1) for one in (
            pairs[1], pairs[1][different[pairs[0]] == 1],
        ))  # fmt: skip
        there = some[sure > 0]
        return cls(int(np.maximum(sure, 1).min()), int(there.min()) if there.size else int(np.count_nonzero(different)))

    @property
    def told(self) -> str:
        return f"between {self.least:,} and {self.most:,}"
