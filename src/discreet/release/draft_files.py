"""Drafts on their way, in files that all machines of a release see: each part writes one, each orderer reads its share.

The folder of the target is shared in any case, and a file in it outlives the machine that wrote it: whoever is lost
between drawing and ordering takes nothing along. What lies there is sealed (`parts`), in a hidden folder that nobody
else may enter, and is gone with it. Some hundred bytes for every part go through the engine, and no record does.

A file is: sealed drafts, bucket after bucket, as often as the part was flushed; for every flush where each bucket
begins and the last one ends; how many flushes there are. All numbers have eight bytes, little-endian.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import pyarrow as pa

from discreet.release.parts import NO_VALUES, PartJob, Seal, drawn_part, ordered_part, refused, unwritable

NUMBER_BYTES: Final = 8
"""Of a whole number in a draft file."""
BUFFER_BYTES: Final = 1 << 20
"""1 MiB is written at a time."""


@dataclass(frozen=True)
class StoredPart:
    """A part whose drafts are stored: the name of their file, its size, and what was met, sealed."""

    name: str
    octets: int
    said: bytes


def stored_part(job: PartJob, batches: Iterable[pa.RecordBatch], number: int) -> StoredPart:
    """Draw a part and store its drafts. An attempt has a file of its own: one that nobody names is nothing."""
    said, name = b"", f"{uuid.uuid4().hex}.drafts"
    with NO_VALUES:
        try:
            with _created(Path(job.folder) / name) as file:
                stored = _Stored(file, job.buckets)
                for bucket, sealed in drawn_part(job, batches, number):
                    if bucket < 0:
                        said = sealed
                    else:
                        stored.add(bucket, sealed)
                octets = stored.close()
        except OSError as error:
            return StoredPart(name, 0, Seal.of(job).say("refusal", refused(unwritable(job, error), number)))
    return StoredPart(name, octets, said)


def ordered_share(job: PartJob, names: Sequence[str], buckets: range) -> Iterator[bytes]:
    """These buckets of all stored parts become one file of the release; what was written is said, sealed."""
    with NO_VALUES:
        try:
            drafts = sorted(_drafts(job, names, buckets), key=lambda draft: draft[0])
        except OSError as error:
            yield Seal.of(job).say("refusal", refused(unwritable(job, error), -1))
            return
        yield from ordered_part(job, drafts)


def _created(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", BUFFER_BYTES)


@dataclass(eq=False)
class _Stored:
    """A file of drafts while it is written."""

    file: BinaryIO
    buckets: int
    _end: int = 0
    _last: int = 0
    _flushes: list[np.ndarray[Any, np.dtype[np.int64]]] = field(default_factory=list)

    def add(self, bucket: int, sealed: bytes) -> None:
        if not self._flushes or bucket <= self._last:
            self._finish()
            self._flushes.append(np.full(self.buckets + 1, self._end, np.int64))
            self._last = -1
        self._flushes[-1][self._last + 1 : bucket + 1] = self._end
        self.file.write(sealed)
        self._end += len(sealed)
        self._last = bucket

    def _finish(self) -> None:
        if self._flushes:
            self._flushes[-1][self._last + 1 :] = self._end

    def close(self) -> int:
        self._finish()
        for flush in self._flushes:
            self.file.write(flush.astype("<i8").tobytes())
        self.file.write(len(self._flushes).to_bytes(NUMBER_BYTES, "little"))
        return self._end


def _drafts(job: PartJob, names: Sequence[str], buckets: range) -> Iterator[tuple[int, memoryview]]:
    width = NUMBER_BYTES * (job.buckets + 1)
    for name in names:
        with (Path(job.folder) / name).open("rb", buffering=0) as file:
            end = file.seek(0, os.SEEK_END) - NUMBER_BYTES
            flushes = int.from_bytes(_at(file, end, NUMBER_BYTES), "little")
            for flush in range(flushes):
                place = end - (flushes - flush) * width + NUMBER_BYTES * buckets.start
                starts = np.frombuffer(_at(file, place, NUMBER_BYTES * (len(buckets) + 1)), "<i8").tolist()
                whole = memoryview(_at(file, starts[0], starts[-1] - starts[0]))
                for bucket, start, stop in zip(buckets, starts[:-1], starts[1:], strict=True):
                    if stop > start:
                        yield bucket, whole[start - starts[0] : stop - starts[0]]


def _at(file: Any, place: int, octets: int) -> bytes:
    """Bytes of a file; OSError if there are fewer."""
    file.seek(place)
    found = bytearray()
    while len(found) < octets:
        more = file.read(octets - len(found))
        if not more:
            raise OSError(0, "a file of drafts ends too early")
        if len(more) == octets:
            return bytes(more)
        found += more
    return bytes(found)
