"""A steward's day in short: steps of scripts/steward_day.py that take little time, each with a result or a remedy."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import pytest

from discreet.cli.app import run

DAY = runpy.run_path(str(Path(__file__).parents[2] / "scripts/steward_day.py"), run_name="steward_day")
LONG = ("adult", "wide.csv --secret", "public.json", "country.json")
"""Words of steps that are left to the script: searches of seconds on all of Adult, forty columns."""


def test_a_day(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    DAY["write_tables"](tmp_path)

    def ran(words: list[str], folder: Path) -> tuple[int, str]:
        before = Path.cwd()
        os.chdir(folder)
        try:
            code = run(words)
        finally:
            os.chdir(before)
        told = capfd.readouterr()
        return code, told.out + told.err

    short = tuple(step for step in DAY["STEPS"] if not any(word in step.typed for word in LONG))
    assert len(short) > 20
    assert DAY["faults"](ran, tmp_path, short) == []


def test_a_step_that_ends_otherwise_is_a_fault(tmp_path: Path) -> None:
    step: Any = DAY["Step"]

    def faults(code: int, told: str, one: Any) -> list[str]:
        found: list[str] = DAY["faults"](lambda words, folder: (code, told), tmp_path, (one,))
        return found

    assert faults(0, "fine", step("look a.csv")) == []
    assert faults(3, "Error: no. remedy: yes", step("look a.csv", True)) == []
    assert faults(3, "Error: no.", step("look a.csv", True))
    assert faults(1, "Traceback remedy:", step("look a.csv", True))
    assert faults(0, "fine", step("look a.csv", True))
    assert faults(4, "remedy:", step("look a.csv"))
    assert faults(0, "fine", step("look a.csv", says="Next"))
