"""Whether a first line can only be names of columns, or may be somebody's record: then nothing of it is shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

MONTHS: Final = "jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez"
DATE: Final = re.compile(rf"\d{{1,4}}[-. ]*({MONTHS})\w*[-., ]*\d{{1,4}}.*|({MONTHS})\w*[. ]+\d{{1,2}}[., ]+\d{{4}}.*")
MOMENT: Final = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}([ t].*)?")
ACCOUNT: Final = re.compile(r"[a-z]{2}\d{2}(\s?[a-z0-9]){11,30}")
EXPONENT: Final = re.compile(r"[+-]?[\d.,\s]+e[+-]?\d+")
MARK: Final = re.compile(r"[?.-]+")
MOST_DIGITS: Final = 8
"""A date may stand in a name; more digits are a number of somebody."""


def is_header(names: Sequence[str], columns: Sequence[Collection[str]] = ()) -> bool:
    """Whether a first record can only be names: different words, no number, date or address among them, nothing that
    is a value of its own column, nor is written like most of them. Where that is not so, it may be somebody's record.
    """
    named = [name for name in names if name]
    if not named or len(set(named)) < len(named) or len(named) < len(names) - 1:
        return False
    if any(is_value(name) for name in named):
        return False
    each = [(name, values) for name, values in zip(names, columns, strict=False) if name]
    return not any(name in values or written_like(name, values) for name, values in each)


def is_value(text: str) -> bool:
    """A number, a date, a telephone number, an account, an address of mail, or a mark for a missing value: no column is
    called that."""
    lowered, digits = text.casefold().strip(), sum(sign.isdigit() for sign in text)
    if digits and not any(sign.isalpha() for sign in text):
        return True
    every = (DATE, MOMENT, ACCOUNT, EXPONENT, MARK)
    return "@" in text or digits > MOST_DIGITS or any(one.fullmatch(lowered) for one in every)


def written_like(name: str, values: Collection[str]) -> bool:
    """Whether most values of a column have numbers and letters where this text has them, as codes of diagnoses do."""
    written = [value for value in values if value]
    if not written or not any(sign.isdigit() for sign in name):
        return False
    return 2 * sum(_form(value) == _form(name) for value in written) > len(written)


def _form(text: str) -> str:
    signs = ("9" if s.isdigit() else "A" if s.isupper() else "a" if s.isalpha() else s for s in text)
    return re.sub("9+([.,]9+)*", "9", "".join(signs))
