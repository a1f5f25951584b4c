"""Cells of any type: the different ones of a column, and the text that each is compared by.

None of it can fail on a value. Text counts without the spaces around it, bytes are text that claims to be UTF-8, a
number counts by its value, and an empty cell or NaN is missing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime, time
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

UNREADABLE: Final = "\N{REPLACEMENT CHARACTER}" * 3  # a text that no table has by chance
HALF: Final = re.compile("[\ud800-\udfff]")
MIDNIGHT: Final = time()
"""The time of a moment that is a date, and written as one."""


def indexed(cells: pa.Array) -> tuple[pa.Array, NDArray[Any]]:
    """The different values, null as the last of them if it occurs, and for every cell the number of its value."""
    if pa.types.is_null(cells.type):
        return pa.nulls(1, pa.large_string()), np.zeros(len(cells), np.intp)
    if pa.types.is_nested(cells.type):  # no letters, but a kept column may be of such a type
        return cells, np.arange(len(cells))
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
    if is_text(kind):
        return pc.utf8_trim_whitespace(decoded(values))
    return text_of(_as_python(values))


def text_of(values: Sequence[Any]) -> pa.Array:
    """Python values of any mixture of types as the text that letters are compared by.

    Half of a surrogate pair is no character, and a text with one is no letter."""
    texts = (text_of_one(value) for value in values)
    return pa.array([UNREADABLE if text and HALF.search(text) else text for text in texts], pa.large_string())


def _as_python(values: pa.Array) -> list[Any]:
    """The values as Python objects. One that Python cannot hold, such as a date after the year 9999, is no letter."""
    try:
        return list(values.to_pylist())
    except (ArithmeticError, ValueError, pa.ArrowException):
        return [_one_as_python(value) for value in values]


def _one_as_python(value: pa.Scalar) -> Any:
    try:
        return value.as_py()
    except (ArithmeticError, ValueError, pa.ArrowException):
        return UNREADABLE


def is_text(kind: pa.DataType) -> bool:
    types = pa.types
    checks = types.is_string, types.is_large_string, types.is_string_view
    return any(check(kind) for check in (*checks, types.is_binary, types.is_large_binary, types.is_binary_view))


def value_type(kind: pa.DataType) -> pa.DataType:
    """The type of the cells themselves, where they are numbers of a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def type_name(kind: pa.DataType) -> str:
    """The type without its parts: the fields of a struct, say, may be named after people."""
    return re.split(r"[<\[(]", str(kind))[0]


def plain(cells: pa.Array) -> pa.Array:
    """The cells themselves, where they are numbers of a dictionary."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def readable(cells: pa.Array) -> pa.Array:
    """Cells to publish as they are: plain, and if they are text, text that is UTF-8."""
    if pa.types.is_dictionary(cells.type) and is_text(cells.type.value_type):
        return plain(pa.DictionaryArray.from_arrays(cells.indices, decoded(cells.dictionary)))
    return decoded(cells) if is_text(cells.type) else plain(cells)


def rebuilt(cells: pa.Array) -> pa.Array:
    """The same cells in memory of their own: nothing that lay under a null, or beside a slice, goes along with them."""
    if pa.types.is_nested(cells.type) or isinstance(cells.type, pa.BaseExtensionType):
        return pa.array(cells.to_pylist(), cells.type)
    return cells.take(pa.array(np.arange(len(cells))))


def decoded(values: pa.Array) -> pa.Array:
    """Text that is UTF-8, from text or bytes that claim to be; what is not becomes \\xe9 and the like."""
    values = values.cast(pa.large_binary())
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = (None if value is None else value.decode("utf-8", "backslashreplace") for value in values.to_pylist())
        return pa.array(texts, pa.large_string())


def text_of_one(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == MIDNIGHT and value.tzinfo is None:
        return str(value.date())
    return str(value).strip()
