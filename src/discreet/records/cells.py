"""Cells of any type: the different ones of a column, and the text that each is compared by.

None of it can fail on a value. Text counts without the spaces around it, bytes are text that claims to be UTF-8, a
number counts by its value, and an empty cell or NaN is missing. Whatever else differs has different texts: what is no
UTF-8 is written behind a mark, a moment that Python cannot hold as the number it is stored as.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.exceptions import TableError

MARK: Final = "\N{REPLACEMENT CHARACTER}" * 3
"""Before bytes that are no UTF-8, and once more before a text that begins so: no two of them are written alike."""
MARKED: Final = re.compile(f"[\ud800-\udfff]|\\A{MARK}")
"""Half of a surrogate pair is no character."""
MOST_DIGITS: Final = 100
"""Of a decimal that is written without a power of ten: more than those of any table have."""
MIDNIGHT: Final = " 00:00:00"
"""The time of a moment that is a date, and written as one."""
WHOLE: Final = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}
"""The bits of a number or a moment."""
PLAIN: Final = (bool, int, str, bytes)
"""What equals nothing else within one column."""
NOT_HELD: Final = (ArithmeticError, LookupError, ValueError, pa.ArrowException)
"""What Arrow raises on a value that is no Python object."""


def indexed(cells: pa.Array) -> tuple[pa.Array, NDArray[Any]]:
    """The different values, null as the last of them if it occurs, and for every cell the number of its value."""
    if pa.types.is_null(cells.type):
        return pa.nulls(1, pa.large_string()), np.zeros(len(cells), np.intp)
    if pa.types.is_nested(cells.type):  # no letters, but a kept column may be of such a type
        return cells, np.arange(len(cells))
    if isinstance(cells.type, pa.BaseExtensionType):  # such as UUIDs, of which Arrow makes no dictionary
        stored, numbers = indexed(cells.storage)
        return pa.ExtensionArray.from_storage(cells.type, stored), numbers
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    values, indices = cells.dictionary, cells.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return values, indices.to_numpy()


def as_text(values: pa.Array) -> pa.Array:
    """Values as the text that letters are compared by; null where a value is missing."""
    kind = values.type
    if pa.types.is_integer(kind):
        return values.cast(pa.large_string())
    if not is_text(kind):
        return text_of(_as_python(values))
    octets = values.cast(pa.large_binary())
    whole = _utf8(octets)
    texts = None if whole is None else pc.utf8_trim_whitespace(whole)
    if texts is not None and not _any_marked(texts):
        return texts
    return pa.array([_told(one, trimmed=True) for one in octets.to_pylist()], pa.large_string())


def text_of(values: Sequence[Any]) -> pa.Array:
    """Python values of any mixture of types as the text that letters are compared by."""
    texts = (text_of_one(value) for value in values)
    return pa.array(
        [_marked(text.encode("utf-8", "surrogatepass")) if text and MARKED.search(text) else text for text in texts],
        pa.large_string(),
    )


def _any_marked(texts: pa.Array) -> bool:
    return bool(pc.any(pc.starts_with(texts, MARK)).as_py())


def _told(octets: bytes | None, *, trimmed: bool) -> str | None:
    """The text of these bytes, or what marks that they are none, or that it begins with the mark."""
    if octets is None:
        return None
    try:
        text = octets.decode()
    except UnicodeDecodeError:
        return _marked(octets.strip() if trimmed else octets)
    text = text.strip() if trimmed else text
    return _marked(text.encode()) if text.startswith(MARK) else text


def _marked(octets: bytes) -> str:
    """With every backslash twice, so that one before an x can only be a byte."""
    return MARK + octets.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def _as_python(values: pa.Array) -> list[Any]:
    """The values as Python objects. A moment that Python would round, or cannot hold at all, such as a date after the
    year 9999, is the number that it is stored as."""
    try:
        found = list(values.to_pylist())
        if not pa.types.is_temporal(values.type) or pa.array(found, values.type).equals(values):
            return found
    except NOT_HELD:
        if not pa.types.is_temporal(values.type):
            remedy = "Turn the column into text or numbers."
            raise TableError(f"cells of type {type_name(values.type)} without a text", remedy=remedy) from None
    return [_moment(value) for value in values]


def _moment(value: pa.Scalar) -> Any:
    try:
        found = value.as_py()
        if pa.scalar(found, value.type).equals(value):
            return found
    except NOT_HELD:
        pass
    return f"{value.type} {value.value}"


def is_string(kind: pa.DataType) -> bool:
    types = pa.types
    return any(check(kind) for check in (types.is_string, types.is_large_string, types.is_string_view))


def is_text(kind: pa.DataType) -> bool:
    """Text, or bytes, which are read as text."""
    types = pa.types
    checks = types.is_binary, types.is_large_binary, types.is_binary_view
    return is_string(kind) or any(check(kind) for check in checks)


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the cells themselves, where they are numbers of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def type_name(kind: pa.DataType) -> str:
    """The type without its parts: the fields of a struct, say, may be named after people."""
    return re.split(r"[<\[(]", str(kind))[0]


def plain(cells: pa.Array) -> pa.Array:
    """The cells themselves, where they are numbers of a dictionary."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def without_views(cells: pa.Array) -> pa.Array:
    """Bytes in one piece of memory: Arrow does not pick single ones out of several pieces."""
    if not pa.types.is_binary_view(value_type(cells.type)):
        return cells
    if pa.types.is_dictionary(cells.type):
        return pa.DictionaryArray.from_arrays(cells.indices, cells.dictionary.cast(pa.large_binary()))
    return cells.cast(pa.large_binary())


def readable(cells: pa.Array) -> pa.Array:
    """Cells to publish as they are: plain, and if they are text, text that is UTF-8."""
    if pa.types.is_dictionary(cells.type) and is_string(cells.type.value_type):
        return plain(pa.DictionaryArray.from_arrays(cells.indices, decoded(cells.dictionary)))
    cells = decoded(cells) if is_string(cells.type) else plain(cells)
    unwrapped = isinstance(cells.type, pa.BaseExtensionType) and bare(cells.type) != cells.type
    return cells.storage if unwrapped else cells


def readable_type(kind: pa.DataType) -> pa.DataType:
    """The type of such cells."""
    kind = value_type(kind)
    if is_string(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else bare(kind)


def one_way(kind: pa.DataType) -> bool:
    """Whether `one_writing` leaves one cell for every letter. Text is not of that kind, nor what may hold text."""
    types = pa.types
    checks = types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_temporal, types.is_null
    return any(check(kind) for check in checks)


def one_writing(cells: pa.Array) -> pa.Array:
    """Numbers as letters are compared: without a sign of zero, and nothing where there is no number."""
    if not pa.types.is_floating(value_type(cells.type)):
        return cells
    values, indices = indexed(cells)
    numbers = values.to_numpy(zero_copy_only=False)
    return pa.array(numbers + numbers.dtype.type(0), values.type, mask=np.isnan(numbers)).take(pa.array(indices))


def told_apart(values: pa.Array) -> list[Hashable]:
    """The values of cells that are published as they are: two are the same only where nobody can tell them apart."""
    kind = values.type
    if is_text(kind):
        return list(decoded(values).to_pylist())
    if pa.types.is_floating(kind) or (pa.types.is_temporal(kind) and not pa.types.is_interval(kind)):
        return list(values.view(WHOLE[kind.bit_width]).to_pylist())
    return [_exactly(cell) for cell in values.to_pylist()]


def _exactly(cell: Any) -> Hashable:
    """A float by its bits: 0 and −0, or two that are no numbers, are not alike in a file."""
    if isinstance(cell, float):
        return struct.pack("d", cell)
    if isinstance(cell, Mapping):
        return tuple((_exactly(key), _exactly(value)) for key, value in cell.items())
    if isinstance(cell, list | tuple):
        return tuple(map(_exactly, cell))
    return cell if cell is None or type(cell) in PLAIN else (type(cell).__name__, repr(cell))


def rebuilt(cells: pa.Array) -> pa.Array:
    """The same cells in memory of their own: nothing that lay under a null, or beside a slice, or in the metadata of a
    field, goes along with them."""
    if pa.types.is_nested(cells.type) or isinstance(cells.type, pa.BaseExtensionType):
        kind = bare(cells.type)
        stored = bare(kind, _stored)
        if stored == kind:
            return pa.array(cells.to_pylist(), kind)
        with suppress(pa.ArrowNotImplementedError):
            return pa.array(cells.cast(stored).to_pylist(), stored).cast(kind)
        return _unrounded(cells, kind)
    return cells.take(pa.array(np.arange(len(cells))))


def _unrounded(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same cells by way of Python; TableError where it would round a moment in them."""
    with suppress(*NOT_HELD):
        found = pa.array(cells.to_pylist(), kind)
        if found.equals(cells):
            return found
    raise TableError(
        f"moments in cells of type {type_name(kind)} that cannot be kept as they are",
        remedy="Keep them in a column of their own, or in lists or structs, or leave the column out.",
    )


def _stored(kind: pa.DataType) -> pa.DataType:
    """Moments as the numbers they are stored as: Python would round them."""
    moment = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
    return WHOLE[kind.bit_width] if moment else kind


def _itself(kind: pa.DataType) -> pa.DataType:
    return kind


def bare(kind: pa.DataType, leaf: Callable[[pa.DataType], pa.DataType] = _itself) -> pa.DataType:
    """The type without the metadata of its fields, at any depth, and in fields without dictionaries, which not every
    library reads there. An extension type whose storage has metadata is that."""
    types = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        storage = bare(kind.storage_type, leaf)
        return kind if storage.equals(kind.storage_type, check_metadata=True) else storage
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, bare(kind.value_type, leaf), kind.ordered)
    if types.is_run_end_encoded(kind):
        return pa.run_end_encoded(kind.run_end_type, bare(kind.value_type, leaf))
    fields = [_bare_field(kind.field(place), leaf) for place in range(kind.num_fields)]
    if types.is_map(kind):
        return pa.map_(_bare_field(kind.key_field, leaf), _bare_field(kind.item_field, leaf), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(fields[0], kind.list_size)
    if types.is_union(kind):
        return pa.union(fields, kind.mode, kind.type_codes)
    makers = {"struct": pa.struct, "list": pa.list_, "large_list": pa.large_list}
    makers |= {"list_view": pa.list_view, "large_list_view": pa.large_list_view}
    for name, make in makers.items():
        if getattr(types, f"is_{name}")(kind):
            return make(fields if name == "struct" else fields[0])
    return leaf(kind)


def _bare_field(field: pa.Field, leaf: Callable[[pa.DataType], pa.DataType]) -> pa.Field:
    return pa.field(field.name, bare(value_type(field.type), leaf), field.nullable)


def decoded(values: pa.Array) -> pa.Array:
    """Text that is UTF-8, from text or bytes that claim to be; what is not becomes \\xe9 and so on, behind a mark."""
    octets = values.cast(pa.large_binary())
    whole = _utf8(octets)
    if whole is not None and (is_string(values.type) or not _any_marked(whole)):
        return whole
    return pa.array([_told(one, trimmed=False) for one in octets.to_pylist()], pa.large_string())


def _utf8(octets: pa.Array) -> pa.Array | None:
    """Bytes as text, or None where not all of them are."""
    try:
        return octets.cast(pa.large_string())
    except pa.ArrowInvalid:
        return None


def is_missing(value: Any) -> bool:
    """None, what is not equal to itself, and the NA of pandas, which is neither."""
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, (float, datetime, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    return value is None or type(value).__name__ == "NAType"


def text_of_one(value: Any) -> str | None:
    if is_missing(value):
        return None
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    if isinstance(value, Decimal) and abs(value.adjusted()) <= MOST_DIGITS:
        return f"{value:f}"
    if isinstance(value, datetime):
        return str(value).removesuffix(MIDNIGHT)
    return str(value).strip()
