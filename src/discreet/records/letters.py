"""Letters in cells: which letter a cell means, which letters a column has, and how a letter is written.

One policy for every record, of every source, when it is counted, released or estimated from; none of it can fail on a
value. Text counts without the spaces around it, bytes are text that claims to be UTF-8, a number counts by its value,
and an empty cell or NaN is missing. The three readers here work on the different values of a batch, not on its cells:

- `LetterReader` knows the letters: which column of Q a record uses. A value that is not a letter, or missing where
  missing is not a letter, has the code `size`: it is released as a draw from the population's law q (theory 4), which
  says nothing about the secret.
- `Alphabet` learns the letters: the values of a column as they are met, in order at the end.
- `LabelReader` knows the outputs of a protocol as they are written in any kind of file.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arrays import Codes, Indices
from discreet.attribute import Attribute
from discreet.channel import label
from discreet.exceptions import AlphabetError, TableError
from discreet.records.cells import as_text, indexed, is_text, text_of_one, type_name, value_type
from discreet.records.grouping import ColumnGrouping

EXECUTED: Final = "=+-@"
"""How a text begins that a spreadsheet would execute, in any form that is compatible with these (Unicode's NFKC)."""
SKIPPED: Final = ("Zs", "Zl", "Zp", "Cc", "Cf")
"""Unicode categories of what a spreadsheet may leave out before it looks."""
SEPARATED: Final = re.compile(r"([;\t|\r\n])")
"""What ends a cell for a reader that knows nothing of the quotes around it."""
BLANKS: Final = ("\t", "\r", "\n")
OTHER_NAME: Final = "Give one of the values another name in the table, or merge the two (--merge)."
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


# ---- letters that are known -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LetterReader:
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
        """The letter of every record, from one array of cells per attribute."""
        parts = [lookup.parts(array) for lookup, array in zip(self._lookups, cells, strict=True)]
        total = parts[0]
        for part in parts[1:]:
            total = total + part
        return np.minimum(total, np.asarray(self.size, total.dtype)) if len(parts) > 1 else total

    def check(self, schema: pa.Schema) -> None:
        """Refuse a column whose type cannot be letters, before any value is looked at."""
        for name in self.columns:
            kind = value_type(schema.field(name).type)
            if pa.types.is_nested(kind):
                raise TableError(
                    f"cells of type {type_name(kind)}", where=name, remedy="Turn the column into text or numbers."
                )


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
        texts, _ = letters_by_text(self.attribute)
        parts = [number * self.stride for number in texts.values()]
        return pa.array(texts.keys(), pa.large_string()), np.array([*parts, self.unseen], self.dtype)

    @cached_property
    def _missing(self) -> int:
        """The part of the code of a missing cell."""
        _, blank = letters_by_text(self.attribute)
        return self.unseen if blank is None else blank * self.stride

    def parts(self, cells: pa.Array) -> Codes:
        values, indices = indexed(cells)
        return np.asarray(self.parts_of_values(values).take(indices))

    def parts_of_values(self, values: pa.Array) -> Codes:
        texts = letter_texts(self.attribute, as_text(values))
        known, parts = self._texts
        found: Codes = parts.take(pc.index_in(texts, value_set=known).fill_null(len(known)).to_numpy())
        missing = pc.fill_null(pc.equal(texts, ""), True).to_numpy(zero_copy_only=False)
        found[missing] = self._missing
        return found


@dataclass(frozen=True, eq=False)
class LabelReader:
    """Reads the outputs of a released column, however its labels are written; `len(labels)` is no output."""

    name: str
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels) + 1

    @cached_property
    def _lookup(self) -> tuple[_Lookup, Indices]:
        """Labels also as a spreadsheet may safely show them, and the output that each of them is."""
        safe = [(number, spreadsheet_safe(text)) for number, text in enumerate(self.labels)]
        changed = [(number, text) for number, text in safe if text != self.labels[number]]
        written = pa.array([*self.labels, *(text for _, text in changed)], pa.large_string())
        letters = Attribute(self.name, tuple(as_text(written).to_pylist()))
        size = len(letters)
        outputs = [*range(len(self.labels)), *(number for number, _ in changed), len(self.labels)]
        return _Lookup(letters, 1, size, np.min_scalar_type(size)), np.array(outputs, np.intp)

    def numbers(self, values: pa.Array) -> Indices:
        """The output that each value is."""
        lookup, outputs = self._lookup
        return outputs.take(lookup.parts_of_values(values))


def letters_by_text(attribute: Attribute) -> tuple[dict[str, int], int | None]:
    """Which letter each text means, and which one an empty cell or a code for missing does, if any; AlphabetError where
    two letters are written alike, so that records of the one would be drawn as those of the other."""
    texts: dict[str, int] = {}
    blanks = []
    codes = attribute.missing if attribute.grouping is None else ()
    for number, letter in enumerate(attribute.letters):
        found = writings(letter)
        if not found or not set(found).isdisjoint(codes):
            blanks.append(number)
            continue
        if any(texts.setdefault(text, number) != number for text in found):
            raise AlphabetError(
                "two letters are written alike",
                where=attribute.name,
                remedy="Letters must differ by more than spaces around them, and a number from its text.",
            )
    if len(blanks) > 1:
        raise AlphabetError(
            "two letters are both an empty cell",
            where=attribute.name,
            remedy="Null, an empty text, one of spaces alone and codes for missing are one letter: merge them.",
        )
    return texts, blanks[0] if blanks else None


def check_letters_differ(attributes: Sequence[Attribute]) -> None:
    """AlphabetError where a reader could not tell two letters of a column apart."""
    for attribute in attributes:
        letters_by_text(attribute)


def check_letters_published(attributes: Sequence[Attribute]) -> None:
    """The same for columns whose letters are published, also where CSV shows them."""
    check_letters_differ(attributes)
    for attribute in attributes:
        check_shown_apart(attribute.name, map(label, attribute.letters))


def letter_texts(attribute: Attribute, texts: pa.Array) -> pa.Array:
    """The letters that a column's values stand for, as text: its codes for missing first, then its grouping."""
    if attribute.missing:
        codes = pa.array(attribute.missing, pa.large_string())
        texts = pc.if_else(pc.is_in(texts, value_set=codes), None, texts)
    return texts if attribute.grouping is None else attribute.grouping.apply(texts)


# ---- letters that are met -------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Alphabet:
    """The letters of a column, numbered in the order they are met.

    At the end they are sorted, numbers by value and text by code point; a column of declared categories (pandas
    Categorical, polars Enum, an Arrow dictionary) keeps these in their order. Those that never occurred are left out,
    declared or not: a category may be what is left of somebody who was taken out of the table, and letters are
    published. Missing is one letter, None, which comes last.
    """

    name: str
    declared: bool
    read: Callable[[pa.Array], list[Any]]
    grouping: ColumnGrouping | None = None
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    @classmethod
    def of(cls, column: pa.Field) -> Alphabet:
        """Of a column's values: numbers and truth values as they are, dates and times as text.

        Refuses what cannot be letters before any value is looked at.
        """
        kind = value_type(column.type)
        types = pa.types
        numbers = types.is_boolean, types.is_integer, types.is_floating, types.is_null
        worded = is_text, types.is_temporal, types.is_decimal
        if not any(check(kind) for check in (*numbers, *worded)):
            remedy = "Turn the column into text, whole numbers or categories."
            raise AlphabetError(f"letters of type {type_name(kind)}", where=column.name, remedy=remedy)
        declared = types.is_dictionary(column.type)
        return cls(column.name, declared, _numbers_or_none if any(check(kind) for check in numbers) else _texts_or_none)

    @classmethod
    def grouped(cls, name: str, grouping: ColumnGrouping) -> Alphabet:
        """Of the groups that a column's values fall into, in the order of the bins."""

        def read(values: pa.Array) -> list[str | None]:
            return [text or None for text in grouping.apply(as_text(values)).to_pylist()]

        return cls(name, False, read, grouping)

    @classmethod
    def of_texts(cls, name: str) -> Alphabet:
        """Of a column of any kind, as text."""
        return cls(name, False, _texts_or_none)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def met(self) -> list[Hashable]:
        """The letters by number."""
        return list(self._numbers)

    def numbers(self, values: pa.Array) -> Indices:
        """The number of each value's letter."""
        letters, known = self.read(values), self._numbers
        named = [letter for letter in letters if letter is not None]
        self.declared = self.declared and len(set(named)) == len(named)
        return np.array([known.setdefault(letter, len(known)) for letter in letters], np.intp)

    def finished(self, occurs: NDArray[np.bool_]) -> tuple[Attribute, list[int]]:
        """The attribute, and for each of its letters the number it was met under."""
        kept = [(x, i) for x, i in self._numbers.items() if x is not None and occurs[i]]
        if not self.declared:
            kept.sort()
        if self.grouping is not None:
            places = {letter: i for i, letter in enumerate(self.grouping.ordered([str(x) for x, _ in kept]))}
            kept.sort(key=lambda one: places[str(one[0])])
        missing = self._numbers.get(None)
        if missing is not None and occurs[missing]:
            kept.append((None, missing))
        letters = tuple(letter for letter, _ in kept)
        return Attribute(self.name, letters, grouping=self.grouping, met=True), [number for _, number in kept]


def _texts_or_none(values: pa.Array) -> list[str | None]:
    return [text or None for text in as_text(values).to_pylist()]


def _numbers_or_none(values: pa.Array) -> list[Any]:
    """Numbers and truth values, NaN as missing and −0 as 0."""
    if not pa.types.is_floating(values.type):
        return list(values.to_pylist())
    return [None if value is None or math.isnan(value) else value + 0.0 for value in values.to_pylist()]


# ---- how letters are written ----------------------------------------------------------------------------------------


def writings(letter: Hashable) -> tuple[str, ...]:
    """The texts that mean this letter in a file that holds text only."""
    text = text_of_one(letter)
    if text is None or text == "":
        return ()
    if isinstance(letter, bool):
        return text, text.lower(), text.upper()
    if isinstance(letter, int) or (isinstance(letter, float) and letter.is_integer()):
        return text, f"{text}.0"
    return (text,)


def spreadsheet_safe(text: str) -> str:
    """A label as it appears in CSV: with an apostrophe in front where a spreadsheet might execute it, also of what it
    takes for a cell where it is told of another separator, and so finds no quotes around this one. A text that is such
    a one behind apostrophes gets one more: no two texts are shown alike."""
    first, *more = SEPARATED.split(text)
    inside = text.lstrip("'")
    first = f"'{first}" if (inside[:1] in BLANKS or _executed(inside)) and not _number(inside) else first
    parts = (f"'{part}" if _executed(part.lstrip("'")) else part for part in more[1::2])
    return first + "".join(f"{sign}{part}" for sign, part in zip(more[::2], parts, strict=True))


def _executed(text: str) -> bool:
    """Whether the first sign that is looked at is one of = + - @, alone or in a sign that stands for several."""
    if (text[:1].isascii() and text[:1].isalnum()) or _number(text):
        return False
    first = next((sign for sign in text if sign != '"' and unicodedata.category(sign) not in SKIPPED), "")
    return unicodedata.normalize("NFKC", first)[:1] in tuple(EXECUTED)


def _number(text: str) -> bool:
    return NUMBER.fullmatch(text.strip(" ")) is not None


def column_of(joint: Any) -> str:
    """The name of a released column: the columns that it tells about. A joint or a public protocol has these."""
    return "×".join(attribute.name for attribute in joint.released)


def released_columns(joint: Any, outputs: Sequence[Hashable]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The columns of a release, each with the label of every output; AlphabetError where two outputs would be read as
    one.

    Outputs that are values, one for each of several columns, are released as these columns; others as one column.
    """
    if len(joint.released) > 1 and set(outputs) <= set(joint.target_letters):
        parts: Any = outputs
        found = tuple((column.name, tuple(label(one[i]) for one in parts)) for i, column in enumerate(joint.released))
    else:
        found = ((column_of(joint), tuple(label(output) for output in outputs)),)
    written = [[spreadsheet_safe(text).strip() for text in labels] for _, labels in found]
    if len(set(zip(*written, strict=True))) < len(outputs):
        raise AlphabetError(
            "two outputs are written alike, as a missing value and the text of that name are",
            where=", ".join(name for name, _ in found),
            remedy=OTHER_NAME,
        )
    for name, labels in found:
        check_shown_apart(name, labels)
    return found


def check_shown_apart(name: str, labels: Iterable[str]) -> None:
    """AlphabetError where a label is what CSV shows of another: nobody could tell which of them a cell is."""
    known = {text.strip() for text in labels}
    if not known.isdisjoint(shown for text in known if (shown := spreadsheet_safe(text).strip()) != text):
        raise AlphabetError(
            "a value is written as CSV shows another one, with an apostrophe in front", where=name, remedy=OTHER_NAME
        )
