"""Step 3: how finely shall values be told? Borders of numbers to drag, values to merge, and what that changes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

from discreet.studio import scripts
from discreet.studio.check_warnings import thin_words
from discreet.studio.choices import Choices
from discreet.studio.desk import FEW, Desk
from discreet.studio.figures import at, counted, kept_percent, listed, name_shown, round_marks, thousands

HEIGHT: Final = 210


def facts(desk: Desk) -> dict[str, Any]:
    now = desk.now
    looked = desk.look()
    said: dict[str, Any] = {
        "command": scripts.wrapped(["discreet design", scripts.quoted(scripts.near(now.table)), *_columns(now)]),
        "python": "import discreet as dc\n\n" + scripts.joint_python(now),
        "few": FEW,
        "release_words": listed(now.release),
    }
    if looked.result is None:
        return {**said, "work": looked}
    numbers = [column["name"] for column in looked.result["columns"] if column["kind"] == "number"]
    found = desk.spread(numbers)
    if found.result is None:
        return {**said, "work": found}
    kept = desk.held("curve", now.question())
    cards = [_card(now, name, found.result[name], looked.result) for name in (*now.release, *now.given, *now.secret)]
    cards.sort(key=lambda card: not card["numeric"])
    return {
        **said,
        "work": None,
        "cards": cards,
        "doubled": _doubled(kept, now.purpose),
        "data": {"columns": [card["data"] for card in cards], "total": looked.result["records"], "k": FEW},
        "summary": _summary(cards),
        "combinations": _combinations(cards),
        "thin": _thin(desk),
    }


def _thin(desk: Desk) -> dict[str, Any]:
    """Combinations of few people; the page does not wait for them."""
    found = desk.thin()
    if found.result is None:
        return {"working": found.under_way, "count": 0}
    count = found.result["count"]
    return {
        "working": False,
        "count": count,
        "title": counted(count, "thin combination").capitalize(),
        "words": thin_words(count, found.result["named"], desk.now.release),
    }


def _columns(now: Choices) -> list[str]:
    words = [f"--secret {scripts.quoted(name)}" for name in now.secret]
    words += [f"--release {scripts.quoted(name)}" for name in now.release]
    return [*words, *(f"--given {scripts.quoted(name)}" for name in now.given), *scripts.group_options(now)]


def _card(now: Choices, name: str, spread: dict[str, Any], look: dict[str, Any]) -> dict[str, Any]:
    role = now.roles[name]
    edges = list(now.bins.get(name, []))
    merged = {new: list(old) for new, old in now.merge.get(name, {}).items()}
    rare = now.rare.get(name, 0)
    data = {
        "key": name,
        "role": role,
        **spread,
        "edges": [float(edge) for edge in edges],
        "merged": merged,
        "few": rare,
    }
    numeric = spread["kind"] == "numbers"
    card: dict[str, Any] = {"key": name, "name": name_shown(name), "role": role, "numeric": numeric, "data": data}
    if numeric:
        return {**card, **_histogram(spread, edges)}
    rows = _groups(spread, merged, rare)
    if spread.get("missing"):
        rows.append({"key": "", "name": "missing", "rows": spread["missing"], "values": [], "merged": False})
    return {**card, "rows": rows, "letters": len(rows),
            "values": len(spread.get("values", [])), "rare_values": spread.get("rare", 0), "rare_on": rare > 0,
            "title": f"{name_shown(name)} in {counted(len(rows), 'group')}"}  # fmt: skip


def _histogram(spread: dict[str, Any], edges: list[str]) -> dict[str, Any]:
    """Bars by number, in a picture of width 100 %; the script moves borders and bands."""
    numbers, step = spread["numbers"], spread["step"]
    low, high = numbers[0], numbers[-1] + step
    totals = [sum(row) for row in spread["counts"]]
    marks = round_marks(max(totals), 4)
    tall = max(marks[-1], 1)
    wide = max(step, (high - low) / 400)
    bars = [
        {
            "x": f"{100 * (number - low) / (high - low):.3f}",
            "width": f"{100 * 0.86 * wide / (high - low):.3f}",
            "y": f"{HEIGHT - (HEIGHT - 30) * total / tall:.1f}",
            "height": f"{(HEIGHT - 30) * total / tall:.1f}",
        }
        for number, total in zip(numbers, totals, strict=True)
    ]
    borders = [float(edge) for edge in edges if low < float(edge) < high]
    ends = [low, *borders, high]
    groups = [sum(t for n, t in zip(numbers, totals, strict=True) if start <= n < end) for start, end in pairwise(ends)]
    return {
        "bars": bars,
        "low": f"{low:g}",
        "high": f"{numbers[-1]:g}",
        "height": HEIGHT,
        "ticks": [{"y": f"{HEIGHT - (HEIGHT - 30) * mark / tall:.1f}", "words": thousands(mark)} for mark in marks[1:]],
        "borders": [{"at": at(border - low, high - low), "value": f"{border:g}"} for border in borders],
        "bands": [
            {"at": at(start - low, high - low), "width": at(end - start, high - low)} for start, end in pairwise(ends)
        ],
        "groups": [
            {"from": f"{start:g}", "rows": thousands(n), "share": kept_percent(n / max(1, sum(totals)))}
            for start, n in zip(ends, groups, strict=False)
        ],
        "letters": len(groups) + (spread["missing"] > 0),
        "step": f"{step:g}",
        "missing": spread["missing"],
        "joined": spread["joined"],
    }


def _groups(spread: dict[str, Any], merged: dict[str, list[str]], rare: int) -> list[dict[str, Any]]:
    """Merged groups where their first value stood, the others as they are, "other" for the rare ones at the end."""
    totals = {value: sum(row) for value, row in zip(spread["values"], spread["counts"], strict=True)}
    into = {old: new for new, olds in merged.items() for old in olds}
    rows: dict[str, dict[str, Any]] = {}
    for value, total in totals.items():
        name = into.get(value, value)
        row = rows.setdefault(name, {"key": name, "name": name_shown(name, 40), "rows": 0, "values": []})
        row["rows"] += total
        row["values"].append({"key": value, "name": name_shown(value, 40)})
        row["merged"] = name in merged
    if spread.get("rare"):
        left = sum(spread["rare_counts"])
        name = "other" if rare else counted(spread["rare"], "rare value")
        rows["\0"] = {"key": "", "name": name, "rows": left, "values": [], "merged": False}
    return list(rows.values())


def _doubled(curve: dict[str, Any] | None, purpose: str) -> str:
    """What can be kept if chances may double, read off the curve between its points."""
    points = curve["points"].get(purpose, []) if curve else []
    before = [point for point in points if point["epsilon"] <= 0.7]
    return kept_percent(before[-1]["value"]) if before and before[-1]["epsilon"] >= 0.6 else ""


def _combinations(cards: list[dict[str, Any]]) -> str:
    total = 1
    for card in cards:
        total *= card["letters"] if card["role"] == "release" else 1
    return thousands(total)


def _summary(cards: list[dict[str, Any]]) -> str:
    return "; ".join(f"{card['name']} in {card['letters']}" for card in cards)
