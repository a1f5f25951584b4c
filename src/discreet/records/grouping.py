"""Grouping: from the values in a table to fewer letters. Bins of numbers, merged values, one name for the rare rest.

A steward writes a `Grouping`, which may ask the table where to cut ("quantiles:6") or what is rare ("rare:50").
Counting the table turns it into one `ColumnGrouping` for each column: steps that need no table any more. They belong to
the attribute, are written into the protocol file, and are applied wherever its column is read. What is grouped is
protected as one letter, and not hidden from each other.

    bins    numbers [b0, b1), …, [bk, ∞); what is below b0 is one bin, what is no number is missing (`no_numbers`)
    merge   some values under one name; under none ("") they are missing
    rest    every value that is not listed under one name; the rare values themselves are written nowhere
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.arrays import Floats, Integers
from discreet.attribute import Attribute
from discreet.exceptions import ParameterError

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
OTHER = "other"
RARE = r"\s*(?:(?P<column>(?:(?!->)[\s\S])+?)\s*:\s*)?rare\s*:\s*(?P<records>[0-9]{1,15})\s*"
"""A number of records, of one column or of all; the name of a column may have colons, but no arrow."""
MOST_BINS = 1000  # more is a typing error: nobody reads a thousand bins
NO_NUMBERS = "Bins read numbers, with a point: of dates, make a column with the year first. Or merge values (--merge)."
EXAMPLE = 'Write bins as age=0,18,30 or wage=quantiles:6, merges as "column: A, B -> C" or rare:50.'


@dataclass(frozen=True)
class Bins:
    """Numbers by the bin they fall into. Edges are decimal text, as they were written."""

    edges: tuple[str, ...]

    def __post_init__(self) -> None:
        values = [_decimal(edge) for edge in self.edges]
        if not 1 <= len(values) <= MOST_BINS or any(low >= high for low, high in pairwise(values)):
            raise ParameterError("edges of bins that do not rise", where="bins", remedy=EXAMPLE)

    @property
    def names(self) -> tuple[str, ...]:
        """One name for each bin, the one below the first edge first."""
        between = [f"{low} to under {high}" for low, high in pairwise(self.edges)]
        return f"under {self.edges[0]}", *between, f"{self.edges[-1]} and over"

    def apply(self, texts: pa.Array) -> pa.Array:
        """A number and an edge that are one float, as they may be beyond 2^53, are compared digit by digit."""
        values, edges = numbers_of(texts), np.array([float(edge) for edge in self.edges])
        places = np.searchsorted(edges, values, side="right")
        close = np.flatnonzero(np.isin(values, edges))
        exact = [_decimal(edge) for edge in self.edges]
        for place, text in zip(close, texts.take(pa.array(close)).to_pylist(), strict=True):
            places[place] = bisect_right(exact, Decimal(text))
        found = pa.array(self.names, pa.large_string()).take(pa.array(places))
        return pc.if_else(pa.array(~np.isnan(values)), found, None)


@dataclass(frozen=True)
class Merged:
    """These values under one name."""

    values: tuple[str, ...]
    into: str

    def apply(self, texts: pa.Array) -> pa.Array:
        known = pa.array(self.values, pa.large_string())
        return pc.if_else(pc.is_in(texts, value_set=known), self.into, texts)


@dataclass(frozen=True)
class Rest:
    """Every value that is not listed, under one name. A missing value stays missing."""

    kept: tuple[str, ...]
    into: str = OTHER

    def apply(self, texts: pa.Array) -> pa.Array:
        known = pa.array(self.kept, pa.large_string())
        there = pc.and_(pc.is_valid(texts), pc.not_equal(texts, ""))
        other = pc.and_(pc.fill_null(there, False), pc.invert(pc.is_in(texts, value_set=known)))
        return pc.if_else(other, self.into, texts)


Step = Bins | Merged | Rest


def numbers_of(texts: pa.Array) -> Floats:
    """Values as numbers, NaN where one is none, or not finite."""
    is_number = pc.fill_null(pc.match_substring_regex(texts, NUMBER), False)
    numbers: Floats = pc.if_else(is_number, texts, None).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.where(np.isfinite(numbers), numbers, np.nan)


@dataclass(frozen=True)
class ColumnGrouping:
    """What is done to the values of one column, step by step.

    Attributes:
        steps: bins, merges, and the rest.
        learnt: whether some of it was chosen by looking at the counts that it groups. No file says so.
    """

    steps: tuple[Step, ...]
    learnt: bool = field(default=False, compare=False, repr=False)

    def apply(self, texts: pa.Array) -> pa.Array:
        """The letters of these values, as text; null where a value is missing or no number."""
        texts = texts.cast(pa.large_string())
        for step in self.steps:
            texts = step.apply(texts)
        return texts

    def ordered(self, letters: Sequence[str]) -> tuple[str, ...]:
        """Letters in the order of the bins, if there are any; others stay in theirs, and come after them."""
        order = {name: i for step in self.steps if isinstance(step, Bins) for i, name in enumerate(step.names)}
        return tuple(sorted(letters, key=lambda letter: order.get(letter, len(order))))


@dataclass(frozen=True)
class Grouping:
    """What a steward wants grouped.

    `bins[column]` is a list of edges or "quantiles:k"; `merge[column]` maps a new name to the values it stands for,
    and "" to those that mean that there is none; `rare` is a number of records, below which the values of a column
    become one: for every column that it meets, or for some by name.

    Arguments:
        bins: by column, edges or "quantiles:k".
        merge: by column, a new name and the values it stands for.
        rare: a number of records, or one by column.
    Raises:
        ParameterError: when a table is counted, bins that cannot be made.
    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> ages = dc.Grouping(bins={"age": [30, 50]})
        >>> dc.Joint.from_table(adult(), secret="sex", release="age", group=ages).letters
        ('under 30', '30 to under 50', '50 and over')
    """

    bins: Mapping[str, Sequence[Any] | str] = field(default_factory=dict)
    merge: Mapping[str, Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    rare: int | Mapping[str, int] = 0

    @classmethod
    def parse(cls, bins: Sequence[str] = (), merges: Sequence[str] = ()) -> Grouping:
        """From the words of a command line."""
        cuts: dict[str, Sequence[Any] | str] = {}
        for text in bins:
            name, sign, edges = text.rpartition("=")
            if not sign or not name.strip():
                raise ParameterError("bins without a column", where="--bins", remedy=EXAMPLE)
            edges = edges.strip()
            cuts[name.strip()] = edges if edges.startswith("quantiles") else [part.strip() for part in edges.split(",")]
        named: dict[str, dict[str, list[str]]] = {}
        rare: dict[str, int] = {}
        everywhere = 0
        for text in merges:
            few = re.fullmatch(RARE, text)
            written = re.fullmatch(r"\s*(?P<column>[^:]+?)\s*:(?P<values>.+)->(?P<into>.*)", text, re.DOTALL)
            if few and few["column"]:
                rare[few["column"]] = int(few["records"])
            elif few:
                everywhere = int(few["records"])
            elif written:
                values = [part.strip() for part in written["values"].split(",")]
                named.setdefault(written["column"], {})[written["into"].strip()] = values
            else:
                raise ParameterError("a merge that cannot be read", where="--merge", remedy=EXAMPLE)
        return cls(cuts, named, {**rare, "": everywhere} if rare and everywhere else rare or everywhere)

    @property
    def columns(self) -> set[str]:
        """The columns named in it."""
        named = set(self.rare) - {""} if isinstance(self.rare, Mapping) else set()
        return {*self.bins, *self.merge, *named}

    def records_of(self, column: str) -> int:
        """Below how many records a value of this column is rare."""
        return self.rare if isinstance(self.rare, int) else self.rare.get(column, self.rare.get("", 0))

    def learns(self, column: str) -> bool:
        """Whether this column's grouping depends on the table."""
        return isinstance(self.bins.get(column), str) or self.records_of(column) > 0

    def fitted(self, column: str, values: pa.Array, counts: Integers) -> ColumnGrouping | None:
        """The steps for a column with these different values, as text, and so many records of each."""
        steps: list[Step] = []
        if column in self.bins:
            steps.append(Bins(_edges(self.bins[column], values, counts, column)))
        steps += [Merged(tuple(map(_written, old)), str(new)) for new, old in self.merge.get(column, {}).items()]
        records = self.records_of(column)
        if records > 0:
            steps += _rest(ColumnGrouping(tuple(steps)).apply(values), counts, records)
        return ColumnGrouping(tuple(steps), self.learns(column)) if steps else None


def _edges(given: Sequence[Any] | str, values: pa.Array, counts: Integers, column: str) -> tuple[str, ...]:
    if not isinstance(given, str):
        return tuple(_written(edge) for edge in given)
    wanted = re.fullmatch(r"quantiles\s*:\s*([0-9]{1,15})", given)
    if not wanted or not 2 <= int(wanted[1]) <= MOST_BINS:
        raise ParameterError("bins that cannot be read", where=column, remedy=EXAMPLE)
    is_number = pc.fill_null(pc.match_substring_regex(values, NUMBER), False)
    numbers: Floats = values.filter(is_number).cast(pa.float64()).to_numpy(zero_copy_only=False)
    weights = counts[is_number.to_numpy(zero_copy_only=False)]
    if not len(numbers):
        raise ParameterError("no numbers to make bins of", where=column, remedy=NO_NUMBERS)
    cuts = rounded_quantiles(numbers, weights, int(wanted[1]))
    if not cuts:
        raise ParameterError("one number is most of the column", where=column, remedy="Give the edges of the bins.")
    return cuts


def rounded_quantiles(numbers: Floats, records: Integers, parts: int) -> tuple[str, ...]:
    """Edges that cut records into equal parts, nearly: the roundest number close to each quantile.

    An edge that is a quantile itself would be the value of somebody's record, written into every file about it. Where
    one value is all that is close, the edge is the roundest number above the value before it: the bins are the same.
    """
    order = np.argsort(numbers, kind="stable")
    values, below = numbers[order], np.cumsum(records[order]) / records.sum()
    near = min(max(1 / (8 * parts), 3 / float(records.sum())), 1 / (2 * parts))

    def at(share: float) -> float:
        return float(values[min(int(np.searchsorted(below, share, side="right")), len(values) - 1)])

    cuts = set()
    for share in (np.arange(1, parts) / parts).tolist():
        low, middle, high = at(share - near), at(share), at(share + near)
        if low == high > values[0]:
            low = np.nextafter(values[np.searchsorted(values, high) - 1], high)
        cuts.add(roundest(low, high, middle))
    return tuple(_written(cut) for cut in sorted(cuts) if values[0] < float(cut) <= values[-1])


def unlike_rare(edges: Iterable[Decimal], numbers: Floats, records: Integers, k: int) -> tuple[Decimal, ...]:
    """Edges that make the same bins of these numbers, none of them a number that fewer than k records have."""
    values, places = np.unique(numbers, return_inverse=True)
    totals = np.bincount(places, weights=records, minlength=len(values))
    found = set()
    for edge in edges:
        place = int(np.searchsorted(values, float(edge)))
        if place == len(values) or values[place] != float(edge) or totals[place] >= k:
            found.add(edge)
        elif place > 0 and (between := _between(values[place - 1], values[place])) is not None:
            found.add(between)
    return tuple(sorted(found))


def _between(below: float, above: float) -> Decimal | None:
    """The roundest number between two, neither of them; None where there is none."""
    low, high = float(np.nextafter(below, above)), float(np.nextafter(above, below))
    return roundest(low, high, high) if low <= high else None


def roundest(low: float, high: float, near: float) -> Decimal:
    """The number from low to high with the fewest digits, and of these the one closest to `near`."""
    first, last, middle = (Decimal(repr(float(value))) for value in (low, high, near))
    if first >= last:
        return first
    size = (last - first).adjusted() + 1
    for power in range(size, size - 20, -1):
        for step in (Decimal(5), Decimal(2), Decimal(1)):
            unit = step.scaleb(power)
            found = (middle / unit).to_integral_value() * unit
            for one in sorted((found - unit, found, found + unit), key=lambda one: abs(one - middle)):
                if first <= one <= last:
                    return one
    return middle


def _rest(letters: pa.Array, counts: Integers, records: int) -> list[Step]:
    """The values with at least so many records are kept; nothing to do if that is all of them, or one of the rest."""
    totals: dict[str, int] = {}
    for letter, count in zip(letters.to_pylist(), counts.tolist(), strict=True):
        if letter and count > 0:  # a reader may have met more values than there are in records
            totals[letter] = totals.get(letter, 0) + count
    kept = tuple(sorted(letter for letter, count in totals.items() if count >= records))
    if len(totals) - len(kept) < 2:
        return []
    into = OTHER
    while into in kept:
        into = f"({into})"
    return [Rest(kept, into)]


def _written(value: Any) -> str:
    """A value as it is compared: numbers without a fraction as whole ones, no power of ten."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value).strip()


def _decimal(edge: str) -> Decimal:
    try:
        value = Decimal(edge)
    except InvalidOperation:
        raise ParameterError("an edge of a bin that is no number", where="bins", remedy=EXAMPLE) from None
    if not value.is_finite():
        raise ParameterError("an edge of a bin that is not finite", where="bins", remedy=EXAMPLE)
    return value


def merging(secrets: tuple[Attribute, ...], letters: Sequence[Hashable], into: Hashable) -> ColumnGrouping | None:
    """What the one column of the secret is to go through so that it has the merged letters, if that can be written."""
    if len(secrets) > 1 or not isinstance(into, str) or not all(isinstance(letter, str) for letter in letters):
        return None
    before = secrets[0].grouping or ColumnGrouping(())
    return replace(before, steps=(*before.steps, Merged(tuple(map(str, letters)), into)))
