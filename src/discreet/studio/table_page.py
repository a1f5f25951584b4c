"""Step 1: is this the table you mean? What is in it, and what a row is."""

from __future__ import annotations

from typing import Any, Final

from discreet.studio import scripts
from discreet.studio.desk import FEW, Answer, Desk
from discreet.studio.figures import THIN, at, counted, name_shown, share_percent, thousands, without_options

MOST_BARS: Final = 16
MOST_MARKS: Final = 3
KINDS: Final = {
    "number": ("number", "numbers"),
    "category": ("text", "texts"),
    "yes or no": ("value", "values"),
    "date": ("date", "dates"),
    "identifier": ("name or number", "names or numbers"),
    "free text": ("text", "texts"),
    "one value": ("value", "values"),
    "empty": ("value", "values"),
}
USABLE: Final = ("number", "category", "yes or no", "date")
ROW_WORDS: Final = {
    "person": ("One row is one person", "The promise is made for each row, so for each person."),
    "visit": ("A person may have several rows", "Visits, purchases, stays. The promise is then the person’s."),
    "household": ("Rows belong to households", "Members share the secret. The promise is then the household’s."),
}


RULE_WORDS: Final = {
    "one": ("One row of each, chosen at random", "The other rows are not released."),
    "tied": ("All rows, with one draw for each", "Equal values of one person are released alike."),
}


def facts(desk: Desk) -> dict[str, Any]:
    found = desk.look()
    said: dict[str, Any] = {
        "work": found if found.result is None else None,
        "command": scripts.look_command(desk.now),
        "python": scripts.look_python(desk.now),
        "rows_words": ROW_WORDS,
        "rule_words": RULE_WORDS,
        "few": FEW,
        "marks_words": "",
    }
    return said if found.result is None else {**said, **told(found.result, desk)}


def told(look: dict[str, Any], desk: Desk) -> dict[str, Any]:
    """The look as the template shows it; no value of fewer than 50 people is in it."""
    columns = [_column(column) for column in look["columns"]]
    identifiers = sum(column["kind"] in ("identifier", "free text") for column in look["columns"])
    return {
        "records": look["records"],
        "whole": look["whole"],
        "columns": columns,
        "column_count": counted(len(columns), "column").capitalize(),
        "identifiers": identifiers,
        "missing": sum(column["missing"] for column in look["columns"]),
        "findings": _findings(look),
        "names": [column["name"] for column in look["columns"]],
        "marks": (marks := _marks(look, desk)),
        "marks_words": "; ".join(f"“{one['mark']}” is {'missing' if one['missing'] else 'a value of its own'}"
                                 for one in marks),
    }  # fmt: skip


def _marks(look: dict[str, Any], desk: Desk) -> list[dict[str, Any]]:
    """What people write where there is no value: in how many cells, and what the steward says that it means."""
    totals: dict[str, int] = {}
    for column in look["columns"]:
        for one in column.get("marks", []):
            totals[one["value"]] = totals.get(one["value"], 0) + one["records"]
    most = sorted(totals, key=lambda mark: -totals[mark])[:MOST_MARKS]
    return [{"mark": mark, "cells": totals[mark], "missing": mark in desk.now.missing} for mark in most]


def marked(value: Any, look: dict[str, Any] | None) -> Any:
    """{"mark": …, "missing": true} with the columns that have the mark; anything else goes to its own check."""
    if not isinstance(value, dict) or value.get("missing") is not True:
        return {"mark": value.get("mark"), "columns": []} if isinstance(value, dict) else value
    has = [
        column["name"]
        for column in (look or {"columns": []})["columns"]
        if value.get("mark") in [one["value"] for one in column.get("marks", [])]
    ]
    return {"mark": value.get("mark"), "columns": has}


def _column(column: dict[str, Any]) -> dict[str, Any]:
    one, many = KINDS.get(column["kind"], ("value", "values"))
    return {
        "name": name_shown(column["name"]),
        "held": f"{thousands(column['distinct'])} {one if column['distinct'] == 1 else many}",
        "bars": bars(column),
        "common": _common(column),
        "tags": _tags(column),
    }


def bars(column: dict[str, Any], height: float = 26.0) -> list[dict[str, str]]:
    """How often values occur: numbers in order, texts by frequency."""
    heights = [bar["records"] for bar in column["histogram"]] or [one["records"] for one in column["top"]]
    heights = heights[: 24 if column["histogram"] else MOST_BARS]
    if not heights:
        return []
    most, wide = max(heights), 1 / max(8, len(heights))
    return [
        {
            "x": at(i * wide),
            "width": at(wide * 0.82),
            "y": f"{height - (height - 1) * one / most:.1f}",
            "height": f"{(height - 1) * one / most:.1f}",
        }
        for i, one in enumerate(heights)
    ]


def _common(column: dict[str, Any]) -> str:
    if column["histogram"]:
        inner = [edge for bar in column["histogram"] for edge in (bar["low"], bar["high"]) if edge is not None]
        return f"most between {min(inner):g} and {max(inner):g}"
    if not column["top"] or not column["records"]:
        return "no value of 50 people or more"
    first = column["top"][0]
    return f"{name_shown(first['value'], 30)} {share_percent(first['records'] / column['records'], 0)}"


def _tags(column: dict[str, Any]) -> list[tuple[str, str]]:
    tags = []
    if column["kind"] not in USABLE:
        tags.append(
            ("warn", {"identifier": "names people", "free text": "free text"}.get(column["kind"], column["kind"]))
        )
    if column["missing"]:
        tags.append(("warn", f"missing in {thousands(column['missing'])} rows"))
    tags += [("warn", f"“{one['value']}” in {thousands(one['records'])} rows") for one in column.get("marks", [])]
    if column["kind"] == "number" and column["grouping"]:
        tags.append(("", "group it in step 3"))
    elif column["rare"] and column["kind"] in USABLE:
        tags.append(("", counted(column["rare"], "rare value")))
    return tags


def _findings(look: dict[str, Any]) -> list[dict[str, str]]:
    asked = {f"{one['records']:,} records say {one['value']!r}" for c in look["columns"] for one in c.get("marks", [])}
    found = [*look["warnings"], *(one for column in look["columns"] for one in column["warnings"])]
    found = [one for one in found if not any(one["what"].startswith(mark) for mark in asked)]  # a question of the page
    return [
        {
            "what": name_shown(one["what"], 300),
            "where": name_shown(one["where"], 100),
            "remedy": name_shown(without_options(one["remedy"]), 300),
        }
        for one in found
    ]


def summary(answer: Answer) -> str:
    """How many rows, for other pages; a dash while nobody knows."""
    return thousands(answer.result["records"]) if answer.result else f"–{THIN}"
