"""Hints are pasted into shells: a name in a table runs nothing there, and what is proposed is read back as meant."""

from __future__ import annotations

import re
import shlex

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.look import look

NAMES = ["job $(touch PWNED)", "a`b`", "it's: said", "one, two", "x=y", "p: q = r", 'a "b"']


def table(name: str) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    rare = np.array([f"v{i}" for i in np.r_[np.zeros(900, int), np.arange(1, 61), np.full(40, 70)]])
    value = np.where(rng.random(1000) < 0.1, "?", rare)
    return pd.DataFrame({"s": rng.integers(0, 2, 1000), name: value, f"{name} n": rng.integers(0, 500, 1000)})


@pytest.mark.parametrize("name", NAMES)
def test_hints_and_proposals(name: str) -> None:
    found = look(table(name), secret=["s"])
    hints = [said.remedy for one in found.columns for said in one.warnings if "probably means" in said.what]
    assert hints
    for hint in hints:
        outside = re.sub(r"'[^']*'", "", hint)
        assert "in Python" in hint or ("$" not in outside and "`" not in outside), "quoted where a shell reads it"
        assert f'"{name}: ' not in hint
    grouped = [one.grouping for one in found.columns if one.grouping]
    assert {one.column for one in grouped} == {name, f"{name} n"}
    for one in grouped:
        kind, text = shlex.split(one.option)
        assert kind == ("--bins" if one.bins else "--merge")
        read = dc.Grouping.parse(*(([text], []) if one.bins else ([], [text])))
        assert read.columns == {one.column}
        assert not one.rare or read.records_of(one.column) == one.rare


def test_an_arrow_is_no_name() -> None:
    assert dc.Grouping.parse(merges=["x: A -> b:rare:5"]).merge == {"x": {"b:rare:5": ["A"]}}
