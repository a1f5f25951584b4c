"""Files of a studio project that somebody else wrote: another protocol, results that no worker computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.exceptions import DiscreetError, ReleaseError
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.jobs import Jobs
from discreet.studio.project import STATE, Project
from discreet.studio.tasks import TASKS

ROLES = {"health": "secret", "work": "release"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    table = tmp_path / "people.csv"
    rows = ["ill,none"] * 60 + ["ill,full"] * 40 + ["well,none"] * 30 + ["well,full"] * 170
    table.write_text("\n".join(["health,work", *rows]) + "\n")
    return Project.begin(tmp_path / "study", Choices(table=str(table), name="study", roles=ROLES, reached=6))


def heard(kind: str, told: Any) -> None:
    """No news."""


def with_rules(project: Project) -> tuple[Desk, str]:
    """Rules found by a worker, and kept."""
    desk = Desk.of(project, Jobs(), testing=True)
    asked = {**desk.now.asked(), "stamp": desk.stamp()}
    found = TASKS["rules"](asked, heard, path=str(desk.protocol), seconds=20.0)
    project.keep("rules", asked, found)
    return Desk.of(project, desk.jobs, testing=True), found["digest"]


def put_other_rules(desk: Desk) -> None:
    joint = dc.Joint.from_table(desk.now.table, secret="health", release="work")
    dc.design(joint, dc.LIP(1.9)).protocol.save(desk.protocol)


def test_a_draw_is_with_the_rules_that_were_shown(project: Project) -> None:
    desk, digest = with_rules(project)
    job, files = desk.job(digest), {name: str(project.folder / name) for name in ("report", "script")}
    put_other_rules(desk)
    with pytest.raises(ReleaseError, match="other rules than those that were shown"):
        TASKS["draw"]({"script": "", "now": desk.now.plain()}, heard, job=job, files=files)
    assert not project.drawn
    assert not desk.protocol.with_name("protocol.json.ledger").exists()
    checked = TASKS["check"]({}, heard, job=desk.job(dc.load_protocol(desk.protocol).digest), left_out=[], group={})
    assert not checked["check"]["refusals"]


def test_what_is_shown_is_about_the_rules_in_the_file(project: Project) -> None:
    desk, digest = with_rules(project)
    assert desk.rules().result["digest"] == digest
    put_other_rules(desk)
    with pytest.raises(DiscreetError, match="other rules than were found here"):
        desk.rules()


def test_results_that_nobody_computed_are_not_shown(project: Project) -> None:
    desk, _ = with_rules(project)
    asked = desk.now.asked()
    assert desk.held("rules", asked) is not None
    path = project.folder / STATE
    stated = json.loads(path.read_text())
    stated["results"]["rules"]["answer"] |= {"epsilon": 0.001, "promise": "Nothing can be learnt at all."}
    path.write_text(json.dumps(stated))
    assert Desk.of(project, desk.jobs).held("rules", asked) is None
    for seal in (None, 1, "é", {}):
        stated["results"]["rules"]["seal"] = seal
        path.write_text(json.dumps(stated))
        assert Desk.of(project, desk.jobs).held("rules", asked) is None


def test_the_rules_of_a_release_are_not_searched_for_again(project: Project) -> None:
    """A search would write over the protocol that the release was drawn with."""
    desk, _ = with_rules(project)
    project.released_file.write_text("work\nnone\n")
    project.manifest_file.write_text("{}")
    table, before = Path(desk.now.table), desk.protocol.read_bytes()
    table.write_text(table.read_text() + "well,full\n")
    with pytest.raises(ReleaseError, match="before this release"):
        Desk.of(project, desk.jobs).rules()
    assert desk.protocol.read_bytes() == before
