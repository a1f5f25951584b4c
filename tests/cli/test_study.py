"""A study from one file: begun, followed, refused, and the same twice."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.cli.study import follow
from discreet.release.companions import PUBLIC, beside
from discreet.study_file import StudyFile


def written(folder: Path, **changes: object) -> Path:
    """The study of people.csv, from what `study init` writes."""
    path = folder / "study.toml"
    assert run(["study", "init", str(folder / "people.csv"), "--out", str(path), "--force"]) == 0
    stated = tomllib.loads(path.read_text())
    said = {**stated, "table": "people.csv", "secret": ["health"], "release": ["colour"], "epsilon": 0.5, **changes}
    path.write_text(StudyFile.of({key: value for key, value in said.items() if value is not None}).text())
    return path


def test_a_study_is_followed_to_its_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "protocol.json").unlink()
    path = written(folder, about="Colours for everybody")
    capsys.readouterr()
    assert run(["study", "run", str(path), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["released"] is None
    assert not (folder / "released.csv").exists()
    assert run(["study", "run", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["check"]["code"] == 0
    assert found["check"]["promise"]["unchanged"] > 0.5
    for name in ("protocol.json", "released.csv", "report.html", "board.html"):
        assert (folder / name).stat().st_size > 100
    assert beside(folder / "released.csv", PUBLIC).is_file()
    assert "What analysts will get" in (folder / "report.html").read_text()
    board = (folder / "board.html").read_text()
    assert "Colours for everybody" in board
    assert "of the values true" in board


def test_the_same_study_twice(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = []
    for name in ("first", "second"):
        there = tmp_path_factory.mktemp(name)
        (there / "people.csv").write_bytes((folder / "people.csv").read_bytes())
        follow(StudyFile.read(written(there, given=["region"], data=name)), force=True, testing=True)
        made.append([(there / file).read_bytes() for file in ("protocol.json", "released.csv")])
    assert made[0] == made[1]


def test_another_table_and_wrong_keys_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(folder)
    for change, told in (
        ({"records": 399}, "399 records"),
        ({"columns": ["a"]}, "other columns"),
    ):
        assert run(["study", "run", str(written(folder, **change))]) != 0
        assert told in " ".join(capsys.readouterr().err.split())
    path.write_text(path.read_text().replace("purpose", "porpose"))
    assert run(["study", "run", str(path)]) == 3
    assert "Did you mean purpose?" in capsys.readouterr().err
    assert not (folder / "released.csv").exists()


def test_one_changed_letter_in_the_policy_turns_0_into_4(folder: Path) -> None:
    (folder / "protocol.json").unlink()
    path = written(folder, policy="policy.toml")
    for level, code in ((5, 0), (4, 4)):
        (folder / "policy.toml").write_text(f"[epsilon]\nLIP = 0.{level}\n")
        assert run(["study", "run", str(path), "--dry-run"]) == code
    assert not (folder / "protocol.json.ledger").exists()


def test_the_study_that_a_design_amounts_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--secret", "health", "--release", "colour", "--given", "region", "--for", "statistics", "--need", "0.5"]
    assert run(["design", str(folder / "people.csv"), *asked, "--show-study"]) == 0
    told = StudyFile.of(tomllib.loads(capsys.readouterr().out))
    assert (told.given, told.purpose, told.need) == (("region",), "statistics", 0.5)
