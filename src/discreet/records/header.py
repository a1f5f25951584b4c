"""The names of a table's columns and the number of its records, without any other value of it."""

from __future__ import annotations

from os import PathLike, fspath
from os.path import isfile
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from discreet.exceptions import TableError
from discreet.records.columns import single_names
from discreet.records.csvfile import header_fields
from discreet.records.source import no_values_in_errors, open_records

LONGEST_HEADER: Final = 1 << 20
"""1 MiB of a file is read for its first line: longer ones are not names of columns."""


def header_of(path: str, encoding: str | None = None) -> tuple[tuple[str, ...], int]:
    """Columns and records of a file."""
    names = column_names(path, encoding)
    single = single_names(names)
    if not single:
        raise TableError("no column with a name of its own", where=path, remedy="Give the table a header.")
    with open_records(path, single[:1], encoding=encoding, in_order=False) as source:
        return names, sum(len(batch) for batch in source)


def column_names(source: Any, encoding: str | None = None) -> tuple[str, ...]:
    """The names of the columns of a file or a table in memory."""
    if isinstance(source, str | PathLike):
        path = str(fspath(source))
        if not isfile(path):
            raise TableError("no such file", where=path, remedy="Give the path of a CSV, Parquet or Arrow file.")
        with no_values_in_errors(path):
            return _names(path, encoding)
    with no_values_in_errors("the table"):
        if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            return tuple(source.schema.names)
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return tuple(frame.collect_schema().names())
    raise TableError(
        f"a {type(source).__name__} is not a table",
        remedy="Give a pandas, polars, pyarrow or duckdb table, or the path of a CSV, Parquet or Arrow file.",
    )


def _names(path: str, encoding: str | None) -> tuple[str, ...]:
    with Path(path).open("rb") as file:
        start = file.read(LONGEST_HEADER)
        if start.startswith(b"PAR1"):
            return tuple(pq.read_schema(path).names)
        if start.startswith(b"ARROW1"):
            return tuple(pyarrow.ipc.open_file(path).schema.names)
        if start.startswith(b"\xff\xff\xff\xff"):
            return tuple(pyarrow.ipc.open_stream(path).schema.names)
        file.seek(0)
        return header_fields(file, encoding)
