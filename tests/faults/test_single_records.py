"""One group of a single record does not stop the estimates of the others, which say that it was left out."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from typer.testing import CliRunner

import discreet as dc
from discreet.cli.app import application
from discreet.estimate import estimate_by, estimate_strata, weighted

CHANNEL = dc.Channel([[0.9, 0.2], [0.1, 0.8]], inputs=["a", "b"], outputs=["a", "b"])


def towns(*singles):
    return pa.table(
        {
            "release": ["a"] * 70 + ["b"] * 30 + ["a"] * len(singles),
            "town": ["N"] * 50 + ["S"] * 50 + list(singles),
        }
    )


def test_the_others_are_estimated_and_name_it() -> None:
    alone = estimate_by(towns(), CHANNEL, "town", column="release")
    found = estimate_by(towns("W"), CHANNEL, "town", column="release")
    assert list(found) == list(alone) == ["N", "S"]
    for town, one in found.items():
        np.testing.assert_array_equal(one.frequencies, alone[town].frequencies)
        np.testing.assert_array_equal(one.interval(), alone[town].interval())
        assert any(note.startswith("Left out") and note.endswith(": W.") for note in one.notes)
        assert not any(note.startswith("Left out") for note in alone[town].notes)


def test_many_of_them_are_told_by_their_number() -> None:
    found = estimate_by(towns(*map(str, range(20))), CHANNEL, "town", column="release")
    assert any(note.endswith(": 20 groups.") for note in found["N"].notes)


def test_nothing_but_single_records_is_refused() -> None:
    table = pa.table({"release": ["a", "b"], "town": ["N", "S"]})
    with pytest.raises(dc.TableError, match="no group of two records"):
        estimate_by(table, CHANNEL, "town", column="release")
    assert dc.estimate(table, CHANNEL, column="release").n == 2  # the remedy


def test_weights_say_what_to_do_with_it() -> None:
    table = towns("W")
    found = estimate_by(table, CHANNEL, "town", column="release")
    with pytest.raises(dc.AlphabetError, match="leave it out of both"):
        weighted(table, CHANNEL, found, by="town", column="release")
    without = towns()
    found = estimate_by(without, CHANNEL, "town", column="release")
    assert weighted(without, CHANNEL, found, by="town", column="release").shape == (100, 2)


def test_a_stratum_of_a_single_record(tmp_path) -> None:
    rows = [("u", "a"), ("v", "a"), ("u", "b"), ("v", "b")] * 100
    people = pa.table(
        {"s": [s for s, _ in rows] * 2, "x": [x for _, x in rows] * 2, "k": ["N"] * len(rows) + ["S"] * len(rows)}
    )
    joint = dc.Joint.from_table(people, secret="s", release="x", given="k")
    protocol = dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).protocol
    released = pa.table({"k": ["N"] * 60 + ["S"], "x": ["a", "b"] * 30 + ["a"]})
    found = estimate_strata(released, protocol)
    assert list(found) == [("N",)]
    assert any(note.endswith(": S.") for note in found["N",].notes)
    protocol.public().save(tmp_path / "public.json")
    csv.write_csv(released, tmp_path / "released.csv")
    asked = ["estimate", str(tmp_path / "public.json"), str(tmp_path / "released.csv"), "--by", "given"]
    ran = CliRunner().invoke(application("estimate"), [*asked, "--json"])
    assert ran.exit_code == 0, ran.output
    assert list(json.loads(ran.stdout)["groups"]) == ["N"]
    assert "Left out" in CliRunner().invoke(application("estimate"), asked).stdout
