"""Order that cannot be linked: a uniformly random order of the released records, in bounded memory.

The place of a record in the raw table may be known to somebody (the table is sorted by name, say), so the order of the
released table must not depend on it. Every record goes to a random bucket, every bucket is put in random order, and the
buckets are written one after the other: the order is exactly uniform (Rao, Sandelius). Only sanitised records and kept
public columns are ever stored on the way, sealed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.release.randomness import Keystream
from discreet.release.sealed import SealedFile

BUCKETS: Final = 256
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
    """A uniformly random order: by independent random keys, those that tie in a random order of their own."""
    passes = 2 if size <= 1 << 20 else 3
    keys = randomness.halves(passes * size).reshape(passes, size)
    order = np.argsort(keys[0], kind="stable")
    for key in keys[1:]:
        order = order[np.argsort(key[order], kind="stable")]
    ranked = keys[:, order]
    tied = np.flatnonzero((ranked[:, 1:] == ranked[:, :-1]).all(axis=0))
    for run in np.split(tied, np.flatnonzero(np.diff(tied) > 1) + 1) if len(tied) else []:
        start, stop = run[0], run[-1] + 2
        order[start:stop] = order[start:stop][permutation(stop - start, randomness)]
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
        for batch in batches:
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


def _whole(held: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Many batches as one, or as none."""
    return pa.Table.from_batches(held).combine_chunks().to_batches() if held else []


def _mixed(held: list[pa.RecordBatch], randomness: Keystream) -> Iterator[pa.RecordBatch]:
    for batch in _whole(held):
        order = permutation(len(batch), randomness)
        for start in range(0, len(batch), OUT_ROWS):
            yield batch.take(pa.array(order[start : start + OUT_ROWS]))


def _spill(held: list[pa.RecordBatch], buckets: list[_Bucket], sealed: SealedFile, randomness: Keystream) -> None:
    """Deal the held records out to the buckets."""
    for batch in _whole(held):
        dealt = randomness.octets(len(batch))
        ends = np.cumsum(np.bincount(dealt, minlength=BUCKETS)).tolist()
        sorted_batch = batch.take(pa.array(np.argsort(dealt, kind="stable")))
        for bucket, start, end in zip(buckets, [0, *ends[:-1]], ends, strict=True):
            if end > start:
                bucket.add(end - start, sealed.append(_to_bytes(sorted_batch.slice(start, end - start))))


def _to_bytes(batch: pa.RecordBatch) -> memoryview:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return memoryview(sink.getvalue())


def _unsealed(bucket: _Bucket, sealed: SealedFile) -> Iterator[pa.RecordBatch]:
    for start, length in bucket.extents:
        yield from pa.ipc.open_stream(sealed.read(start, length))
