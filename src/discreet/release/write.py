"""Records to files and pipes: CSV, Parquet and Arrow, batch by batch.

Nothing of the input's own metadata is written. CSV is opened in spreadsheets, which execute cells that begin with
= + - @, a tab or a carriage return: such text gets an apostrophe in front, unless it is a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from discreet.release.read import Format

GROUP_BYTES: Final = 1 << 26
GROUP_ROWS: Final = 1 << 20
EXECUTED: Final = b"=+-@\t\r"
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def write_records(sink: Any, batches: Iterable[pa.RecordBatch], schema: pa.Schema, kind: Format) -> int:
    """Write everything to an open file, and return the number of records."""
    records = 0
    with sink, WRITERS[kind](sink, written_schema(schema, kind)) as write:
        for batch in batches:
            write(written(batch, kind))
            records += len(batch)
    return records


def written_schema(schema: pa.Schema, kind: Format) -> pa.Schema:
    """The schema of the file; CSV knows no dictionaries."""
    if kind != "csv":
        return schema
    return pa.schema(
        [(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type) for field in schema]
    )


def written(batch: pa.RecordBatch, kind: Format) -> pa.RecordBatch:
    if kind != "csv":
        return batch
    return pa.record_batch([_csv_cells(column) for column in batch.columns], names=batch.schema.names)


def spreadsheet_safe(text: str) -> str:
    """A label as it appears in CSV."""
    executed = text.startswith(tuple(EXECUTED.decode())) and not NUMBER.fullmatch(text)
    return f"'{text}" if executed else text


def _csv_cells(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        safe = pa.array([spreadsheet_safe(label) for label in column.dictionary.to_pylist()], pa.string())
        return safe.take(column.indices)
    if not pa.types.is_large_string(column.type):
        return column
    risky = np.flatnonzero(np.isin(_first_bytes(column), np.frombuffer(EXECUTED, np.uint8)))
    if not len(risky):
        return column
    cells = column.to_pylist()
    for row in risky:
        if cells[row] is not None:
            cells[row] = spreadsheet_safe(cells[row])
    return pa.array(cells, pa.large_string())


def _first_bytes(texts: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The first byte of every text, 0 for an empty one; whatever lies there for a null."""
    _, offsets, data = texts.buffers()
    if data is None or data.size == 0:
        return np.zeros(len(texts), np.uint8)
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    octets = np.frombuffer(data, np.uint8)
    return np.where(np.diff(starts) > 0, octets[np.minimum(starts[:-1], len(octets) - 1)], np.uint8(0))


# ---- one small class a format: open with a schema, call with a batch -----------------------------------------------

Writing = AbstractContextManager[Callable[[pa.RecordBatch], None]]


class _Csv(Writing):
    def __init__(self, sink: Any, schema: pa.Schema) -> None:
        names = pa.schema([pa.field(spreadsheet_safe(field.name), field.type) for field in schema])
        self._writer, self._schema = pacsv.CSVWriter(sink, names), names

    def __enter__(self) -> Callable[[pa.RecordBatch], None]:
        return lambda batch: self._writer.write_batch(pa.record_batch(batch.columns, schema=self._schema))

    def __exit__(self, *_: object) -> None:
        self._writer.close()


class _Parquet(Writing):
    """Collects batches into row groups."""

    def __init__(self, sink: Any, schema: pa.Schema) -> None:
        self._writer, self._schema = pq.ParquetWriter(sink, schema), schema
        self._held: list[pa.RecordBatch] = []

    def __enter__(self) -> Callable[[pa.RecordBatch], None]:
        return self._add

    def _add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        rows, octets = sum(len(part) for part in self._held), sum(part.nbytes for part in self._held)
        if rows >= GROUP_ROWS or octets >= GROUP_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held), row_group_size=GROUP_ROWS)
            self._held = []

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            self._flush()
        self._writer.close()


class _Arrow(Writing):
    def __init__(self, sink: Any, schema: pa.Schema) -> None:
        self._writer = pa.ipc.new_file(sink, schema)

    def __enter__(self) -> Callable[[pa.RecordBatch], None]:
        def write(batch: pa.RecordBatch) -> None:
            self._writer.write_batch(batch)

        return write

    def __exit__(self, *_: object) -> None:
        self._writer.close()


WRITERS: Final[dict[Format, Callable[[Any, pa.Schema], Writing]]] = {"csv": _Csv, "parquet": _Parquet, "arrow": _Arrow}
