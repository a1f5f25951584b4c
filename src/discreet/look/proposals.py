"""What to group, what to release, and the command that does it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Final

import numpy as np

from discreet.arrays import Floats, Indices, Integers
from discreet.exceptions import ParameterError
from discreet.information import entropy
from discreet.look.findings import ColumnKind, ColumnLook, ProposedGrouping
from discreet.look.scanned_table import ScannedColumn
from discreet.records.grouping import Bins, Grouping, rounded_quantiles, roundest, unlike_rare

PARTS: Final = 6
"""Bins of a number: few enough for many records in each, and enough to see a shape."""
MANY_NUMBERS: Final = 20
"""From here on numbers are binned."""
MOST_LETTERS: Final = 60
"""Of the columns that are proposed together: a design of this size takes seconds."""
MOST_COLUMNS: Final = 3
MOST_VALUES: Final = 30
"""A column with more letters than this is not proposed unasked."""


def proposed_grouping(column: ScannedColumn, kind: ColumnKind, k: int) -> tuple[ProposedGrouping, Indices] | None:
    """A grouping, and the number of every record's group; the last number is for missing values."""
    values, counts = column.values, column.counts
    name, total = column.name, int(counts.sum())
    if kind is ColumnKind.NUMBER and len(values) > MANY_NUMBERS:
        there = ~np.isnan(column.numeric)
        parts = min(PARTS, total // max(k, 1))
        numbers, records = column.numeric[there], counts[there]
        cuts = map(Decimal, _edges_of(numbers, records, parts, k) if parts > 1 else ())
        edges = tuple(f"{cut.normalize():f}" for cut in unlike_rare(cuts, numbers, records, k))
        if not edges:
            return None
        grouping, option = Grouping(bins={name: edges}), "--bins " + shlex.quote(f"{name}=" + ",".join(edges))
        proposal: dict[str, Any] = {"bins": Bins(edges).edges}
    elif kind in (ColumnKind.CATEGORY, ColumnKind.DATE, ColumnKind.NUMBER) and (counts < k).sum() > 1:
        if (counts >= k).sum() < 1:
            return None
        grouping, option = Grouping(rare={name: k}), "--merge " + shlex.quote(f"{name}:rare:{k}")
        proposal = {"rare": k}
    else:
        return None
    steps = grouping.fitted(name, values, counts)
    if steps is None:
        return None
    groups = steps.apply(values).dictionary_encode()
    letters = len(groups.dictionary)
    of_value = groups.indices.fill_null(letters).to_numpy()
    codes = np.append(of_value, letters)[column.letters]
    kept = share_of_entropy(np.bincount(of_value, weights=counts), counts)
    return ProposedGrouping(name, option, letters, kept, **proposal), codes


def _edges_of(numbers: Floats, counts: Integers, parts: int, k: int) -> tuple[str, ...]:
    """Quantiles; where one number, say 0, is most of the column, that one apart and quantiles of the larger ones."""
    edges = rounded_quantiles(numbers, counts, parts)
    common = numbers[counts.argmax()]
    larger = numbers > common
    if len(edges) > 1 or counts[larger].sum() < 3 * k:
        return edges
    rest = rounded_quantiles(numbers[larger], counts[larger], 3)
    low = float(np.sort(np.repeat(numbers[larger], counts[larger]))[k])
    first = roundest((common + 3 * low) / 4, low, low)
    return tuple(dict.fromkeys([f"{first.normalize():f}", *(edge for edge in rest if float(edge) > first)]))


def share_of_entropy(grouped: Integers, counts: Integers) -> float:
    total, whole = float(counts.sum()), entropy(counts / counts.sum())
    return min(1.0, entropy(grouped / total) / whole) if whole > 0 else 1.0


def proposed_release(columns: Sequence[ColumnLook], secret: Sequence[str]) -> tuple[str, ...]:
    """Columns that say much and have few letters together; none that names people."""
    candidates = [
        column
        for column in columns
        if column.kind.usable and column.name not in secret and 2 <= column.letters <= MOST_VALUES
    ]
    candidates.sort(key=lambda column: -column.entropy * (column.grouping.keeps if column.grouping else 1.0))
    chosen: list[str] = []
    letters = 1
    for column in candidates:
        if len(chosen) < MOST_COLUMNS and letters * column.letters <= MOST_LETTERS:
            chosen.append(column.name)
            letters *= column.letters
    return tuple(column.name for column in columns if column.name in chosen)


def next_command(table: str, columns: Sequence[ColumnLook], secret: Sequence[str], release: Sequence[str]) -> str:
    """The next step as it is typed."""
    named = "data.csv" if table == "the table" else table
    if not secret:
        return f"discreet look {shlex.quote(named)} --secret COLUMN"
    if not release:
        return ""
    words = [f"discreet design {shlex.quote(named)}"]
    words += [f"--secret {shlex.quote(name)}" for name in secret]
    words += [f"--release {shlex.quote(name)}" for name in release]
    words += [one.option for one in _used(columns, secret, release)]
    return " ".join([*words, "--notion lip --epsilon 1"])


def next_lines(table: str, columns: Sequence[ColumnLook], secret: Sequence[str], release: Sequence[str]) -> str:
    """The next step in Python."""
    named = "table" if table == "the table" else repr(table)
    if not secret:
        return f'dc.look({named}, secret="COLUMN")'
    if not release:
        return ""
    used = _used(columns, secret, release)
    bins = {one.column: list(one.bins) for one in used if one.bins}
    rare = {one.column: one.rare for one in used if one.rare}
    parts = [f"bins={bins!r}"] if bins else []
    parts += [f"rare={rare!r}"] if rare else []
    group = f", group=dc.Grouping({', '.join(parts)})" if parts else ""
    return (
        f"joint = dc.Joint.from_table({named}, secret={list(secret)!r}, release={list(release)!r}{group})\n"
        "found = dc.design(joint, dc.LIP(1.0))"
    )


def merge_of(name: str, mark: str, into: str) -> str:
    """How a value is merged into another, quoted for a shell; in Python where a command line is read otherwise."""
    text, meant = f"{name}: {mark} -> {into}".rstrip(), Grouping(merge={name: {into: [mark]}})
    try:
        if Grouping.parse(merges=[text]) == meant:
            return f"--merge {shlex.quote(text)}"
    except ParameterError:
        pass
    return f"in Python group=dc.Grouping(merge={{{name!r}: {{{into!r}: [{mark!r}]}}}})"


def _used(columns: Sequence[ColumnLook], secret: Sequence[str], release: Sequence[str]) -> list[ProposedGrouping]:
    named = {*secret, *release}
    return [column.grouping for column in columns if column.name in named and column.grouping is not None]
