"""What "?" means is asked once: a value of its own, or as an empty cell; so say the page, the rules and the script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.csv as pacsv
import pytest

from discreet import Grouping, Joint
from discreet.studio import scripts
from discreet.studio.choices import Choices

ROWS = ["health,work,code"] + ["ill,none,1", "well,full,2", "ill,?,3", "well,,?", "well,full,2"] * 60


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("marks") / "marks.csv"
    path.write_text("\n".join(ROWS) + "\n")
    return path


def test_the_question_is_answered_for_every_column_that_has_the_mark(studio: Any, page: Any, table: Path) -> None:
    project = studio.project(table, name="marks")
    page.goto(f"{studio.origin}/p/{project.slug}/table")
    page.wait_for_selector("main:not(:has([data-reload]))")
    assert "“?” is a value of its own" in page.inner_text(".decision")
    with page.expect_navigation():
        page.get_by_role("group", name="What does “?” mean here?").get_by_label("Missing").click(force=True)
    page.wait_for_selector(".decision:has-text('“?” is missing')")
    assert project.saved().now.missing == {"?": ["work", "code"]}
    for column, role in (("health", "secret"), ("work", "release")):
        page.goto(f"{studio.origin}/p/{project.slug}/table")
        studio.settled(f"/p/{project.slug}/table")
        studio.change(project, "person", "")  # columns are known before step 2
        assert studio.change(project, "role", {"column": column, "role": role})["status"] == 200
    now = project.saved().now
    assert now.grouping()["merge"] == {"work": {"": ["?"]}}
    joint = Joint.from_table(str(table), secret=["health"], release=["work"], group=Grouping(**now.grouping()))
    assert joint.releases[0].letters == ("full", "none", None)
    assert joint.counts is not None
    assert joint.counts.sum(axis=0).tolist() == [120, 60, 120]  # "?" and the empty cell together
    project.reach(3)
    words = studio.settled(f"/p/{project.slug}/group")
    assert "“?”" not in words
    assert "work in 3; health in 2" in words


def test_the_command_says_it_too(table: Path) -> None:
    now = Choices(str(table), "x", roles={"health": "secret", "work": "release"}, missing={"?": ["work", "code"]})
    texts = scripts.group_texts(now)
    assert texts == ([], ["work: ? -> "])
    for written in ("work: ? -> ", "work: ? ->"):
        group = Grouping.parse((), [written])
        assert group.merge == {"work": {"": ["?"]}}
    assert 'merge={"work": {"": ["?"]}}' in scripts.joint_python(now)
    assert Choices(str(table), "x", roles=now.roles).grouping()["merge"] == {}  # nobody said so


def test_missing_is_released_as_one_value(table: Path, tmp_path: Path) -> None:
    import discreet as dc
    from discreet.release import Job, RowsAsked, sanitise_file

    joint = Joint.from_table(
        str(table), secret=["health"], release=["work"], group=Grouping(merge={"work": {"": ["?"]}})
    )
    protocol = tmp_path / "protocol.json"
    dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).protocol.save(protocol)
    job = Job(protocol, str(table), str(tmp_path / "out.csv"), rows=RowsAsked(one_row_per_person=True), testing=True)
    sanitise_file(job)
    found = set(pacsv.read_csv(tmp_path / "out.csv")["work"].to_pylist())
    assert found == {"full", "none", "missing"}
