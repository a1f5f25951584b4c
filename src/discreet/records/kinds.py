"""Records of few kinds as numbers.

In a table that comes out in random order, a record is known by its kind: which output, with which public values. Where
there are few kinds, the records themselves need not be held: it is enough to count how many of each kind were dealt to
each bucket (see `shuffle`), and to put those of a bucket in random order at the end. Equal records are interchangeable,
so the order is exactly as random as if every record had been moved by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.records.cells import is_text, plain

MOST_KINDS: Final = 1 << 16
"""As many as two bytes can number."""
MOST_OCTETS: Final = 1 << 24
"""Of the texts that are held; more than these are not few."""
CHUNK: Final = 1 << 14
"""Records counted at a time: what they need stays in the processor's cache."""
PART_OCTETS: Final = 1 << 26
"""Of the records that are written at a time, about."""
Numbers = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Kinds:
    """Every kind of record once."""

    records: pa.RecordBatch

    @cached_property
    def widest(self) -> int:
        """The bytes of the longest record, about."""
        texts = [column for column in map(plain, self.records.columns) if is_text(column.type)]
        longest: list[int] = [pc.max(pc.binary_length(text)).as_py() or 0 for text in texts]
        return sum(longest) + 16 * len(self.records.schema)


@dataclass(frozen=True, eq=False)
class Numbered:
    """Record i is kind `numbers[i]`."""

    kinds: Kinds
    numbers: Numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def parts(self) -> Iterator[pa.Array]:
        """The numbers in pieces whose records are not too large together."""
        step = max(1, PART_OCTETS // self.kinds.widest)
        for start in range(0, len(self.numbers), step):
            yield pa.array(self.numbers[start : start + step])


Draft: TypeAlias = "pa.RecordBatch | Numbered"
Progress = Callable[[str, int], None]
"""Told "read" or "written" and the number of records so far, from any thread."""


def batches_of(draft: Draft) -> Iterator[pa.RecordBatch]:
    """The records themselves."""
    if isinstance(draft, Numbered):
        yield from (draft.kinds.records.take(numbers) for numbers in draft.parts())
    else:
        yield draft


def finished(drafts: Iterable[Draft], finish: Callable[[pa.RecordBatch], pa.RecordBatch]) -> Iterator[Draft]:
    """`finish` applied to every record; where records are numbered, once per kind."""
    kinds: Kinds | None = None
    done: Kinds | None = None
    for draft in drafts:
        if not isinstance(draft, Numbered):
            yield finish(draft)
            continue
        if done is None or draft.kinds is not kinds:
            kinds, done = draft.kinds, Kinds(finish(draft.kinds.records))
        yield Numbered(done, draft.numbers)


def counted(drafts: Iterable[Draft], stage: str, progress: Progress) -> Iterator[Draft]:
    """The same, and `progress` is told after each."""
    records = 0
    for draft in drafts:
        yield draft
        records += len(draft)
        progress(stage, records)


class Counts:
    """How many records of each kind every bucket holds. A kind is one combination of values."""

    def __init__(self, schema: pa.Schema, buckets: int) -> None:
        self._names = schema.names
        self._values = [_Values(kind) for kind in schema.types]
        self._table = np.zeros((buckets, *(0 for _ in self._names)), np.int64)

    @classmethod
    def suits(cls, schema: pa.Schema) -> bool:
        return all(_countable(kind) for kind in schema.types)

    def add(self, batch: pa.RecordBatch, buckets: NDArray[np.uint8]) -> bool:
        """Count records in the buckets they were dealt to; false, and nothing is counted, if the kinds are too many."""
        coded = [values.coded(column) for values, column in zip(self._values, batch.columns, strict=True)]
        sizes = [len(values) for values in self._values]
        if prod(sizes) > MOST_KINDS or not len(batch):
            return not len(batch)
        self._grow(sizes)
        strides = np.cumprod([1, *sizes[:0:-1]])[::-1]
        scaled = [(indices, numbers * stride) for (indices, numbers), stride in zip(coded, strides, strict=True)]
        for start in range(0, len(batch), CHUNK):
            part = slice(start, start + CHUNK)
            cells = buckets[part] * np.intp(prod(sizes))
            for indices, numbers in scaled:
                cells += numbers.take(indices[part])
            np.add.at(self._table.reshape(-1), cells, 1)
        return True

    def _grow(self, sizes: list[int]) -> None:
        before = self._table
        if before.shape[1:] != tuple(sizes):
            self._table = np.zeros((len(before), *sizes), np.int64)
            self._table[tuple(slice(size) for size in before.shape)] = before

    @cached_property
    def kinds(self) -> Kinds:
        """All of them, once counting is over."""
        sizes = self._table.shape[1:]
        codes = np.indices(sizes).reshape(len(sizes), -1)
        columns = [values.column(code) for values, code in zip(self._values, codes, strict=True)]
        return Kinds(pa.record_batch(columns, names=self._names))

    @property
    def each(self) -> NDArray[np.int64]:
        """counts[bucket, kind]"""
        return self._table.reshape(len(self._table), -1)


def expanded(counts: NDArray[np.int64], step: int) -> Iterator[Numbers]:
    """Every kind as often as it was counted, in the order of the kinds, `step` at a time."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]) if len(ends) else 0, step):
        places = np.arange(start, min(start + step, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right").astype(np.uint16)


class _Values:
    """The values of one column, numbered in the order they are met; small numbers stand for themselves."""

    def __init__(self, kind: pa.DataType) -> None:
        self._small, self._kind = _small(kind), kind
        self._known: dict[Any, int] = {}
        self._size = self._octets = 0

    def __len__(self) -> int:
        """So many values; more than there may be if they are too long, or no numbers to count by."""
        return self._size

    def coded(self, column: pa.Array) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """An index for every cell, and the number of the value at every index."""
        if self._small:
            cells = column.fill_null(-1).to_numpy() if column.null_count else column.to_numpy()
            inside = not len(cells) or cells.min() >= 0
            self._size = max(self._size, int(cells.max(initial=0)) + 1) if inside else MOST_KINDS + 1
            return cells, np.arange(self._size)
        cells = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values = cells.dictionary
        if len(values) > MOST_KINDS or self._octets + values.nbytes > MOST_OCTETS:
            self._size = MOST_KINDS + 1
            return np.zeros(0, np.intp), np.zeros(0, np.intp)
        known = self._known
        numbers = [known.setdefault(value, len(known)) for value in values.to_pylist()]
        indices = cells.indices
        if indices.null_count:
            numbers.append(known.setdefault(None, len(known)))
            indices = indices.cast(pa.int32()).fill_null(len(numbers) - 1)
        self._octets += values.nbytes if len(known) > self._size else 0
        self._size = len(known)
        return indices.to_numpy(), np.array(numbers, np.intp)

    def column(self, codes: NDArray[np.intp]) -> pa.Array:
        if self._small:
            return pa.array(codes.astype(self._kind.to_pandas_dtype()))
        kind = self._kind.value_type if pa.types.is_dictionary(self._kind) else self._kind
        missing = self._known.get(None, len(self._known))
        indices = pa.array((codes - (codes > missing)).astype(np.int32), mask=codes == missing)
        return pa.DictionaryArray.from_arrays(indices, pa.array([x for x in self._known if x is not None], kind))


def _small(kind: pa.DataType) -> bool:
    return bool(pa.types.is_int8(kind) or pa.types.is_int16(kind))


def _countable(kind: pa.DataType) -> bool:
    """Text, whole numbers, truth values: what is equal is written alike, which cannot be said of 0.0 and −0.0."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(is_text(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))
