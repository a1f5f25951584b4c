"""The board's page says what the check found, and nothing on it acts on a browser or a terminal."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import discreet as dc
from discreet.exceptions import unseen
from discreet.release import rehearse
from discreet.report.board import board_page

HOSTILE = "\x1b[31m\u202e\x00<script>"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    s = rng.choice(["ill", "well"], 600)
    x = np.where(rng.random(600) < 0.5, s, rng.choice(["ill", "well", "so"], 600))
    return pd.DataFrame({"s": s, f"x{HOSTILE}": x, f"k{HOSTILE}": rng.integers(0, 3, 600)})


@pytest.fixture(scope="module")
def protocol(table: pd.DataFrame) -> dc.Protocol:
    joint = dc.Joint.from_table(table, secret="s", release=f"x{HOSTILE}")
    return dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).protocol


def test_names_and_purposes_are_shown_with_their_escapes(table: pd.DataFrame, protocol: dc.Protocol) -> None:
    found = rehearse(table, protocol, keep=[f"k{HOSTILE}"], keep_anyway=True).facts()
    assert found["promise"]["worth"]
    page = board_page(found, about=HOSTILE)
    assert not [sign for sign in page if unseen(sign) and sign not in "\n\t"]
    assert "<script" not in page
    assert page.count("\\x1b[31m\\u202e\\x00&lt;script&gt;") >= 4


def test_a_policy_is_not_met_only_where_it_refuses(table: pd.DataFrame, protocol: dc.Protocol, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"

    def said(rules: str, **options: object) -> str:
        policy.write_text(rules)
        found = rehearse(table, protocol, policy=policy, **options)
        assert found.refusals or not options
        return board_page(found.facts())

    assert "…: met." in said("[epsilon]\nLIP = 0.5\n")
    assert "…: met." in said("[epsilon]\nLIP = 0.5\n", keep=["nowhere"])
    assert "…: not met." in said("[epsilon]\nLIP = 0.4\n")
    unread = said("[epsilon]\nLPI = 0.5\n")
    assert "No policy is in force." in unread
    assert "a notion nobody knows" in unread


def test_levels_are_rounded_up_and_not_printed_as_they_are_stored(
    table: pd.DataFrame, protocol: dc.Protocol, tmp_path: Path
) -> None:
    found = rehearse(table, protocol, ledger=tmp_path / "book").facts()
    found["account"]["epsilon"] = 0.49968808700000006
    assert "together at epsilon 0.499689." in board_page(found)
