"""Every column of a table as numbers of its different values: one pass, at most a million records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Indices, Integers
from discreet.exceptions import TableError
from discreet.files.atomic_file import PIPE
from discreet.records.cells import indexed, type_name, value_type
from discreet.records.columns import single_names
from discreet.records.grouping import numbers_of
from discreet.records.header import column_names
from discreet.records.kinds import Progress
from discreet.records.letters import Alphabet
from discreet.records.source import open_records

MOST_RECORDS: Final = 1_000_000
"""Enough to see what is in a table, and little enough to hold in memory with forty columns."""


@dataclass(frozen=True, eq=False)
class ScannedColumn:
    """The different values of a column as text, how many records have each, and the number of every record's value.

    A record without a value has the number −1.
    """

    name: str
    type: pa.DataType
    values: pa.Array
    codes: Indices

    @cached_property
    def counts(self) -> Integers:
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    @cached_property
    def missing(self) -> int:
        return int((self.codes < 0).sum())

    @cached_property
    def numeric(self) -> Floats:
        """The values as numbers, NaN where one is none."""
        return numbers_of(self.values)

    @property
    def letters(self) -> Indices:
        """The number of every record's value, missing as one more value."""
        return np.where(self.codes < 0, len(self.values), self.codes)


@dataclass(frozen=True, eq=False)
class ScannedTable:
    name: str
    columns: tuple[ScannedColumn, ...]
    records: int
    whole: bool
    unreadable: int
    unusable: dict[str, str]
    """Columns whose cells cannot be letters, with their type."""
    repeated: int = 0
    """Columns without a name of their own, which nobody can ask for."""

    def __getitem__(self, name: str) -> ScannedColumn:
        return next(column for column in self.columns if column.name == name)


def scan(source: Any, encoding: str | None, progress: Progress) -> ScannedTable:
    """Read a table from its beginning."""
    if isinstance(source, str | PathLike) and str(fspath(source)) == PIPE:
        raise TableError("a pipe has no name to look at twice", where="-", remedy="Write it to a file first.")
    names = column_names(source, encoding)
    single = [name for name in single_names(names) if name]
    if not single:
        raise TableError("no column with a name of its own", where=_called(source), remedy="Give the table a header.")
    with open_records(source, single, encoding=encoding, in_order=False) as records:
        unusable = {
            name: type_name(value_type(records.schema.field(name).type))
            for name in single
            if pa.types.is_nested(value_type(records.schema.field(name).type))
        }
        met = [Alphabet.of_texts(name) for name in single if name not in unusable]
        parts: list[list[Indices]] = [[] for _ in met]
        seen, whole = 0, True
        for batch in records:
            if seen + len(batch) > MOST_RECORDS:
                batch, whole = batch.slice(0, MOST_RECORDS - seen), False
            for alphabet, codes in zip(met, parts, strict=True):
                values, indices = indexed(batch.column(alphabet.name))
                codes.append(alphabet.numbers(values)[indices])
            seen += len(batch)
            progress("read", seen)
            if not whole:
                break
        if not seen:
            raise TableError("the table has no records", where=records.name, remedy="Look at one that has some.")
        columns = tuple(
            _column(alphabet, records.schema.field(alphabet.name).type, codes)
            for alphabet, codes in zip(met, parts, strict=True)
        )
        repeated = len(names) - len(single)
        return ScannedTable(records.name, columns, seen, whole, records.unreadable, unusable, repeated)


def _column(alphabet: Alphabet, kind: pa.DataType, parts: Sequence[Indices]) -> ScannedColumn:
    """Without values that no record has: a reader may have met more than it handed out."""
    met, codes = alphabet.met, np.concatenate(parts)
    occurs = np.bincount(codes, minlength=len(met)) > 0
    there = [i for i, value in enumerate(met) if value is not None and occurs[i]]
    places = np.full(len(met), -1)
    places[there] = np.arange(len(there))
    return ScannedColumn(alphabet.name, kind, pa.array([met[i] for i in there], pa.large_string()), places[codes])


def _called(source: Any) -> str:
    return str(fspath(source)) if isinstance(source, str | PathLike) else "the table"
