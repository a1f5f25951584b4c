"""Records to files and pipes: CSV, Parquet and Arrow, batch by batch.

Nothing of the input's own metadata is written. CSV is opened in spreadsheets, which execute cells that begin with
= + - @, in whatever width and after whatever spaces: such text gets an apostrophe in front, unless it is a number;
and so does such text after a semicolon, a bar, a tab or a line end, where another separator would make it a cell.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from discreet.exceptions import InOwnWords, TableError
from discreet.records.cells import decoded, is_text, type_name
from discreet.records.kinds import Draft, Kinds, Numbered, batches_of
from discreet.records.letters import spreadsheet_safe
from discreet.records.source import OF_VALUES, Format

GROUP_BYTES: Final = 1 << 26
GROUP_ROWS: Final = 1 << 20
"""Of a row group in Parquet: large enough to be read fast, small enough to be held while it fills."""


RISKY: Final = np.zeros(256, bool)
"""The first bytes of text that may have to be made safe: whoever begins otherwise is not looked at twice."""
RISKY[:33] = RISKY[127] = True
RISKY[list(b"'=+-@\xc2\xd8\xdb\xdc\xe0\xe1\xe2\xe3\xef\xf0\xf3")] = True
AFTER_SEPARATOR: Final = r"[;\t|\r\n][\s\"]*[^0-9A-Za-z\s\"]"
"""What may have to be made safe inside of a text."""


def write_records(sink: Any, drafts: Iterable[Draft], schema: pa.Schema, kind: Format) -> int:
    """Write everything to an open file, and return the number of records."""
    records = 0
    with sink, WRITERS[kind](sink, written_schema(schema, kind)) as write:
        for draft in drafts:
            write(draft)
            records += len(draft)
    return records


def written_schema(schema: pa.Schema, kind: Format) -> pa.Schema:
    """The schema of the file; CSV knows no dictionaries, and no bytes that are not text."""
    if kind != "csv":
        return schema
    return pa.schema([(field.name, _csv_type(field.type)) for field in schema])


def check_cells_fit(schema: pa.Schema, kept: Sequence[str], kind: Format) -> None:
    """TableError where a format has no place for the cells of a kept column, before there are any."""
    for name in kept:
        field = schema.field(name)
        with InOwnWords(partial(_unwritable, field, kind), *OF_VALUES):
            empty = pa.record_batch([pa.nulls(1, field.type)], schema=pa.schema([field]))
            write_records(io.BytesIO(), [empty], empty.schema, kind)


def _unwritable(field: pa.Field, kind: Format, _: Exception) -> TableError:
    return TableError(
        f"cells of type {type_name(field.type)} cannot be written as {kind}",
        where=field.name,
        remedy="Leave the column out, turn it into text or numbers, or release into Parquet or Arrow (--to).",
    )


def _csv_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return pa.string()
    return pa.large_string() if is_text(kind) or pa.types.is_fixed_size_binary(kind) else kind


def _csv_cells(column: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        safe = pa.array([spreadsheet_safe(label) for label in decoded(column.dictionary).to_pylist()], pa.string())
        return safe.take(column.indices)
    if not pa.types.is_large_string(_csv_type(column.type)):
        return column
    column = decoded(column)
    inside = pc.fill_null(pc.match_substring_regex(column, AFTER_SEPARATOR), False).to_numpy(zero_copy_only=False)
    risky = np.flatnonzero(RISKY[_first_bytes(column)] | inside)
    if not len(risky):
        return column
    cells = column.to_pylist()
    for row in risky:
        if cells[row] is not None:
            cells[row] = spreadsheet_safe(cells[row])
    return pa.array(cells, pa.large_string())


def _first_bytes(texts: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The first byte of every text, 255, which begins none, for an empty one; whatever lies there for a null."""
    _, offsets, data = texts.buffers()
    if data is None or data.size == 0:
        return np.full(len(texts), 255, np.uint8)
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    octets = np.frombuffer(data, np.uint8)
    return np.where(np.diff(starts) > 0, octets[np.minimum(starts[:-1], len(octets) - 1)], np.uint8(255))


def csv_lines(records: pa.RecordBatch) -> pa.Array:
    """Every record as the bytes of its line, the same that pyarrow's writer writes: text quoted, nothing for null."""
    quote, comma, end, nothing = (pa.scalar(text, pa.large_string()) for text in ('"', ",", "\n", ""))
    parts = []
    for column in map(_csv_cells, records.columns):
        texts = column.cast(pa.large_string())
        if is_text(column.type):
            texts = pc.binary_join_element_wise(quote, pc.replace_substring(texts, '"', '""'), quote, nothing)
        parts += [texts.fill_null(nothing), comma]
    return pc.binary_join_element_wise(*parts[:-1], end, nothing).cast(pa.large_binary())


def _content(lines: pa.Array) -> memoryview:
    """The bytes of all lines, one after the other."""
    _, offsets, data = lines.buffers()
    places = np.frombuffer(offsets, np.int64)
    return memoryview(data)[places[lines.offset] : places[lines.offset + len(lines)]]


# ---- one small class per format: open with a schema, call with records ----------------------------------------------

Writing = AbstractContextManager[Callable[[Draft], None]]


class _Csv(Writing):
    """Numbered records are written from lines made once per kind."""

    def __init__(self, sink: Any, schema: pa.Schema) -> None:
        names = pa.schema([pa.field(spreadsheet_safe(field.name), field.type) for field in schema])
        self._sink, self._writer, self._schema = sink, pacsv.CSVWriter(sink, names), names
        self._kinds: Kinds | None = None
        self._lines: pa.Array = None

    def __enter__(self) -> Callable[[Draft], None]:
        return self._write

    def _write(self, draft: Draft) -> None:
        if not isinstance(draft, Numbered):
            self._writer.write_batch(pa.record_batch(list(map(_csv_cells, draft.columns)), schema=self._schema))
            return
        if draft.kinds is not self._kinds:
            self._kinds, self._lines = draft.kinds, csv_lines(draft.kinds.records)
        for numbers in draft.parts():
            self._sink.write(_content(self._lines.take(numbers)))

    def __exit__(self, *_: object) -> None:
        self._writer.close()


class _Parquet(Writing):
    """Collects batches into row groups. Released cells have no smallest and largest: finding these takes longer than
    writing where there are thousands of labels, and cells in random order are found by no reader that way."""

    def __init__(self, sink: Any, schema: pa.Schema) -> None:
        ranged = [field.name for field in schema if not pa.types.is_dictionary(field.type)]
        self._writer = pq.ParquetWriter(sink, schema, write_statistics=ranged or False)
        self._held: list[pa.RecordBatch] = []

    def __enter__(self) -> Callable[[Draft], None]:
        return self._add

    def _add(self, draft: Draft) -> None:
        self._held += batches_of(draft)
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

    def __enter__(self) -> Callable[[Draft], None]:
        def write(draft: Draft) -> None:
            for batch in batches_of(draft):
                self._writer.write_batch(batch)

        return write

    def __exit__(self, *_: object) -> None:
        self._writer.close()


WRITERS: Final[dict[Format, Callable[[Any, pa.Schema], Writing]]] = {"csv": _Csv, "parquet": _Parquet, "arrow": _Arrow}
