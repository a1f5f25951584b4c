"""A look at a table as one self-contained page, with the report's marks: for the steward, not for publication."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from discreet.exceptions import visible
from discreet.look.findings import Bar, ColumnLook, Look
from discreet.report.page import self_contained

MOST_BARS = 12
"""As many as can be read side by side on a telephone."""


def look_page(found: Look) -> str:
    """The same facts as the command shows, with pictures."""
    secret = visible(" and ".join(found.secret))
    return self_contained(
        "look.html",
        title=f"What is in {visible(found.table)}",
        records=f"{found.records:,}",
        whole=found.whole,
        k=found.k,
        secret=secret,
        columns=[_column_facts(column) for column in found.columns],
        telling=[_telling_facts(column) for column in found.telling],
        groupings=[
            {"column": visible(one.column), "option": visible(one.option), "letters": one.letters, "keeps": one.keeps}
            for one in found.groupings
        ],
        findings=[visible(str(one)) for one in found.findings],
        command=visible(found.command),
        python=found.python,
    )


def _column_facts(column: ColumnLook) -> dict[str, Any]:
    return {
        "name": visible(column.name),
        "kind": str(column.kind),
        "distinct": f"{column.distinct:,}",
        "rare": f"{column.rare:,}",
        "missing": f"{column.missing / column.records:.1%}",
        "bars": bars_of(column),
        "left_out": f"{column.others:,}" if column.others and not column.histogram else "",
        "left_out_records": f"{column.other_records:,}",
    }


def bars_of(column: ColumnLook) -> list[dict[str, Any]]:
    """A bar for each step of a number, or for each of the commonest values; widths in percent of the longest."""
    if column.histogram:
        listed = [(_step(bar), bar.records) for bar in column.histogram]
    else:
        listed = [(visible(one.value), one.records) for one in column.top[:MOST_BARS]]
    most = max((records for _, records in listed), default=1) or 1
    return [{"words": words, "records": f"{n:,}", "width": 100 * n / most} for words, n in listed]


def _telling_facts(column: ColumnLook) -> dict[str, Any]:
    told = column.telling
    if told is None:
        return {}
    return {
        "name": visible(column.name),
        "share": f"{told.share:.1%}",
        "width": 100 * told.share,
        "solid": 100 * told.beyond_chance,
        "nats": f"{told.nats:z.4f}",
        "by_chance": f"{told.by_chance:z.4f}",
    }


def _step(bar: Bar) -> str:
    """With every digit of its ends: a rounded one might be a number that few records have."""
    low, high = ("" if end is None else f"{Decimal(repr(end)).normalize():f}" for end in (bar.low, bar.high))
    if not low or not high:
        return f"{low} and over" if low else f"under {high}" if high else "all"
    return f"{low} to under {high}"
