"""Quotes of CSV, held against RFC 4180 while the bytes pass: a stray one must not make one cell of several records.

A quote opens a cell where a field begins, and closes it where a field ends; within, two quotes are one. Whatever comes
after a closing quote is refused, and so is a cell that is never closed. A quote inside a field that does not begin with
one is a character like others. Quoted cells may have line ends; but two stray quotes that happen to fit make one lawful
cell of all that is between them, so a cell whose lines are shaped like the records of its own table is refused too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.exceptions import TableError

QUOTE: Final = ord('"')
LINE_END: Final = re.compile(r"\r\n|\n|\r")
REMEDY: Final = 'Quote a whole field or none of it, and write a quote within a quoted one as "".'


@dataclass
class QuoteCheck:
    """The quotes met so far, of a file with this separator, from the record after the header on.

    `lines` are the line ends before what comes next.
    """

    separator: str
    lines: int
    _inside: bool = False
    _opened: int = 0
    """The line where the last quoted cell begins."""
    _before: int = ord("\n")
    _closed: bool = False
    """Whether the byte before closed a cell: a quote now is one within it."""
    _held: bytes = b""
    """The last byte: what comes after it is not known."""
    _bounds: Any = field(init=False)

    def __post_init__(self) -> None:
        self._bounds = np.zeros(256, bool)
        self._bounds[[ord(self.separator), ord("\n"), ord("\r")]] = True

    def add(self, block: bytes | memoryview) -> None:
        data = self._held + bytes(block)
        self._held = data[-1:]
        if len(data) > 1:
            self._check(np.frombuffer(data, np.uint8))

    def end(self) -> None:
        if self._held:
            self.add(b"\n")
        if self._inside:
            raise TableError("a quote is opened and not closed", where=f"line {self._opened}", remedy=REMEDY)

    def _check(self, data: Any) -> None:
        """All bytes but the last, of which two follow each other here for the first time."""
        body, places = data[:-1], np.flatnonzero(data[:-1] == QUOTE)
        closed = -2
        if len(places):
            before, after = body[places - 1], data[places + 1]
            before[0] = before[0] if places[0] else self._before
            begins, ends = self._bounds[before], self._bounds[after] | (after == QUOTE)
            again = np.diff(places, prepend=-1 if self._closed else -2) == 1
            opening = (np.arange(len(places)) + self._inside) % 2 == 0
            if np.where(opening, begins | again, ends).all():
                closed = self._all_at_once(body, places, opening & begins)
            else:
                closed = self._one_by_one(body, places.tolist(), begins.tolist(), ends.tolist())
        self._closed = closed == len(body) - 1
        self._before = int(body[-1])
        self.lines += line_ends(body)

    def _all_at_once(self, body: Any, places: Any, opens: Any) -> int:
        """Quotes that open and close by turns; the place of the last if it closes."""
        self._inside = self._inside != bool(len(places) % 2)
        if opens.any():
            self._opened = self._line(body, int(places[opens][-1]))
        return -2 if self._inside else int(places[-1])

    def _one_by_one(self, body: Any, places: list[int], begins: list[bool], ends: list[bool]) -> int:
        """The same where some of the quotes are characters like others."""
        inside, since, closed = self._inside, -1, -1 if self._closed else -2
        for place, opens, closes in zip(places, begins, ends, strict=True):
            if inside:
                if not closes:
                    line = self._line(body, place)
                    raise TableError("something comes after a closing quote", where=f"line {line}", remedy=REMEDY)
                inside, closed = False, place
            elif closed == place - 1:
                inside = True
            elif opens:
                inside, since = True, place
        self._inside = inside
        if since >= 0:
            self._opened = self._line(body, since)
        return -2 if inside else closed

    def _line(self, body: Any, place: int) -> int:
        return self.lines + line_ends(body[:place]) + 1


def line_ends(data: Any) -> int:
    """How many; a file with returns alone has no others."""
    octets = np.frombuffer(data, np.uint8)
    return int(np.count_nonzero(octets == ord("\n")) or np.count_nonzero(octets == ord("\r")))


def refuse_records_in(cells: pa.Array, name: str, fields: int, separator: str, row: int) -> None:
    """TableError where a cell of a table with so many fields holds what looks like the rest of one record, whole ones,
    and the beginning of another."""
    values = cells.dictionary if pa.types.is_dictionary(cells.type) else cells
    if fields < 2 or not len(values):
        return
    several = pc.or_(pc.match_substring(values, "\n"), pc.match_substring(values, "\r"))
    for cell in values.filter(several).to_pylist():
        first, *whole, last = (line.count(separator) for line in LINE_END.split(cell))
        if first + last == fields - 1 and all(one == fields - 1 for one in whole):
            raise TableError(
                "a quoted cell has lines that look like records of this table",
                where=f"{name}, after row {row}",
                remedy="Mend the quotes there; or, if that is its text, take the line ends out of such cells.",
            )
