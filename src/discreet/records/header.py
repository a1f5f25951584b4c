"""The names of a table's columns and the number of its records, without any other value of it."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Final

import pyarrow.ipc
import pyarrow.parquet as pq

from discreet.exceptions import TableError
from discreet.records.source import no_values_in_errors, open_records

SEPARATORS: Final = ",;\t|"
LONGEST_HEADER: Final = 1 << 20


def header_of(path: str, encoding: str | None = None) -> tuple[tuple[str, ...], int]:
    """Columns and records of a file."""
    if not Path(path).is_file():
        raise TableError("no such file", where=path)
    with no_values_in_errors(path):
        names = _names(path, encoding)
    single = [name for name in names if names.count(name) == 1]
    if not single:
        raise TableError("no column with a name of its own", where=path, remedy="Give the table a header.")
    with open_records(path, single[:1], encoding=encoding, in_order=False) as source:
        return names, sum(len(batch) for batch in source)


def _names(path: str, encoding: str | None) -> tuple[str, ...]:
    with Path(path).open("rb") as file:
        start = file.read(LONGEST_HEADER)
    if start.startswith(b"PAR1"):
        return tuple(pq.read_schema(path).names)
    if start.startswith(b"ARROW1"):
        return tuple(pyarrow.ipc.open_file(path).schema.names)
    text = start.decode(encoding or "utf-8-sig", "replace").lstrip("\ufeff")
    parsed = [next(csv.reader(io.StringIO(text), delimiter=separator), []) for separator in SEPARATORS]
    return tuple(name.strip() for name in max(parsed, key=len))
