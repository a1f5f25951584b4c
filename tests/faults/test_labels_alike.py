"""Groups and strata that are called alike were dropped from what a command printed."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.channel import label
from discreet.cli.app import run
from discreet.phrases import named_apart

ALIKE = {
    "missing": [(None,), ("missing",), ("None",)],
    "slashes": [("a / b", "c"), ("a", "b / c"), ("a", "c")],
}
"""Strata of one given column, and of two."""


def table_of(keys):
    rows = [(s, x, *key) for key in keys for s, x in zip("aaabbbba", "xxyxyyyx", strict=True) for _ in range(100)]
    names = ["s", "x", *(f"k{place}" for place in range(len(keys[0])))]
    return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


def printed(capsys, *arguments):
    assert run([str(one) for one in (*arguments, "--json")]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("keys", ALIKE.values(), ids=ALIKE)
def test_every_stratum_is_printed(keys, tmp_path, capsys):
    table = table_of(keys)
    joint = dc.Joint.from_table(table, secret="s", release="x", given=table.column_names[2:])
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    protocol.save(tmp_path / "p.json")
    pq.write_table(protocol.sanitise(table), tmp_path / "r.parquet")
    assert len(protocol.strata) == 3
    assert len(printed(capsys, "audit", tmp_path / "p.json")["strata"]) == 3
    groups = printed(capsys, "estimate", tmp_path / "p.json", tmp_path / "r.parquet", "--by", "given")["groups"]
    assert sorted(one["n"] for one in groups.values()) == [800] * 3


def test_every_group_is_printed(tmp_path, capsys):
    table = table_of([(None,), ("None",), ("west",)])
    joint = dc.Joint.from_table(table, secret="s", release="x")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    protocol.save(tmp_path / "p.json")
    pq.write_table(protocol.sanitise(table, keep=["k0"], keep_anyway=True), tmp_path / "r.parquet")
    groups = printed(capsys, "estimate", tmp_path / "p.json", tmp_path / "r.parquet", "--by", "k0")["groups"]
    assert [one["n"] for one in groups.values()] == [800] * 3
    assert "west" in groups


def test_only_what_is_called_alike_is_written_otherwise():
    assert named_apart([None, "b"], label) == ["missing", "b"]
    assert named_apart([None, "missing", "b"], label) == ["None", "'missing'", "b"]
    awkward = [None, "missing", "None", "'missing'", ("a", "b"), "a / b", "a\u202e", 1, "1"]
    assert len(set(named_apart(awkward, label))) == len(awkward)
