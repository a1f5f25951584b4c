"""A release on a cluster is the release of one machine, cell by cell, whatever happens to the cluster."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from standalone import Cluster, missing

import discreet as dc
import discreet.spark
from discreet.exceptions import AlphabetError, BudgetError, ParameterError, ReleaseError, TableError
from discreet.release.ledger import Ledger

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]
KEEP = ["number", "region"]


def test_equals_one_machine_cell_by_cell_and_again(
    frame: Any, released: Any, alone: pa.Table, protocol: Any, tmp_path: Path
) -> None:
    """Two releases of one frame are two actions; the ledger counts one draw, and the orders have nothing in common."""
    first = released(frame)
    assert first.equals(alone)
    assert released(frame).equals(alone)
    assert Ledger(tmp_path / "ledger", protocol).draws() == 1
    orders = [pq.read_table(tmp_path / f"out{i}")["number"].to_pylist() for i in range(2)]
    assert orders[0] != orders[1] != sorted(orders[1])
    manifest = json.loads((tmp_path / "out0" / "_manifest.json").read_text())
    assert manifest["records"] == sum(one["records"] for one in manifest["files"]) == len(alone)
    for one in manifest["files"]:
        assert hashlib.sha256((tmp_path / "out0" / one["name"]).read_bytes()).hexdigest() == one["sha256"]
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_without_ids_every_release_is_a_draw(spark: Any, frame: Any, protocol: Any, tmp_path: Path) -> None:
    options = {"keep": KEEP, "keep_anyway": True, "ledger": tmp_path / "ledger"}
    outcome = discreet.spark.sanitise(frame, protocol, to=tmp_path / "out", **options)
    assert outcome.records == frame.count()
    assert outcome.draws == 1
    assert json.loads((tmp_path / "out" / "_manifest.json").read_text())["identity"]["column"] is None
    with pytest.raises(BudgetError):
        discreet.spark.sanitise(frame, protocol, to=tmp_path / "again", **options)
    assert not (tmp_path / "again").exists()


def test_refusals_of_one_machine(spark: Any, frame: Any, people: pa.Table, released: Any, tmp_path: Path) -> None:
    from pyspark.sql import functions

    def refused(kind: type[Exception], words: str, table: Any = frame, **options: Any) -> None:
        with pytest.raises(kind, match=words):
            released(table, **options)

    odd = frame.withColumn("colour", functions.lit("nobody's colour"))
    refused(TableError, "records have a value that the protocol does not know", odd)
    refused(ReleaseError, "kept columns tell about the secret", frame.withColumn("region", functions.col("health")),
            keep_anyway=False)  # fmt: skip
    refused(ReleaseError, "carry an id that another", frame.union(frame), one_row_per_person=True)
    refused(ReleaseError, "looks like an id, and ids occur in it several times", frame.union(frame))
    refused(ReleaseError, "only one row for each of them", person="region", rows="one")
    twice = frame.withColumn("id", functions.col("region"))
    refused(ReleaseError, "persons have rows with different values", twice, several_rows=True, one_row_per_person=True)
    refused(ReleaseError, "counted rows: its level is not theirs", twice, several_rows=True)
    refused(TableError, "a record has no id", frame.withColumn("id", functions.lit(None).cast("string")))
    refused(AlphabetError, "no such column", identity="nobody")
    refused(AlphabetError, "cannot be kept", keep=["health"])
    refused(ParameterError, "go together", identity=None)
    refused(ParameterError, "no frame of Spark", people)
    policy = tmp_path / "policy.toml"
    policy.write_text("k = 5\n")
    refused(ReleaseError, "k = 5", policy=policy)
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]
    assert not (tmp_path / "ledger").exists() or not (tmp_path / "ledger").read_text()


def test_given_columns_groupings_and_several_rows(
    spark: Any, people: pa.Table, frame: Any, key: Path, tmp_path: Path
) -> None:
    """A protocol with strata, on numbers in bins, with rows that share an id."""
    from pyspark.sql import functions

    options = {
        "secret": "health",
        "release": "number",
        "given": ["region"],
        "group": dc.Grouping.parse(["number=0,5000,9000"]),
    }
    joint = discreet.spark.joint(frame, **options)
    design = dc.design(joint, dc.LIP(0.4))
    assert dc.design(dc.Joint.from_table(people, **options), dc.LIP(0.4)).protocol.digest == design.protocol.digest
    alike = functions.concat("region", functions.floor(functions.col("number") / 1000).cast("string"))
    twice = frame.withColumn("id", alike)  # rows that share an id share their value: a thousand lies in one bin
    release = {"key": key, "identity": "id", "several_rows": True, "one_row_per_person": True}
    book = {"ledger": tmp_path / "ledger", "people": "strata"}
    keep = {"keep": ["when"], "keep_anyway": True}
    discreet.spark.sanitise(twice, design.protocol, to=tmp_path / "out", **release, **book, **keep)
    thousands = pa.compute.floor(pa.compute.divide(people["number"].cast(pa.float64()), 1000)).cast(pa.int64())
    ids = pa.compute.binary_join_element_wise(people["region"].cast(pa.string()), thousands.cast(pa.string()), "")
    shared = people.set_column(0, "id", ids)
    here = design.protocol.sanitise(shared, **release, **keep)
    there = pq.read_table(tmp_path / "out")
    assert there.column_names == here.column_names
    rows = [sorted(map(repr, one.select(["number", "region"]).to_pylist())) for one in (here, there)]
    assert rows[0] == rows[1]
    moments = [pa.compute.sort_indices(one["when"].cast(pa.int64())) for one in (here, there)]
    assert here.take(moments[0])["number"].to_pylist() == there.take(moments[1])["number"].to_pylist()


def test_no_value_and_no_key_in_plans_logs_and_events(
    cluster: Cluster, spark: Any, frame: Any, released: Any, driver_log: Path, key: Path
) -> None:
    """Of everything that was run on this cluster so far."""
    released(frame)
    secret = key.read_bytes()
    words = (b"CANARY", secret, secret.hex().encode())
    places = [
        driver_log,
        *cluster.folder.glob("*.log"),
        *(cluster.folder / "events").rglob("*"),
        *cluster.folder.rglob("std*"),
    ]
    searched = [path for path in places if path.is_file()]
    content = b"".join(path.read_bytes() for path in searched)
    assert b"mapInArrow" in content or b"MapInArrow" in content, "the plan was not written down"
    assert [word for word in words if word in content] == []
    assert not [
        path for path in (cluster.folder / "local").rglob("*") if path.is_file() and b"CANARY" in path.read_bytes()
    ]
