"""Columns in version 2 of the file: numbers as text, letters, labels, codes for missing, groupings.

A letter is its code: text, a whole number, true, false, null, {"integer": "…"} from 2^53 on, {"decimal": "…"} for a
number with a point, or a list of these for a tuple. A label beside it is for people. `missing` are the codes that mean
"no answer"; `grouping` are the steps from the values of a table to the letters, applied wherever the column is read.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import isfinite
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.attribute import Attribute
from discreet.given_columns import check_number_of_strata
from discreet.protocol.document import (
    LARGEST_DIGITS,
    MOST_ATTRIBUTES,
    SAFE_INTEGER,
    checked_letters,
    decode_letter,
    encode_letter,
    is_unicode,
    wrong,
)
from discreet.records.grouping import Bins, ColumnGrouping, Merged, Rest, Step

COLUMN_KEYS, COLUMN_OPTIONAL = {"letters", "name"}, {"grouping", "labels", "missing"}
DECIMAL = "decimal"
LONGEST_DECIMAL = 32
"""Characters; the shortest text of a float has at most 24."""


def encode_decimal(value: float) -> str:
    """The shortest decimal text that gives back the same float."""
    return repr(float(value))


def decode_decimal(given: Any, where: str) -> float:
    if not isinstance(given, str) or len(given) > LONGEST_DECIMAL:
        raise wrong(where, "not a number as decimal text")
    try:
        value = float(given)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or repr(value) != given:
        raise wrong(where, "not a number as decimal text")
    return value


def encode_integer(value: int) -> int | str:
    return value if -SAFE_INTEGER < value < SAFE_INTEGER else str(value)


def decode_integers(given: list[Any], where: str, *, low: int, high: int) -> Integers:
    """Whole numbers from `low` to `high`, those from 2^53 on as decimal text."""
    if not all(type(value) is int for value in given):
        given = [_decode_integer(value, where) for value in given]
    if given and not (low <= min(given) and max(given) <= high):
        raise wrong(where, "not a whole number in range")
    return np.array(given, dtype=np.int64)


def _decode_integer(given: Any, where: str) -> int:
    if type(given) is int and abs(given) < SAFE_INTEGER:
        return given
    if isinstance(given, str) and len(given) <= LARGEST_DIGITS:
        digits = given.removeprefix("-")
        if digits.isascii() and digits.isdigit() and str(int(given)) == given and abs(int(given)) >= SAFE_INTEGER:
            return int(given)
    raise wrong(where, "not a whole number")


def encode_letter_2(letter: Hashable) -> Any:
    """As in version 1, but a float is {"decimal": "…"}."""
    encoded = encode_letter(letter)
    return _decimals(encoded)


def _decimals(encoded: Any) -> Any:
    if isinstance(encoded, float):
        return {DECIMAL: encode_decimal(encoded)}
    return [_decimals(part) for part in encoded] if isinstance(encoded, list) else encoded


def decode_letters_2(given: list[Any], where: str) -> tuple[Hashable, ...]:
    return checked_letters(tuple(map(decode_letter_2, given)), where)


def decode_letter_2(given: Any) -> Hashable:
    if isinstance(given, list):
        return tuple(map(decode_letter_2, given))
    if isinstance(given, dict) and set(given) == {DECIMAL}:
        return decode_decimal(given[DECIMAL], "letters")
    if isinstance(given, float):
        raise wrong("letters", "a number with a point that is not text")
    return decode_letter(given)


# ---- columns ---------------------------------------------------------------------------------------------------------


def encode_column(attribute: Attribute) -> dict[str, Any]:
    """Name and letters; labels, codes for missing and grouping where there are any."""
    letters = [encode_letter_2(letter) for letter in attribute.letters]
    column = {"letters": letters, "name": encode_letter(attribute.name)}
    if attribute.labels:
        column["labels"] = [encode_letter(text) for text in attribute.labels]
    if attribute.missing:
        column["missing"] = [encode_letter(text) for text in attribute.missing]
    if attribute.grouping is not None:
        column["grouping"] = [_encode_step(step) for step in attribute.grouping.steps]
    return column


def decode_column(given: Any, where: str) -> Attribute:
    check_keys(given, COLUMN_KEYS, COLUMN_OPTIONAL, where)
    [name] = texts([given["name"]], where)
    steps = [_decode_step(step) for step in filled_list(given["grouping"], where)] if "grouping" in given else None
    return Attribute(
        name,
        decode_letters_2(filled_list(given["letters"], where), where),
        labels=texts(given["labels"], where) if "labels" in given else (),
        missing=texts(given["missing"], where) if "missing" in given else (),
        grouping=None if steps is None else ColumnGrouping(tuple(steps)),
    )


def decode_columns(given: Any, where: str) -> tuple[Attribute, ...]:
    items = filled_list(given, where)
    if len(items) > MOST_ATTRIBUTES:
        raise wrong(where, f"not between 1 and {MOST_ATTRIBUTES} attributes")
    return tuple(decode_column(item, where) for item in items)


def decode_strata_list(content: dict[str, Any]) -> tuple[tuple[Attribute, ...], list[Any]]:
    """The given columns of a file and its strata as they stand there, which are not too many to be proven."""
    given, strata = decode_columns(content["given"], "given"), filled_list(content["strata"], "strata")
    check_number_of_strata(given, len(strata))
    return given, strata


def _encode_step(step: Step) -> dict[str, Any]:
    if isinstance(step, Bins):
        return {"bins": list(step.edges)}
    if isinstance(step, Merged):
        return {"into": step.into, "merge": [encode_letter(text) for text in step.values]}
    return {"into": step.into, "rest": [encode_letter(text) for text in step.kept]}


def _decode_step(given: Any) -> Step:
    keys = set(given) if isinstance(given, dict) else set()
    if keys == {"bins"}:
        return Bins(texts(given["bins"], "grouping"))
    if keys in ({"into", "merge"}, {"into", "rest"}):
        [into] = texts([given["into"]], "grouping")
        if "merge" in keys:
            return Merged(texts(given["merge"], "grouping"), into)
        return Rest(texts(given["rest"], "grouping") if given["rest"] != [] else (), into)
    raise wrong("grouping", "a step this release does not know")


# ---- checks ----------------------------------------------------------------------------------------------------------


def texts(given: Any, where: str) -> tuple[str, ...]:
    if not all(isinstance(text, str) and is_unicode(text) for text in filled_list(given, where)):
        raise wrong(where, "something that is not text")
    return tuple(given)


def whole_number(given: Any, where: str, limit: int) -> int:
    if type(given) is not int or not 0 <= given <= limit:
        raise wrong(where, "not a whole number in range")
    return given


def filled_list(given: Any, where: str) -> list[Any]:
    if not isinstance(given, list) or not given:
        raise wrong(where, "not a list with something in it")
    return given


def check_keys(given: Any, keys: set[str], optional: set[str], where: str) -> None:
    if not isinstance(given, dict) or not keys <= set(given) <= keys | optional:
        raise wrong(where, "fields are missing, or there are others than the schema knows")
