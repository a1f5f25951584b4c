"""Cells in bins that are no numbers: they count as missing, so somebody is told, and many of them are refused.

A decimal comma, a unit behind the number, or the wrong column would otherwise make everybody missing without a word.
Nothing is said of an empty cell, of a code that is declared to mean missing, nor of what people write for it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.attribute import Attribute
from discreet.exceptions import ParameterError, TableError
from discreet.records.cells import as_text, indexed
from discreet.records.grouping import Bins, ColumnGrouping
from discreet.records.source import times_of

MARKS: Final = (
    "?", "-", ".", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "unknown", "Unknown", "missing",
)  # fmt: skip
"""How people write that a value is missing. These are letters like any others unless they are merged or recoded."""
MOST_UNKNOWN: Final = 0.05
FEWEST_UNKNOWN: Final = 10
"""Below so many unknown values a share says nothing: one odd value in a table of ten is no misunderstanding."""


class NoNumbers(UserWarning):
    """Cells in bins that are no numbers, and count as missing."""


def too_many_unknown(unknown: int, records: int) -> bool:
    return unknown >= FEWEST_UNKNOWN and unknown > MOST_UNKNOWN * records


def read_as_missing(cells: int, records: int) -> str:
    return f"{cells:,} of {records:,} values in bins are no numbers: they count as missing"


@dataclass(frozen=True, eq=False)
class CellsInBins:
    """How many cells of columns in bins are no numbers, column by column, counted batch by batch."""

    groupings: Mapping[str, ColumnGrouping]
    missing: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> CellsInBins:
        """Of columns where missing is a letter: elsewhere such a cell is unknown, as any other that is no letter."""
        read = {
            one.name: one.grouping for one in attributes if one.grouping and ("" in one.letters or None in one.letters)
        }
        return cls(_in_bins(read), {one.name: one.missing for one in attributes})

    @classmethod
    def counted(cls, groupings: Mapping[str, ColumnGrouping]) -> CellsInBins:
        """Of a table whose letters are learnt."""
        return cls(_in_bins(groupings))

    def add(self, batch: pa.RecordBatch) -> NDArray[np.bool_]:
        """The records of a batch that have such a cell."""
        times, anywhere = times_of(batch), np.zeros(len(batch), bool)
        for name, grouping in self.groupings.items():
            values, indices = indexed(batch.column(name))
            here = _no_numbers(grouping, as_text(values), self.missing.get(name, ())).take(indices)
            if here.any():
                cells = np.count_nonzero(here) if times is None else times[here].sum()
                self.found[name] = self.found.get(name, 0) + int(cells)
                anywhere |= here
        return anywhere

    def watched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches."""
        for batch in batches:
            self.add(batch)
            yield batch

    def check(self, attributes: Sequence[Attribute], records: int, anyway: bool) -> None:
        """A warning with the number of each column; TableError where it is too large, unless it is meant."""
        for attribute in attributes:
            if attribute.grouping is not None and attribute.letters == (None,):
                raise ParameterError(
                    "bins of a column without numbers",
                    where=attribute.name,
                    remedy="Merge its values instead (--merge).",
                )
        for name, cells in self.found.items():
            if too_many_unknown(cells, records) and not anyway:
                raise TableError(
                    read_as_missing(cells, records),
                    where=name,
                    remedy="Write numbers with a point and no unit, and nothing where there is none; or say that it is "
                    "meant: --force, force=True.",
                )
            warnings.warn(f"{name}: {read_as_missing(cells, records)}", NoNumbers, stacklevel=5)


def _in_bins(groupings: Mapping[str, ColumnGrouping]) -> dict[str, ColumnGrouping]:
    return {name: one for name, one in groupings.items() if any(isinstance(step, Bins) for step in one.steps)}


def _no_numbers(grouping: ColumnGrouping, texts: pa.Array, missing: Sequence[str]) -> NDArray[np.bool_]:
    """Which of these values a step in bins makes missing, though something else is written there."""
    nothing = pa.array(["", *MARKS, *missing], pa.large_string())
    texts = texts.cast(pa.large_string())
    lost = np.zeros(len(texts), bool)
    for step in grouping.steps:
        after = step.apply(texts)
        if isinstance(step, Bins):
            written = pc.and_(pc.is_valid(texts), pc.invert(pc.is_in(texts, value_set=nothing)))
            lost |= pc.and_(written, pc.is_null(after)).to_numpy(zero_copy_only=False)
        texts = after
    return lost
