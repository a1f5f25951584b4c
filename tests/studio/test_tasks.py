"""What a worker is asked for, without a worker: counts for the page of groups, a curve that rises, whose rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.protocol import Protocol
from discreet.studio.choices import Choices
from discreet.studio.project import PROTOCOL, Project
from discreet.studio.searches import GRIDS, curve, find_rules, joint_for
from discreet.studio.tasks import TASKS, guesses, spread

NEWS: list[tuple[str, Any]] = []


def heard(kind: str, told: Any) -> None:
    NEWS.append((kind, told))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rows of every person; numbers, gaps, a rare value."""
    draw = np.random.default_rng(3)
    path = tmp_path_factory.mktemp("tasks") / "t.csv"
    lines = ["who,health,age,colour"]
    for person in range(600):
        ill = draw.random() < 0.4
        for _ in range(2):
            age = "" if draw.random() < 0.05 else str(int(draw.normal(40 + 15 * ill, 12)))
            colour = "rare" if person == 5 else draw.choice(["red", "green", "blue"], p=[0.5, 0.3, 0.2])
            lines.append(f"p{person},{'ill' if ill else 'well'},{age},{colour}")
    path.write_text("\n".join(lines) + "\n")
    return path


def question(table: Path, **more: Any) -> dict[str, Any]:
    roles = {"who": "out", "health": "secret", "age": "release", "colour": "release"}
    return Choices(table=str(table), name="n", roles=roles, bins={"age": ["35", "50"]}, **more).question()


def test_counts_of_every_value_with_every_secret(table: Path) -> None:
    asked = {**question(table), "columns": ["age", "colour", "health"], "numbers": ["age"], "k": 50, "named": {}}
    found = spread(asked, heard)
    age, colour, health = found["age"], found["colour"], found["health"]
    assert age["numbers"] == sorted(age["numbers"])
    assert sum(map(sum, age["counts"])) + age["missing"] == 1200
    assert colour["values"] == sorted(colour["values"])
    assert "rare" not in colour["values"]
    assert (colour["rare"], sum(colour["rare_counts"])) == (1, 2)
    assert sorted(health["values"]) == ["ill", "well"]
    named = spread({**asked, "columns": ["colour"], "named": {"colour": ["rare"]}}, heard)
    assert "rare" in named["colour"]["values"]  # the steward has named it


def test_many_numbers_are_shown_in_round_steps(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("s,x\n" + "".join(f"{'ab'[i % 2]},{i * 1.37:.2f}\n" for i in range(2000)))
    asked = {"table": str(path), "secret": ["s"], "columns": ["x"], "group": {"bins": {}, "merge": {}, "rare": {}}}
    found = spread({**asked, "numbers": ["x"], "k": 50, "named": {}}, heard)["x"]
    assert len(found["numbers"]) <= 121
    assert found["step"] in (10.0, 20.0, 25.0, 50.0)
    assert sum(map(sum, found["counts"])) == 2000


@pytest.mark.parametrize("seed", range(4))
def test_no_bar_of_fewer_than_k_people(tmp_path: Path, seed: int) -> None:
    """Bars, and the borders they begin at, tell nobody's number; all records are in them."""
    draw = np.random.default_rng(seed)
    common: Any = [[0, 1, 2, 3, 4], draw.integers(20, 60, 25), draw.normal(50, 9, 600).round(3), [0]][seed]
    numbers = [float(x) for x in common for _ in range(100 if seed < 2 else 1 if seed == 2 else 500)]
    alone = [17.0, 1e6, -333.25] if seed else [17.0]
    tail = list(draw.gamma(2, 700, 300).round()) if seed == 3 else []
    path = tmp_path / "n.csv"
    path.write_text("s,x\n" + "".join(f"{'ab'[i % 2]},{x:g}\n" for i, x in enumerate([*numbers, *tail, *alone])))
    asked = {"table": str(path), "secret": ["s"], "columns": ["x"], "group": {"bins": {}, "merge": {}, "rare": {}}}
    found = spread({**asked, "numbers": ["x"], "k": 50, "named": {}}, heard)["x"]
    totals = [sum(bar) for bar in found["counts"]]
    assert (found["kind"], found["joined"], found["missing"]) == ("numbers", True, 0)
    assert min(totals) >= 50
    assert sum(totals) == len(numbers) + len(tail) + len(alone)
    assert not set(found["numbers"]) & set(alone)
    apart = spread({**asked, "numbers": ["x"], "k": 1, "named": {}}, heard)["x"]
    assert min(map(sum, apart["counts"])) == 1  # negative control: without k they are there, each by itself
    by_others = tmp_path / "other.csv"
    by_others.write_text(path.read_text().replace(",17\n", ",18\n").replace(",1e+06\n", ",2e+06\n"))
    again = spread({**asked, "table": str(by_others), "numbers": ["x"], "k": 50, "named": {}}, heard)["x"]
    assert (again["numbers"], again["step"]) == (found["numbers"], found["step"])


def test_numbers_of_a_few_people_are_counted_alone(tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("s,x\n" + "".join(f"{'ab'[i % 2]},{i}\n" for i in range(99)) + "a,7\n" * 60)
    asked = {"table": str(path), "secret": ["s"], "columns": ["x"], "group": {"bins": {}, "merge": {}, "rare": {}}}
    found = spread({**asked, "numbers": ["x"], "k": 80, "named": {}}, heard)["x"]
    assert (found["values"], found["rare"], sum(found["rare_counts"])) == ([], 99, 159)


def test_a_curve_rises_and_stays_below_its_bound(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.studio.searches.GRIDS", {"values": [0.1, 0.5, 1.0], "information": [0.5]})
    found = curve(question(table), heard, first="information")
    assert list(found["points"]) == ["information", "values"]
    values = [point["value"] for point in found["points"]["values"]]
    assert values == sorted(values)
    assert all(0 < point["value"] <= point["bound"] + 1e-9 for point in found["points"]["values"])
    assert (found["done"], found["total"], found["stopped"]) == (4, 4, False)
    assert found["example"]["secret"] in ("ill", "well")
    assert [kind for kind, _ in NEWS].count("part") == 4


def test_persons_are_counted_where_somebody_says_whose_rows_they_are(table: Path, tmp_path: Path) -> None:
    whose = question(table, row="visit", person="who")
    assert whose["whose"] == {"person": "who", "rows": "one"}
    assert joint_for(whose).n == 600
    assert joint_for(question(table)).n == 1200
    rules = {**whose, "purpose": "values", "epsilon": 0.5}
    protocol = Project.begin(tmp_path / "study", Choices(table=str(table), name="n")).folder / PROTOCOL
    found = find_rules(rules, heard, str(protocol), 20.0)
    assert Protocol.load(protocol).digest == found["digest"]
    assert found["epsilon"] <= 0.5


def test_guesses_get_better_by_looking(table: Path) -> None:
    found = guesses({k: v for k, v in question(table).items() if k in ("table", "secret", "release", "group")}, heard)
    assert 0.5 < found["nothing"] < found["seeing"] < 1


def test_every_purpose_has_a_grid() -> None:
    assert set(GRIDS) == {"values", "statistics", "information"}
    assert all(grid == sorted(grid) and grid[-1] == 2.0 for grid in GRIDS.values())
    names = {"look", "tells", "guess", "thin", "spread", "curve", "need", "other", "rules", "check", "draw", "explain"}
    assert set(TASKS) == names
