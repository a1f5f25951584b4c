"""Groupings in use: counted, written, read again and applied wherever the column is read."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.exceptions import AlphabetError, ParameterError
from discreet.protocol import Protocol
from discreet.records.grouping import Bins, ColumnGrouping, Rest

RNG = np.random.default_rng(5)
AGES = RNG.integers(0, 90, 2000)
JOBS = RNG.choice(["a", "b", "c", "rare1", "rare2"], 2000, p=[0.5, 0.3, 0.19, 0.005, 0.005])
TABLE = pa.table({"age": AGES, "job": JOBS})
GROUP = dc.Grouping(bins={"age": [0, 18, 65]}, rare={"job": 50})


def test_counts_are_those_of_the_table_grouped_by_hand() -> None:
    joint = dc.Joint.from_table(TABLE, secret="age", release="job", group=GROUP)
    assert joint.secret_letters == ("0 to under 18", "18 to under 65", "65 and over")
    assert joint.release_letters == ("a", "b", "c", "other")
    frame = TABLE.to_pandas()
    frame["age"] = pd.cut(frame["age"], [0, 18, 65, 200], right=False)
    frame["job"] = frame["job"].where(~frame["job"].str.startswith("rare"), "other")
    by_hand = pd.crosstab(frame["age"], frame["job"]).to_numpy()
    assert joint.counts is not None
    assert np.array_equal(joint.counts, by_hand)


@pytest.mark.parametrize("kind", ["csv", "pandas", "polars", "parquet"])
def test_every_source_counts_alike(kind: str, tmp_path: Path) -> None:
    frame = TABLE.to_pandas()
    if kind == "csv":
        frame.to_csv(tmp_path / "t.csv", index=False)
    if kind == "parquet":
        frame.to_parquet(tmp_path / "t.parquet")
    source = {"pandas": frame, "polars": pl.from_arrow(TABLE)}.get(kind, tmp_path / f"t.{kind}")
    group = dc.Grouping(bins={"age": "quantiles:4"}, rare=50)
    found = dc.Joint.from_table(source, secret="age", release="job", group=group)
    known = dc.Joint.from_table(TABLE, secret="age", release="job", group=group)
    assert found.secrets == known.secrets
    assert found.releases == known.releases
    assert np.array_equal(found.probabilities, known.probabilities)


@pytest.fixture(scope="module")
def protocol(tmp_path_factory: pytest.TempPathFactory) -> Protocol:
    joint = dc.Joint.from_table(TABLE, secret="job", release="age", group=GROUP)
    path = tmp_path_factory.mktemp("grouped") / "protocol.json"
    dc.design(joint, dc.LIP(1.0), time_limit=5).protocol.save(path)
    return Protocol.load(path)


def test_the_file_keeps_the_steps_and_no_rare_value(protocol: Protocol, tmp_path: Path) -> None:
    assert protocol.joint.releases[0].grouping == ColumnGrouping((Bins(("0", "18", "65")),))
    assert protocol.joint.secrets[0].grouping == ColumnGrouping((Rest(("a", "b", "c")),))
    protocol.save(tmp_path / "p.json")
    assert "rare" not in (tmp_path / "p.json").read_text()


def test_releases_group_what_they_read(protocol: Protocol) -> None:
    """A value no table had, but whose bin is known, is a letter; what is no number is drawn from the population."""
    from discreet.records.letters import LetterReader

    cells = pa.array(["17.5", "18", "88.25", "?", None, "-3"])
    codes = LetterReader(protocol.joint.reads).codes([cells]).tolist()
    assert codes == [0, 1, 2, 3, 3, 3]
    released = protocol.sanitise(TABLE)
    assert len(released) == len(TABLE)
    found = dc.estimate(released, protocol)
    assert found.letters == protocol.joint.release_letters


def test_bins_on_another_column_would_have_been_unknown_values(protocol: Protocol) -> None:
    """The planted fault: without the grouping no age is a letter, and every record is a draw from the population."""
    from dataclasses import replace

    from discreet.records.letters import LetterReader

    bare = tuple(replace(attribute, grouping=None) for attribute in protocol.joint.reads)
    assert set(LetterReader(bare).codes([TABLE["age"].combine_chunks()]).tolist()) == {3}


def test_a_stream_is_read_once() -> None:
    learnt = dc.Grouping(bins={"age": "quantiles:3"})
    with pytest.raises(ParameterError, match="stream"):
        dc.Joint.from_table(TABLE.to_reader(), secret="job", release="age", group=learnt)
    fixed = dc.Grouping(bins={"age": [0, 50]})
    assert dc.Joint.from_table(TABLE.to_reader(), secret="job", release="age", group=fixed).shape == (2,)
    with pytest.raises(ParameterError, match="not used"):
        dc.Joint.from_table(TABLE, secret="job", release="age", group=dc.Grouping(bins={"wage": [0]}))


def test_dates_truth_values_and_intervals_are_letters() -> None:
    days = pd.to_datetime(["2020-01-01", "2021-05-05"] * 50)
    frame = pd.DataFrame({"cut": pd.cut(pd.Series(np.arange(100) % 10), [-1, 3, 6, 10]), "day": days})
    frame["yes"] = [True, False, False, True] * 25
    joint = dc.Joint.from_table(frame, secret="yes", release=["cut", "day"])
    assert joint.releases[0].letters == ("(-1, 3]", "(3, 6]", "(6, 10]")
    assert joint.releases[1].letters == ("2020-01-01", "2021-05-05")
    texts = frame.assign(day=frame["day"].astype(str), cut=frame["cut"].astype(str))
    from discreet.records.letters import LetterReader

    reader = LetterReader(joint.releases)
    from_text = reader.codes([pa.array(texts["cut"]), pa.array(texts["day"])])
    assert (from_text < reader.size).all()
    with pytest.raises(AlphabetError):
        dc.Joint.from_table(pa.table({"a": [[1], [2]], "b": [1, 2]}), secret="b", release="a")


def test_merged_secrets_are_merged_wherever_they_are_read() -> None:
    joint = dc.Joint.from_table(TABLE, secret="job", release="age", group=dc.Grouping(bins={"age": [30, 60]}))
    merged = joint.merge_secrets(["rare1", "rare2"], "few")
    grouping = merged.secrets[0].grouping
    assert grouping is not None
    assert grouping.apply(pa.array(["rare1", "a"], pa.large_string())).to_pylist() == ["few", "a"]
