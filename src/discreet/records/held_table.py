"""A table that one step reads several times, and that has to be the same every time.

A lazy frame or a relation is a recipe: evaluated again it may give other records, or the same in another order. An
object that hands out a stream may have only one. Both are evaluated once. A file is left where it is, and refused
where it changed until it was last read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from os.path import isfile
from typing import Any

import narwhals as nw
import pyarrow as pa

from discreet.exceptions import TableError
from discreet.files.atomic_file import PIPE
from discreet.records.frames import whole_columns
from discreet.records.source import framed, no_values_in_errors


@dataclass(frozen=True, eq=False)
class HeldTable:
    """What `open_records` may open again and again; `state` is that of a file when it was first looked at."""

    records: Any
    state: tuple[int, ...] | None = None

    @classmethod
    def of(cls, source: Any, names: Sequence[str] | None = None) -> HeldTable:
        """These columns of a recipe, those that it has of them, or all. A pipe and a reader stay what can be read
        once: whoever is given one reads it once."""
        if isinstance(source, str | PathLike):
            return cls(source, _state(source))
        if isinstance(source, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
            return cls(source)
        with no_values_in_errors("the table"):
            frame = framed(source)
            if isinstance(frame, nw.LazyFrame):
                known = frame.collect_schema().names()
                asked = known if names is None else [name for name in known if name in names]
                return cls(whole_columns(frame.select(*asked) if asked else frame).to_native())
            if frame is None and hasattr(source, "__arrow_c_stream__"):
                reader = pa.RecordBatchReader.from_stream(source)
                asked = [name for name in reader.schema.names if names is None or name in names]
                if len(asked) > len(set(asked)):
                    return cls(reader.read_all())
                batches = [batch.select(asked) for batch in reader]
                return cls(pa.Table.from_batches(batches, pa.schema([reader.schema.field(name) for name in asked])))
        return cls(source)

    def check(self) -> None:
        """TableError for a file that is not the one that was read first."""
        if self.state is not None and _state(self.records) != self.state:
            raise TableError(
                "the file changed while it was read",
                where=str(os.fspath(self.records)),
                remedy="Wait until it is written, or copy it, and start again: nothing came of this reading.",
            )


def _state(path: str | PathLike[str]) -> tuple[int, ...] | None:
    """Which file it is, its size, and when it was last written; None where it is no file, or a pipe."""
    if str(path) == PIPE or not isfile(path):
        return None
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
