"""Order that cannot be linked: a uniformly random order of the released records, in bounded memory.

The place of a record in the raw table may be known to somebody (the table is sorted by name, say), so the order of the
released table must not depend on it. Every record goes to a random bucket, every bucket is put in random order, and the
buckets are written one after the other: the order is exactly uniform (Rao, Sandelius). Records of few kinds are counted
(see `numbered`); others are moved, and of these only sanitised records and kept public columns are ever stored on the
way, sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.files.sealed_file import SealedFile
from discreet.randomness import Keystream
from discreet.records.cells import is_text, plain
from discreet.records.kinds import Counts, Draft, Numbered, expanded

BUCKETS: Final = 64  # a power of two, so that the bits of one random octet choose among them evenly
_INDEX: Final = pa.int16()
OUT_ROWS: Final = 1 << 17  # of a batch that is handed out, as many as of one that is read


@dataclass(frozen=True)
class MemoryLimit:
    """What is held in memory at most: shuffling needs about three times the bytes and 40 bytes per record."""

    octets: int = 1 << 26
    records: int = 1 << 22


@dataclass
class _Bucket:
    """The records dealt to it: the latest in memory, the earlier ones sealed."""

    held: list[pa.RecordBatch] = field(default_factory=list)
    extents: list[tuple[int, int]] = field(default_factory=list)
    octets: int = 0
    records: int = 0

    def add(self, part: pa.RecordBatch) -> None:
        self.held.append(part)
        self.records += len(part)

    def spill(self, sealed: SealedFile) -> None:
        for whole in _whole(self.held):
            self.extents.append(sealed.append(_to_bytes(whole)))
            self.octets += self.extents[-1][1]
        self.held = []

    def fits(self, room: MemoryLimit) -> bool:
        return self.records == 1 or (self.octets <= room.octets and self.records <= room.records)

    def batches(self, sealed: SealedFile) -> Iterator[pa.RecordBatch]:
        for start, length in self.extents:
            yield from pa.ipc.open_stream(sealed.read(start, length))
        yield from self.held
        self.held = []


def shuffled(
    batches: Iterable[pa.RecordBatch],
    randomness: Keystream,
    folder: Path | None = None,
    room: MemoryLimit | None = None,
) -> Iterator[Draft]:
    """The same records in random order. Nothing is yielded before the last record was read."""
    room, source = room or MemoryLimit(), iter(batches)
    first = next(source, None)
    if first is None:
        return
    counts = Counts(first.schema, BUCKETS)
    for batch in (records := chain([first], source)):
        if not (Counts.suits(first.schema) and counts.add(batch, _dealt(len(batch), randomness))):
            yield from _moved(chain(_uncounted(counts), [batch], records), randomness, folder, room)
            return
    for bucket in counts.each:
        for numbers in _arranged(bucket, randomness, room):
            yield Numbered(counts.kinds, numbers)


def _uncounted(counts: Counts) -> Iterator[pa.RecordBatch]:
    """Records that were counted so far, to be moved after all."""
    for numbers in expanded(counts.each.sum(axis=0), OUT_ROWS):
        yield counts.kinds.records.take(pa.array(numbers))


def _arranged(counts: NDArray[np.int64], randomness: Keystream, room: MemoryLimit) -> Iterator[NDArray[np.uint16]]:
    """The kinds counted in one bucket, in random order; dealt to further buckets where they are many."""
    size, kinds = int(counts.sum()), len(counts)
    if size <= room.records:
        numbers = np.repeat(np.arange(kinds, dtype=np.uint16), counts)[permutation(size, randomness)]
        for start in range(0, size, OUT_ROWS):
            yield numbers[start : start + OUT_ROWS]
        return
    further = np.zeros((BUCKETS, kinds), np.int64)
    for numbers in expanded(counts, OUT_ROWS):
        np.add.at(further.reshape(-1), _dealt(len(numbers), randomness) * np.intp(kinds) + numbers, 1)
    for bucket in further:
        yield from _arranged(bucket, randomness, room)


def _moved(
    batches: Iterable[pa.RecordBatch], randomness: Keystream, folder: Path | None, room: MemoryLimit
) -> Iterator[pa.RecordBatch]:
    buckets = [_Bucket() for _ in range(BUCKETS)]
    octets = records = 0
    with SealedFile(folder) as sealed:
        for batch in map(_coded, batches):
            _deal(batch, buckets, randomness)
            octets, records = octets + batch.nbytes, records + len(batch)
            if octets > room.octets or records > room.records:
                for bucket in buckets:
                    bucket.spill(sealed)
                octets = records = 0
        for bucket in buckets:
            if bucket.fits(room):
                yield from _mixed(list(bucket.batches(sealed)), randomness)
            else:
                yield from _moved(bucket.batches(sealed), randomness, folder, room)


def permutation(size: int, randomness: Keystream) -> NDArray[np.intp]:
    """A uniformly random order: by independent random keys of 32 bits, equal keys in a random order of their own."""
    low, high = randomness.halves(2 * size).reshape(2, size)
    order = np.argsort(low, kind="stable")
    order = order[np.argsort(high[order], kind="stable")]
    keys = (high.astype(np.uint32) << 16 | low)[order]
    tied = np.flatnonzero(keys[1:] == keys[:-1])
    for run in np.split(tied, np.flatnonzero(np.diff(tied) > 1) + 1) if len(tied) else []:
        start, end = run[0], run[-1] + 2
        order[start:end] = order[start:end][permutation(end - start, randomness)]
    return order


def _dealt(size: int, randomness: Keystream) -> NDArray[np.uint8]:
    """A random bucket for every record."""
    return randomness.octets(size) % BUCKETS


def _deal(batch: pa.RecordBatch, buckets: list[_Bucket], randomness: Keystream) -> None:
    dealt = _dealt(len(batch), randomness)
    ends = np.cumsum(np.bincount(dealt, minlength=BUCKETS)).tolist()
    grouped = batch.take(pa.array(np.argsort(dealt, kind="stable")))
    for bucket, (start, end) in zip(buckets, pairwise([0, *ends]), strict=True):
        if end > start:
            bucket.add(grouped.slice(start, end - start))


def _mixed(held: list[pa.RecordBatch], randomness: Keystream) -> Iterator[pa.RecordBatch]:
    for batch in _whole(held):
        order = permutation(len(batch), randomness)
        for start in range(0, len(batch), OUT_ROWS):
            yield batch.take(pa.array(order[start : start + OUT_ROWS]))


def _coded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns of few texts as dictionaries, which move much faster."""
    return pa.record_batch([_coded_column(column) for column in batch.columns], names=batch.schema.names)


def _coded_column(column: pa.Array) -> pa.Array:
    coded = column.dictionary_encode() if is_text(column.type) else column
    if not pa.types.is_dictionary(coded.type):
        return column
    if coded.dictionary.null_count:
        coded = plain(coded).dictionary_encode()
    if len(coded.dictionary) > min(max(len(column) // 16, 1 << 10), 1 << 14):
        return plain(column)
    return pa.DictionaryArray.from_arrays(coded.indices.cast(_INDEX), coded.dictionary)


def _whole(held: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Many batches as one, or as none. A column that is a dictionary in some of them only becomes plain."""
    if not held:
        return []
    mixed = [len({part.column(i).type for part in held}) > 1 for i in range(held[0].num_columns)]
    alike = [
        pa.record_batch(
            [plain(c) if m else c for c, m in zip(part.columns, mixed, strict=True)], names=part.schema.names
        )
        for part in held
    ]
    return list(pa.Table.from_batches(alike).combine_chunks().to_batches())


def _to_bytes(batch: pa.RecordBatch) -> memoryview:
    columns = [
        plain(c).dictionary_encode() if pa.types.is_dictionary(c.type) and len(c.dictionary) > len(c) else c
        for c in batch.columns
    ]
    batch = pa.record_batch(columns, names=batch.schema.names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue()).cast("B")
