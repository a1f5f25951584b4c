"""The first record of a CSV file: which separator it has, what the columns are called, and whether it can be a record.

The separator is the one of , ; tab | by which most of the first records have as many fields as the header, and that is
more than one; of several such the one that makes most fields. What somebody wants to read does not change it: whoever
reads a file, for whatever columns, meets the same columns.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final

from discreet.exceptions import AlphabetError, TableError
from discreet.records.columns import twice_in
from discreet.records.first_line import is_header
from discreet.records.letters import spreadsheet_safe

SEPARATORS: Final = (",", ";", "\t", "|")
LOOKED_AT: Final = 1 << 16
"""Bytes after the first record that are held against it."""


@dataclass(frozen=True)
class Header:
    """Names and separator; `sure` says whether the first record can only be names, `alone` that nothing follows it."""

    names: tuple[str, ...]
    separator: str
    sure: bool
    alone: bool

    def check(self, wanted: Sequence[str]) -> None:
        """AlphabetError unless each of these columns is there once. Names that are in the file are shown only where
        they can be nothing else."""
        known, twice = set(self.names), twice_in(self.names)
        for name in wanted:
            if name in known and name not in twice:
                continue
            what, remedy = not_single(name, self.names)
            if self.alone or not self.sure:
                fields = len(self.names)
                remedy = (
                    f"Compare with the {fields} fields of the first line; it may be a record where a header should be."
                )
            raise AlphabetError(what, where=name, remedy=remedy)

    def meaning(self, wanted: Sequence[str]) -> Header:
        """The same with these names for columns that CSV shows otherwise, where nothing else is called so."""
        known = set(self.names)
        shown = {spreadsheet_safe(name): name for name in wanted if name not in known}
        return replace(self, names=tuple(shown.get(name, name) for name in self.names))

    def shown(self) -> tuple[str, ...]:
        """The names; TableError where the first record may be somebody's."""
        if not self.sure:
            raise TableError(
                "the first line looks like a record, not like names of columns",
                where="the header",
                remedy="Put a line of names, in words and each different, before the first record.",
            )
        return self.names


def header_from(first: bytes, following: bytes) -> Header:
    """From the first record, and from some of what comes after it."""
    text = first.decode("utf-8", "replace")
    found = []
    for separator in SEPARATORS:
        names, rows = _fields(text, separator), _rows(following, separator)
        alike = sum(len(row) == len(names) for row in rows) / max(1, len(rows)) if len(names) > 1 else -1.0
        found.append((alike, len(names), names, separator, rows))
    _, size, names, separator, rows = max(found, key=lambda one: one[:2])
    columns = [{row[place].strip() for row in rows if place < len(row)} for place in range(size)]
    return Header(tuple(names), separator, is_header(names, columns), not any(columns))


def there(optional: Sequence[str], known: Sequence[str]) -> list[str]:
    """Those of the columns that a table has; AlphabetError for one that it has twice, of which either may be meant."""
    all_of_them, twice = set(known), twice_in(known)
    for name in optional:
        if name in twice:
            what, remedy = not_single(name, known)
            raise AlphabetError(what, where=name, remedy=remedy)
    return [name for name in optional if name in all_of_them]


def not_single(name: str, known: Sequence[str]) -> tuple[str, str]:
    """What is wrong with a name that is not one column's alone, and what to do."""
    if name in known:
        return "two columns of this name", "Give each of them a name of its own, or leave one out."
    return "no such column", nearest_columns(name, known)


def nearest_columns(name: str, names: Sequence[str]) -> str:
    """What to do about a column that is not there, in words."""
    folded = {str(one).casefold(): str(one) for one in names}
    close = [folded[one] for one in get_close_matches(name.casefold(), list(folded), n=3, cutoff=0.6)]
    if close:
        return f"Did you mean {' or '.join(close)}?"
    return f"Compare with the {len(names)} columns of the table: discreet look shows them."


def _rows(data: bytes, separator: str) -> list[list[str]]:
    """The first records that are not blank; the last of what was looked at may be cut."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        for row in csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline=""), delimiter=separator):
            rows.append(row)
    return [row for row in (rows if len(data) < LOOKED_AT else rows[:-1]) if row]


def _fields(text: str, separator: str) -> list[str]:
    """The names of the first record; none where it is more than one by this separator."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    except csv.Error:
        return []
    return [name.strip() for name in rows[0]] if len(rows) == 1 else []
