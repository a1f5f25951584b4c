"""The smallest promise for a need: as on the command line, stopped with the best, honest where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from discreet.studio import searches
from discreet.studio.choices import LARGEST, SMALLEST, Choices
from discreet.studio.project import Project
from discreet.study.purposes import Purpose, needed_epsilon, serve

ENDS = (SMALLEST, LARGEST)


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Health tells about colour; 62 % of the values can stay at a small level."""
    path = tmp_path_factory.mktemp("need") / "t.csv"
    rows = ["ill,red"] * 300 + ["ill,blue"] * 100 + ["well,red"] * 150 + ["well,blue"] * 450
    path.write_text("health,colour\n" + "\n".join(rows) + "\n")
    roles = {"health": "secret", "colour": "release"}
    return Choices(table=str(path), name="n", roles=roles, need=0.9, by_need=True).wanted()


def share_at(wanted: dict[str, Any], level: float) -> float:
    joint = searches.joint_for(wanted)
    return serve(joint, searches.notion_at(wanted["notion"], level), Purpose(wanted["purpose"])).design.utility


def heard(told: list[tuple[str, Any]]) -> Any:
    return lambda kind, what: told.append((kind, what))


@pytest.mark.parametrize("purpose", ["values", "statistics"])
def test_it_is_what_the_command_line_finds(wanted: dict[str, Any], purpose: str) -> None:
    wanted = {**wanted, "purpose": purpose, "need": 0.7}
    told: list[tuple[str, Any]] = []
    found = searches.smallest(wanted, heard(told), [], ENDS)
    there = needed_epsilon(lambda level: share_at(wanted, level), wanted["need"])
    assert found["reached"]
    assert found["epsilon"] == pytest.approx(there.epsilon, rel=0.02)
    assert found["share"] >= wanted["need"]
    assert share_at(wanted, found["epsilon"] / 1.02) < wanted["need"]  # a little less would be too little
    done = [what["done"] for kind, what in told if kind == "news" and what["stage"].startswith("Finding")]
    assert done == sorted(done)
    assert [what["epsilon"] for kind, what in told if kind == "part"]


def test_points_of_the_curve_shorten_it(wanted: dict[str, Any]) -> None:
    plain, short = [], []  # type: list[tuple[str, Any]], list[tuple[str, Any]]
    alone = searches.smallest(wanted, heard(plain), [], ENDS)
    known = [[level, share_at(wanted, level)] for level in (0.1, 0.3, 0.5, 0.7, 1.0, 1.4, 2.0)]
    found = searches.smallest(wanted, heard(short), known, ENDS)
    assert found["epsilon"] == pytest.approx(alone["epsilon"], rel=0.01)
    assert sum(kind == "part" for kind, _ in short) < sum(kind == "part" for kind, _ in plain)


def test_a_need_out_of_reach_is_said_and_no_level_is_made_up(wanted: dict[str, Any]) -> None:
    found = searches.smallest({**wanted, "need": 0.999}, heard([]), [], (SMALLEST, 0.5))
    assert (found["reached"], found["epsilon"]) == (False, 0.5)
    assert found["share"] < 0.999


def test_a_stop_keeps_the_smallest_that_suffices(wanted: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = searches._found, 0

    def interrupted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(searches, "_found", interrupted)
    found = searches.smallest(wanted, heard([]), [], ENDS)
    assert found["stopped"]
    assert found["reached"]
    assert share_at(wanted, found["epsilon"]) >= wanted["need"]
    calls = 3
    with pytest.raises(KeyboardInterrupt):  # nothing is known to suffice
        searches.smallest(wanted, heard([]), [], ENDS)


def test_the_level_follows_while_it_is_wanted(wanted: dict[str, Any], tmp_path: Path) -> None:
    """The level that was found is saved without a step back of its own, and never over a decision made meanwhile."""
    from discreet.studio.desk import keep

    roles = {"health": "secret", "colour": "release"}
    choices = Choices(table=wanted["table"], name="n", roles=roles, need=0.9, by_need=True)
    project = Project.begin(tmp_path / "p", choices)
    keep(project, "need", {**choices.wanted(), "stamp": [1, 2]}, {"epsilon": 0.4321})
    assert (project.saved().now.epsilon, project.saved().revision, project.saved().past) == (0.4321, 1, ())
    project.change(1, lambda now: now.changed("epsilon", 1.5))
    keep(project, "need", {**choices.wanted(), "stamp": [1, 2]}, {"epsilon": 0.4321})
    assert project.saved().now.epsilon == 1.5
    assert project.undo(2).now.epsilon == 0.4321
    project.change(3, lambda now: now.changed("need", 0.5))
    keep(project, "need", {**choices.wanted(), "stamp": [1, 2]}, {"epsilon": 0.99})  # of the need before
    assert project.saved().now.epsilon == 0.4321


def test_a_stop_between_two_points_keeps_those_there_are(wanted: dict[str, Any]) -> None:
    told: list[str] = []

    def tell(kind: str, what: Any) -> None:
        told.append(kind)
        if told.count("part") == 3:
            raise KeyboardInterrupt

    found = searches.curve(wanted, tell, "values")
    assert found["stopped"]
    assert found["done"] == len(found["points"]["values"]) == 3
