"""An outcome on disk: a plot, its numbers as CSV and JSON, and a paragraph that compares it with the paper."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from discreet.papers.experiment import Item, Measured, Panel, Quartiles, Reproduction, Series
from discreet.papers.figures import draw
from discreet.papers.printed_numbers import Printed, compare

LISTED = 8
COLUMNS = ("panel", "label", "x", "y", "low", "high")


def write(item: Item, outcome: Reproduction, folder: Path, *, quick: bool) -> list[Path]:
    """Everything about one item into folder/paper/part.*"""
    stem = folder / item.paper / item.part
    stem.parent.mkdir(parents=True, exist_ok=True)
    compared = compare(item.name, outcome)
    panels = outcome.panels or printed_against_here(compared)
    written = draw(f"{item.name}: {item.title}", panels, stem)
    table, record, words = (stem.with_suffix(suffix) for suffix in (".csv", ".json", ".md"))
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        writer.writerows(rows(panels))
    record.write_text(json.dumps(as_json(item, outcome, compared, quick), indent=1, ensure_ascii=False) + "\n")
    table_of_numbers = f"\n\n{comparison(compared)}" if compared else ""
    words.write_text(f"{paragraph(item, outcome, compared, quick=quick)}{table_of_numbers}\n", encoding="utf-8")
    return [*written, table, record, words]


def paragraph(item: Item, outcome: Reproduction, compared: list[tuple[Printed, Measured]], *, quick: bool) -> str:
    """One paragraph: what came out, in words, then the numbers of the paper, of many only those that differ."""
    differing = [(entry, measured) for entry, measured in compared if not entry.agrees(measured)]
    listed = compared if len(compared) <= LISTED else differing
    parts = [f"**{item.name}** ({item.title}).", outcome.words]
    if compared:
        parts.append(f"{len(compared) - len(differing)} of the {len(compared)} numbers compared are met.")
    if listed:
        parts.append("; ".join(entry.sentence(measured) for entry, measured in listed) + ".")
    return " ".join(part for part in [*parts, "(A quick run with few draws.)" if quick else ""] if part)


def comparison(compared: list[tuple[Printed, Measured]]) -> str:
    """A Markdown table of every number of the paper beside the one that came out."""
    lines = ["| number | where | paper | here | met |", "|---|---|---|---|---|"]
    for entry, measured in compared:
        name, where = (text.replace("|", "\\|") for text in (entry.name, entry.where))
        met = "yes" if entry.agrees(measured) else f"no: {entry.erratum or 'no reason known'}"
        lines.append(f"| {name} | {where} | {entry.shown} | {entry.value_like(measured)} | {met} |")
    return "\n".join(lines)


def rows(panels: tuple[Panel, ...]) -> Iterator[tuple[Any, ...]]:
    """Every point that is drawn, one per row."""
    for panel in panels:
        for mark in panel.marks:
            if isinstance(mark, Quartiles):
                low, first, middle, third, high = np.quantile(mark.samples, [0, 0.25, 0.5, 0.75, 1])
                yield from (
                    (panel.title, mark.label, q, v, "", "") for q, v in _quartiles(low, first, middle, third, high)
                )
                continue
            low_, high_ = (np.full(len(mark.x), math.nan) if side is None else side for side in (mark.low, mark.high))
            for x, y, low, high in zip(mark.x, mark.y, low_, high_, strict=True):
                yield (panel.title, mark.label, _number(x), _number(y), _number(low), _number(high))


def as_json(item: Item, outcome: Reproduction, compared: list[tuple[Printed, Measured]], quick: bool) -> dict[str, Any]:
    return {
        "item": item.name,
        "title": item.title,
        "quick": quick,
        "values": {
            name: {"value": _safe(m.value), "spread": _safe(m.spread), "draws": m.draws}
            for name, m in outcome.values.items()
        },
        "printed": [
            {
                "name": entry.name,
                "where": entry.where,
                "printed": entry.printed or [_safe(end) for end in entry.between or ()],
                "here": _safe(measured.value),
                "met": entry.agrees(measured),
                "erratum": entry.erratum,
            }
            for entry, measured in compared
        ],
    }


def printed_against_here(compared: list[tuple[Printed, Measured]]) -> tuple[Panel, ...]:
    """For examples: the numbers of the paper and ours, a panel for every matrix and one for the rest."""
    panels: dict[str, list[tuple[str, float, float]]] = {}
    for entry, measured in compared:
        if "." in entry.printed:  # counts would flatten the rest
            matrix, bracket, place = entry.name.partition("[")
            row = (f"[{place}" if bracket else matrix, float(entry.printed), measured.value)
            panels.setdefault(matrix if bracket else "", []).append(row)
    return tuple(_beside(matrix or "what is printed", rows) for matrix, rows in panels.items())


def _beside(title: str, numbers: list[tuple[str, float, float]]) -> Panel:
    names, printed, here = zip(*numbers, strict=True)
    places = np.arange(len(names), dtype=float)
    marks = (
        Series("printed", places, np.array(printed), shape="points"),
        Series("here", places, np.array(here), role="new", shape="points"),
    )
    return Panel(title, "", "value", marks, ticks=names)


def _quartiles(*values: float) -> Iterator[tuple[str, str]]:
    for name, value in zip(("minimum", "25 %", "median", "75 %", "maximum"), values, strict=True):
        yield name, _number(value)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.8g}"


def _safe(value: float) -> float | str:
    """JSON has no infinity."""
    return value if math.isfinite(value) else str(value)
