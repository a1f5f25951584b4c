"""A folder of Parquet files, read by the workers themselves: Spark schedules, and touches no record.

The way of a record from Spark's reader to Python, row by row into Arrow, costs more than everything that is done with
it there. Whoever names the files instead of a frame of them saves it. A part is a run of row groups of one file.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.exceptions import TableError
from discreet.records.cells import is_text
from discreet.records.source import BATCH_ROWS, no_values_in_errors
from discreet.release.parts import PartJob, Seal, numbered_part
from discreet.release.readings import Reading
from discreet.spark.cluster import carrying, spark_words
from discreet.spark.exchange import (
    SAID,
    Batches,
    DrawingPart,
    IdTexts,
    PersonKinds,
    buckets_of,
    differing_persons,
    exchanged,
    part_number,
    repeated_ids_in,
    said_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PART_ROWS: Final = 1 << 23
PARTS_PER_CORE: Final = 2
"""A part has at most 8 million rows, some 100 MB of drafts; every core gets two, so that a slow one can be balanced."""


@dataclass(frozen=True)
class FilePart:
    """Some row groups of a file."""

    path: str
    groups: tuple[int, ...]

    def batches(self, columns: Sequence[str], letters: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with no_values_in_errors(self.path):
            schema = pq.read_schema(self.path)
            texts = [name for name in letters if is_text(schema.field(name).type)]
            file = pq.ParquetFile(self.path, read_dictionary=texts, pre_buffer=True)
            for batch in file.iter_batches(BATCH_ROWS, row_groups=list(self.groups), columns=list(columns)):
                yield batch.select(list(columns))


@dataclass(frozen=True, eq=False)
class FolderCarrier:
    """Carries the parts of Parquet files: one file, or all of a folder."""

    spark: SparkSession
    source: str

    @cached_property
    def _files(self) -> list[str]:
        path = Path(self.source.removeprefix("file://")).absolute()
        if path.is_file():
            return [str(path)]
        inside = sorted(path.iterdir()) if path.is_dir() else []
        shown = [one for one in inside if not one.name.startswith((".", "_"))]
        if not shown or not all(one.is_file() for one in shown):
            raise TableError(
                "not Parquet files that the workers can read", where=self.source,
                remedy="Give one file, a folder of files, or a frame: spark.read reads everything else.",
            )  # fmt: skip
        return [str(one) for one in shown]

    @cached_property
    def schema(self) -> pa.Schema:
        with no_values_in_errors(self.source):
            schemas = [pq.read_schema(path).remove_metadata() for path in self._files]
        if any(not schema.equals(schemas[0]) for schema in schemas):
            raise TableError("files of different columns", where=self.source, remedy="Give a frame that unites them.")
        return schemas[0]

    def first(self, records: int) -> pa.Table:
        found: list[pa.RecordBatch] = []
        with no_values_in_errors(self.source):
            batches = (batch for path in self._files for batch in pq.ParquetFile(path).iter_batches(records))
            while sum(map(len, found)) < records and (batch := next(batches, None)) is not None:
                found.append(batch)
            return pa.Table.from_batches(found, self.schema)

    def repeated(self, columns: Sequence[str]) -> str | None:
        with spark_words("the table"), carrying(self.spark):
            readings = {name: _Read(tuple(self.parts), (name,), IdTexts()) for name in columns}
            return next((name for name, read in readings.items() if repeated_ids_in(self._numbers(), read)), None)

    def differing(self, job: PartJob, columns: Sequence[str]) -> int:
        with spark_words("the table"), carrying(self.spark):
            return differing_persons(self._numbers(), _Read(tuple(self.parts), tuple(columns), PersonKinds(job)))

    @property
    def buckets(self) -> int:
        return buckets_of(self.spark)

    @cached_property
    def parts(self) -> list[FilePart]:
        """Row groups put together up to a size that keeps every core busy, and a machine's memory free."""
        with no_values_in_errors(self.source):
            footers = [(path, pq.read_metadata(path)) for path in self._files]
        rows = sum(footer.num_rows for _, footer in footers)
        cores = self.spark.sparkContext.defaultParallelism
        most = min(PART_ROWS, max(1, -(-rows // (PARTS_PER_CORE * cores))))
        found: list[FilePart] = []
        for path, footer in footers:
            held: list[int] = []
            size = 0
            for group in range(footer.num_row_groups):
                held.append(group)
                size += footer.row_group(group).num_rows
                if size >= most or group == footer.num_row_groups - 1:
                    found.append(FilePart(path, tuple(held)))
                    held, size = [], 0
        return found

    def _numbers(self) -> DataFrame:
        count = max(1, len(self.parts))
        return self.spark.range(0, count, 1, count)

    def number(self, job: PartJob, columns: Sequence[str], folder: Path) -> None:
        reading = _FolderNumbering(job, tuple(self.parts), tuple(columns))
        with spark_words("the table"), carrying(self.spark):
            numbered = self._numbers().mapInArrow(reading, SAID)
            numbered.write.option("compression", "none").parquet(str(folder))

    def count(self, job: PartJob, columns: Sequence[str]) -> Generator[bytes, None, None]:
        """Files give the same records again; that each row group was read once, their footers tell."""
        with no_values_in_errors(self.source):
            rows = sum(pq.read_metadata(path).num_rows for path in self._files)
        yield Seal.of(job).say("reading", Reading(rows, None).said())

    def carry(self, job: PartJob, columns: Sequence[str], numbered: Path | None) -> Generator[bytes, None, None]:
        with spark_words("the table"), carrying(self.spark):
            source = self._numbers() if numbered is None else self.spark.read.parquet(str(numbered))
            reading = (
                DrawingPart(job) if numbered is not None else _FolderReading(job, tuple(self.parts), tuple(columns))
            )
            yield from exchanged(source, reading, job)


@dataclass(frozen=True, eq=False)
class _Read:
    """What a worker does with its part, without a job that says what else is read of it."""

    parts: tuple[FilePart, ...]
    columns: tuple[str, ...]
    work: Callable[[Batches], Batches]

    def __call__(self, batches: Batches) -> Batches:
        for _ in batches:
            pass
        return self.work(self.parts[part_number()].batches(self.columns, ()) if self.parts else iter(()))


@dataclass(frozen=True, eq=False)
class _FolderReading:
    job: PartJob
    parts: tuple[FilePart, ...]
    columns: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return DrawingPart(self.job)(self.records(batches))

    def records(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        letters = [one.name for one in self.job.law.reads if one.name not in self.job.counted]
        yield from self.parts[part_number()].batches(self.columns, letters) if self.parts else ()


class _FolderNumbering(_FolderReading):
    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return said_rows(numbered_part(self.job, self.records(batches), part_number()))


def path_of(source: Any) -> str | None:
    """The path, where a table is given as one."""
    return str(source) if isinstance(source, str | Path) else None
