"""Columns of frames as Arrow arrays that keep apart whatever differs.

pandas and polars may hold any Python objects in a column. Arrow chooses a type by the first of them and cuts the others
to fit: a moment becomes its day, a time loses its zone, a truth value becomes a number, also inside of lists and
records. So what it made is taken only where there are as many different cells as different values, and where cells have
parts, only where every cell is its value. Values that have no common type come as text instead, and a column is refused
where two that differ would have the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final

import narwhals as nw
import numpy as np
import pyarrow as pa

from discreet.exceptions import TableError
from discreet.records.cells import NOT_HELD, is_missing, text_of, value_type

CUT_BY_DUCKDB: Final = ("time with time zone", "bit", "uhugeint", "geometry")
"""Types that duckdb hands over without the zone, as bytes that nobody else reads, or as numbers below zero."""
NO_COMMON_TYPE: Final = (pa.ArrowException, ValueError, TypeError, OverflowError)
"""What is raised where Arrow has no type for values, or none that can hold them all."""
TRUTHS: Final = (bool, np.bool_)
TEXTS: Final = (str, bytes, bytearray, memoryview)
NUMBERS: Final = (int, float, Decimal, np.integer, np.float16, np.float32)
SPANS: Final = (np.timedelta64,)
"""Which numpy counts among its integers."""


def whole_columns(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> nw.DataFrame[Any]:
    """The frame in memory, and as text what its own library would hand over in part only."""
    schema = frame.collect_schema()
    texts: list[str] = []
    if frame.implementation.is_polars():
        # A polars Categorical declares nothing: its categories are those met so far. An Enum does.
        texts = [name for name in schema.names() if schema[name] == nw.Categorical]
    elif frame.implementation.is_duckdb():
        native = frame.to_native()
        texts = [name for name, kind in zip(native.columns, native.types, strict=True) if _cut_by_duckdb(kind)]
    told = frame.with_columns(nw.col(name).cast(nw.String) for name in texts)
    return told.collect() if isinstance(told, nw.LazyFrame) else told


def _cut_by_duckdb(kind: Any) -> bool:
    """Whether a type of duckdb is one of these, or has one inside. The text of a union would not tell which of its
    types a cell has: no column with one is kept."""
    inside = set(_types_inside(kind))
    return not inside.isdisjoint(CUT_BY_DUCKDB) and "union" not in inside


def _types_inside(kind: Any) -> Iterator[str]:
    """The type and the types of its parts, at any depth; other types have parts that are sizes and names."""
    yield kind.id
    for _, part in kind.children if kind.id in ("struct", "list", "array", "map", "union") else ():
        if not isinstance(part, int):
            yield from _types_inside(part)


def held_column(column: nw.Series[Any]) -> tuple[pa.Array | pa.ChunkedArray, bool]:
    """The cells, and whether they are text because their values have no common type."""
    native = column.to_native()
    categories = getattr(getattr(native, "cat", None), "categories", None)
    if categories is not None and _of_objects(categories):
        words, mixed = _common(list(categories), column.name)
        codes = native.cat.codes.to_numpy()
        return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), words), mixed
    if categories is None and (_of_objects(native) or _of_polars_objects(column)):
        return _common(column.to_list(), column.name)
    try:
        return _worded(column.to_arrow(), column.name), False
    except NO_COMMON_TYPE:  # of the column's own; its values may have one
        return _common(column.to_list(), column.name)


def told_column(column: nw.Series[Any]) -> pa.Array | pa.ChunkedArray:
    """The cells to be compared, of a column that need not be usable: values that are written alike are taken to be."""
    try:
        return held_column(column)[0]
    except TableError:
        return text_of(column.to_list())


def _of_objects(column: Any) -> bool:
    """Whether a column of pandas leaves it to Arrow what its values are."""
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    return kind == "O" and not hasattr(getattr(column, "array", None), "__arrow_array__")


def _of_polars_objects(column: nw.Series[Any]) -> bool:
    """Which Arrow would get as addresses."""
    return column.implementation.is_polars() and column.dtype == nw.Object


def _worded(cells: Any, name: str) -> Any:
    """Intervals, as pd.cut makes them, as the text that pandas shows, in their order; other cells as they are."""
    kind = value_type(cells.type)
    if not isinstance(kind, pa.BaseExtensionType) or kind.extension_name != "pandas.interval":
        return cells
    if not pa.types.is_dictionary(cells.type):
        return _as_words([None if one != one else one for one in cells.to_pandas()], name)
    words = _as_words(list(cells.dictionary.to_pandas()), name)
    return pa.DictionaryArray.from_arrays(cells.indices, words)


# ---- Python objects -------------------------------------------------------------------------------------------------


def _common(values: Sequence[Any], name: str) -> tuple[pa.Array, bool]:
    """The values as Arrow holds them where it keeps apart what differs, and as text elsewhere."""
    if len(set(map(type, values))) > 1:
        values = [None if is_missing(value) else value for value in values]
    try:
        cells = pa.array(values, from_pandas=True)
    except NO_COMMON_TYPE:
        return _as_words(values, name), True
    whole = _every_one if pa.types.is_nested(cells.type) else _kept_apart
    return (cells, False) if _held_whole(values) or whole(values, cells) else (_as_words(values, name), True)


def _as_words(values: Sequence[Any], name: str) -> pa.Array:
    """The text of each value; TableError where two that differ have the same one."""
    cells = text_of([_listed(value) for value in values])
    first: dict[str, Any] = {}
    for value, text in zip(values, cells.to_pylist(), strict=True):
        if text is not None and not _same(first.setdefault(text, value), value):
            raise TableError(
                "values that differ and are written alike",
                where=name,
                remedy="Turn the column into text or numbers.",
            )
    return cells


def identity(value: Any) -> tuple[Any, ...]:
    """Equal for values that are the same by the rule of `cells`: numbers by their value, text without the spaces around
    it, a moment with its nanoseconds, zone and fold. A truth value is no number; of any other type is the same what is
    equal and of that type. Of a list, a tuple or an array every part counts, of a record what is there."""
    if isinstance(value, Mapping):
        return "record", {identity(key): identity(part) for key, part in value.items() if not is_missing(part)}
    if isinstance(value, list | tuple | np.ndarray):
        return "list", tuple(None if is_missing(part) else identity(part) for part in _parts(value))
    if isinstance(value, TRUTHS):
        return "truth", bool(value)
    if isinstance(value, str):
        return "text", str.__str__(value).strip()
    if isinstance(value, bytes | bytearray | memoryview):
        return "bytes", bytes(value)
    if isinstance(value, NUMBERS) and not isinstance(value, SPANS):
        return "number", value.item() if isinstance(value, np.generic) else value
    if isinstance(value, datetime | time):
        kind = "moment" if isinstance(value, datetime) else "time"
        return kind, str(value.replace(tzinfo=None)), value.fold, value.utcoffset(), str(value.tzinfo)
    if isinstance(value, date):
        return "day", value.isoformat()
    if isinstance(value, timedelta):
        return "duration", value.days, value.seconds, value.microseconds, getattr(value, "nanoseconds", 0)
    return type(value), value


def _parts(value: Any) -> Sequence[Any]:
    """What a list or an array consists of; of an array of moments as Arrow reads one that is a column."""
    moments = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "mM"
    return pa.array(value).to_pylist() if moments else value  # type: ignore[no-any-return]


def _listed(value: Any) -> Any:
    """The same with lists for arrays, which write their middle as dots, and moments in them as they are."""
    if isinstance(value, np.ndarray) and value.ndim:
        return _listed(list(value) if value.dtype.kind in "mM" else value.tolist())
    if type(value) is dict:
        return {key: _listed(part) for key, part in value.items()}
    return type(value)(map(_listed, value)) if type(value) in (list, tuple) else value


def _held_whole(values: Sequence[Any]) -> bool:
    """Whether all are text, all numbers, or all truth values: of these Arrow loses nothing, or it refuses them."""
    families = {_family(kind) for kind in set(map(type, values)) - {type(None)}}
    return len(families) <= 1 and None not in families


def _family(kind: type) -> tuple[type, ...] | None:
    families = (SPANS, TRUTHS, TEXTS, NUMBERS)
    found = next((family for family in families if issubclass(kind, family)), SPANS)
    return None if found is SPANS else found


def _kept_apart(values: Sequence[Any], cells: pa.Array) -> bool:
    """Whether there are as many different cells as different values."""
    try:
        different = {identity(value) for value in values if not is_missing(value)}
    except TypeError:  # without a hash, as lists are
        return False
    stored = cells.storage if isinstance(cells.type, pa.BaseExtensionType) else cells
    return len(stored.drop_null().unique()) == len(different)


def _every_one(values: Sequence[Any], cells: pa.Array) -> bool:
    """Whether each cell, read back, is its value."""
    try:
        return all(
            cell is None if is_missing(value) else _same(value, cell)
            for value, cell in zip(values, cells.to_pylist(), strict=True)
        )
    except NOT_HELD:
        return False


def _same(one: Any, other: Any) -> bool:
    try:
        return one is other or identity(one) == identity(other)
    except (TypeError, ValueError, RecursionError, pa.ArrowException):  # what has no parts, or is no value
        return False
