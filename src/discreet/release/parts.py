"""A release in parts: many machines draw, others put in order, and only all of it together is a release.

Some of the machines call `drawn_part`: batches of records in, sealed drafts out, each with the number of its bucket.
Whoever carries them brings equal buckets together and calls `ordered_part`, which writes a file and says what it wrote.
`assembly` adds all of that up, refuses or publishes.

*Draws* are keyed (`keyed_draws`), always: a part that is read again, because a machine was lost or slow, or a plan was
run twice, gives the same cells again, which tells nothing new (theory 4).

*Order.* The place of a record must not depend on its place in the table, and must not be the same in two releases, or
both could be laid side by side. With h the keyed hash of its id, and N a number made for this release,

    place = AES-256( h xor r ) under the key B(K, "order", N),

where r is 0, or the number of the row where several rows may have one id: these must not stand together. Records are
sorted by the first 64 bits; ids that occur twice have 96 equal bits, and different ones among n have them with
probability below n²/2^97.

*Between the machines* everything is AES-256-GCM under B(K, "sealed", N): whatever is spilled, cached or left behind on
a disk is nothing without K, which each machine reads for itself and which is part of no message.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from discreet.arrays import Integers
from discreet.exceptions import DiscreetError, InOwnWords, ReleaseError
from discreet.files.atomic_file import hashing
from discreet.randomness import Keystream
from discreet.records.source import TIMES
from discreet.records.writer import write_records
from discreet.release.batches import BatchSanitiser, ReleaseLaw
from discreet.release.keyed_draws import KeyedDraws, Words, keyed_draws
from discreet.release.readings import Reading, reading_of

PLACE, DOUBT, MADE_ID = "place", "doubt", "discreet id"
NONCE_BYTES: Final = 12
HELD_ROWS, HELD_BYTES = 1 << 22, 1 << 26
"""Drafts that a machine holds before it seals them: few large messages cost less than many small ones."""
SORTED_ROWS: Final = 1 << 18
"""Records that are sorted at a time, at least; whole buckets."""
MOST_CELLS: Final = 1_000_000
"""Different combinations of counted columns in one part; beyond, they are as good as an id."""
ROW_BITS: Final = 40
"""A part has fewer rows than 2^40, a table fewer parts than 2^23."""


@dataclass(frozen=True, eq=False)
class PartJob:
    """What every machine is told. `key` says where the key is found there, `key_name` which one it must be; `counted`
    names the columns whose combinations are counted for the checks; `made` says that the ids were made."""

    law: ReleaseLaw
    keep: tuple[str, ...]
    identity: str
    key: str
    key_name: str
    nonce: bytes
    several_rows: bool
    buckets: int
    counted: tuple[str, ...]
    folder: str
    schema: pa.Schema
    made: bool = False

    def keyed(self) -> KeyedDraws:
        found = keyed_draws(self.key, self.identity, self.law.digest)
        assert found is not None
        if found.name != self.key_name:
            raise ReleaseError(
                "a worker has another key than the driver", where=self.key, remedy="Put the same key on all machines."
            )
        found.identities.remembers = False
        return found

    def kernel(self, keyed: KeyedDraws) -> BatchSanitiser:
        """The stream is never drawn from: draws are keyed."""
        return BatchSanitiser(self.law, Keystream.fresh(), self.keep, keyed)


@dataclass(frozen=True, eq=False)
class Seal:
    """Authenticated encryption of what goes from machine to machine."""

    _cipher: AESGCM = field(repr=False)

    @classmethod
    def of(cls, job: PartJob, keyed: KeyedDraws | None = None) -> Seal:
        return cls(AESGCM((keyed or job.keyed()).derived(b"discreet sealed", job.nonce)))

    def close(self, data: bytes | memoryview) -> bytes:
        nonce = os.urandom(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, data, None)

    def open(self, sealed: bytes | memoryview) -> bytes:
        view = memoryview(sealed).cast("B")
        return self._cipher.decrypt(bytes(view[:NONCE_BYTES]), view[NONCE_BYTES:], None)

    def close_batch(self, batch: pa.RecordBatch) -> bytes:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return self.close(memoryview(sink.getvalue()).cast("B"))

    def open_batches(self, sealed: bytes | memoryview) -> list[pa.RecordBatch]:
        return list(pa.ipc.open_stream(pa.py_buffer(self.open(sealed))))

    def say(self, kind: str, said: dict[str, Any], cells: pa.Table | None = None) -> bytes:
        """A statement, with a table behind it."""
        sink = pa.BufferOutputStream()
        sink.write(json.dumps({"kind": kind, **said}).encode() + b"\n")
        if cells is not None:
            with pa.ipc.new_stream(sink, cells.schema) as writer:
                writer.write_table(cells)
        return self.close(memoryview(sink.getvalue()).cast("B"))

    def hear(self, sealed: bytes | memoryview) -> tuple[dict[str, Any], pa.Table | None]:
        head, _, rest = self.open(sealed).partition(b"\n")
        return json.loads(head), pa.ipc.open_stream(rest).read_all() if rest else None


def _inside(error: Exception) -> ReleaseError:
    """Messages of other libraries quote the data, and logs of machines keep them."""
    return ReleaseError(f"a worker broke off ({type(error).__name__})", remedy="Nothing was released.")


NO_VALUES: Final = InOwnWords(_inside)


# ---- drawing --------------------------------------------------------------------------------------------------------


def counted_part(job: PartJob, batches: Iterable[pa.RecordBatch], number: int) -> bytes:
    """What a part gives on a reading of its own, to be found again in what is drawn (`readings`)."""
    with NO_VALUES:
        keyed = job.keyed()
        found, seal = Reading(), Seal.of(job, keyed)
        try:
            for batch in batches:
                found += reading_of(batch, keyed, found.records + 1)
        except DiscreetError as error:
            return seal.say("refusal", refused(error, number))
        return seal.say("reading", found.said())


def numbered_part(job: PartJob, batches: Iterable[pa.RecordBatch], number: int) -> Iterator[bytes]:
    """The records with ids of their own, sealed, to be stored before anything is drawn: read again, they are alike."""
    with NO_VALUES:
        seal, row = Seal.of(job), number << ROW_BITS
        for batch in batches:
            made = pa.array(np.arange(row, row + len(batch), dtype=np.int64))
            row += len(batch)
            yield seal.close_batch(batch.append_column(MADE_ID, made))


def drawn_part(job: PartJob, batches: Iterable[pa.RecordBatch], number: int) -> Iterator[tuple[int, bytes]]:
    """The drafts of one part of the table, each with its bucket; then what was met, for a bucket below zero.

    What is refused is said rather than raised: a machine that raises is asked again, in vain."""
    with NO_VALUES:
        keyed = None
        try:
            keyed = job.keyed()
            part = _DrawnPart(job, keyed, number)
        except DiscreetError as error:
            if keyed is None:
                raise  # without its key a machine can say nothing
            yield _for_driver(job, number), Seal.of(job, keyed).say("refusal", refused(error, number))
            return
        try:
            for batch in part.opened(batches) if job.made else batches:
                part.add(batch)
                if part.full:
                    yield from part.flush()
            yield from part.flush()
            yield _for_driver(job, number), part.said()
        except DiscreetError as error:
            yield _for_driver(job, number), part.seal.say("refusal", refused(error, number))


def _for_driver(job: PartJob, number: int) -> int:
    return -1 - number % job.buckets


def unwritable(job: PartJob, error: OSError) -> ReleaseError:
    remedy = "Give a path that the driver and every worker see under the same name, and may write to."
    return ReleaseError(f"a worker cannot write ({error.strerror})", where=job.folder, remedy=remedy)


def refused(error: DiscreetError, number: int) -> dict[str, Any]:
    where = f"part {number} of the table, {error.where}" if error.where.startswith("row ") else error.where
    return {"error": type(error).__name__, "what": error.what, "where": where, "remedy": error.remedy}


class _DrawnPart:
    def __init__(self, job: PartJob, keyed: KeyedDraws, number: int) -> None:
        self.job, self.keyed, self.number = job, keyed, number
        self.kernel, self.seal = job.kernel(keyed), Seal.of(job, keyed)
        self._order = Cipher(algorithms.AES(keyed.derived(b"discreet order", job.nonce)), modes.ECB()).encryptor()
        self._held: list[pa.RecordBatch] = []
        self._rows = self._octets = self._places = 0
        self._cells: pa.Table | None = None
        self._too_many = False
        self._made = Reading()

    def opened(self, sealed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in sealed:
            for one in batch.column(0):
                yield from self.seal.open_batches(one.as_buffer())

    def add(self, batch: pa.RecordBatch) -> None:
        first = self.kernel.tally.records
        draft = self.kernel.draft(batch)
        place, doubt = self._placed(first)
        self._places = (self._places + int(place.sum(dtype=np.uint64))) % 2**64
        columns = [pa.array(place), pa.array(doubt), *draft.columns]
        self._held.append(pa.record_batch(columns, names=[PLACE, DOUBT, *map(str, range(draft.num_columns))]))
        self._rows += len(draft)
        self._octets += self._held[-1].nbytes
        if self.job.made:
            self._made += reading_of(batch.drop_columns([MADE_ID]), self.keyed)
        self._count(batch)

    def _placed(self, first: int) -> tuple[Words, Integers]:
        hashes = self.keyed.identities.latest
        assert hashes is not None
        if self.job.several_rows:
            rows = np.arange(len(hashes), dtype=np.uint64) + np.uint64((self.number << ROW_BITS) + first)
            hashes = np.stack([hashes[:, 0], hashes[:, 1] ^ rows], axis=1)
        blocks = np.frombuffer(self._order.update(np.ascontiguousarray(hashes).tobytes()), "<u8").reshape(-1, 2)
        return blocks[:, 0].copy(), (blocks[:, 1] >> np.uint64(32)).astype(np.uint32)

    @property
    def full(self) -> bool:
        return self._rows >= HELD_ROWS or self._octets >= HELD_BYTES

    def flush(self) -> Iterator[tuple[int, bytes]]:
        """What is held, bucket by bucket: the top of its place says which."""
        if not self._rows:
            return
        whole = pa.Table.from_batches(self._held).combine_chunks().to_batches()[0]
        self._held, self._rows, self._octets = [], 0, 0
        buckets = _buckets(whole.column(0).to_numpy(), self.job.buckets)
        grouped = whole.take(pa.array(np.argsort(buckets, kind="stable")))
        ends = np.cumsum(np.bincount(buckets, minlength=self.job.buckets)).tolist()
        start = 0
        for bucket, end in enumerate(ends):
            if end > start:
                yield bucket, self.seal.close_batch(grouped.slice(start, end - start))
            start = end

    def _count(self, batch: pa.RecordBatch) -> None:
        if not self.job.counted or self._too_many:
            return
        met = pa.table({name: _told_apart(batch.column(name)) for name in self.job.counted})
        ones = met.append_column(TIMES, pa.array(np.ones(len(met), np.int64)))
        self._cells = summed_cells([table for table in (self._cells, summed_cells([ones])) if table is not None])
        self._too_many = len(self._cells) > MOST_CELLS

    def said(self) -> bytes:
        tally, ids = self.kernel.tally, self.keyed.identities
        facts = {
            "records": tally.records, "without_letter": tally.without_letter, "unknown": tally.unknown,
            "no_numbers": tally.no_numbers,
            "ids": ids.count, "sums": ids.sums, "values": ids.values, "places": self._places,
            "too_many": self._too_many, "read": self._made.sums if self.job.made else ids.sums,
        }  # fmt: skip
        return self.seal.say("tally", facts, None if self._too_many else self._cells)


def _buckets(places: Words, buckets: int) -> np.ndarray[Any, Any]:
    """The bucket of every place: ⌊place · buckets / 2^64⌋, so that later buckets hold later places."""
    top = places >> np.uint64(40)
    return (top * np.uint64(buckets) >> np.uint64(24)).astype(np.uint16 if buckets <= 1 << 16 else np.uint32)


def _told_apart(cells: pa.Array) -> pa.Array:
    """Cells that can be counted: lists, structs and maps as texts, equal where they are."""
    if not pa.types.is_nested(cells.type):
        return cells
    return pa.array([None if cell is None else repr(cell) for cell in cells.to_pylist()], pa.large_string())


def summed_cells(tables: list[pa.Table]) -> pa.Table:
    """Different rows, with how many records each has."""
    together = pa.concat_tables(tables)
    names = [name for name in together.schema.names if name != TIMES]
    found = together.group_by(names).aggregate([(TIMES, "sum")])
    return found.rename_columns([*(name for name in found.schema.names[:-1]), TIMES]).select([*names, TIMES])


# ---- ordering -------------------------------------------------------------------------------------------------------


def ordered_part(job: PartJob, drafts: Iterable[tuple[int, bytes | memoryview]]) -> Iterator[bytes]:
    """Drafts in the order of their buckets become one file of the release; what was written is said, sealed."""
    with NO_VALUES:
        keyed = job.keyed()
        part = _OrderedPart(job, Seal.of(job, keyed), iter(drafts), job.kernel(keyed))
        try:
            yield from part.written()
        except DiscreetError as error:
            yield part.seal.say("refusal", refused(error, -1))
        except OSError as error:
            yield part.seal.say("refusal", refused(unwritable(job, error), -1))


@dataclass(eq=False)
class _OrderedPart:
    job: PartJob
    seal: Seal
    drafts: Iterator[tuple[int, bytes | memoryview]]
    kernel: BatchSanitiser
    records: int = 0
    places: int = 0
    repeated: int = 0

    def written(self) -> Iterator[bytes]:
        first: tuple[int, bytes | memoryview] | None = None
        for bucket, sealed in self.drafts:
            if bucket < 0:
                yield bytes(sealed)
                continue
            first = bucket, sealed
            break
        if first is None:
            return
        name, digest = f"{uuid.uuid4().hex}.parquet", hashlib.sha256()
        path = Path(self.job.folder) / name
        file = os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb", 1 << 20)
        write_records(hashing(file, digest), self._sorted(*first), self.job.schema, "parquet")
        facts = {
            "name": name, "first": first[0], "records": self.records, "bytes": path.stat().st_size,
            "sha256": digest.hexdigest(), "places": self.places, "repeated": self.repeated,
        }  # fmt: skip
        yield self.seal.say("file", facts)

    def _sorted(self, bucket: int, sealed: bytes | memoryview) -> Iterator[pa.RecordBatch]:
        held, rows = self.seal.open_batches(sealed), 0
        for later, more in self.drafts:
            rows = sum(map(len, held))
            if later != bucket and rows >= SORTED_ROWS:
                yield self._released(held)
                held = []
            held += self.seal.open_batches(more)
            bucket = later
        yield self._released(held)

    def _released(self, held: list[pa.RecordBatch]) -> pa.RecordBatch:
        whole = pa.Table.from_batches(held).combine_chunks().to_batches()[0]
        places = whole.column(0).to_numpy()
        order = np.argsort(places)
        doubts, ordered = whole.column(1).to_numpy()[order], places[order]
        self.records += len(whole)
        self.places = (self.places + int(places.sum(dtype=np.uint64))) % 2**64
        self.repeated += int(np.count_nonzero((ordered[1:] == ordered[:-1]) & (doubts[1:] == doubts[:-1])))
        names = [self.kernel.column, *self.kernel.keep]
        draft = pa.record_batch(whole.columns[2:], names=names).take(pa.array(order))
        return _in_zones(self.kernel.finish(draft), self.job.schema)


def _in_zones(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The same moments in the time zone that the schema names: a worker may be told them in its own."""
    for place, field_there in enumerate(schema):
        kinds = batch.schema.field(place).type, field_there.type
        if kinds[0] != kinds[1] and all(pa.types.is_timestamp(kind) and kind.tz for kind in kinds):
            batch = batch.set_column(place, field_there, batch.column(place).cast(field_there.type))
    return batch
