"""Records from files and pipes: CSV, Parquet and Arrow, batch by batch, only the columns that are needed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, Protocol, cast

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.exceptions import AlphabetError, DiscreetError, TableError
from discreet.release.csvfile import CsvRecords, filled
from discreet.release.letters import is_text
from discreet.release.sealed import SealedFile, seekable

Format = Literal["csv", "parquet", "arrow"]
SUFFIXES: Final[dict[str, Format]] = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
BATCH_ROWS: Final = 1 << 17
BATCH_BYTES: Final = 1 << 25
BUFFER_BYTES: Final = 1 << 20
PIPE: Final = "-"


class Records(Protocol):
    """Batches of the columns asked for; `unreadable` counts the records met so far that have no readable cell."""

    unreadable: int
    schema: pa.Schema

    def __iter__(self) -> Iterator[pa.RecordBatch]: ...


@dataclass
class Source(AbstractContextManager["Source"]):
    """An open file or pipe. Its records can be read once."""

    name: str
    format: Format
    _records: Records
    _stack: ExitStack

    @property
    def unreadable(self) -> int:
        return self._records.unreadable

    @property
    def schema(self) -> pa.Schema:
        return self._records.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        with no_values_in_errors(self.name):
            yield from self._records

    def __exit__(self, *_: object) -> None:
        self._stack.close()


def open_source(
    path: str,
    letters: Sequence[str],
    plain: Sequence[str] = (),
    *,
    encoding: str | None = None,
    in_order: bool = True,
) -> Source:
    """A file, or standard input for "-". `letters` are columns of few values, `plain` any others."""
    name = "standard input" if path == PIPE else path
    with ExitStack() as stack, no_values_in_errors(name):
        stream, start = _opened(path, stack)
        kind = _sniffed(start)
        if kind == "csv":
            records: Records = CsvRecords(stream, letters, plain, encoding, in_order=in_order)
        elif kind == "parquet":
            whole = _native(path, stack) or seekable(stream, stack.enter_context(SealedFile()))
            records = _parquet(whole, letters, plain)
        else:
            records = _arrow(_native(path, stack), stream, start, [*letters, *plain])
        return Source(name, kind, records, stack.pop_all())


def format_of(path: str) -> Format | None:
    """The format that a file's name promises."""
    return SUFFIXES.get(Path(path).suffix.lower())


@dataclass
class _Batches:
    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    unreadable: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


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
    return stack.enter_context(pa.OSFile(path)) if path != PIPE and Path(path).is_file() else None


def _sniffed(start: bytes) -> Format:
    """The format by the first bytes: a name can be wrong, and a pipe has none."""
    if start.startswith(b"PAR1"):
        return "parquet"
    return "arrow" if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")) else "csv"


def _parquet(stream: object, letters: Sequence[str], plain: Sequence[str]) -> Records:
    schema = pq.read_schema(stream)
    _check(schema, [*letters, *plain])
    texts = [name for name in letters if is_text(schema.field(name).type)]
    file = pq.ParquetFile(stream, read_dictionary=texts, buffer_size=BUFFER_BYTES)
    names = list(dict.fromkeys((*letters, *plain)))
    rows = min(BATCH_ROWS, max(1, BATCH_BYTES // _row_bytes(file.metadata, set(names))))
    batches = (batch.select(names) for batch in file.iter_batches(rows, columns=names))
    return _Batches(_selected(schema, names), batches)


def _row_bytes(metadata: pq.FileMetaData, names: set[str]) -> int:
    """The size of a record in its largest row group, so that a batch of long texts stays small."""
    largest = 1
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        columns = [group.column(j) for j in range(group.num_columns)]
        size = sum(column.total_uncompressed_size for column in columns if column.path_in_schema in names)
        largest = max(largest, size // max(1, group.num_rows))
    return largest


def _arrow(file: pa.NativeFile | None, stream: BinaryIO, start: bytes, columns: Sequence[str]) -> Records:
    names = list(dict.fromkeys(columns))
    if start.startswith(b"ARROW1") and file is not None:
        reader = pa.ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        if start.startswith(b"ARROW1"):
            filled(stream, 8)
        batches = reader = pa.ipc.open_stream(stream if file is None else file)
    _check(reader.schema, names)
    return _Batches(_selected(reader.schema, names), (part for batch in batches for part in _cut(batch.select(names))))


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    for start in range(0, len(batch), BATCH_ROWS):
        yield batch.slice(start, BATCH_ROWS)


def _selected(schema: pa.Schema, names: list[str]) -> pa.Schema:
    return pa.schema([schema.field(name) for name in names])


def _check(schema: pa.Schema, names: Sequence[str]) -> None:
    for name in names:
        found = schema.names.count(name)
        if found != 1:
            what = "two columns of this name" if found else "no such column"
            raise AlphabetError(what, where=name, remedy=f"Compare with the {len(schema)} columns of the file.")


@contextmanager
def no_values_in_errors(where: str) -> Iterator[None]:
    """Other libraries' messages quote the data, so they are replaced, not passed on."""
    try:
        yield
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, UnicodeError) as error:
        if isinstance(error, DiscreetError):
            raise
        raise TableError(
            f"cannot be read ({type(error).__name__})",
            where=where,
            remedy="Check that the file is complete and of the kind it seems to be.",
        ) from None
