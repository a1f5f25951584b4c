"""Counts by one groupBy are the counts of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from standalone import missing

import discreet as dc
import discreet.spark
from discreet.exceptions import AlphabetError
from discreet.spark.cluster import OpenShuffles, warn_open_shuffles

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]


def test_the_joint_is_that_of_one_machine(frame: Any, people: pa.Table) -> None:
    found = discreet.spark.joint(frame, secret="health", release=["colour", "region"])
    alone = dc.Joint.from_table(people, secret="health", release=["colour", "region"])
    assert np.array_equal(found.counts, alone.counts)
    assert found.releases == alone.releases
    learnt = {"secret": "health", "release": "number", "group": dc.Grouping.parse(["number=quantiles:4"])}
    assert discreet.spark.joint(frame, **learnt).releases == dc.Joint.from_table(people, **learnt).releases
    with pytest.raises(AlphabetError, match="no such column"):
        discreet.spark.joint(frame, secret="health", release="nothing")


def test_an_estimate_is_that_of_one_machine(spark: Any, frame: Any, protocol: Any, tmp_path: Path, key: Path) -> None:
    to = tmp_path / "out"
    discreet.spark.sanitise(frame, protocol, to=to, key=key, identity="id", ledger=tmp_path / "ledger")
    found = discreet.spark.estimate(spark.read.parquet(str(to)), protocol, method="likelihood")
    alone = dc.estimate(pa.parquet.read_table(to), protocol, method="likelihood")
    assert np.allclose(found.frequencies, alone.frequencies, atol=1e-12)
    assert found.n == len(pa.parquet.read_table(to))


def test_shuffles_in_the_clear_are_warned_of(spark: Any) -> None:
    class Settings:
        class conf:
            @staticmethod
            def get(name: str, default: str) -> str:
                return default

    with pytest.warns(OpenShuffles):
        warn_open_shuffles(Settings())  # type: ignore[arg-type]
    warn_open_shuffles(spark)
