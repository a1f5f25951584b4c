"""Every kind of protocol is released on Spark as on one machine; what a rehearsal refuses, Spark refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from standalone import missing

import discreet as dc
import discreet.spark
from discreet.exceptions import AlphabetError, ReleaseError, TableError

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]
RECORDS = 20_000


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(11)
    health = rng.choice(["ill", "well"], RECORDS, p=[0.3, 0.7])
    colour = np.where(rng.random(RECORDS) < 0.6, np.where(health == "ill", "red", "blue"), "green")
    place = rng.permutation(RECORDS) // 2
    return pa.table({"id": np.arange(RECORDS), "health": health.tolist(), "colour": colour.tolist(), "place": place})


KINDS: dict[str, tuple[str, Callable[[dc.Joint], dc.Protocol]]] = {
    "robust": ("colour", lambda joint: dc.design(joint, dc.RLDP(0.8, dc.Confidence(0.05))).protocol),
    "curator": ("colour", lambda joint: dc.design(joint.curator(), dc.LIP(0.4)).protocol),
    "10,000 letters": ("place", lambda joint: dc.design(joint, dc.LIP(0.5)).protocol),
}


@pytest.mark.parametrize("kind", KINDS)
def test_equals_one_machine(spark: Any, table: pa.Table, key: Path, tmp_path: Path, kind: str) -> None:
    release, made = KINDS[kind]
    protocol = made(dc.Joint.from_table(table, secret="health", release=release))
    options: dict[str, Any] = {"key": key, "identity": "id", "keep": ["id"], "keep_anyway": True}
    options["one_row_per_person"] = True
    pq.write_table(table, tmp_path / "table.parquet", row_group_size=RECORDS // 4)
    discreet.spark.sanitise(
        tmp_path / "table.parquet", protocol, to=tmp_path / "out", ledger=tmp_path / "ledger", **options
    )
    alone = protocol.sanitise(table, ledger=tmp_path / "other", **options).sort_by("id")
    found = pq.read_table(tmp_path / "out").sort_by("id")
    assert [found[name].to_pylist() for name in found.column_names] == [
        alone[name].to_pylist() for name in alone.column_names
    ]


def odd(table: pa.Table, records: int) -> pa.Table:
    cells = ["mauve"] * records + table["colour"].to_pylist()[records:]
    return table.set_column(table.column_names.index("colour"), "colour", pa.array(cells))


def codes(table: pa.Table) -> pa.Table:
    numbers = pa.array([{"red": 1, "green": 2, "blue": 3}[cell] for cell in table["colour"].to_pylist()])
    return table.set_column(table.column_names.index("colour"), "colour", numbers)


REFUSED: dict[str, tuple[Callable[[pa.Table], pa.Table], str, type[Exception], str]] = {
    "codes for labels": (codes, "out", TableError, "records have a value that the protocol does not know"),
    "unknown above 5 %": (lambda table: odd(table, RECORDS // 20 + 1), "out", TableError, "does not know"),
    "another column": (lambda table: table.rename_columns(["id", "health", "hue", "place"]), "out", AlphabetError,
                       "no such column"),
    "a suffix": (lambda table: table, "out.csv", ReleaseError, "a folder of Parquet files"),
}  # fmt: skip


@pytest.mark.parametrize("fault", REFUSED)
def test_what_a_rehearsal_refuses(
    spark: Any, table: pa.Table, protocol: Any, key: Path, tmp_path: Path, fault: str
) -> None:
    changed, to, kind, words = REFUSED[fault]
    pq.write_table(changed(table), tmp_path / "table.parquet")
    with pytest.raises(kind, match=words):
        discreet.spark.sanitise(
            tmp_path / "table.parquet", protocol, to=tmp_path / to, key=key, identity="id", ledger=tmp_path / "ledger",
            one_row_per_person=True,
        )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["table.parquet"]


def test_unknown_up_to_5_percent_are_released(
    spark: Any, table: pa.Table, protocol: Any, key: Path, tmp_path: Path
) -> None:
    pq.write_table(odd(table, RECORDS // 20), tmp_path / "table.parquet")
    outcome = discreet.spark.sanitise(
        tmp_path / "table.parquet", protocol, to=tmp_path / "out", key=key, identity="id", ledger=tmp_path / "ledger",
        one_row_per_person=True,
    )  # fmt: skip
    assert (outcome.records, outcome.unknown) == (RECORDS, RECORDS // 20)
