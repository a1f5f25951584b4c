"""Step 5: is this what you want to publish? The rehearsal, the release in pictures, and warnings to be read."""

from __future__ import annotations

import math
from typing import Any, Final

from discreet.studio import scripts
from discreet.studio.check_warnings import warnings
from discreet.studio.desk import SEARCH_SECONDS, Answer, Desk
from discreet.studio.figures import (
    at,
    axis,
    counted,
    factor,
    kept_percent,
    listed,
    name_shown,
    raised_percent,
    share_percent,
    short_letter,
    thousands,
    times,
)
from discreet.studio.frame import WORDS

FINISHED: Final = ("optimal", "closed form")
SHADES: Final = (0.05, 0.2, 0.4, 0.6, 0.8)
CHANGES: Final = (("× ¼", 0.25), ("× ½", 0.5), ("× 1", 1.0), ("× 2", 2.0), ("× 4", 4.0))
WIDEST: Final = 8.0
"""The picture of changes goes from × ⅛ to × 8, on a logarithmic scale."""
ROWS: Final = (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000)
REACH: Final = 0.05


def facts(desk: Desk) -> dict[str, Any]:
    now = desk.now
    said: dict[str, Any] = {
        "command": _command(desk),
        "python": "from discreet.release import Job, RowsAsked, rehearse_file\nfrom pathlib import Path\n\n"
        + scripts.job_python(now, str(desk.protocol), str(desk.project.released_file))
        + "\nrehearse_file(job)  # figures, warnings, refusals; nothing is drawn",
        "limit": SEARCH_SECONDS[now.purpose],
        "unread": "",
    }
    rules = desk.rules()
    if rules.result is None:
        return {**said, "work": rules, "search": True}
    checked = desk.check(rules.result["digest"])
    if checked.result is None:
        return {**said, "work": checked, "search": False}
    return {**said, "work": None, "search": False, **told(desk, rules.result, checked.result)}


def _command(desk: Desk) -> str:
    words = scripts.draw_words(desk.now, str(desk.protocol), str(desk.project.released_file))
    return scripts.wrapped(["discreet check", *words[1:]])


def told(desk: Desk, rules: dict[str, Any], checked: dict[str, Any]) -> dict[str, Any]:
    now, seen = desk.now, checked["preview"]
    notes = warnings(desk, rules, checked)
    unread = [note for note in notes if note["id"] not in now.read]
    early = rules["status"] not in FINISHED and rules["bound"] - rules["value"] > 0.005
    return {
        "rules": rules,
        "early": early,
        "notes": notes,
        "note_count": counted(len(notes), "warning"),
        "unread": unread[0]["what"] if unread else "",
        "unread_count": len(unread),
        "unread_words": counted(len(unread), "warning").capitalize(),
        "refusals": [{key: name_shown(one[key], 400) for key in one} for one in checked["check"]["refusals"]],
        "tiles": _tiles(now, rules, seen),
        "secret_words": listed(now.secret),
        "chances": _chances(seen["learnt"]),
        "changes": _changes(seen["learnt"]),
        "worst": _worst(seen["learnt"]),
        "change_ticks": [{"words": words, "at": _log_place(value)} for words, value in CHANGES],
        "columns": [_before_after(name, rows) for name, rows in seen["columns"].items()],
        "pair": _pair(seen),
        "analysts": _analysts(seen),
        "data": {"bars": _bars(seen), "steps": _steps(rules["records"])},
        "all_rows": thousands(rules["records"]),
        "check_rows": _figures(checked["check"]),
        "outputs": rules["outputs"],
        "promise": rules["promise"],
    }


def _tiles(now: Any, rules: dict[str, Any], seen: dict[str, Any]) -> list[dict[str, str]]:
    return [
        {"number": kept_percent(rules["value"]), "words": WORDS[now.purpose]},
        {
            "number": factor(rules["epsilon"]),
            "words": f"is the most the chance of a secret changes; proven, ε = {rules['epsilon']:.3g}",
        }
        if now.notion in ("lip", "srlip", "rlip")
        else {
            "number": factor(rules["epsilon"]),
            "words": f"between two secrets at most; proven, ε = {rules['epsilon']:.3g}",
        },
        {"number": worth(seen), "words": "of clean rows: what the release is worth for shares of single columns"},
        {
            "number": raised_percent(seen["guess_release"], 0),
            "words": f"of best guesses at the secret are right; {share_percent(seen['guess_nothing'], 0)} without the "
            f"release, {share_percent(seen['guess_truth'], 0)} unprotected",
        },
    ]


def worth(seen: dict[str, Any]) -> str:
    """Σ p(1 − p) / Σ Var over the single columns, rounded down."""
    each = [one for rows in seen["analysts"].values() for one in rows]
    spent = sum(one["variance"] for one in each)
    return kept_percent(sum(one["clean"] for one in each) / spent) if 0 < spent < math.inf else "–"


def _chances(learnt: list[dict[str, Any]]) -> dict[str, Any]:
    rows = sorted(learnt, key=lambda one: -one["before"])
    scale = axis(max((max(one["allowed"][1], one["after"][1]) for one in rows), default=1.0), 4)
    end = scale["end"]

    def span(pair: list[float]) -> dict[str, str]:
        return {"x": at(pair[0], end), "width": at(max(0.0, min(pair[1], end) - pair[0]), end), "to": at(pair[1], end)}

    return {
        "scale": scale,
        "rows": [
            {
                "secret": one["secret"],
                "tick": at(one["before"], end),
                "after": span(one["after"]),
                "allowed": span(one["allowed"]),
                "plain": span(one["unprotected"]),
                "before_words": share_percent(one["before"]),
                "after_words": f"{share_percent(one['after'][0])[:-2]} to {share_percent(one['after'][1])}",
            }
            for one in rows
        ],
    }


def _log_place(ratio: float) -> str:
    """On a scale from × ⅛ to × 8."""
    if ratio <= 0:
        return "0%"
    return at(0.5 + math.log(ratio) / math.log(WIDEST) / 2)


def _worst(learnt: list[dict[str, Any]]) -> str:
    """The secret whose chance a possible row changes most."""
    sides = [(factor, one["secret"]) for one in learnt for factor in one["factors"] if factor > 0]
    if not sides:
        return ""
    ratio, secret = max(sides, key=lambda side: abs(math.log(side[0])))
    most = math.ceil(max(ratio, 1 / ratio) * 1000 - 1e-9) / 1000
    how = "more" if ratio > 1 else "less"
    return f"Worst case: a row can make “{name_shown(secret, 40)}” {most:.3f} times {how} likely than before."


def _changes(learnt: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for one in sorted(learnt, key=lambda one: -one["before"]):
        allowed = [edge / one["before"] for edge in one["allowed"]]
        low, high = (float(_log_place(value)[:-1]) for value in one["factors"])
        least, most = (float(_log_place(value)[:-1]) for value in allowed)
        rows.append(
            {
                "secret": one["secret"],
                "x": f"{low}%",
                "width": f"{max(0.3, high - low):.3f}%",
                "frame_x": f"{least}%",
                "frame_width": f"{most - least:.3f}%",
                "least": times(one["factors"][0], up=False),
                "most": times(one["factors"][1], up=True),
            }
        )
    return rows


def _before_after(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    scale = axis(max(max(one["before"], one["after"]) for one in rows), 4)
    true = sum(one["true"] for one in rows)
    return {
        "name": name_shown(name),
        "true": kept_percent(true),
        "scale": scale,
        "rows": [
            {
                "letter": one["letter"],
                "all": at(one["after"], scale["end"]),
                "true": at(one["true"], scale["end"]),
                "tick": at(one["before"], scale["end"]),
                "share": share_percent(one["before"]),
                "kept": kept_percent(one["true"] / one["before"]) if one["before"] else "–",
            }
            for one in rows
        ],
    }


def _pair(seen: dict[str, Any]) -> dict[str, Any] | None:
    """A cell for each pair of letters of the first two columns."""
    if not seen["pair"] or len(seen["pair"]) > 24 or len(seen["pair"][0]) > 24:
        return None
    names = list(seen["columns"])[:2]
    first, second = ([one["letter"] for one in seen["columns"][name]] for name in names)
    cells = [
        [{"words": "" if v is None else kept_percent(v), "shade": sum((v or 0) >= s for s in SHADES)} for v in row]
        for row in seen["pair"]
    ]
    turned = len(first) <= len(second)
    across, down = (first, second) if turned else (second, first)
    grid = [list(row) for row in zip(*cells, strict=True)] if turned else cells
    wide, tall = 100 / len(across), 30
    return {
        "names": [name_shown(name) for name in (names if turned else names[::-1])],
        "across": [
            {"name": short_letter(name, 9), "x": f"{wide * (i + 0.5):.3f}%", "full": name}
            for i, name in enumerate(across)
        ],
        "rows": [
            {
                "name": down[j],
                "short": short_letter(down[j], 14),
                "y": tall * j,
                "cells": [
                    {**cell, "x": f"{wide * i:.3f}%", "mid": f"{wide * (i + 0.5):.3f}%"} for i, cell in enumerate(row)
                ],
            }
            for j, row in enumerate(grid)
        ],
        "wide": f"{wide:.3f}%",
        "height": tall * len(down),
        "numbers": len(across) <= 9,
    }


def _bars(seen: dict[str, Any]) -> list[dict[str, float | None]]:
    return [
        {"v": one["variance"] if math.isfinite(one["variance"]) else None, "vc": one["clean"]}
        for rows in seen["analysts"].values()
        for one in rows
    ]


def _steps(records: int) -> list[int]:
    return [*(step for step in ROWS if step < records), records]


def _analysts(seen: dict[str, Any]) -> list[dict[str, Any]]:
    number, found = 0, []
    for name, rows in seen["analysts"].items():
        letters = []
        for one in rows:
            letters.append({"id": number, "letter": one["letter"], "share": f"{100 * one['share']:.1f}",
                            "known": math.isfinite(one["variance"])})  # fmt: skip
            number += 1
        found.append({"name": name_shown(name), "rows": letters})
    return found


def _figures(check: dict[str, Any]) -> list[tuple[str, str]]:
    """What `discreet check` prints, as a table."""
    rows = [("rows", thousands(check["records"]))]
    rows += [(f"unknown in {name_shown(one['name'])}", thousands(one["unknown"])) for one in check["columns"]]
    if check["law"] and check["law"]["level"] is not None:
        rows.append(("level at the table’s own proportions", f"{check['law']['level']:.4g}"))
    if check["account"]:
        account = check["account"]
        supposed = f" {account['condition']}" if account["condition"] else ""
        rows.append(("draws with this one", f"{account['draws']}, ε {account['epsilon']:.4g} together{supposed}"))
    if check["size"]:
        rows.append(("expected size", f"{check['size'] / 1e6:.1f} MB"))
    return rows


def unread_of(desk: Desk) -> Answer | list[dict[str, Any]]:
    """The warnings that nobody ticked, or the work that has to be done to know them."""
    rules = desk.rules()
    if rules.result is None:
        return rules
    checked = desk.check(rules.result["digest"])
    if checked.result is None:
        return checked
    return [note for note in warnings(desk, rules.result, checked.result) if not note["read"]]
