"""Step 6: one draw. Files by who may have them, the ledger, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.exceptions import ReleaseError
from discreet.studio import scripts
from discreet.studio.check_page import FINISHED, unread_of
from discreet.studio.desk import SEARCH_SECONDS, Answer, Desk
from discreet.studio.figures import (
    at,
    counted,
    factor,
    level_words,
    listed,
    name_shown,
    round_marks,
    thousands,
    without_options,
)
from discreet.studio.project import PROTOCOL, RELEASE, STUDY, Project

PUBLISH, KEEP = "publish", "keep safe"
SCRIPT, REPORT = "study.py", "report.html"


def written(project: Project) -> list[tuple[Path, str, str]]:
    """Every file of a release, who may have it, and what it is."""
    released, folder = project.released_file, project.folder
    now = project.saved().now
    columns = listed([*now.release, *now.given])
    inside = listed([*now.release, *now.given, *now.secret])
    return [
        (released, PUBLISH, f"the columns {columns}, in random order"),
        (project.manifest_file, PUBLISH, "what, when, with which rules; fingerprints of the files"),
        (_beside(released, "public.json"), PUBLISH, "the rules without any count of the secret; for right error bars"),
        (_beside(released, "datapackage.json"), PUBLISH, "columns and values in words, for programs"),
        (
            folder / REPORT,
            KEEP,
            "the promise and the rules in pictures, for a board; it shows shares of the table",
        ),
        (
            folder / PROTOCOL,
            KEEP,
            f"the rules with the counts of {inside} together; loading it proves the promise again",
        ),
        (folder / f"{PROTOCOL}.ledger", KEEP, "what has been drawn from whom; refuses a second draw"),
        (folder / SCRIPT, KEEP, "repeats this study from the table to the release"),
        (folder / STUDY, KEEP, "the same for discreet study run"),
    ]


def finished(desk: Desk) -> bool:
    """Whether the rules are proven best, so that whoever searches again finds the same."""
    rules = desk.held("rules", desk.now.asked())
    return rules is None or rules["status"] in FINISHED


def _beside(released: Path, name: str) -> Path:
    return released.with_name(f"{released.name}.{name}")


def facts(desk: Desk) -> dict[str, Any]:
    now, project = desk.now, desk.project
    target = str(project.released_file)
    seconds = SEARCH_SECONDS[now.purpose]
    said: dict[str, Any] = {
        "command": scripts.wrapped(scripts.draw_words(now, str(desk.protocol), target))
        + "\n"
        + scripts.wrapped(["discreet report", scripts.quoted(scripts.near(desk.protocol)), "--out report.html"]),
        "python": "from pathlib import Path\nfrom discreet.release import Job, RowsAsked, sanitise_file\n\n"
        + scripts.job_python(now, str(desk.protocol), target)
        + "\nsanitise_file(job)  # draws; a second time it is refused",
        "whole": scripts.whole_study(now, str(desk.protocol), target, seconds, finished(desk)),
        "files": _files(project),
        "folder": scripts.near(project.folder / RELEASE),
        "release_words": listed([*now.release, *now.given]),
    }
    if project.drawn:
        return {**said, **_after(desk), "work": None, "template": "released.html"}
    drawing = desk.jobs.latest("draw", project.slug)
    if drawing is not None and drawing.running:
        return {**said, "work": Answer(None, drawing), "drawing": True}
    if drawing is not None and _failed_now(desk, drawing):
        return {**said, "work": None, "template": "refused.html", **_refused(desk, [drawing.error])}
    unread = unread_of(desk)
    if isinstance(unread, Answer):
        return {**said, "work": unread, "drawing": False}
    rules = desk.rules().result
    looked = desk.check(rules["digest"]).result
    checked = looked["check"]
    if checked["refusals"]:
        return {**said, "work": None, "template": "refused.html", **_refused(desk, checked["refusals"])}
    account = checked["account"] or {"draws": 1, "epsilon": rules["epsilon"]}
    return {
        **said,
        "work": None,
        "drawing": False,
        "unread": [note["what"] for note in unread],
        "promise": rules["promise"],
        "rules": rules,
        "records": thousands(rules["records"]),
        "account": account,
        "entered": [
            one["time"].replace("T", ", ")[:17] for one in desk.check(rules["digest"]).result["before"]["draws"]
        ],
        "file_count": counted(len(said["files"]), "file"),
        "publish_count": sum(one["who"] == PUBLISH for one in said["files"]),
    }


def _failed_now(desk: Desk, drawing: Any) -> bool:
    """Whether a draw of these very choices failed; after a change it is asked anew."""
    return drawing.state == "failed" and bool(drawing.question) and (
        drawing.question["revision"] == desk.saved.revision
    )  # fmt: skip


def _files(project: Project) -> list[dict[str, Any]]:
    return [
        {"name": path.name, "who": who, "words": words, "there": path.is_file(),
         "size": _size(path) if path.is_file() else ""}
        for path, who, words in written(project)
    ]  # fmt: skip


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e5 else f"{max(1, round(size / 1e3))} KB"


def _after(desk: Desk) -> dict[str, Any]:
    manifest = desk.project.manifest() or {}
    _explained(desk)
    return {
        "records": thousands(manifest.get("records", 0)),
        "created": str(manifest.get("created", "")).replace("T", ", ")[:17],
        "digest": str(manifest.get("protocol", {}).get("sha256", ""))[:12],
        "epsilon": level_words(float(manifest.get("total_epsilon", 0))),
        "factor_words": factor(float(manifest.get("total_epsilon", 0))),
        "sha256": str(manifest.get("file", {}).get("sha256", "")),
        "private": "testing" not in str(manifest.get("randomness", "")),
        "draws": manifest.get("independent_draws", 1),
    }


def _explained(desk: Desk) -> None:
    """Report and script are written again if a kill came between the draw and them."""
    if all((desk.project.folder / name).is_file() for name in (REPORT, SCRIPT)):
        return
    latest = desk.jobs.latest("explain", desk.project.slug)
    if latest is None or not latest.running:
        manifest = desk.project.manifest() or {}
        question, options = _draw_question(desk, str(manifest.get("protocol", {}).get("sha256", "")))
        desk.jobs.ask("explain", desk.project.slug, question, options)


def _draw_question(desk: Desk, digest: str) -> tuple[dict[str, Any], dict[str, Any]]:
    folder, now = desk.project.folder, desk.now
    script = scripts.whole_study(
        now, str(desk.protocol), str(desk.project.released_file), SEARCH_SECONDS[now.purpose], finished(desk)
    )
    files = {
        "report": str(folder / REPORT),
        "script": str(folder / SCRIPT),
    }
    question = {"script": script, "revision": desk.saved.revision, "now": now.plain()}
    return question, {"job": desk.job(digest), "files": files}


def draw(desk: Desk) -> dict[str, Any]:
    """Begin the one draw, if everything is decided, checked and read."""
    if desk.project.drawn:
        raise ReleaseError("this project was released already", where=desk.project.slug, remedy="Publish that release.")
    drawing = desk.jobs.latest("draw", desk.project.slug)
    if drawing is not None and drawing.running:
        return {}
    unread = unread_of(desk)
    if isinstance(unread, Answer):
        raise ReleaseError("the check is not done", where="step 5", remedy="Wait for it, and read its warnings.")
    if unread:
        raise ReleaseError("warnings that nobody has read", where="step 5", remedy="Tick each of them.")
    rules = desk.rules().result
    for one in desk.check(rules["digest"]).result["check"]["refusals"]:
        raise ReleaseError(one["what"], where=one["where"], remedy=one["remedy"])
    question, options = _draw_question(desk, rules["digest"])
    desk.jobs.ask("draw", desk.project.slug, question, options)
    return {}


def _refused(desk: Desk, refusals: list[dict[str, str]]) -> dict[str, Any]:
    """The reason with its numbers, and the ways that do work."""
    rules = desk.held("rules", desk.now.asked())
    told = [{key: name_shown(one.get(key, ""), 600) for key in ("what", "where", "remedy")} for one in refusals]
    told = [{**one, "remedy": without_options(one["remedy"])} for one in told]  # the ways of this page stand beside
    second = any("independent releases" in one["what"] or "another protocol" in one["what"] for one in told)
    checked = desk.held("check", desk.check_question(rules["digest"])) if rules else None
    before = checked["before"] if checked else {"draws": []}
    return {"refusals": told, "rules": rules, "second": second, "levels": _levels(before),
            "again": bool(before["draws"]) and before["together"] is not None and not desk.now.repeat,
            "together": before.get("together"),
            "entered": [{**one, "when": one["time"].replace("T", ", ")[:17], "protocol": one["protocol"][:8],
                         "people": name_shown(one["people"], 60)} for one in before["draws"]]}  # fmt: skip


def _levels(before: dict[str, Any]) -> dict[str, Any] | None:
    """One draw and one more beside what their budgets add up to."""
    if not before["draws"]:
        return None
    one, together = before["one"], before["together"]
    limit = one * (len(before["draws"]) + 1)
    marks = round_marks(max(limit, together or 2 * limit), 4)
    end = marks[-1]
    rows = [("One draw", one, "m-released"), ("With one more", together, "m-secret")]
    return {
        "rows": [{"name": name, "width": at(end if level is None else level, end), "mark": mark,
                  "words": "no limit" if level is None else level_words(level)}
                 for name, level, mark in rows],
        "limit": at(limit, end), "limit_words": f"{limit:.3g}",
        "scale": {"ticks": [{"at": at(mark, end), "words": f"{mark:g}",
                             "anchor": "" if not mark else "end" if mark == end else "mid"} for mark in marks]},
    }  # fmt: skip
