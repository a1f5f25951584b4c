"""From cells to input letters: which column of Q a record uses.

The policy is one for every record, and none of it can fail on a value:
text counts without the spaces around it, a number counts by its value, an empty cell or NaN is missing. A value that is
not a letter, or missing where missing is not a letter, has the code `size`: it is released as a draw from the
population's law q (theory 4), which says nothing about the secret.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.alphabet import Attribute
from discreet.exceptions import AlphabetError, TableError

Codes = NDArray[np.unsignedinteger]
UNREADABLE = "\N{REPLACEMENT CHARACTER}" * 3


@dataclass(frozen=True, eq=False)
class Reading:
    """Reads a record's letter z off the columns of these attributes; letters are in C order."""

    attributes: tuple[Attribute, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def size(self) -> int:
        """The number of letters, and the code of a record that has none of them."""
        return prod(len(attribute) for attribute in self.attributes)

    @cached_property
    def _lookups(self) -> tuple[_Lookup, ...]:
        stride, lookups = self.size, []
        dtype = np.min_scalar_type(self.size * len(self.attributes))
        for attribute in self.attributes:
            stride //= len(attribute)
            lookups.append(_Lookup(attribute, stride, self.size, dtype))
        return tuple(lookups)

    def codes(self, cells: Sequence[pa.Array]) -> Codes:
        """The letter of every record, from one array of cells an attribute."""
        parts = [lookup.parts(array) for lookup, array in zip(self._lookups, cells, strict=True)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return np.minimum(total, np.asarray(self.size, total.dtype)) if len(parts) > 1 else total

    def check(self, schema: pa.Schema) -> None:
        """Refuse a column whose type cannot be letters, before any value is looked at."""
        for name in self.columns:
            kind = schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            if pa.types.is_nested(kind):
                raise TableError(f"cells of type {kind}", where=name, remedy="Turn the column into text or numbers.")


@dataclass(frozen=True, eq=False)
class _Lookup:
    """One attribute's part of the code: letter number times `stride`, or `unseen`."""

    attribute: Attribute
    stride: int
    unseen: int
    dtype: np.dtype[Any]

    @cached_property
    def _texts(self) -> tuple[pa.Array, Codes]:
        """Every way to write a letter, and its part of the code; the last part is for everything else."""
        texts: dict[str, int] = {}
        for number, letter in enumerate(self.attribute.letters):
            for text in writings(letter):
                if texts.setdefault(text, number) != number:
                    raise AlphabetError(
                        "two letters are written alike",
                        where=self.attribute.name,
                        remedy="Letters must differ by more than spaces around them, and a number from its text.",
                    )
        parts = [number * self.stride for number in texts.values()]
        return pa.array(texts.keys(), pa.large_string()), np.array([*parts, self.unseen], self.dtype)

    @cached_property
    def _missing(self) -> int:
        """The part of the code of a missing cell."""
        letters = self.attribute.letters
        for blank in (None, ""):
            if blank in letters:
                return letters.index(blank) * self.stride
        return self.unseen

    def parts(self, cells: pa.Array) -> Codes:
        if pa.types.is_null(cells.type):
            return np.full(len(cells), self._missing, self.dtype)
        if not pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_encode()
        of_value = np.append(self._parts_of_values(cells.dictionary), np.asarray(self._missing, self.dtype))
        indices = cells.indices
        if indices.null_count:
            indices = indices.cast(pa.int64()).fill_null(len(cells.dictionary))
        return np.asarray(of_value.take(indices.to_numpy()))

    def _parts_of_values(self, values: pa.Array) -> Codes:
        texts = as_text(values)
        known, parts = self._texts
        found: Codes = parts.take(pc.index_in(texts, value_set=known).fill_null(len(known)).to_numpy())
        missing = pc.fill_null(pc.equal(texts, ""), True).to_numpy(zero_copy_only=False)
        found[missing] = self._missing
        return found


def as_text(values: pa.Array) -> pa.Array:
    """Values as the text that letters are compared by; null where a value is missing."""
    kind = values.type
    if pa.types.is_integer(kind):
        return values.cast(pa.large_string())
    if is_text(kind):
        return pc.utf8_trim_whitespace(decoded(values))
    return pa.array([_text(value) for value in _as_python(values)], pa.large_string())


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


def plain(cells: pa.Array) -> pa.Array:
    """The cells themselves, where they are numbers of a dictionary."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def readable(cells: pa.Array) -> pa.Array:
    """Cells to publish as they are: plain, and if they are text, text that is UTF-8."""
    if pa.types.is_dictionary(cells.type) and is_text(cells.type.value_type):
        return plain(pa.DictionaryArray.from_arrays(cells.indices, decoded(cells.dictionary)))
    return decoded(cells) if is_text(cells.type) else plain(cells)


def decoded(values: pa.Array) -> pa.Array:
    """Text that is UTF-8, from text or bytes that claim to be; what is not becomes �."""
    values = values.cast(pa.large_binary())
    try:
        return values.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = (None if value is None else value.decode("utf-8", "replace") for value in values.to_pylist())
        return pa.array(texts, pa.large_string())


def writings(letter: Hashable) -> tuple[str, ...]:
    """The texts that mean this letter in a file that holds text only."""
    text = _text(letter)
    if text is None or text == "":
        return ()
    if isinstance(letter, bool):
        return text, text.lower(), text.upper()
    if isinstance(letter, int) or (isinstance(letter, float) and letter.is_integer()):
        return text, f"{text}.0"
    return (text,)


def _text(value: Any) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def as_letters(values: Sequence[Any]) -> pa.Array:
    """Values of any mixture of types as the text that letters are compared by."""
    return pa.array([_text(value) for value in values], pa.large_string())
