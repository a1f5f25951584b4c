"""The one door for data: a file, a pipe, a frame or a stream comes out as batches of the columns asked for.

A source is the path of a CSV, Parquet or Arrow file (told apart by their first bytes: a name can be wrong, and a pipe
has none), "-" for standard input, a pandas or polars frame (also a lazy one), a pyarrow Table, RecordBatch or
RecordBatchReader (which is used up), a duckdb relation, or anything else that narwhals or Arrow's C stream understands.
Whoever counts, releases or estimates reads through `open_records`; no other column is touched, and no message of
another library, which might quote a value, gets out.
"""

from __future__ import annotations

import io
import os
import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Literal, Protocol, TypeVar, cast

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from narwhals.exceptions import DuplicateError

from discreet.arrays import Integers
from discreet.exceptions import AlphabetError, InOwnWords, TableError
from discreet.files.atomic_file import PIPE
from discreet.files.sealed_file import SealedFile, seekable
from discreet.records.cells import is_text
from discreet.records.csvfile import CsvRecords, filled, nearest_columns, there
from discreet.records.frames import held_column, whole_columns

Format = Literal["csv", "parquet", "arrow"]
SUFFIXES: Final[dict[str, Format]] = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
BATCH_ROWS: Final = 1 << 17
BATCH_BYTES: Final = 1 << 25
"""A batch is large enough to hide what every batch costs, and small enough to stay in the processor's cache."""
BUFFER_BYTES: Final = 1 << 20
AHEAD: Final = 4
"""Batches read ahead: enough to even out reading and writing, at most 128 MB."""
OF_VALUES: Final = (pa.ArrowException, ArithmeticError, LookupError, SystemError, TypeError, ValueError)
"""Errors that are about values, or lengths that a file states; others are about disks, memory or the program."""
Item = TypeVar("Item")


TIMES: Final = "discreet records"
"""A column of `Weighted` alone: no table may have its own of this name counted as such."""


@dataclass(frozen=True, eq=False)
class Weighted:
    """Different rows, each of which stands for as many records as its column `TIMES` says."""

    table: pa.Table


def times_of(batch: pa.RecordBatch) -> Integers | None:
    """How many records every row stands for, where the source says so."""
    place = batch.schema.get_field_index(TIMES)
    return None if place < 0 else np.asarray(batch.column(place).to_numpy(), np.int64)


class Records(Protocol):
    """Batches of the columns asked for; `unreadable` counts the records met so far that have no readable cell."""

    unreadable: int
    schema: pa.Schema

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


@dataclass
class RecordSource(AbstractContextManager["RecordSource"]):
    """An open source. Its records can be read once.

    `mixed` names the columns of a frame whose values have no common type, and come as text.
    """

    name: str
    format: Format
    _records: Records
    _stack: ExitStack
    mixed: tuple[str, ...] = ()

    @property
    def unreadable(self) -> int:
        return self._records.unreadable

    @property
    def schema(self) -> pa.Schema:
        """A column of declared categories is a dictionary here; a batch may have dictionaries for other columns too."""
        return self._records.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with no_values_in_errors(self.name):
            yield from self._records

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What went wrong with the records after they were read is not told in others' words either."""
        self._stack.close()
        no_values_in_errors(self.name, *OF_VALUES).__exit__(kind, error, trace)


def open_records(
    source: Any,
    letters: Sequence[str],
    plain: Sequence[str] = (),
    *,
    optional: Sequence[str] = (),
    encoding: str | None = None,
    in_order: bool = True,
    sample: bool = False,
) -> RecordSource:
    """Open a source. `letters` are columns of few values, `plain` any others, `optional` are read as letters if they
    are there, never twice; `encoding` is that of a CSV file. Of a `sample` only the first records are read."""
    names = [*letters, *plain]
    optional = [name for name in dict.fromkeys(optional) if name not in names]
    if TIMES in names:
        raise AlphabetError(
            "a column of a name that discreet keeps for numbers of records", where=TIMES, remedy="Give it another name."
        )
    for name in names:
        if names.count(name) > 1:
            raise AlphabetError(
                "a column is named twice", where=name, remedy="Secret and release share no column; name each once."
            )
    if isinstance(source, str | PathLike):
        return _open_file(str(fspath(source)), letters, plain, optional, encoding, in_order, sample)
    with ExitStack() as stack, no_values_in_errors("the table"):
        records, mixed = _table(source, names, optional)
        return RecordSource("the table", "arrow", records, stack.pop_all(), mixed)


def format_of(path: str) -> Format | None:
    """The format that a file's name promises."""
    return SUFFIXES.get(Path(path).suffix.lower())


def no_values_in_errors(where: str, *kinds: type[Exception]) -> InOwnWords:
    """Other libraries' messages quote the data, so they are replaced, not passed on."""
    remedy = "Check that it is complete and of the kind it seems to be; its own tool says more."
    return InOwnWords(
        lambda error: TableError(f"cannot be read ({type(error).__name__})", where=where, remedy=remedy), *kinds
    )


@dataclass
class _Batches:
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    unreadable: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


def _selected(schema: pa.Schema, names: Sequence[str], batches: Iterable[pa.RecordBatch]) -> _Batches:
    """These columns, in this order, in batches that are not too long."""
    parts = (
        batch.slice(start, BATCH_ROWS)
        for batch in (whole.select(names) for whole in batches)
        for start in range(0, len(batch), BATCH_ROWS)
    )
    return _Batches(pa.schema([schema.field(name) for name in names]), parts)


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Columns of a table have names; of a CSV file the first line may be a record, see `csvfile`."""
    for name in names:
        if known.count(name) != 1:
            what = "two columns of this name" if name in known else "no such column"
            raise AlphabetError(what, where=name, remedy=nearest_columns(name, known))


# ---- tables in memory -----------------------------------------------------------------------------------------------


def _table(source: Any, names: Sequence[str], optional: Sequence[str]) -> tuple[_Batches, tuple[str, ...]]:
    """The records of a table, and those of its columns whose values have no common type."""
    if isinstance(source, Weighted):
        check_names(names, source.table.schema.names)
        names = [*names, *there(optional, source.table.schema.names)]
        return _selected(source.table.schema, [*names, TIMES], source.table.to_batches()), ()
    if isinstance(source, pa.Table | pa.RecordBatchReader):
        check_names(names, source.schema.names)
        names = [*names, *there(optional, source.schema.names)]
        batches = source.select(names).to_batches() if isinstance(source, pa.Table) else source
        return _selected(source.schema, names, batches), ()
    with InOwnWords(_same_name, DuplicateError):
        frame = nw.from_native(source, pass_through=True)
        if isinstance(frame, nw.DataFrame | nw.LazyFrame):
            return _frame(frame, names, optional)
    if hasattr(source, "__arrow_c_stream__"):
        return _table(pa.RecordBatchReader.from_stream(source), names, optional)
    raise TableError(
        f"a {type(source).__name__} is not a table",
        remedy="Give a pandas, polars, pyarrow or duckdb table, or the path of a CSV, Parquet or Arrow file.",
    )


def _same_name(_: Exception) -> AlphabetError:
    return AlphabetError(
        "two columns of one name", where="the table", remedy="Give every column of the frame a name of its own."
    )


def _frame(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Sequence[str], optional: Sequence[str]
) -> tuple[_Batches, tuple[str, ...]]:
    known = frame.collect_schema().names()
    check_names(names, known)
    names = [*names, *there(optional, known)]
    eager = whole_columns(frame.select(*names))
    columns = {name: held_column(eager.get_column(name)) for name in names}
    table = pa.table({name: cells for name, (cells, _) in columns.items()})
    return _selected(table.schema, names, table.to_batches()), tuple(n for n, (_, mixed) in columns.items() if mixed)


# ---- files and pipes ------------------------------------------------------------------------------------------------


def _open_file(
    path: str,
    letters: Sequence[str],
    plain: Sequence[str],
    optional: Sequence[str],
    encoding: str | None,
    in_order: bool,
    sample: bool,
) -> RecordSource:
    name = "standard input" if path == PIPE else path
    with ExitStack() as stack, no_values_in_errors(name):
        stream, start = _opened(path, stack)
        kind = _sniffed(start)
        if kind == "csv":
            records: Records = CsvRecords(
                stream, letters, plain, encoding, optional=optional, in_order=in_order, sample=sample
            )
        elif kind == "parquet":
            whole = _native(path, stack) or seekable(stream, stack.enter_context(SealedFile()))
            records = _parquet(whole, letters, plain, optional)
        else:
            records = _arrow(_native(path, stack), stream, start, [*letters, *plain], optional)
        return RecordSource(name, kind, records, stack.pop_all())


def _opened(path: str, stack: ExitStack) -> tuple[BinaryIO, bytes]:
    """A stream, and its first bytes, which it still has."""
    try:
        raw = stack.enter_context(io.FileIO(0 if path == PIPE else path, "rb", closefd=path != PIPE))
    except FileNotFoundError:
        raise TableError("no such file", where=path) from None
    except IsADirectoryError:
        raise TableError("a folder, not a file", where=path, remedy="Releases are made file by file.") from None
    start = bytes(filled(raw, 8))
    return cast(BinaryIO, _Again(start, raw)), start


class _Again(io.RawIOBase):
    """A stream whose first bytes were looked at."""

    def __init__(self, start: bytes, raw: io.FileIO) -> None:
        self._start, self._raw = start, raw

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Exactly `size` bytes unless the stream ends: a pipe hands out less than it is asked for."""
        if size < 0:
            data, self._start = self._start + (self._raw.read() or b""), b""
            return data
        return bytes(filled(self, size))

    def readinto(self, room: Any) -> int:
        """What was looked at first, then as much as the stream has at hand."""
        if not self._start:
            return self._raw.readinto(room) or 0
        data, self._start = self._start[: len(room)], self._start[len(room) :]
        room[: len(data)] = data
        return len(data)


def _native(path: str, stack: ExitStack) -> pa.NativeFile | None:
    """The file opened by Arrow itself, which is faster; None for a pipe."""
    return stack.enter_context(pa.OSFile(path)) if path != PIPE and os.path.isfile(path) else None


def _sniffed(start: bytes) -> Format:
    if start.startswith(b"PAR1"):
        return "parquet"
    return "arrow" if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")) else "csv"


def _parquet(stream: object, letters: Sequence[str], plain: Sequence[str], optional: Sequence[str]) -> Records:
    schema, names = pq.read_schema(stream), [*letters, *plain]
    check_names(names, schema.names)
    more = there(optional, schema.names)
    names += more
    texts = [name for name in (*letters, *more) if is_text(schema.field(name).type)]
    file = pq.ParquetFile(stream, read_dictionary=texts, buffer_size=BUFFER_BYTES)
    rows = min(BATCH_ROWS, max(1, BATCH_BYTES // _row_bytes(file.metadata, set(names))))
    return _selected(schema, names, file.iter_batches(rows, columns=names))


def _row_bytes(metadata: pq.FileMetaData, names: set[str]) -> int:
    """The size of a record in its largest row group, so that a batch of long texts stays small."""
    largest = 1
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        columns = [group.column(j) for j in range(group.num_columns)]
        size = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in names)
        largest = max(largest, size // max(1, group.num_rows))
    return largest


def _arrow(
    file: pa.NativeFile | None, stream: BinaryIO, start: bytes, names: Sequence[str], optional: Sequence[str]
) -> Records:
    if start.startswith(b"ARROW1") and file is not None:
        reader = pa.ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        if start.startswith(b"ARROW1"):
            filled(stream, 8)
        batches = reader = pa.ipc.open_stream(stream if file is None else file)
    check_names(names, reader.schema.names)
    return _selected(reader.schema, [*names, *there(optional, reader.schema.names)], batches)


# ---- reading ahead --------------------------------------------------------------------------------------------------


def ahead(items: Iterable[Item], depth: int = AHEAD) -> Iterator[Item]:
    """The same items in the same order, read in a thread of their own; what reading them raises is raised here."""
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: Item | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return waiting.put((item, error), timeout=0.1)
            except queue.Full:
                continue

    def read() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:
            put(None, error)

    reader = threading.Thread(target=read, name="read ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        reader.join(timeout=2.0)  # a pipe that nobody writes to may hold it for ever
