"""One pass over a table that draws nothing: how many records have each combination of letters, secrets and kept values.

A column of letters is numbered by the protocol's alphabet, with three numbers more for cells that are none of it: an
unknown text, an unknown number, a missing cell. A kept column is numbered by its values as they are met. What is held
are the different rows of numbers with how often each occurred; every figure of a check follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.arrays import Indices, Integers
from discreet.attribute import Attribute
from discreet.records.cells import as_text, indexed, told_apart
from discreet.records.letters import NUMBER, LetterReader

UNKNOWN_TEXT, UNKNOWN_NUMBER, MISSING = 0, 1, 2
"""What a cell can be that is no letter; added to the number of letters."""
MOST_KINDS: Final = 4_000_000
"""Different rows that are held: 100 MB or so. Beyond, nearly every record is unique, and no exact count is needed."""
FEW: Final = 1 << 20
"""Combinations that are counted in a table of their own rather than by sorting: it stays in the processor's cache."""
LARGEST_KEY: Final = 1 << 62  # a key of several columns, and one more digit of it, are whole numbers of 64 bits
WHOLE_NUMBER: Final = f"^(?:{NUMBER.pattern})$"


@dataclass(eq=False)
class LetterColumn:
    """A column whose letters are known."""

    attribute: Attribute

    @property
    def size(self) -> int:
        return len(self.attribute)

    @cached_property
    def _reader(self) -> LetterReader:
        return LetterReader((self.attribute,))

    def numbers(self, values: pa.Array) -> Indices:
        """The letter of each value, or `size` and what it is instead."""
        found = self._reader.codes([values]).astype(np.intp)
        outside = np.flatnonzero(found == self.size)
        if len(outside):
            found[outside] += _instead(as_text(values.take(pa.array(outside))))
        return found


def _instead(texts: pa.Array) -> Indices:
    number = pc.fill_null(pc.match_substring_regex(texts, WHOLE_NUMBER), False).to_numpy(zero_copy_only=False)
    missing = pc.fill_null(pc.equal(texts, ""), True).to_numpy(zero_copy_only=False)
    return np.where(missing, MISSING, np.where(number, UNKNOWN_NUMBER, UNKNOWN_TEXT))


@dataclass(eq=False)
class ValueColumn:
    """A column that is published as it is: any values, numbered as they are met. What a reader can tell apart is two
    values here, such as a text with a space behind it and one without."""

    name: str
    _numbers: dict[Hashable, int] = field(default_factory=dict)

    @property
    def values(self) -> list[Hashable]:
        return list(self._numbers)

    def numbers(self, values: pa.Array) -> Indices:
        known = self._numbers
        return np.array([known.setdefault(cell, len(known)) for cell in told_apart(values)], np.intp)


@dataclass(eq=False)
class RecordCounts:
    """`letters` and `values` name the columns of `kinds`, in this order; `counts` says how often each row occurred."""

    letters: tuple[LetterColumn, ...]
    values: tuple[ValueColumn, ...]
    stratified: bool = False
    records: int = 0
    complete: bool = True
    _held: list[tuple[Integers, Integers]] = field(default_factory=list, repr=False)

    def add(self, batch: pa.RecordBatch, strata: Integers | None = None, times: Integers | None = None) -> None:
        """Records, or different ones with how often each occurs."""
        self.records += len(batch) if times is None else int(times.sum())
        if not self.complete or not len(batch):
            return
        cells = [(column, *indexed(batch.column(name))) for name, column in self._columns()]
        found = [indices for _, _, indices in cells] + ([] if strata is None else [strata])
        if not found:
            return
        rows, counts = distinct(found, times)
        for place, (column, values, _) in enumerate(cells):
            rows[place] = column.numbers(values).take(rows[place])
        self._held.append((rows, counts))
        while len(self._held) > 1 and len(self._held[-2][1]) <= 2 * len(self._held[-1][1]):
            self._join()
        if len(self._held[0][1]) > MOST_KINDS:
            self.complete, self._held = False, []

    def _columns(self) -> list[tuple[str, LetterColumn | ValueColumn]]:
        return [*((c.attribute.name, c) for c in self.letters), *((c.name, c) for c in self.values)]

    def _join(self) -> None:
        (rows, counts), (more, numbers) = self._held[-2:]
        together = np.concatenate([rows, more], axis=1)
        self._held[-2:] = [distinct(list(together), np.concatenate([counts, numbers]))]

    @cached_property
    def _finished(self) -> tuple[Integers, Integers]:
        while len(self._held) > 1:
            self._join()
        self._held = [distinct(list(rows), counts) for rows, counts in self._held]
        width = len(self.letters) + len(self.values) + self.stratified
        return self._held[0] if self._held else (np.zeros((width, 0), np.int64), np.zeros(0, np.int64))

    @property
    def counts(self) -> Integers:
        return self._finished[1]

    def letter(self, name: str) -> Integers:
        """The numbers of a column of letters, for every kind."""
        position = [column.attribute.name for column in self.letters].index(name)
        return np.asarray(self._finished[0][position])

    def kept(self) -> list[Integers]:
        """The numbers of the kept columns, for every kind."""
        return list(self._finished[0][len(self.letters) : len(self.letters) + len(self.values)])

    def strata(self) -> Integers:
        """The number of the stratum of every kind; 0 where there are none."""
        return np.asarray(self._finished[0][-1]) if self.stratified else np.zeros(len(self.counts), np.int64)

    def outside(self, attribute: Attribute) -> dict[str, int]:
        """How many cells of a column are unknown texts, unknown numbers, or missing where missing is no letter."""
        beyond = self.letter(attribute.name) - len(attribute)
        names = ("texts", "numbers", "missing")
        return {name: int(self.counts[beyond == i].sum()) for i, name in enumerate(names)}

    def codes(self, attributes: Sequence[Attribute]) -> Integers:
        """The letter of every kind in these columns together, in C order; their number where one of them has none."""
        total, known = np.zeros(len(self.counts), np.int64), np.ones(len(self.counts), bool)
        for attribute in attributes:
            numbers = self.letter(attribute.name)
            known &= numbers < len(attribute)
            total = total * len(attribute) + numbers
        return np.where(known, total, math.prod(len(attribute) for attribute in attributes))

    def unknown(self, attributes: Sequence[Attribute]) -> int:
        """Records with a value that is no letter in one of these columns; missing ones do not count."""
        lost = np.zeros(len(self.counts), bool)
        for attribute in attributes:
            beyond = self.letter(attribute.name) - len(attribute)
            lost |= (beyond == UNKNOWN_TEXT) | (beyond == UNKNOWN_NUMBER)
        return int(self.counts[lost].sum())


def unknown_records(attributes: Sequence[Attribute], cells: Sequence[pa.Array]) -> NDArray[np.bool_]:
    """Which records of a batch have a value that is no letter; missing ones do not count."""
    lost = np.zeros(len(cells[0]), bool)
    for attribute, column in zip(attributes, cells, strict=True):
        values, indices = indexed(column)
        beyond = LetterColumn(attribute).numbers(values) - len(attribute)
        lost |= ((beyond == UNKNOWN_TEXT) | (beyond == UNKNOWN_NUMBER)).take(indices)
    return lost


def distinct(columns: Sequence[Integers], counts: Integers | None = None) -> tuple[Integers, Integers]:
    """The different rows of these columns, one per column of the result, and the sum of the counts of each; without
    counts, how often each occurs."""
    keys, sizes, rows = np.zeros(len(columns[0]) if counts is None else len(counts), np.int64), 1, None
    caps = [int(column.max(initial=0)) + 1 for column in columns]
    for column, cap in zip(columns, caps, strict=True):
        if sizes > LARGEST_KEY // cap:
            _, rows, keys = np.unique(keys, return_index=True, return_inverse=True)
            sizes = len(rows)
        keys, sizes = keys * cap + column, sizes * cap
    if sizes <= FEW:
        sums = _summed(keys, counts, sizes)
        found = np.flatnonzero(sums)
        sums = sums[found]
    else:
        found, inverse = np.unique(keys, return_inverse=True)
        sums = _summed(inverse, counts, len(found))
    if rows is None:
        return np.array(np.unravel_index(found, caps), np.int64), sums
    _, first = np.unique(keys, return_index=True)
    return np.array([column[first] for column in columns], np.int64), sums


def _summed(keys: Integers, counts: Integers | None, size: int) -> Integers:
    if counts is None:
        return np.asarray(np.bincount(keys, minlength=size))
    return np.asarray(np.bincount(keys, counts, size).astype(np.int64))
