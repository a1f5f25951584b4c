"""Columns that look like ids: where such ids repeat, nothing is released before somebody says whose rows they are.

Which columns look so is judged by the first records; whether ids repeat, by all of them.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.exceptions import InputError, ReleaseError, TableError
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.cells import as_text, indexed, plain
from discreet.records.header import column_names
from discreet.records.source import open_records

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


def suspected_ids(table: Any, protocol: AnyProtocol, encoding: str | None) -> tuple[str, ...]:
    """The columns that nobody named and that look like ids; none where the table cannot be read, as its reader says."""
    used = {one.name for one in (*protocol.joint.secrets, *protocol.joint.releases)}
    used |= {one.name for one in protocol.given} if isinstance(protocol, StratifiedProtocol) else set()
    try:
        names = column_names(table, encoding, [one.name for one in protocol.joint.reads])
        columns = [name for name in names if name not in used and names.count(name) == 1]
        looked = first_values(table, columns, encoding) if columns else {}
    except InputError:
        return ()
    return tuple(name for name, values in looked.items() if looks_like_an_id(name, values))


def check_single_rows(table: Any, suspects: Sequence[str], encoding: str | None) -> None:
    """ReleaseError where one of these columns has an id twice; all records are read."""
    if not suspects:
        return
    seen = SeenIds(tuple(suspects))
    with open_records(table, (), suspects, encoding=encoding, in_order=False) as source:
        for batch in source:
            seen.add(batch)
    seen.check()


@dataclass(frozen=True, eq=False)
class SeenIds:
    """The cells of columns that look like ids, as they are read."""

    columns: tuple[str, ...]
    _cells: dict[str, list[pa.Array]] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> None:
        for name in self.columns:
            self._cells.setdefault(name, []).append(plain(batch.column(name)))

    def check(self) -> None:
        for name, cells in self._cells.items():
            ids = pa.chunked_array([as_text(one).cast(pa.large_string()) for one in cells]).drop_null()
            if len(ids.unique()) < len(ids):
                raise repeated_ids(name)


def repeated_ids(name: str) -> ReleaseError:
    """Nobody said whose the rows are that share an id in this column."""
    return ReleaseError(
        "a column looks like an id, and ids occur in it several times",
        where=name,
        remedy=f"Whose rows are they? Say --person {shlex.quote(name)} (person=), or --one-row-per-person "
        "(one_row_per_person=True) if no two rows belong to one person.",
    )


@dataclass(frozen=True, eq=False)
class FirstValues:
    """The different values of a column among the first records, as text, and how many cells are not missing."""

    texts: pa.Array
    cells: int


def first_values(table: Any, names: Sequence[str], encoding: str | None) -> dict[str, FirstValues]:
    """Of a CSV file in small blocks; in whole ones where a record is longer than those."""
    try:
        return _first_values(table, names, encoding, sample=True)
    except TableError:
        return _first_values(table, names, encoding, sample=False)


def _first_values(table: Any, names: Sequence[str], encoding: str | None, *, sample: bool) -> dict[str, FirstValues]:
    found: dict[str, list[tuple[pa.Array, int]]] = {name: [] for name in names}
    met = 0
    with open_records(table, names, encoding=encoding, in_order=sample, sample=sample) as source:
        for batch in source:
            for name in names:
                values, indices = indexed(batch.column(name))
                texts = as_text(plain(values)).cast(pa.large_string())
                times = np.bincount(indices, minlength=len(texts))
                there = texts.is_valid().to_numpy(zero_copy_only=False) & (times > 0)
                found[name].append((texts.filter(pa.array(there)), int(times[there].sum())))
            met += len(batch)
            if met >= SAMPLE:
                break
    return {
        name: FirstValues(
            pa.chunked_array([texts for texts, _ in parts], pa.large_string()).unique(), sum(n for _, n in parts)
        )
        for name, parts in found.items()
    }


def looks_like_an_id(name: str, values: FirstValues) -> bool:
    """Many values, few rows each, and a name or values that say whose they are."""
    texts, different = values.texts, len(values.texts)
    if different < FEWEST_IDS or values.cells > MOST_EACH * different:
        return False
    if IDS.search(name) or IDS.search(name.lower()):
        return True
    numbers = pc.match_substring_regex(texts, r"^[0-9]{1,17}$")
    if pc.all(numbers).as_py():
        numbered = texts.cast(pa.int64())
        room = pc.max(numbered).as_py() - pc.min(numbered).as_py() + 1
        return bool(room <= DENSE * different and different >= FEWEST_NUMBERS)
    codes = pc.and_(pc.match_substring_regex(texts, CODE), pc.greater_equal(pc.utf8_length(texts), SHORTEST_CODE))
    days = pc.match_substring_regex(texts, DATE)
    return bool(pc.all(codes).as_py() and not _numeric(texts) and not pc.all(days).as_py())


def _numeric(texts: pa.Array) -> bool:
    """Measurements with a point are no codes."""
    return bool(pc.any(pc.match_substring_regex(texts, r"^-?[0-9]*[.][0-9]+$")).as_py())
