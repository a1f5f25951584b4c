"""Step 4: what do analysts need, and what do you promise? One point on one curve, found from either side."""

from __future__ import annotations

from typing import Any, Final

from discreet.studio import scripts
from discreet.studio.choices import LARGEST, SMALLEST
from discreet.studio.desk import SEARCH_SECONDS, Answer, Desk
from discreet.studio.figures import factor, kept_percent, listed
from discreet.studio.frame import WORDS

HEIGHT: Final = 300
PURPOSES: Final = {
    "values": ("Values", "The same columns and values, most of them true. Totals of this table come out right."),
    "statistics": (
        "Statistics",
        "Codes for estimating frequencies, of other people too. 100 rows are worth this many clean ones.",
    ),
    "information": ("Information", "Codes that tell most in total. For frequencies they can be worth little."),
}
NOTIONS: Final = {
    "lip": ("LIP", "No row changes the chance of a secret by more than a factor"),
    "ldp": ("LDP", "No row tells two secrets apart by more than a factor"),
    "srlip": ("SRLIP", "The first, also towards somebody who knows some released columns of the person"),
    "rldp": ("RLDP", "The second, also if the table is only a sample of the truth"),
    "rlip": ("RLIP", "The first, also if the table is only a sample of the truth"),
}
MARKS: Final = {"values": "released", "statistics": "second", "information": "third"}
LINES: Final = {"values": "Rows unchanged", "statistics": "Worth for statistics", "information": "Information kept"}


def facts(desk: Desk) -> dict[str, Any]:
    now = desk.now
    found, needed = desk.curve(), desk.needed()
    points, total, done = _points(found)
    one_way = {name: points.get(name, []) for name in PURPOSES}
    if needed is not None and needed.result is not None:
        one_way[now.purpose] = _joined(one_way[now.purpose], needed.result["points"])
    example = (found.result or {}).get("example")
    other = desk.other()
    return {
        "other": other,
        "work": None,
        "search": found,
        "needed": needed,
        "need_words": _need_words(desk, needed),
        "computing": found.under_way,
        "failed": found.failed,
        "stopped": bool(found.result and found.result["stopped"]),
        "unsuited": (found.result or {}).get("unsuited", {}),
        "done": done,
        "total": total,
        "purposes": PURPOSES,
        "notions": NOTIONS,
        "marks": MARKS,
        "lines": LINES,
        "height": HEIGHT,
        "grid": [{"at": f"{100 * e / LARGEST:g}%", "eps": f"{e:g}", "factor": factor(e)} for e in (0.5, 1.0, 1.5)],
        "factor_end": factor(LARGEST),
        "secret_words": listed(now.secret),
        "release_words": listed(now.release),
        "given_words": listed(now.given),
        "example": example,
        "table": _table(one_way),
        "smallest": SMALLEST,
        "largest": LARGEST,
        "words": WORDS,
        "data": {
            "curves": one_way,
            "words": WORDS,
            "share": example["share"] if example else None,
            "ratio": now.notion in ("lip", "srlip", "rlip"),
            "largest": LARGEST,
            "smallest": SMALLEST,
            "exact": now.epsilon,
            "seeking": needed is not None and needed.under_way,
            "other": other.result if other is not None else None,
        },
        "private": {
            "command": scripts.private_command(now, str(desk.protocol)),
            "letters": scripts.private_letters(now),
            "obstacles": scripts.private_obstacles(now),
            "notion": NOTIONS[scripts.PRIVATE[now.notion]][0],
        },
        "command": _command(desk),
        "python": "import discreet as dc\n\n" + scripts.joint_python(now) + "\n" + _design(desk),
    }


def _points(found: Any) -> tuple[dict[str, list[dict[str, float]]], int, int]:
    """Of the finished curve, or of the one that grows."""
    if found.result is not None:
        return found.result["points"], found.result["total"], found.result["done"]
    task, points = found.task, {}  # type: Any, dict[str, list[dict[str, float]]]
    for part in task.parts if task else []:
        points.setdefault(part["purpose"], []).append(part)
    return points, (task.news.get("total", 0) if task else 0), len(task.parts) if task else 0


def _joined(curve: list[dict[str, float]], more: list[dict[str, float]]) -> list[dict[str, float]]:
    """With the levels that were tried for a need; a larger level has no less than a smaller one."""
    met = {point["epsilon"]: point for point in [*more, *curve]}
    best, joined = 0.0, []
    for level in sorted(met):
        best = max(best, met[level]["value"])
        joined.append({**met[level], "value": best, "bound": max(best, met[level]["bound"])})
    return joined


def _need_words(desk: Desk, needed: Answer | None) -> str:
    """What the promise that follows a need is."""
    if needed is None or needed.result is None:
        return ""
    found, least = needed.result, kept_percent(desk.now.need)
    if not found["reached"]:
        return (
            f"Even {factor(LARGEST)} gives {kept_percent(found['share'])}, not {least}. "
            "Ask for less, form larger groups, or let the rules read the secret."
        )
    if found["stopped"]:
        return f"Stopped: {factor(found['epsilon'])} gives {least}; a smaller promise may give it too."
    return f"The smallest promise that gives {least}, to a hundredth part of ε."


def _table(curves: dict[str, list[dict[str, float]]]) -> list[dict[str, str]]:
    levels = sorted({point["epsilon"] for curve in curves.values() for point in curve})
    by_level = {name: {point["epsilon"]: point["value"] for point in curve} for name, curve in curves.items()}
    return [
        {
            "factor": factor(level),
            "eps": f"{level:g}",
            **{name: kept_percent(one[level]) if level in one else "–" for name, one in by_level.items()},
        }
        for level in levels
    ]


def _design(desk: Desk) -> str:
    return scripts.design_python(desk.now, str(desk.protocol), SEARCH_SECONDS[desk.now.purpose])


def _command(desk: Desk) -> str:
    words = scripts.design_words(desk.now, str(desk.protocol))
    needed = [f"--need {desk.now.need:g}" if word.startswith("--epsilon") else word for word in words]
    first = "# or from the need: the smallest promise that gives it"
    return f"{scripts.wrapped(words)}\n\n{first}\n{scripts.wrapped(needed)}"
