"""What is asked for is done or refused: no option is passed over while something weaker is designed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.exceptions import ParameterError
from discreet.study_file import StudyFile

COLUMNS: dict[str, Any] = {"table": "t.csv", "secret": ["s"], "release": ["x"]}
IN_VAIN: dict[str, dict[str, Any]] = {
    "a level in the notion, and a need": {"notion": "lip:0.1", "need": 0.9},
    "two levels in the notion, and a need": {"notion": "alip:0.1:0.2", "need": 0.9},
    "an average with its number, and a need": {"notion": "funnel:0.0001", "need": 0.9},
    "a level in the notion, and an accuracy": {"notion": "shift:0.005", "accuracy": 0.02, "plan": 1000},
    "a level in the notion, and another": {"notion": "lip:0.1", "epsilon": 0.5},
    "a level and a need": {"epsilon": 0.1, "need": 0.9},
    "the same noise as none": {"same_noise": True},
    "a confidence of what is certain": {"confidence": 0.99},
    "a confidence beside a belt": {"notion": "ldp", "belt": 4.0, "confidence": 5.0},
    "statistics of a task": {"task": "y", "purpose": "statistics"},
    "statistics of an average": {"notion": "funnel:0.01", "purpose": "statistics"},
}
FOR_SOMETHING: dict[str, dict[str, Any]] = {
    "a need": {"notion": "shift", "need": 0.9},
    "a need of an average": {"notion": "funnel", "need": 0.9},
    "a level in the notion": {"notion": "lip:0.1"},
    "a confidence": {"notion": "rldp:0.5", "confidence": 0.99},
    "noise again": {"notion": "rldp", "private": 1.0, "letters": "letters.json", "same_noise": True},
    "a task": {"task": "y"},
}


@pytest.mark.parametrize("name", IN_VAIN)
def test_it_is_refused(name: str) -> None:
    with pytest.raises(ParameterError):
        StudyFile.of({**COLUMNS, **IN_VAIN[name]})


@pytest.mark.parametrize("name", FOR_SOMETHING)
def test_the_same_words_elsewhere_are_not(name: str) -> None:
    assert StudyFile.of({**COLUMNS, **FOR_SOMETHING[name]}).asked_notion


def test_a_ceiling_over_a_set_has_the_confidence_that_was_asked_for() -> None:
    asked = StudyFile.of({**COLUMNS, "notion": "funnel:0.01", "ceiling": "rldp:1", "confidence": 0.9})
    assert asked.asked_notion == dc.Funnel(0.01, ceiling=dc.RLDP(1.0, dc.Confidence(0.9)))


@pytest.mark.parametrize("given", [False, True])
def test_a_secret_that_is_released_is_not_only_read(given: bool, tmp_path: Path) -> None:
    """Once it was read alone, and not released."""
    path = tmp_path / "t.csv"
    path.write_text("s,x,k\n" + "a,p,m\na,q,m\nb,p,m\nb,q,m\nb,q,m\n" * 100)
    joint = dc.Joint.from_table(path, secret="s", release="x", include_secret=True, **({"given": "k"} if given else {}))
    with pytest.raises(ParameterError, match="reads it anyway"):
        dc.design(joint, dc.LIP(1.0), sees_secret=True)
    with pytest.raises(ParameterError, match="reads it anyway"):
        joint.curator()
    beside = ["--given", "k"] if given else []
    command = ["design", str(path), "--secret", "s", "--release", "x", *beside, "--out", str(tmp_path / "p.json")]
    assert run([*command, "--include-secret", "--sees-secret"]) != 0
    assert not (tmp_path / "p.json").exists()


def test_a_need_takes_the_level_that_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The remedy, followed: without the number that was in its way."""
    path, out = tmp_path / "t.csv", tmp_path / "p.json"
    path.write_text("s,x\n" + "a,p\na,p\na,q\nb,p\nb,q\nb,q\n" * 100)
    command = ["design", str(path), "--secret", "s", "--release", "x", "--need", "0.9", "--no-curve", "--out", str(out)]
    assert run([*command, "--notion", "lip:0.001"]) != 0
    assert "a notion with its number, and a need" in " ".join(capsys.readouterr().err.split())
    assert run([*command, "--notion", "lip"]) == 0
    assert dc.load_protocol(out).epsilon > 0.001
