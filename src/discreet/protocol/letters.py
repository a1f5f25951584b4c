"""Letters in JSON: text, whole numbers, floats, booleans, nothing, and tuples of these. Nothing else is a letter."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import numpy as np

from discreet.exceptions import AlphabetError, ProtocolError

SAFE = 2**53
LARGEST_DIGITS = 40


def encode_letter(letter: Hashable) -> Any:
    """A letter as JSON; whole numbers too large for JSON readers as {"integer": "…"}, tuples as lists."""
    value = letter.item() if isinstance(letter, np.generic) else letter
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int) and abs(value) < 10**LARGEST_DIGITS:
        return int(value) if abs(value) <= SAFE else {"integer": str(int(value))}
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, tuple):
        return [encode_letter(part) for part in value]
    raise AlphabetError(
        f"a letter of type {type(letter).__name__} has no place in a protocol file",
        remedy="Use text, numbers, booleans, None or tuples of these as letters.",
    )


def decode_letter(given: Any) -> Hashable:
    if given is None or isinstance(given, (str, bool)):
        return given
    if isinstance(given, int) and abs(given) <= SAFE:
        return given
    if isinstance(given, float) and math.isfinite(given):
        return given
    if isinstance(given, list):
        return tuple(decode_letter(part) for part in given)
    if isinstance(given, dict) and set(given) == {"integer"} and isinstance(given["integer"], str):
        return _decode_large(given["integer"])
    raise ProtocolError("something that is not a letter", remedy="See the schema for what a letter may be.")


def _decode_large(text: str) -> int:
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) <= LARGEST_DIGITS:
        value = int(text)
        if abs(value) > SAFE and str(value) == text:
            return value
    raise ProtocolError("something that is not a letter", remedy="See the schema for what a letter may be.")
