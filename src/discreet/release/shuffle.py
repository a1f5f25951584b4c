"""Order that cannot be linked: a uniformly random order of the released records, in bounded memory.

The place of a record in the raw table may be known to somebody (the table is sorted by name, say), so the order of the
released table must not depend on it. Every record goes to a random bucket, every bucket is put in random order, and the
buckets are written one after the other: the order is exactly uniform (Rao, Sandelius). Only sanitised records and kept
public columns are ever stored on the way, sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.release.letters import is_text, plain
from discreet.release.randomness import Keystream
from discreet.release.sealed import SealedFile

BUCKETS: Final = 256
SMALL: Final = 1 << 16
_INDEX: Final = pa.int16()
OUT_ROWS: Final = 1 << 17


@dataclass(frozen=True)
class Room:
    """What is held in memory at most: shuffling needs about five times the bytes and 40 bytes a record."""

    octets: int = 1 << 26
    records: int = 1 << 22


@dataclass
class _Bucket:
    extents: list[tuple[int, int]] = field(default_factory=list)
    octets: int = 0
    records: int = 0

    def fits(self, room: Room) -> bool:
        return self.records == 1 or (self.octets <= room.octets and self.records <= room.records)

    def add(self, records: int, extent: tuple[int, int]) -> None:
        self.extents.append(extent)
        self.octets += extent[1]
        self.records += records


def permutation(size: int, randomness: Keystream) -> NDArray[np.intp]:
    """A uniformly random order: dealt to buckets that fit a processor's cache, each in random order."""
    if size <= SMALL:
        return _small_permutation(size, randomness)
    order, ends = _dealt(size, randomness)
    for start, end in pairwise([0, *ends]):
        if end - start > 1:
            order[start:end] = order[start:end][permutation(end - start, randomness)]
    return order


def _dealt(size: int, randomness: Keystream) -> tuple[NDArray[np.intp], list[int]]:
    """Every item in a random bucket: the items bucket by bucket, and where each bucket ends."""
    bucket = randomness.octets(size)
    return np.argsort(bucket, kind="stable"), np.cumsum(np.bincount(bucket, minlength=BUCKETS)).tolist()


def _small_permutation(size: int, randomness: Keystream) -> NDArray[np.intp]:
    """By independent random keys of 32 bits; items whose keys are equal in a random order of their own."""
    low, high = randomness.halves(2 * size).reshape(2, size)
    order = np.argsort(low, kind="stable")
    order = order[np.argsort(high[order], kind="stable")]
    keys = (high.astype(np.uint32) << 16 | low)[order]
    tied = np.flatnonzero(keys[1:] == keys[:-1])
    for run in np.split(tied, np.flatnonzero(np.diff(tied) > 1) + 1) if len(tied) else []:
        start, end = run[0], run[-1] + 2
        order[start:end] = order[start:end][_small_permutation(end - start, randomness)]
    return order


def shuffled(
    batches: Iterable[pa.RecordBatch], randomness: Keystream, folder: Path | None = None, room: Room | None = None
) -> Iterator[pa.RecordBatch]:
    """The same records in random order. Nothing is yielded before the last record was read."""
    room = room or Room()
    held: list[pa.RecordBatch] = []
    octets = records = 0
    with SealedFile(folder) as sealed:
        buckets: list[_Bucket] = []
        for batch in map(_coded, batches):
            held.append(batch)
            octets, records = octets + batch.nbytes, records + len(batch)
            if octets > room.octets or records > room.records:
                buckets = buckets or [_Bucket() for _ in range(BUCKETS)]
                _spill(held, buckets, sealed, randomness)
                held, octets, records = [], 0, 0
        if not buckets:
            yield from _mixed(held, randomness)
            return
        _spill(held, buckets, sealed, randomness)
        held.clear()
        for bucket in buckets:
            if bucket.fits(room):
                yield from _mixed(list(_unsealed(bucket, sealed)), randomness)
            else:
                yield from shuffled(_unsealed(bucket, sealed), randomness, folder, room)


def _coded(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Columns of few texts as dictionaries, which move much faster."""
    return pa.record_batch([_coded_column(column) for column in batch.columns], names=batch.schema.names)


def _coded_column(column: pa.Array) -> pa.Array:
    coded = column.dictionary_encode() if is_text(column.type) else column
    if not pa.types.is_dictionary(coded.type):
        return column
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


def _mixed(held: list[pa.RecordBatch], randomness: Keystream) -> Iterator[pa.RecordBatch]:
    for batch in _whole(held):
        order = permutation(len(batch), randomness)
        for start in range(0, len(batch), OUT_ROWS):
            yield batch.take(pa.array(order[start : start + OUT_ROWS]))


def _spill(held: list[pa.RecordBatch], buckets: list[_Bucket], sealed: SealedFile, randomness: Keystream) -> None:
    """Deal the held records out to the buckets."""
    for batch in _whole(held):
        order, ends = _dealt(len(batch), randomness)
        sorted_batch = batch.take(pa.array(order))
        for bucket, (start, end) in zip(buckets, pairwise([0, *ends]), strict=True):
            if end > start:
                bucket.add(end - start, sealed.append(_to_bytes(sorted_batch.slice(start, end - start))))


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


def _unsealed(bucket: _Bucket, sealed: SealedFile) -> Iterator[pa.RecordBatch]:
    for start, length in bucket.extents:
        yield from pa.ipc.open_stream(sealed.read(start, length))
