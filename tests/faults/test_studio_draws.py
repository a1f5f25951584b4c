"""A draw of a studio's project is by the choices that were confirmed, and the project says for good what was drawn."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.exceptions import DiscreetError
from discreet.records.persons import NOT_CHECKED, NOT_COUNTED
from discreet.studio.check_warnings import warnings
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.jobs import Jobs
from discreet.studio.project import STUDY, AlreadyReleased, DrawUnderWay, OtherTab, Project
from discreet.studio.scripts import save_study
from discreet.studio.tasks import TASKS

ROLES = {"health": "secret", "work": "release", "age": "release"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    table = tmp_path / "people.csv"
    rows = ["ill,none,1"] * 60 + ["ill,full,2"] * 40 + ["well,none,1"] * 30 + ["well,full,2"] * 170
    table.write_text("\n".join(["health,work,age", *rows]) + "\n")
    return Project.begin(tmp_path / "study", Choices(table=str(table), name="study", roles=ROLES, reached=6))


def heard(kind: str, told: Any) -> None:
    """No news."""


def confirmed(project: Project) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a draw is asked, once its rules are found."""
    desk = Desk.of(project, Jobs(), testing=True)
    asked = {**desk.now.asked(), "stamp": desk.stamp()}
    found = TASKS["rules"](asked, heard, path=str(desk.protocol), seconds=20.0)
    project.keep("rules", asked, found)
    files = {name: str(project.folder / name) for name in ("report", "script")}
    question = {"script": "# study", "now": desk.now.plain(), "revision": desk.saved.revision}
    return question, {"job": desk.job(found["digest"]), "files": files}


def disturbances(project: Project) -> list[Callable[[], Any]]:
    """What another tab can do."""

    def change(key: str, value: Any) -> Callable[[], Any]:
        def tried() -> None:
            saved = project.change(project.saved().revision, lambda now: now.changed(key, value))
            save_study(project, saved.now)

        return tried

    other = Choices.of({**project.saved().now.plain(), "epsilon": 0.05})
    rules = {**other.asked(), "stamp": Desk.of(project, Jobs()).stamp()}
    return [
        change("epsilon", 0.05),
        change("role", {"column": "age", "role": "out"}),
        change("people", "Wave 2"),
        lambda: project.undo(project.saved().revision),
        lambda: project.redo(project.saved().revision),
        lambda: TASKS["rules"](rules, heard, path=str(project.folder / "protocol.json"), seconds=5.0),
        project.forget_rules,
    ]


def test_nothing_changes_while_a_draw_is_under_way(project: Project) -> None:
    project.change(1, lambda now: now.changed("name", "a step back"))
    question, options = confirmed(project)
    refused: list[str] = []

    def tell(kind: str, told: Any) -> None:
        if not refused:
            for disturb in disturbances(project):
                with pytest.raises(DiscreetError) as met:
                    disturb()
                refused.append(type(met.value).__name__)
            assert project.settle(lambda now: now.changed("epsilon", 0.05)).now.epsilon == 0.69

    TASKS["draw"](question, tell, **options)
    assert refused == [DrawUnderWay.__name__] * 7
    for disturb in disturbances(project):
        with pytest.raises(AlreadyReleased, match="was released"):
            disturb()
    assert project.saved().now == Choices.of(question["now"])
    manifest, study = json.loads(project.manifest_file.read_text()), (project.folder / STUDY).read_text()
    assert manifest["protocol"]["sha256"] == dc.load_protocol(project.folder / "protocol.json").digest
    assert 'release = ["work", "age"]' in study
    assert "epsilon = 0.69" in study


def test_choices_changed_before_a_draw_began_are_not_drawn(project: Project) -> None:
    """The worker came to it later than the change did."""
    question, options = confirmed(project)
    project.change(project.saved().revision, lambda now: now.changed("people", "Wave 2"))
    with pytest.raises(OtherTab, match="nothing was drawn"):
        TASKS["draw"](question, heard, **options)
    assert not project.drawn
    project.undo(project.saved().revision)  # the very choices again
    project.reach(6)
    TASKS["draw"](question, heard, **options)
    assert project.drawn


def test_a_project_that_is_not_being_drawn_changes(project: Project) -> None:
    """Negative control, and after a draw that failed: the lock goes with it."""
    with pytest.raises(OtherTab), project.drawing(Choices(table="another", name="study")):
        raise AssertionError
    project.change(1, lambda now: now.changed("name", "a step back"))
    project.change(2, lambda now: now.changed("name", "another"))
    for disturb in (disturbances(project)[at] for at in (3, 4, 0, 1, 2, 5, 6)):
        disturb()
    assert project.saved().now.people == "Wave 2"


@pytest.mark.parametrize(("row", "told"), [("person", NOT_CHECKED), ("visit", NOT_COUNTED), ("household", NOT_COUNTED)])
def test_a_release_states_of_its_rows_what_the_steward_said(project: Project, row: str, told: str) -> None:
    """With no column that says whose they are."""
    project.change(1, lambda now: now.changed("row", row))
    question, options = confirmed(project)
    TASKS["draw"](question, heard, **options)
    assert json.loads(project.manifest_file.read_text())["rows"] == told
    checked = TASKS["check"]({}, heard, job={**options["job"], "target": "other.csv"}, left_out=[], group={})
    warned = [one["what"] for one in warnings(Desk.of(project, Jobs()), {}, checked)]
    assert any("promise is each row" in one for one in warned) == (row != "person")


@pytest.mark.parametrize(("times", "thin"), [(1, True), (20, False)])
def test_thin_strata_are_told(tmp_path: Path, times: int, thin: bool) -> None:
    """The studio designs on them, which is refused elsewhere unless it is meant."""
    table = tmp_path / "people.csv"
    rows = ["ill,none,1", "ill,full,2", "well,none,1", "well,full,2", "well,full,1", "ill,none,2"] * 10 * times
    table.write_text("\n".join(["health,work,age", *rows]) + "\n")
    now = Choices(table=str(table), name="study", roles={**ROLES, "age": "given"}, reached=6)
    project = Project.begin(tmp_path / "study", now)
    found = TASKS["rules"](now.asked(), heard, path=str(project.folder / "protocol.json"), seconds=20.0)
    assert ("with fewer than" in found["thin_strata"]) == thin
    seen = {"check": {"warnings": []}, "preview": {"analysts": {}, "columns": [1], "thin": 0}}
    warned = [one["remedy"] for one in warnings(Desk.of(project, Jobs()), found, seen)]
    assert any("--force" in one for one in warned) == thin
