"""What a column seems to hold, from its different values and how often they occur."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.look.findings import Bar, ColumnKind
from discreet.look.proposals import merge_of
from discreet.look.scanned_table import ScannedColumn
from discreet.records.cells import value_type
from discreet.records.grouping import roundest, unlike_rare
from discreet.records.no_numbers import MARKS
from discreet.release.check import Finding

MOSTLY: Final = 0.95
"""The share of a column's records that must be numbers, or dates, for the column to be one of them."""
UNIQUE: Final = 0.9
"""Whole numbers or short texts of which so many are different name somebody."""
LONG_TEXT: Final = 40
"""Characters on average: longer is prose, not a name or a code."""
FEW_VALUES: Final = 3
"""Two numbers are a yes and a no, not something to make bins of."""
BARS: Final = 24  # of a histogram, about: its steps are round numbers
DATE: Final = r"^(\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}.*)?|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}/\d{1,2}/\d{1,2})$"
COMMA: Final = r"^[+-]?\d+,\d+$"
TRUTHS: Final = ({"true", "false"}, {"yes", "no"}, {"y", "n"}, {"t", "f"}, {"0", "1"}, {"ja", "nein"}, {"oui", "non"})


def kind_of(column: ScannedColumn) -> ColumnKind:
    distinct, records = len(column.values), int(column.counts.sum())
    if distinct == 0:
        return ColumnKind.EMPTY
    if distinct == 1:
        return ColumnKind.CONSTANT
    kind = value_type(column.type)
    if pa.types.is_boolean(kind) or {str(one).lower() for one in column.values.slice(0, 3).to_pylist()} in TRUTHS:
        return ColumnKind.TRUTH
    if pa.types.is_temporal(kind) or _share(column, DATE) >= MOSTLY:
        return ColumnKind.DATE
    numbers = column.numeric
    numeric = float(column.counts[~np.isnan(numbers)].sum()) >= MOSTLY * records and distinct >= FEW_VALUES
    unique = distinct > UNIQUE * records
    if numeric:
        whole = bool((numbers[~np.isnan(numbers)] % 1 == 0).all())
        return ColumnKind.IDENTIFIER if unique and whole else ColumnKind.NUMBER
    if 2 * distinct <= records:
        return ColumnKind.CATEGORY
    length = float((pc.utf8_length(column.values).to_numpy() * column.counts).sum()) / records
    return ColumnKind.TEXT if length > LONG_TEXT else ColumnKind.IDENTIFIER


def histogram(column: ScannedColumn, k: int) -> tuple[Bar, ...]:
    """Records by equal steps of a round width; the ends are open, so that nobody's number is an end of it.

    An edge that fewer than k records have as their number is moved below it, and neighbouring bars are joined where
    one would have fewer than k records.
    """
    numbers, counts = column.numeric, column.counts
    there = ~np.isnan(numbers)
    order = np.argsort(numbers[there], kind="stable")
    values, records = numbers[there][order], counts[there][order]
    total = int(records.sum())
    if total < 2 * k:
        return ()
    below = np.cumsum(records)
    inside = [float(values[np.searchsorted(below, wanted)]) for wanted in (k, total - k + 1)]
    if inside[0] >= inside[1]:
        return ()
    width = roundest(*((inside[1] - inside[0]) / BARS * f for f in (1.0, 2.0, 1.5)))
    first, last = (Decimal(repr(end)) / width for end in inside)
    steps = (number * width for number in range(math.ceil(first), math.floor(last) + 1))
    edges = np.array([float(edge) for edge in unlike_rare(steps, values, records, k)])
    if not len(edges):
        return ()
    places = np.searchsorted(edges, values, side="right")
    heights = np.bincount(places, weights=records, minlength=len(edges) + 1).astype(int).tolist()
    return _joined([None, *edges.tolist()], [*edges.tolist(), None], heights, k)


def _joined(lows: list[float | None], highs: list[float | None], heights: list[int], k: int) -> tuple[Bar, ...]:
    bars: list[Bar] = []
    for low, high, records in zip(lows, highs, heights, strict=True):
        if bars and 0 < bars[-1].records < k:
            last = bars.pop()
            low, records = last.low, records + last.records
        bars.append(Bar(low, high, records))
    while len(bars) > 1 and (0 < bars[-1].records < k or (bars[-1].records == 0 and bars[-1].high is None)):
        last = bars.pop()
        bars[-1] = Bar(bars[-1].low, last.high, bars[-1].records + last.records)
    return tuple(bars)


def marks_of(column: ScannedColumn) -> list[tuple[str, int]]:
    """The marks for missing values that occur, and in how many records."""
    values = column.values.to_pylist()
    return [(mark, int(column.counts[values.index(mark)])) for mark in MARKS if mark in values]


def warnings_of(column: ScannedColumn, kind: ColumnKind, k: int) -> Iterator[Finding]:
    """What a steward should know about a column before it is used. No value but the marks for missing ones."""
    name, records = column.name, len(column.codes)
    values = column.values.to_pylist()
    for mark, times in marks_of(column):
        yield Finding(
            f"{times:,} records say {mark!r}, which probably means that the value is missing",
            name,
            f"It is a letter of its own, and protected like one; {merge_of(name, mark, 'unknown')} gives it a name, "
            f"{merge_of(name, mark, '')} makes it missing.",
        )
    if column.missing:
        share = column.missing / records
        rows = "record" if column.missing == 1 else "records"
        yield Finding(f"{column.missing:,} {rows} without a value ({share:.1%})", name, "Missing is one more letter.")
    if kind is ColumnKind.IDENTIFIER:
        yield Finding(
            f"{len(values):,} different values in {records:,} records: it names people, or records",
            name,
            "Leave it out; as --id or --person it can say whose rows these are.",
        )
    if kind is ColumnKind.TEXT:
        yield Finding(
            f"free text: {len(values):,} different values", name, "Leave it out, or code it into categories first."
        )
    if kind in (ColumnKind.NUMBER, ColumnKind.DATE, ColumnKind.CATEGORY) and 2 * len(values) > records:
        yield Finding(f"{len(values):,} different values, more than half of the records", name, "Group it.")
    if kind is ColumnKind.NUMBER and (others := int(np.isnan(column.numeric).sum())):
        values_are = "value that is" if others == 1 else "values that are"
        yield Finding(f"{others:,} {values_are} no number", name, "In bins they count as missing.")
    if kind in (ColumnKind.CATEGORY, ColumnKind.IDENTIFIER) and _share(column, COMMA) >= MOSTLY:
        yield Finding("numbers with a decimal comma", name, "Write them with a point; bins do not read a comma.")
    if kind is ColumnKind.CATEGORY and (alike := len(values) - len({value.casefold() for value in values})):
        yield Finding(
            f"{alike:,} {'value differs' if alike == 1 else 'values differ'} from another one in capitals only",
            name,
            "They are different letters; merge them, or recode the table.",
        )


def _share(column: ScannedColumn, pattern: str) -> float:
    """The share of records with a value whose text looks like this."""
    fits = pc.fill_null(pc.match_substring_regex(column.values, pattern), False).to_numpy(zero_copy_only=False)
    return float(column.counts[fits].sum()) / max(1, int(column.counts.sum()))
