"""Columns that look like ids: where such ids repeat, nothing is released before somebody says whose rows they are.

Which columns look so is judged by the first records, column by column, whatever they are called; whether ids repeat, by
all of them. A stream is judged while it passes, before anything is published.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from discreet.exceptions import InputError, ReleaseError, TableError
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.cells import as_text, plain
from discreet.records.columns import EVERY, OtherColumn
from discreet.records.source import RecordSource, open_records

IDS: Final = re.compile(
    r"(^|[^a-z])(id|ids|pid|uid|uuid|guid|key|nr|person|persons|patient|client|customer|user|member|subject|respondent|"
    r"participant|case|household|family|hhid|serial|account|ssn|identifier|pseudonym)([^a-z]|$)|(id|ID|Id|Nr|No)$"
)
"""Names that say whose a row is."""
SAMPLE, FEWEST_IDS, MOST_EACH = 1 << 15, 20, 20
"""Records looked at first; different values that an id has at least; rows that each has at most, on average."""
FEWEST_NUMBERS, DENSE = 1000, 2.0
"""Whole numbers look like ids without such a name where so many of them leave at most this much room between them."""
CODE: Final = r"^[A-Za-z0-9_.:-]*[0-9][A-Za-z0-9_.:-]*$"
SHORTEST_CODE: Final = 6
"""A text that names something has digits, no blanks, and some length."""
DATE: Final = (
    r"^([0-9]{4}[-./](0?[1-9]|1[0-2])[-./](0?[1-9]|[12][0-9]|3[01])|"
    r"(0?[1-9]|[12][0-9]|3[01])[-./](0?[1-9]|[12][0-9]|3[01])[-./][0-9]{4})$"
)
"""Days of a calendar name nobody. A number of the social security, three digits, two and four, is no day."""


@dataclass(frozen=True)
class IdQuestion:
    """Which columns of a table are looked at, by their place; those that the protocol or the key uses are not."""

    used: frozenset[str]
    places: Container[int] = EVERY
    suspected: bool = False
    """Whether they are known to look like ids."""

    def seen(self, source: RecordSource) -> SeenIds:
        """Nothing yet, of the columns of a source that was opened with these places."""
        columns = tuple(one for one in source.others if one.name not in self.used)
        return SeenIds(columns, suspected=self.suspected)

    def of(self, suspects: Sequence[OtherColumn]) -> IdQuestion:
        return replace(self, places=frozenset(one.place for one in suspects), suspected=True)


def id_question(protocol: AnyProtocol, identity: str | None) -> IdQuestion:
    """About a table whose first records were not looked at yet."""
    used = {one.name for one in (*protocol.joint.secrets, *protocol.joint.releases)}
    used |= {one.name for one in protocol.given} if isinstance(protocol, StratifiedProtocol) else set()
    return IdQuestion(frozenset(used if identity is None else used | {identity}))


def suspected_ids(table: Any, question: IdQuestion, encoding: str | None) -> tuple[OtherColumn, ...]:
    """The columns that nobody named and that look like ids: of a CSV file by records in small blocks; in whole ones
    where a record is longer than those."""
    try:
        return _suspected(table, question, encoding, sample=True)
    except TableError:
        return _suspected(table, question, encoding, sample=False)


def _suspected(table: Any, question: IdQuestion, encoding: str | None, *, sample: bool) -> tuple[OtherColumn, ...]:
    with open_records(table, (), others=question.places, encoding=encoding, in_order=sample, sample=sample) as source:
        seen, met = question.seen(source), 0
        for batch in source:
            seen.add(batch)
            met += len(batch)
            if met >= SAMPLE:
                break
        return seen.suspects()


def check_single_rows(table: Any, suspects: Sequence[OtherColumn], encoding: str | None) -> None:
    """ReleaseError where one of these columns has an id twice; all records are read."""
    if not suspects:
        return
    question = IdQuestion(frozenset()).of(suspects)
    with open_records(table, (), others=question.places, encoding=encoding, in_order=False) as source:
        seen = question.seen(source)
        for batch in source:
            seen.add(batch)
    seen.check()


@dataclass(eq=False)
class SeenIds:
    """The cells of columns as they are read: of all that may be ids for the first records, then of those that look so.

    A column whose cells have no text is one that looks so if it is named so, and then it has repeats.
    """

    columns: tuple[OtherColumn, ...]
    suspected: bool = False
    _cells: dict[OtherColumn, list[pa.Array] | None] = field(default_factory=dict)
    _met: int = 0

    def watching(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            self.add(batch)
            yield batch

    def add(self, batch: pa.RecordBatch) -> None:
        for one in self.columns:
            cells = self._cells.setdefault(one, [])
            if cells is not None:
                try:
                    cells.append(as_text(plain(batch.column(one.column))).cast(pa.large_string()))
                except (InputError, pa.ArrowException, ValueError, TypeError, ArithmeticError, LookupError):
                    self._cells[one] = None
        self._met += len(batch)
        if not self.suspected and self._met >= SAMPLE:
            self.suspects()

    def suspects(self) -> tuple[OtherColumn, ...]:
        """The columns that look like ids, by what was read; from now on no others are looked at."""
        if not self.suspected:
            self.columns = tuple(one for one in self.columns if self._looks(one))
            self._cells = {one: cells for one, cells in self._cells.items() if one in self.columns}
            self.suspected = True
        return self.columns

    def _looks(self, one: OtherColumn) -> bool:
        cells = self._cells.get(one, [])
        return named_like_an_id(one.name) if cells is None else looks_like_an_id(one.name, cells)

    def check(self) -> None:
        """ReleaseError where an id occurs twice."""
        for one in self.suspects():
            cells = self._cells.get(one, [])
            if cells is None:
                raise repeated_ids(one)
            ids = pa.chunked_array(cells, pa.large_string()).drop_null()
            if len(ids.unique()) < len(ids):
                raise repeated_ids(one)


def repeated_ids(column: OtherColumn) -> ReleaseError:
    """Nobody said whose the rows are that share an id in this column."""
    named = column.called == column.name
    nameless = "If they are a person's, give every column a name, and design again with --person (person=)"
    what = f"If they are a person's, design again with --person {shlex.quote(column.name)} (person=)"
    return ReleaseError(
        "a column looks like an id, and ids occur in it several times",
        where=column.called,
        remedy=f"Whose rows are they? {what if named else nameless}, which counts persons; if no two rows belong to "
        "one person, say so: --one-row-per-person (one_row_per_person=True).",
    )


def looks_like_an_id(name: str, cells: Sequence[pa.Array]) -> bool:
    """Many values, few rows each, and a name or values that say whose they are."""
    there = pa.chunked_array(cells, pa.large_string()).drop_null()
    texts = there.unique()
    if len(texts) < FEWEST_IDS or len(there) > MOST_EACH * len(texts):
        return False
    return named_like_an_id(name) or _valued_like_ids(texts)


def named_like_an_id(name: str) -> bool:
    return bool(IDS.search(name) or IDS.search(name.lower()))


def _valued_like_ids(texts: pa.Array) -> bool:
    numbers = pc.match_substring_regex(texts, r"^[0-9]{1,17}$")
    if pc.all(numbers).as_py():
        numbered = texts.cast(pa.int64())
        room = pc.max(numbered).as_py() - pc.min(numbered).as_py() + 1
        return bool(room <= DENSE * len(texts) and len(texts) >= FEWEST_NUMBERS)
    codes = pc.and_(pc.match_substring_regex(texts, CODE), pc.greater_equal(pc.utf8_length(texts), SHORTEST_CODE))
    days = pc.match_substring_regex(texts, DATE)
    return bool(pc.all(codes).as_py() and not _numeric(texts) and not pc.all(days).as_py())


def _numeric(texts: pa.Array) -> bool:
    """Measurements with a point are no codes."""
    return bool(pc.any(pc.match_substring_regex(texts, r"^-?[0-9]*[.][0-9]+$")).as_py())
