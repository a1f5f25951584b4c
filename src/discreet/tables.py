"""From a table to counts: the one place where records of any kind become an array over letters.

A table is a pandas or polars frame (also a lazy one), a pyarrow Table or RecordBatchReader (which is used up), a duckdb
relation, anything else narwhals or Arrow's C stream understands, or the path of a .csv, .parquet, .arrow or .feather
file. Only the columns asked for are read.

In a CSV file every field is text, spaces around a field or a column's name do not count, and an empty field is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from discreet.alphabet import Attribute
from discreet.exceptions import AlphabetError, DiscreetError, DistributionError, TableError

MOST_CELLS = 10_000_000


def count_table(
    table: Any, secret: str | Sequence[str], release: str | Sequence[str]
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...], NDArray[np.int64]]:
    """The attributes of S and of X, and counts[s, x1, …, xm]; several secret columns share the first axis, in C order.

    Letters are sorted: numbers by value, text by code point. A categorical column (pandas Categorical, polars Enum, an
    Arrow dictionary) keeps its categories in their order, those that never occur included. Missing values and NaN are
    one letter, None, which comes last.
    """
    secret, release = _names(secret, "secret"), _names(release, "release")
    records = read_table(table, secret + release)
    if records.num_rows == 0:
        raise TableError("the table has no records", remedy="Count at least one record.")
    encoded = [_encode(name, records[name]) for name in secret + release]
    attributes = tuple(attribute for attribute, _ in encoded)
    secrets, releases = attributes[: len(secret)], attributes[len(secret) :]
    for attribute in secrets:
        if len(attribute) < 2:
            raise DistributionError(
                "a secret with one value",
                where=attribute.name,
                remedy="There is nothing to hide; choose another secret, or declare the values it could have had.",
            )
    sizes = tuple(len(attribute) for attribute in attributes)
    if prod(sizes) > MOST_CELLS:
        raise AlphabetError(
            f"{prod(sizes):,} combinations of letters, more than {MOST_CELLS:,}",
            where=", ".join(f"{attribute.name}: {len(attribute)}" for attribute in attributes),
            remedy="Use fewer columns, or merge rare values first.",
        )
    cells = np.ravel_multi_index(tuple(codes for _, codes in encoded), sizes)
    counts = np.bincount(cells, minlength=prod(sizes)).astype(np.int64, copy=False)
    return secrets, releases, counts.reshape(prod(sizes[: len(secret)]), *sizes[len(secret) :])


def read_table(source: Any, columns: Sequence[str]) -> pa.Table:
    """These columns of a table or file, in this order, as Arrow."""
    names = _names(columns, "columns")
    if isinstance(source, str | Path):
        return _read_file(Path(source), names)
    if isinstance(source, pa.Table):
        _check_known(names, source.column_names)
        return source.select(names)
    if isinstance(source, pa.RecordBatchReader):
        _check_known(names, source.schema.names)
        with _no_values_in_errors("the stream"):
            batches = [batch.select(names) for batch in source]
        return pa.Table.from_batches(batches, pa.schema([source.schema.field(name) for name in names]))
    with _no_values_in_errors("the table"):
        frame = nw.from_native(source, pass_through=True)
    if isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return _read_frame(frame, names)
    if hasattr(source, "__arrow_c_stream__"):
        return read_table(pa.RecordBatchReader.from_stream(source), names)
    raise TableError(
        f"a {type(source).__name__} is not a table",
        remedy=f"Give a pandas, polars, pyarrow or duckdb table, or the path of a file: {', '.join(READERS)}.",
    )


# ---- frames and files ---------------------------------------------------------------------------------------------


def _read_frame(frame: nw.DataFrame[Any] | nw.LazyFrame[Any], names: tuple[str, ...]) -> pa.Table:
    with _no_values_in_errors("the table"):
        schema = frame.collect_schema()
    _check_known(names, schema.names())
    with _no_values_in_errors("the table"):
        chosen = frame.select(*names)
        if chosen.implementation.is_polars():
            # A polars Categorical declares nothing: its categories are those met so far. An Enum does.
            chosen = chosen.with_columns(
                nw.col(name).cast(nw.String) for name in names if schema[name] == nw.Categorical
            )
        eager = chosen.collect(backend="pyarrow") if isinstance(chosen, nw.LazyFrame) else chosen
    columns = {}
    for name in names:
        with _no_values_in_errors(name):
            columns[name] = eager.get_column(name).to_arrow()
    return pa.table(columns)


def _read_file(path: Path, names: tuple[str, ...]) -> pa.Table:
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise TableError("an unknown kind of file", where=path.name, remedy=f"Known are {', '.join(READERS)}.")
    if not path.is_file():
        raise TableError("no such file", where=str(path))
    with _no_values_in_errors(path.name):
        return reader(path, names)


def _read_csv(path: Path, names: tuple[str, ...]) -> pa.Table:
    parse = csv.ParseOptions(newlines_in_values=True)
    with csv.open_csv(path, parse_options=parse) as reader:
        header = reader.schema.names
    _check_known(names, [column.strip(" ") for column in header])
    wanted = {column.strip(" "): column for column in header}
    fields = [wanted[name] for name in names]
    table = csv.read_csv(
        path,
        parse_options=parse,
        convert_options=csv.ConvertOptions(
            include_columns=fields, column_types=dict.fromkeys(fields, pa.string()), strings_can_be_null=False
        ),
    )
    return pa.table([_trimmed(table[field]) for field in fields], names=names)


def _trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    trimmed = pc.ascii_trim(column, characters=" ")
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _read_parquet(path: Path, names: tuple[str, ...]) -> pa.Table:
    with pq.ParquetFile(path) as file:
        _check_known(names, file.schema_arrow.names)
        return file.read(columns=list(names)).select(names)


def _read_ipc(path: Path, names: tuple[str, ...]) -> pa.Table:
    with pa.memory_map(str(path)) as source:
        try:
            schema = pa.ipc.open_file(source).schema
            opened = pa.ipc.open_file
        except pa.ArrowInvalid:
            source.seek(0)
            schema = pa.ipc.open_stream(source).schema
            opened = pa.ipc.open_stream
        _check_known(names, schema.names)
        source.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=[schema.get_field_index(name) for name in names])
        return opened(source, options=options).read_all().select(names)


READERS: dict[str, Callable[[Path, tuple[str, ...]], pa.Table]] = {
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".arrow": _read_ipc,
    ".feather": _read_ipc,
}


# ---- letters ------------------------------------------------------------------------------------------------------


def _encode(name: str, column: pa.ChunkedArray) -> tuple[Attribute, NDArray[np.int64]]:
    """The letters of a column, and for every record the number of its letter."""
    if pa.types.is_dictionary(column.type):
        array = column.unify_dictionaries().combine_chunks()
        _check_type(name, array.type.value_type)
        if _declared(array.dictionary):
            return _with_missing(name, array.dictionary.to_pylist(), array.indices)
        column = pa.chunked_array([array.cast(array.type.value_type)])
    array = _plain(name, column).dictionary_encode().unify_dictionaries().combine_chunks()
    order = pc.sort_indices(array.dictionary)
    rank = pc.sort_indices(order).cast(pa.int64())
    return _with_missing(name, array.dictionary.take(order).to_pylist(), rank.take(array.indices))


def _declared(categories: pa.Array) -> bool:
    """Whether these can be letters as they stand: each once, none missing."""
    missing = pc.is_null(categories, nan_is_null=True)
    return not pc.any(missing).as_py() and len(categories.unique()) == len(categories)


def _plain(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """One way to write each letter: NaN is missing, −0 is 0; text views, which cannot be sorted, become text."""
    _check_type(name, column.type)
    if pa.types.is_floating(column.type):
        return pc.add(pc.if_else(pc.is_nan(column), None, column), pa.scalar(0, column.type))
    if pa.types.is_null(column.type):
        return column.cast(pa.bool_())
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column


def _with_missing(name: str, letters: list[Any], indices: pa.Array) -> tuple[Attribute, NDArray[np.int64]]:
    if indices.null_count == 0 and letters:
        return Attribute(name, tuple(letters)), indices.to_numpy().astype(np.int64)
    codes = indices.cast(pa.int64()).fill_null(len(letters)).to_numpy()
    return Attribute(name, (*letters, None)), codes


def _check_type(name: str, kind: pa.DataType) -> None:
    types = pa.types
    simple = types.is_boolean, types.is_integer, types.is_floating, types.is_null
    text = types.is_string, types.is_large_string, types.is_string_view
    if not any(check(kind) for check in simple + text):
        raise AlphabetError(
            f"letters of type {kind}", where=name, remedy="Turn the column into text, whole numbers or categories."
        )


# ---- names --------------------------------------------------------------------------------------------------------


def _names(given: str | Sequence[str], role: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise AlphabetError("no column name", where=role, remedy="Give the name of a column, or a list of names.")
    return names


def _check_known(names: Sequence[str], known: Sequence[str]) -> None:
    """Column names of the file are not shown: the header may be missing, and then they are a record."""
    for name in names:
        if names.count(name) > 1:
            raise AlphabetError(
                "a column is named twice", where=name, remedy="Secret and release share no column; name each once."
            )
        if known.count(name) != 1:
            what = "no such column" if name not in known else "two columns of this name in the table"
            raise AlphabetError(what, where=name, remedy=f"Compare with the {len(known)} names in the table's header.")


@contextmanager
def _no_values_in_errors(where: str) -> Iterator[None]:
    """Other libraries' messages quote the data, so they are replaced, not passed on."""
    try:
        yield
    except (DiscreetError, MemoryError):
        raise
    except Exception as error:
        raise TableError(
            f"cannot be read ({type(error).__name__})", where=where, remedy="Open it with its own tool to see why."
        ) from None
