"""Project files of the studio: what is written can be read, and of what somebody else wrote no page is an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_studio_requests import asked

from discreet.exceptions import ParameterError
from discreet.studio import frame, project, scripts, site, steps_back
from discreet.studio.choices import FIELDS, STEPS, Choices
from discreet.studio.jobs import Jobs
from discreet.studio.project import STATE, STUDY, Project, Shelf
from discreet.studio.site import PAGES, Site

ROLES = {"sex": "secret", "a": "release", "b": "release"}
VALUES = [f"{number:05d} a street with a long name" for number in range(2000)]
ADDRESSES = ("/", "/projects", "/p/study", *(f"/p/study/{step}" for step in PAGES))


@pytest.fixture
def begun(tmp_path: Path) -> Project:
    table = tmp_path / "t.csv"
    table.write_text("sex,a,b\n" + "f,1,2\nm,2,1\n" * 100)
    return Project.begin(tmp_path / "study", Choices(table=str(table), name="study", roles=ROLES, reached=6))


def changed(one: Project, key: str, value: Any) -> None:
    one.change(one.saved().revision, lambda now: now.changed(key, value))


def halves(column: str) -> dict[str, Any]:
    return {"column": column, "groups": {"north": VALUES[:1000], "south": VALUES[1000:]}}


# ---- what is written can be read -------------------------------------------------------------------------------------


def test_a_hundred_steps_take_little_more_than_one(begun: Project) -> None:
    for column in "ab":
        changed(begun, "merge", halves(column))
    first = (begun.folder / STATE).stat().st_size
    for number in range(100):
        changed(begun, "epsilon", 0.3 + number / 1000)
    assert (begun.folder / STATE).stat().st_size < first + 100 * 200
    for number in reversed(range(99)):
        assert begun.undo(begun.saved().revision).now.epsilon == pytest.approx(0.3 + number / 1000)
    assert set(begun.saved().now.merge) == {"a", "b"}


def test_of_long_steps_the_farthest_are_forgotten(begun: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_back, "MOST_BYTES", 200_000)
    monkeypatch.setattr(project, "LARGEST_STATE", 400_000)
    for number in range(8):
        changed(begun, "merge", halves("ab"[number % 2]))
        changed(begun, "merge", {"column": "ab"[number % 2], "groups": {}})
    back = 0
    while begun.saved().past:
        begun.undo(begun.saved().revision)
        back += 1
    assert 0 < back < 8
    forth = 0
    while begun.saved().future:
        begun.redo(begun.saved().revision)
        forth += 1
    assert forth == back
    assert begun.saved().now.merge == {"a": {}, "b": {}}


def test_what_would_not_be_read_is_not_written(begun: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    changed(begun, "merge", halves("a"))
    before = (begun.folder / STATE).read_bytes()
    monkeypatch.setattr(project, "LARGEST_STATE", len(before) + 1000)
    with pytest.raises(ParameterError, match="more than a project can hold"):
        changed(begun, "merge", halves("b"))
    assert (begun.folder / STATE).read_bytes() == before
    changed(begun, "merge", {"column": "a", "groups": {}})
    assert begun.saved().now.merge == {"a": {}}


def test_a_study_that_would_not_be_read_is_not_written(begun: Project) -> None:
    scripts.save_study(begun, begun.saved().now)
    assert (begun.folder / STUDY).is_file()
    long = Choices(table="t.csv", name="n", roles=ROLES, merge={"a": {"x": [f"{one} {'y' * 600}" for one in VALUES]}})
    scripts.save_study(begun, long)
    assert not (begun.folder / STUDY).exists()


def test_steps_that_say_every_field_are_read_as_before(begun: Project) -> None:
    path = begun.folder / STATE
    stated = json.loads(path.read_text())
    stated["past"] = [{**stated["now"], "epsilon": 1.5}, {**stated["now"], "epsilon": 1.25, "people": "x"}]
    path.write_text(json.dumps(stated))
    assert begun.undo(1).now.epsilon == 1.25
    assert begun.saved().now.people == "x"
    assert begun.undo(2).now.epsilon == 1.5
    assert begun.saved().now.people == ""
    assert begun.redo(3).now.people == "x"


# ---- what somebody else wrote ----------------------------------------------------------------------------------------


@pytest.fixture
def shelf(begun: Project, tmp_path: Path) -> Site:
    """With a second project, which nobody changes; no worker is asked for anything."""
    Project.begin(tmp_path / "good", Choices(table="t.csv", name="the good one"))
    jobs = Jobs()
    jobs.close()
    return Site(Shelf(tmp_path), jobs, "study")


def put(begun: Project, key: str, value: Any, into: str | None = "now") -> None:
    path = begun.folder / STATE
    stated = json.loads(path.read_text())
    (stated if into is None else stated[into])[key] = value
    path.write_text(json.dumps(stated))


ODD: dict[str, list[Any]] = {
    "table": [7, None, "t\0", ""],
    "name": [5],
    "row": ["x"],
    "person": [[]],
    "rule": [None],
    "roles": [["a"], {"a": 1}],
    "bins": [{"a": 1}, {"a": ["nan"]}, {"a": [1]}],
    "merge": [{"a": ["x"]}, {"a": {"x": "y"}}, {"a": {"x": [1]}}, "x"],
    "rare": [{"a": "x"}, {"a": -1}, {"a": True}],
    "missing": [{"?": 1}, ["?"]],
    "purpose": ["zz", ["values"]],
    "by_need": ["yes", 1],
    "need": ["x", None, 10**400],
    "epsilon": ["x", float("nan"), float("inf"), True, [0.5]],
    "notion": ["zz", {}],
    "sees_secret": [0],
    "read": [5, [5]],
    "people": [{}],
    "repeat": ["no"],
    "reached": [99, "6", 0, True, 2.0],
}


def test_every_field_of_the_choices_has_a_check_and_an_oddity() -> None:
    now = Choices(table="t.csv", name="n", roles=ROLES, bins={"a": ["1"]}, merge={"a": {"x": ["1"]}}, read=("w",))
    assert set(FIELDS) == set(now.plain()) == set(ODD)
    assert Choices.of(now.plain()) == now
    assert STEPS == len(site.PAGES) == len(frame.STEPS)


def refused_everywhere(shelf: Site) -> None:
    """In words, by every page, while the list of all projects shows the others."""
    assert shelf.landing() == "/projects"
    for address in ADDRESSES:
        assert asked(shelf, address)[0] == {"/": 303, "/projects": 200}.get(address, 400), address
    _, listed = asked(shelf, "/projects")
    assert "the good one" in listed
    assert "cannot be read" in listed


def test_an_odd_choice_is_a_project_that_cannot_be_read(begun: Project, shelf: Site) -> None:
    before = (begun.folder / STATE).read_text()
    for key, values in ODD.items():
        for value in values:
            (begun.folder / STATE).write_text(before)
            assert begun.saved().now.secret == ("sex",)
            put(begun, key, value)
            with pytest.raises(ParameterError, match="cannot be read"):
                begun.saved()
        refused_everywhere(shelf)


@pytest.mark.parametrize("key", ["past", "future"])
def test_an_odd_step_ends_no_page_and_is_not_gone_back_to(begun: Project, shelf: Site, key: str) -> None:
    put(begun, key, [{"epsilon": "x"}], into=None)
    assert asked(shelf, "/projects")[0] == 200
    with pytest.raises(ParameterError, match="cannot be read"):
        (begun.undo if key == "past" else begun.redo)(1)
    for odd in (7, [7], ["x"], {"a": 1}):
        put(begun, key, odd, into=None)
        with pytest.raises(ParameterError, match="cannot be read"):
            begun.saved()


def test_a_file_that_is_no_project_ends_no_list(begun: Project, shelf: Site) -> None:
    for content in ("", "{}", "[]", "null", "[" * 100_000, '{"revision": 1e999}'):
        (begun.folder / STATE).write_text(content)
        refused_everywhere(shelf)


def test_odd_facts_beside_the_choices(begun: Project, shelf: Site) -> None:
    before = (begun.folder / STATE).read_text()
    for key, value in (("when", "yesterday"), ("revision", float("inf")), ("results", 5), ("when", 5)):
        (begun.folder / STATE).write_text(before)
        put(begun, key, value, into=None)
        refused_everywhere(shelf)


def test_an_odd_manifest_of_a_release(begun: Project, shelf: Site) -> None:
    odd = ("", "null", "3", '{"protocol": 3}', '{"total_epsilon": "x"}', '{"records": null}', '{"file": [1]}')
    begun.released_file.write_text("a,b\n")
    for manifest in odd:
        begun.manifest_file.write_text(manifest)
        refused_everywhere(shelf)
