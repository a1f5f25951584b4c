"""Step 2: what must stay secret, what may be seen? A role for each column, beside what it tells about the secret."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from discreet.studio import scripts
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.figures import at, axis, counted, kept_percent, listed, name_shown, share_percent
from discreet.studio.table_page import USABLE

MUCH: Final = 0.3
"""A column that tells so much of the secret gives it away."""


def facts(desk: Desk) -> dict[str, Any]:
    looked = desk.look()
    if looked.result is None:
        return {"work": looked, **_same(desk)}
    names = [column["name"] for column in looked.result["columns"]]
    desk = _with_roles(desk, names)
    told = desk.tells() if desk.now.secret else looked
    work = told if told.result is None else None
    rows = _rows(desk.now, told.result or looked.result)
    return {
        "work": work,
        "rows": rows,
        "guess": _guess(desk) if work is None else None,
        **_picture(desk.now, rows),
        **_warnings(desk.now, rows),
        **_same(desk),
    }


def _guess(desk: Desk) -> dict[str, Any] | None:
    """What happens if nothing is done; the page does not wait for it."""
    if not desk.now.complete:
        return None
    found = desk.guess()
    if found.result is None:
        return {"task": "guess"} if found.under_way else None
    rows = [
        {"words": "Knowing nothing of the person", "share": found.result["nothing"], "mark": "m-quiet"},
        {"words": f"Seeing {listed([*desk.now.release, *desk.now.given])}", "share": found.result["seeing"],
         "mark": "m-secret"},
    ]  # fmt: skip
    return {"task": "", "rows": [{**r, "width": at(r["share"]), "told": share_percent(r["share"], 0)} for r in rows],
            "scale": axis(1.0, 4)}  # fmt: skip


def _same(desk: Desk) -> dict[str, Any]:
    return {
        "command": scripts.look_command(desk.now),
        "python": scripts.look_python(desk.now),
        "secret_words": listed(desk.now.secret),
        "release_words": listed(desk.now.release),
        "given_words": listed(desk.now.given),
        "out_words": counted(len(desk.now.columns("out")), "column"),
        "is_complete": desk.now.complete,
    }


def _with_roles(desk: Desk, names: list[str]) -> Desk:
    """Every column has a role, left out where nobody said anything; that is no decision to go back from."""
    now = desk.now
    if all(name in now.roles for name in names):
        return desk

    def with_roles(now: Choices) -> Choices:
        return replace(now, roles={name: now.roles.get(name, "out") for name in names})

    saved = desk.project.settle(with_roles)
    return replace(desk, saved=saved)


def with_proposals(changed: Choices, before: Choices, look: dict[str, Any] | None) -> Choices:
    """A column that comes into use is grouped as proposed, unless somebody has grouped it already."""
    bins, rare = dict(changed.bins), dict(changed.rare)
    new = [name for name in changed.used if name not in before.used]
    for column in (look or {"columns": []})["columns"]:
        group, name = column["grouping"], column["name"]
        if name not in new or not group or name in bins or name in changed.merge or name in rare:
            continue
        if group["bins"]:
            bins[name] = list(group["bins"])
        elif group["rare"] and name not in changed.secret:
            rare[name] = group["rare"]
    return replace(changed, bins=bins, rare=rare)


def _rows(now: Choices, look: dict[str, Any]) -> list[dict[str, Any]]:
    """The secret first, then the most telling."""
    rows = []
    for number, column in enumerate(look["columns"]):
        name, telling = column["name"], column["telling"]
        role = now.roles.get(name, "out")
        share = telling["share"] if telling and role != "secret" else None
        rows.append(
            {
                "id": number,
                "key": name,
                "name": name_shown(name),
                "role": role,
                "share": share,
                "words": "" if share is None else share_percent(share),
                "usable": column["kind"] in USABLE,
                "kind": column["kind"],
                "chance": bool(telling) and telling["nats"] <= telling["by_chance"] * 1.5,
                "few_rows": bool(telling) and telling["by_chance"] > 0.2 * max(telling["nats"], 1e-12),
                "mark": {"release": "m-released", "given": "m-released"}.get(role, "m-quiet"),
            }
        )
    return sorted(rows, key=lambda row: (row["role"] != "secret", -(row["share"] or 0), row["id"]))


def _picture(now: Choices, rows: list[dict[str, Any]]) -> dict[str, Any]:
    shares = [row["share"] for row in rows if row["share"] is not None]
    scale = axis(max(shares, default=0.0) or 0.1, 3)
    for row in rows:
        row["width"] = "0%" if row["share"] is None else at(row["share"], scale["end"])
    title = "Choose what must stay secret"
    if now.secret:
        told = [row for row in rows if row["share"] is not None and row["usable"]]
        title = f"What each column tells about {listed(now.secret)}"
        if told and told[0]["share"] >= 0.02:
            most = f"{told[0]['name']} tells {kept_percent(told[0]['share'])} of {listed(now.secret)}"
            rest = [row for row in told if row["role"] == "release"]
            second = rest[0] if rest and rest[0] is not told[0] else None
            title = most + (f"; {second['name']} tells {kept_percent(second['share'])}" if second else "")
    return {"scale": scale, "finding": title}


def _warnings(now: Choices, rows: list[dict[str, Any]]) -> dict[str, Any]:
    used = [row for row in rows if row["role"] in ("release", "given")]
    return {
        "loud": [row for row in used if (row["share"] or 0) >= MUCH and not row["few_rows"]],
        "named": [row for row in rows if row["role"] != "out" and not row["usable"]],
        "loud_given": [row for row in used if row["role"] == "given" and (row["share"] or 0) >= 0.05],
    }
