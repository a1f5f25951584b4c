"""What stands around every page: the project, when it was saved, the way with its decisions; the list of projects."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import DiscreetError
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.figures import counted, factor, kept_percent, listed, name_shown, thousands
from discreet.studio.jobs import Jobs
from discreet.studio.project import Project, Shelf

STEPS: Final = (
    ("table", "Table", "Is this the table you mean?", "what a row is, and what is in it"),
    ("secret", "Secret and release", "What must stay secret, what may be seen?", "a role for every column"),
    ("group", "Group", "How finely shall values be told?", "borders and merged values"),
    ("promise", "Promise", "What do analysts need, what do you promise?", "one point on one curve"),
    ("check", "Check", "Is this what you want to publish?", "that you have read the warnings"),
    ("release", "Release", "Ready to publish?", "one draw, which cannot be taken back"),
)
WORDS: Final = {
    "values": "of rows unchanged",
    "statistics": "of clean rows in worth",
    "information": "of the information kept",
}


def framed(desk: Desk, number: int) -> dict[str, Any]:
    """What `frame.html` asks for."""
    now, drawn = desk.now, desk.project.drawn
    reached = len(STEPS) if drawn else now.reached
    decided = decisions(desk)
    way = [
        {
            "number": i + 1,
            "address": f"/p/{desk.project.slug}/{key}" if i < reached else "",
            "name": name,
            "decided": decided.get(key, "") if i < reached and i + 1 != number else "",
            "done": i + 1 != number and (i + 1 < reached or (drawn and i + 1 <= reached)),
            "here": i + 1 == number,
        }
        for i, (key, name, *_) in enumerate(STEPS)
    ]
    return {
        "slug": desk.project.slug,
        "project_name": name_shown(now.name),
        "when": desk.saved.when[11:16],
        "revision": desk.saved.revision,
        "can_undo": bool(desk.saved.past) and not drawn,
        "can_redo": bool(desk.saved.future) and not drawn,
        "way": way,
        "step": number,
        "step_name": STEPS[number - 1][1],
        "title": STEPS[number - 1][2],
        "drawn": drawn,
        "now": now,
        "number_words": WORDS,
    }


def decisions(desk: Desk) -> dict[str, str]:
    """Each step's decision, in a few words."""
    now, looked = desk.now, desk.held("look", {"table": desk.now.table, "secret": []})
    found = {"table": table_name(now)}
    if looked:
        found["table"] += f", {thousands(looked['records'])} rows"
    if now.complete:
        told = "is told" if len(now.release) == 1 else "are told"
        found["secret"] = f"{listed(now.secret)} stays secret; {listed(now.release)} {told}"
        group = now.grouping()
        grouped = [
            name for name in now.used if name in group["bins"] or name in group["merge"] or name in group["rare"]
        ]
        found["group"] = f"{listed(grouped)} grouped" if grouped else "values as they are"
    found["promise"] = f"chances {factor(now.epsilon)} at most"
    rules = desk.held("rules", now.asked())
    if rules:
        found["promise"] += f"; {kept_percent(rules['value'])} {WORDS[now.purpose]}"
        checked = desk.held("check", desk.check_question(rules["digest"]))
        if checked:
            found["check"] = f"{counted(len(now.read), 'warning')} read"
    return found


def table_name(now: Choices) -> str:
    return name_shown(Path(now.table).name, 40)


def project_rows(shelf: Shelf, jobs: Jobs) -> list[dict[str, Any]]:
    """Every project, newest first; one that cannot be read says so."""
    return [_row(project, jobs) for project in shelf.projects()]


def _row(project: Project, jobs: Jobs) -> dict[str, Any]:
    try:
        return _readable_row(project, jobs)
    except DiscreetError as error:
        return {"slug": project.slug, "name": project.slug, "broken": error.what, "early": None}


def _readable_row(project: Project, jobs: Jobs) -> dict[str, Any]:
    saved = project.saved()
    now, desk = saved.now, Desk(project, saved, jobs)
    stands, kind = f"Step {now.reached}, {STEPS[now.reached - 1][1].lower()}", ""
    rules = desk.held("rules", now.asked())
    early = rules is not None and rules["status"] not in ("optimal", "closed form", "gap") and not project.drawn
    if early:
        stands, kind = f"Step {now.reached}, stopped early", "warn"
    if project.drawn:
        stands, kind = "Released once", "good"
    return {
        "slug": project.slug,
        "name": name_shown(now.name),
        "table": decisions(desk)["table"],
        "secret": listed(now.secret),
        "release": listed(now.release),
        "stands": stands,
        "kind": kind,
        "when": _day(saved.when),
        "verb": "Open" if project.drawn else "Resume",
        "broken": "",
        "early": {"value": rules["value"], "bound": rules["bound"], "words": WORDS[now.purpose]} if early else None,
        "drawn": project.drawn,
    }


def _day(when: str) -> str:
    moment = datetime.fromisoformat(when)
    if moment.date() == datetime.now().date():
        return f"today, {moment:%H:%M}"
    return f"{moment.day} {moment:%b %Y}"
