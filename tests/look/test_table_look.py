"""A look finds what is there, tells about the secret what the counts say, and shows nobody."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from messy_tables import CANARIES, messy

import discreet as dc
from discreet.cli.app import run
from discreet.datasets import adult
from discreet.look import ColumnKind, look
from discreet.look.scanned_table import ScannedTable
from discreet.look.table_look import telling
from discreet.report.look_page import look_page

KINDS = {
    "health": ColumnKind.CATEGORY,
    "colour": ColumnKind.CATEGORY,
    "age": ColumnKind.NUMBER,
    "wage": ColumnKind.NUMBER,
    "day": ColumnKind.DATE,
    "person": ColumnKind.IDENTIFIER,
    "words": ColumnKind.TEXT,
    "vote": ColumnKind.TRUTH,
    "country": ColumnKind.CONSTANT,
    "nothing": ColumnKind.EMPTY,
    "gaps": ColumnKind.CATEGORY,
    "parts": ColumnKind.UNUSABLE,
}


def test_every_kind_is_told_apart() -> None:
    found = look(messy())
    assert {column.name: column.kind for column in found.columns} == KINDS
    assert found.column("gaps").missing == 120
    assert found.column("colour").rare == 1
    assert found.column("person").is_identifier
    assert found.column("words").is_identifier


def test_no_value_that_few_records_have_is_told_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, path = messy(), tmp_path / "messy.csv"
    pacsv.write_csv(table.drop_columns(["parts"]), path)
    found = look(table, secret="health")
    assert run(["look", str(path), "--secret", "health", "--html", str(tmp_path / "look.html")]) == 0
    assert run(["look", str(path), "--secret", "health", "--json"]) == 0
    told = capsys.readouterr()
    page = (tmp_path / "look.html").read_text()
    for text in (json.dumps(asdict(found), ensure_ascii=False), look_page(found), page, told.out, told.err):
        assert not [canary for canary in CANARIES if canary in text]
    asked = look(table, secret="health", k=1)
    shown = json.dumps(asdict(asked), ensure_ascii=False)
    assert "zebra-7" in shown  # the control: who asks for all values is shown some of them
    assert {one.value for one in asked.column("colour").top} > {"red", "zebra-7"}


def test_what_a_column_tells_is_that_of_the_joint() -> None:
    found = look(adult(), secret="marital-status")
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="relationship")
    p = joint.table
    expected = float((p[p > 0] * np.log(p[p > 0] / np.outer(p.sum(1), p.sum(0))[p > 0])).sum())
    told = found.column("relationship").telling
    assert told is not None
    assert told.nats == pytest.approx(expected, abs=1e-12)
    assert told.share == pytest.approx(expected / (found.secret_entropy or 0.0), abs=1e-12)
    assert found.telling[0].name == "relationship"
    assert found.column("marital-status").telling is None


def test_chance_is_not_taken_for_telling() -> None:
    rng = np.random.default_rng(1)
    secret = rng.integers(0, 3, 3000)
    noise = telling(rng.integers(0, 1000, 3000), secret)
    assert noise.share > 0.2
    assert noise.beyond_chance < 0.05
    assert telling(secret.copy(), secret).beyond_chance > 0.99


def test_the_proposed_command_and_lines_run(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    pacsv.write_csv(adult().select(["age", "education", "marital-status", "sex"]), path)
    found = look(str(path), secret="marital-status")
    words = found.command.split()
    assert words[:2] == ["discreet", "design"]
    names: dict[str, object] = {"dc": dc}
    exec(found.python, names)
    design = names["found"]
    assert isinstance(design, dc.Design)
    assert math.isfinite(design.gap)
    assert run([*words[1:], "--out", str(tmp_path / "p.json"), "--time-limit", "5", "--json"]) == 0


def test_bars_are_whole_and_none_is_small() -> None:
    for k in (1, 50, 200):
        for column in look(messy(), k=k).columns:
            assert all(bar.records == 0 or bar.records >= k for bar in column.histogram)
            if column.histogram:
                assert sum(bar.records for bar in column.histogram) == column.records - column.missing
                assert column.histogram[0].low is None
                assert column.histogram[-1].high is None
                ends = [bar.high for bar in column.histogram[:-1]]
                assert ends == [bar.low for bar in column.histogram[1:]]


def test_more_records_than_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[ScannedTable.__module__], "MOST_RECORDS", 500)
    found = look(messy())
    assert (found.records, found.whole) == (500, False)
    assert any("first 500" in one.what for one in found.findings)


def test_mistakes_name_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(dc.AlphabetError, match="colour"):
        look(messy(), secret="color")
    with pytest.raises(dc.ParameterError):
        look(messy(), k=0)
    with pytest.raises(dc.TableError, match="file"):
        look("-")
    with pytest.raises(dc.TableError, match="no records"):
        look(messy().slice(0, 0))
    with pytest.raises(dc.TableError, match="not a table"):
        look(3)
    bare = tmp_path / "bare.csv"
    bare.write_text("39,Bachelors,ill\n41,Masters,well\n")
    with pytest.raises(dc.TableError, match="looks like a record") as caught:
        look(str(bare))
    assert "Bachelors" not in str(caught.value)
    words = tmp_path / "words.csv"
    words.write_text("Bachelors,ill\nMasters,well\nBachelors,ill\n")
    with pytest.raises(dc.TableError, match="looks like a record"):
        look(str(words))


def test_two_secrets_are_one(tmp_path: Path) -> None:
    table = pa.table({"a": ["0", "0", "1", "1"] * 50, "b": ["0", "1"] * 100, "both": ["00", "01", "10", "11"] * 50})
    found = look(table, secret=["a", "b"])
    told = found.column("both").telling
    assert told is not None
    assert told.share == pytest.approx(1.0)
    assert found.secret_entropy == pytest.approx(math.log(4))
