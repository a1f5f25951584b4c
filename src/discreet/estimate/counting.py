"""Counting the outputs of a released table: all that an estimate needs of it, batch by batch for files of any size."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.alphabet import Attribute
from discreet.estimate.model import Model
from discreet.estimate.sample import Integers
from discreet.exceptions import AlphabetError, TableError
from discreet.release.letters import Reading, as_text
from discreet.release.read import open_source
from discreet.release.write import spreadsheet_safe
from discreet.tables import read_table


def count_outputs(released: Any, model: Model) -> Integers:
    """How often each output occurs. A file, any table, or the counts themselves as an array of whole numbers."""
    if isinstance(released, np.ndarray):
        return _given(released, model)
    return _count(released, model, None)[()]


def count_groups(released: Any, model: Model, by: str) -> dict[Hashable, Integers]:
    """How often each output occurs in each group of a public column; letters of the groups as text, None if missing."""
    if by in model.columns:
        raise AlphabetError("groups need a public column", where=by, remedy="Name a column that was kept as it was.")
    return {key[0]: counts for key, counts in _count(released, model, by).items()}


def outputs_of(released: Any, model: Model) -> NDArray[np.intp]:
    """The number of every record's output, in the order of the table."""
    columns = _columns(model)
    parts = [_outputs(batch, columns) for batch in _batches(released, model.columns)]
    return np.concatenate(parts) if parts else np.zeros(0, np.intp)


def outputs_and_groups(released: Any, model: Model, by: str) -> tuple[NDArray[np.intp], list[str | None]]:
    """The number of every record's output, and its group."""
    columns = _columns(model)
    outputs, groups = [np.zeros(0, np.intp)], list[str | None]()
    for batch in _batches(released, [*model.columns, by]):
        outputs.append(_outputs(batch, columns))
        codes, names = _groups(batch.column(by))
        groups += [names[code] for code in codes]
    return np.concatenate(outputs), groups


def _given(counts: NDArray[Any], model: Model) -> Integers:
    if counts.shape != (len(model.matrix),) or counts.dtype.kind not in "iu" or (counts < 0).any():
        raise TableError(
            f"not {len(model.matrix)} counts", where="released", remedy="Give a whole number an output, or a table."
        )
    return counts.astype(np.int64)


def _count(released: Any, model: Model, by: str | None) -> dict[tuple[Hashable, ...], Integers]:
    columns, size = _columns(model), len(model.matrix)
    found: dict[tuple[Hashable, ...], Integers] = {} if by else {(): np.zeros(size, np.int64)}
    for batch in _batches(released, [*model.columns, *([by] if by else [])]):
        if by is None and len(columns) == 1:
            found[()] += columns[0].tally(batch.column(0))
            continue
        outputs = _outputs(batch, columns)
        if by is None:
            found[()] += np.bincount(outputs, minlength=size)
            continue
        codes, names = _groups(batch.column(by))
        table = np.bincount(codes * size + outputs, minlength=len(names) * size).reshape(len(names), size)
        for name, counts in zip(names, table, strict=True):
            if counts.any():
                found[name,] = found.get((name,), np.zeros(size, np.int64)) + counts
    return found


def _groups(cells: pa.Array) -> tuple[NDArray[np.int64], list[str | None]]:
    """The number of every record's group, and the groups' names as text; a missing one is the last, None."""
    cells = _encoded(cells)
    codes = cells.indices.cast(pa.int64()).fill_null(len(cells.dictionary)).to_numpy()
    return codes, [*as_text(cells.dictionary).to_pylist(), None]


def _batches(released: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if isinstance(released, str | PathLike):
        with open_source(fspath(released), columns) as source:
            yield from source
    else:
        yield from read_table(released, columns).to_batches()


@dataclass(frozen=True, eq=False)
class _Column:
    """Reads the outputs of one column, as they are written in any kind of file."""

    name: str
    labels: tuple[str, ...]

    @cached_property
    def _reading(self) -> tuple[Reading, NDArray[np.intp]]:
        """Every way to write an output, and its number; −1 for everything else."""
        safe = [(number, spreadsheet_safe(text)) for number, text in enumerate(self.labels)]
        changed = [(number, text) for number, text in safe if text != self.labels[number]]
        letters = Attribute(self.name, (*self.labels, *(text for _, text in changed)))
        return Reading((letters,)), np.array([*range(len(safe)), *(number for number, _ in changed), -1], np.intp)

    def outputs(self, cells: pa.Array) -> NDArray[np.intp]:
        reading, numbers = self._reading
        outputs = numbers.take(reading.codes([cells]))
        if len(outputs) and outputs.min() < 0:
            raise TableError(
                "a value that is no output of this protocol",
                where=self.name,
                remedy="Estimate with the protocol that the table was released with.",
            )
        return outputs

    def tally(self, cells: pa.Array) -> Integers:
        """How often each output occurs: equal cells are counted first, then read once."""
        cells = _encoded(cells)
        if cells.indices.null_count:
            return np.bincount(self.outputs(cells), minlength=len(self.labels))
        times = np.bincount(cells.indices.to_numpy(), minlength=len(cells.dictionary))
        met = np.flatnonzero(times)
        counts = np.zeros(len(self.labels), np.int64)
        np.add.at(counts, self.outputs(cells.dictionary.take(pa.array(met))), times[met])
        return counts


def _encoded(cells: pa.Array) -> pa.DictionaryArray:
    return cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()


def _columns(model: Model) -> list[_Column]:
    return [_Column(name, labels) for name, labels in zip(model.columns, model.labels, strict=True)]


def _outputs(batch: pa.RecordBatch, columns: Sequence[_Column]) -> NDArray[np.intp]:
    """The number of every record's output; several columns in C order."""
    outputs = np.zeros(len(batch), np.intp)
    for column in columns:
        outputs = outputs * len(column.labels) + column.outputs(batch.column(column.name))
    return outputs
