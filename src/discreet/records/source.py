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
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Literal, Protocol, cast

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
from discreet.records.columns import OTHER, OtherColumn, other_columns, places_of, twice_in
from discreet.records.csvfile import CsvRecords, filled
from discreet.records.csvheader import not_single, there
from discreet.records.frames import held_column, told_column, whole_columns

Format = Literal["csv", "parquet", "arrow"]
SUFFIXES: Final[dict[str, Format]] = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".arrows": "arrow", ".feather": "arrow", ".ipc": "arrow",
}  # fmt: skip
BATCH_ROWS: Final = 1 << 17
BATCH_BYTES: Final = 1 << 25
"""A batch is large enough to hide what every batch costs, and small enough to stay in the processor's cache."""
BUFFER_BYTES: Final = 1 << 20
"""Of a Parquet column, at a time: little beside a batch."""
OF_VALUES: Final = (pa.ArrowException, ArithmeticError, LookupError, SystemError, TypeError, ValueError)
"""Errors that are about values, or lengths that a file states; others are about disks, memory or the program."""

TIMES: Final = "discreet records"
"""A column of `Weighted` alone: no table may have its own of this name counted as such."""


@dataclass(frozen=True, eq=False)
class Weighted:
    """Different rows, each of which stands for as many records as its column `TIMES` says."""

    table: pa.Table


def kept_for_itself(name: str) -> AlphabetError:
    what = "a column of a name that discreet keeps for itself"
    return AlphabetError(what, where=name, remedy="Give it another name.")


def times_of(batch: pa.RecordBatch) -> Integers | None:
    """How many records every row stands for, where the source says so."""
    place = batch.schema.get_field_index(TIMES)
    return None if place < 0 else np.asarray(batch.column(place).to_numpy(), np.int64)


class Records(Protocol):
    """Batches of the columns asked for; `unreadable` counts the records met so far that have no readable cell."""

    unreadable: int
    schema: pa.Schema
    others: tuple[OtherColumn, ...]

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
    def others(self) -> tuple[OtherColumn, ...]:
        """The columns that were asked for by their place."""
        return self._records.others

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
    others: Container[int] = (),
    encoding: str | None = None,
    in_order: bool = True,
    sample: bool = False,
) -> RecordSource:
    """Open a source. `letters` are columns of few values, `plain` any others, `optional` are read as letters if they
    are there, never twice, `others` are places of columns whatever they are called; `encoding` is that of a CSV file.
    Of a `sample` only the first records are going to be read."""
    names = [*letters, *plain]
    met: set[str] = set()
    for name in names:
        if not isinstance(name, str):
            remedy = "Give the name as text, such as '1' for a column that a frame numbers 1."
            raise AlphabetError("no column name", where=type(name).__name__, remedy=remedy)
        if name == TIMES or name.startswith(OTHER):
            raise kept_for_itself(name)
        if name in met:
            remedy = "Secret and release share no column; name each once."
            raise AlphabetError("a column is named twice", where=name, remedy=remedy)
        met.add(name)
    optional = [name for name in dict.fromkeys(optional) if name not in met]
    if isinstance(source, str | PathLike):
        return _open_file(str(fspath(source)), letters, plain, optional, others, encoding, in_order, sample)
    with ExitStack() as stack, no_values_in_errors("the table"):
        records, mixed = _table(source, names, optional, others)
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
    others: tuple[OtherColumn, ...] = ()
    unreadable: int = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.batches


@dataclass(frozen=True)
class _Picked:
    """The columns to read: what they are called here, and their place in the table."""

    places: dict[str, int]
    others: tuple[OtherColumn, ...]

    @classmethod
    def of(cls, known: Sequence[str], names: Sequence[str], optional: Sequence[str], others: Container[int]) -> _Picked:
        check_names(names, known)
        places = places_of(known)
        read = {name: places[name] for name in [*names, *there(optional, known)]}
        more = other_columns(known, read, others)
        return cls({**read, **{one.column: one.place for one in more}}, more)

    def of_batches(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> _Batches:
        """These columns of whole batches, in this order, in batches that are not too long."""
        chosen = (whole.select(list(self.places.values())) for whole in batches)
        return self.of_chosen(pa.schema([schema.field(place) for place in self.places.values()]), chosen)

    def of_chosen(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> _Batches:
        """The same of batches that have no other columns."""
        names = list(self.places)
        parts = (
            batch.slice(start, BATCH_ROWS)
            for batch in (chosen.rename_columns(names) for chosen in batches)
            for start in range(0, len(batch), BATCH_ROWS)
        )
        fields = [schema.field(place).with_name(name) for place, name in enumerate(names)]
        return _Batches(pa.schema(fields), parts, self.others)


def check_names(names: Sequence[str], known: Sequence[str]) -> None:
    """Columns of a table have names; of a CSV file the first line may be a record, see `csvfile`."""
    all_of_them, twice = set(known), twice_in(known)
    for name in names:
        if name not in all_of_them or name in twice:
            what, remedy = not_single(name, known)
            raise AlphabetError(what, where=name, remedy=remedy)


# ---- tables in memory -----------------------------------------------------------------------------------------------


def _table(
    source: Any, names: Sequence[str], optional: Sequence[str], others: Container[int]
) -> tuple[_Batches, tuple[str, ...]]:
    """The records of a table, and those of its columns whose values have no common type."""
    if isinstance(source, Weighted):
        return _chosen(source.table, [*names, TIMES], optional, ()), ()
    if isinstance(source, pa.Table):
        return _chosen(source, names, optional, others), ()
    if isinstance(source, pa.RecordBatchReader):
        picked = _Picked.of(source.schema.names, names, optional, others)
        return picked.of_batches(source.schema, source), ()
    if (frame := framed(source)) is not None:
        return _frame(frame, names, optional, others)
    if hasattr(source, "__arrow_c_stream__"):
        return _table(pa.RecordBatchReader.from_stream(source), names, optional, others)
    raise TableError(
        f"a {type(source).__name__} is not a table",
        remedy="Give a pandas, polars, pyarrow or duckdb table, or the path of a CSV, Parquet or Arrow file.",
    )


def framed(source: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any] | None:
    """A frame of any library that narwhals knows; None for anything else."""
    with InOwnWords(_same_name, DuplicateError):
        frame = nw.from_native(source, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame | nw.LazyFrame) else None


def _chosen(table: pa.Table, names: Sequence[str], optional: Sequence[str], others: Container[int]) -> _Batches:
    picked = _Picked.of(table.schema.names, names, optional, others)
    chosen = table.select(list(picked.places.values()))
    return picked.of_chosen(chosen.schema, chosen.to_batches())


def _same_name(_: Exception) -> AlphabetError:
    return AlphabetError(
        "two columns of one name", where="the table", remedy="Give every column of the frame a name of its own."
    )


def _frame(
    frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: Sequence[str], optional: Sequence[str], others: Container[int]
) -> tuple[_Batches, tuple[str, ...]]:
    known = frame.collect_schema().names()
    picked = _Picked.of(list(map(str, known)), names, optional, others)
    chosen = (known[place] if isinstance(known[place], str) else nw.nth(place) for place in picked.places.values())
    eager = whole_columns(frame.select(*chosen))
    cells, mixed = [], []
    for name, column in zip(picked.places, eager.iter_columns(), strict=True):
        held, untyped = (told_column(column), False) if name.startswith(OTHER) else held_column(column)
        cells.append(held)
        mixed += [name] if untyped else []
    table = pa.table(cells, names=list(picked.places))
    return picked.of_chosen(table.schema, table.to_batches()), tuple(mixed)


# ---- files and pipes ------------------------------------------------------------------------------------------------


def _open_file(
    path: str,
    letters: Sequence[str],
    plain: Sequence[str],
    optional: Sequence[str],
    others: Container[int],
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
                stream, letters, plain, encoding, optional=optional, others=others, in_order=in_order, sample=sample
            )
        elif kind == "parquet":
            whole = _native(path, stack) or seekable(stream, stack.enter_context(SealedFile()))
            records = _parquet(whole, letters, plain, optional, others)
        else:
            records = _arrow(_native(path, stack), stream, start, [*letters, *plain], optional, others)
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


def _parquet(
    stream: object, letters: Sequence[str], plain: Sequence[str], optional: Sequence[str], others: Container[int]
) -> Records:
    schema = pq.read_schema(stream)
    picked = _Picked.of(schema.names, [*letters, *plain], optional, others)
    chosen = pa.schema([schema.field(place) for place in picked.places.values()])
    coded = {*letters, *optional}
    texts = [one.name for one in chosen if one.name in coded and is_text(one.type)]
    file = pq.ParquetFile(stream, read_dictionary=texts, buffer_size=BUFFER_BYTES)
    rows = min(BATCH_ROWS, max(1, BATCH_BYTES // _row_bytes(file.metadata, set(chosen.names))))
    if twice_in(schema.names) & set(chosen.names):
        return picked.of_batches(schema, file.iter_batches(rows))
    return picked.of_chosen(
        chosen, (batch.select(chosen.names) for batch in file.iter_batches(rows, columns=chosen.names))
    )


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
    file: pa.NativeFile | None,
    stream: BinaryIO,
    start: bytes,
    names: Sequence[str],
    optional: Sequence[str],
    others: Container[int],
) -> Records:
    if start.startswith(b"ARROW1") and file is not None:
        reader = pa.ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        if start.startswith(b"ARROW1"):
            filled(stream, 8)
        batches = reader = pa.ipc.open_stream(stream if file is None else file)
    return _Picked.of(reader.schema.names, names, optional, others).of_batches(reader.schema, batches)
