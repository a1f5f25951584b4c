"""The plan that every source shares: draw and store → say → order and write → say. Two actions, and no shuffle.

Before it, a frame is read once for its ids alone, and what is drawn must be what was read there (`release.readings`).

Drafts lie sealed in the hidden folder of the target (`release.draft_files`); through Spark go the names of their files
and one sealed statement for every part and every file of the release. Tasks that run twice write two files with names
of their own, and only the one whose name was collected is part of the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import pyarrow as pa

from discreet.release.draft_files import ordered_share, stored_part
from discreet.release.parts import PartJob, counted_part
from discreet.release.shared_ids import ID, KIND, PERSON, id_texts, person_kinds
from discreet.spark.cluster import warn_open_shuffles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

BUCKETS_PER_PARTITION: Final = 2
"""Of spark.sql.shuffle.partitions: buckets are small where the frame is large and the setting follows it."""
SHARE_BYTES: Final = 1 << 26
"""Drafts that one task puts in order: it holds them, and they become one file."""
STORED, SAID = "name string, octets long, sealed binary", "sealed binary"
Batches = Iterator[pa.RecordBatch]


def buckets_of(spark: SparkSession) -> int:
    return max(1, BUCKETS_PER_PARTITION * int(spark.conf.get("spark.sql.shuffle.partitions", "200") or 200))


def exchanged(source: DataFrame, draw: Callable[[Batches], Batches], job: PartJob) -> Iterator[bytes]:
    """What every part says, then what every file says: nothing is put in order once a part was refused."""
    spark = source.sparkSession
    stored: pa.Table = source.mapInArrow(draw, STORED).toArrow()
    yield from map(bytes, stored["sealed"].to_pylist())
    octets = stored["octets"].to_pylist()
    if not any(octets):
        return
    shares = min(job.buckets, max(-(-sum(octets) // SHARE_BYTES), spark.sparkContext.defaultParallelism))
    names = tuple(name for name, size in zip(stored["name"].to_pylist(), octets, strict=True) if size)
    said = spark.range(0, shares, 1, shares).mapInArrow(OrderingPart(job, names, shares), SAID).toArrow()
    yield from map(bytes, said["sealed"].to_pylist())


def counted_parts(source: DataFrame, job: PartJob) -> Iterator[bytes]:
    """What every part says on a reading of its own."""
    yield from map(bytes, source.mapInArrow(CountingPart(job), SAID).toArrow()["sealed"].to_pylist())


def repeated_ids_in(source: DataFrame, read: Callable[[Batches], Batches]) -> bool:
    """Whether one of the texts that workers read occurs twice."""
    warn_open_shuffles(source.sparkSession)
    texts = source.mapInArrow(read, f"{ID} string")
    return texts.groupBy(ID).count().where("count > 1").limit(1).count() > 0


def differing_persons(source: DataFrame, read: Callable[[Batches], Batches]) -> int:
    """How many of the persons that workers read have two kinds."""
    kinds = source.mapInArrow(read, f"{PERSON} binary, {KIND} binary")
    return int(kinds.distinct().groupBy(PERSON).count().where("count > 1").count())


def part_number() -> int:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.partitionId()


@dataclass(frozen=True, eq=False)
class CountingPart:
    """What a worker does with records that are only counted."""

    job: PartJob

    def __call__(self, batches: Batches) -> Batches:
        return said_rows([counted_part(self.job, batches, part_number())])


@dataclass(frozen=True, eq=False)
class IdTexts:
    """What a worker does with a column that looks like an id."""

    def __call__(self, batches: Batches) -> Batches:
        return id_texts(batches)


@dataclass(frozen=True, eq=False)
class PersonKinds:
    """What a worker does with records that may share ids."""

    job: PartJob

    def __call__(self, batches: Batches) -> Batches:
        return person_kinds(self.job, batches)


@dataclass(frozen=True, eq=False)
class DrawingPart:
    """What a worker does with batches of records."""

    job: PartJob

    def __call__(self, batches: Batches) -> Batches:
        stored = stored_part(self.job, batches, part_number())
        columns = [pa.array([stored.name]), pa.array([stored.octets]), pa.array([stored.said], pa.binary())]
        yield pa.record_batch(columns, names=["name", "octets", "sealed"])


@dataclass(frozen=True, eq=False)
class OrderingPart:
    """What a worker does with its share of the buckets."""

    job: PartJob
    names: tuple[str, ...]
    shares: int

    def __call__(self, batches: Batches) -> Batches:
        for _ in batches:
            pass
        first, last = (self.job.buckets * (part_number() + more) // self.shares for more in (0, 1))
        return said_rows(ordered_share(self.job, self.names, range(first, last)))


def said_rows(said: Iterable[bytes]) -> Batches:
    for sealed in said:
        yield pa.record_batch([pa.array([sealed], pa.binary())], names=["sealed"])
