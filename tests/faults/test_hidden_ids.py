"""Whose rows they are is asked of every table: nothing else in it, and no kind of table, hides a column of ids."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.release import Job, sanitise_file
from discreet.release.assembly import PartsRequest

ROWS = 600
ASKED = r"looks like an id.*--one-row-per-person"


@pytest.fixture(scope="module")
def table() -> pa.Table:
    rng = np.random.default_rng(1)
    s = rng.integers(0, 2, ROWS)
    x = (s + rng.integers(0, 3, ROWS)) % 3
    return pa.table({"pid": np.arange(ROWS) // 3, "s": s, "x": x})


@pytest.fixture(scope="module")
def protocol(table: pa.Table) -> Any:
    return dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.3)).protocol


class OnlyAStream:
    def __init__(self, table: pa.Table) -> None:
        self._reader = table.to_reader()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._reader.__arrow_c_stream__(requested_schema)


class Unwritable:
    def __str__(self) -> str:
        return "alike"


def text(table: pa.Table, first: str) -> bytes:
    lines = [",".join(map(str, row.values())) + ",7,8" for row in table.to_pylist()]
    return ("\n".join([first, *lines]) + "\n").encode()


HEADERS = ["pid,s,x,2020,2021", "pid,s,x,a,a", "pid,s,x,,", "pid,s,x,8,8", "pid,s,x,7,b"]


@pytest.mark.parametrize("first", HEADERS)
def test_a_header_that_may_be_a_record(first: str, table: pa.Table, protocol: Any, tmp_path: Path) -> None:
    protocol.save(tmp_path / "p.json")
    (tmp_path / "t.csv").write_bytes(text(table, first))
    job = Job(tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "out.csv"))
    with pytest.raises(dc.ReleaseError, match=ASKED) as caught:
        sanitise_file(job)
    assert "column number 1" in str(caught.value)
    assert not (tmp_path / "out.csv").exists()
    [refusal] = protocol.check(str(tmp_path / "t.csv")).refusals
    assert refusal.what == caught.value.what


def test_columns_that_cannot_be_judged_silence_no_others(table: pa.Table, protocol: Any) -> None:
    frame = table.to_pandas()
    frame[2020] = 1
    for other in (frame, frame.assign(odd=[Unwritable() for _ in range(ROWS)])):
        with pytest.raises(dc.ReleaseError, match=ASKED):
            protocol.sanitise(other)
    twice = pa.table([*table.columns, table["x"], table["x"]], names=["pid", "s", "x", "w", "w"])
    with pytest.raises(dc.ReleaseError, match=ASKED):
        protocol.sanitise(twice)
    two_ids = pa.table([table["pid"], table["pid"], table["s"], table["x"]], names=["pid", "pid", "s", "x"])
    with pytest.raises(dc.ReleaseError, match=ASKED):
        protocol.sanitise(two_ids)


def test_parquet_with_two_columns_of_one_name(table: pa.Table, protocol: Any, tmp_path: Path) -> None:
    two_ids = pa.table([table["pid"], table["s"], table["x"], table["pid"]], names=["pid", "s", "x", "pid"])
    pq.write_table(two_ids, tmp_path / "t.parquet")
    with pytest.raises(dc.ReleaseError, match=ASKED):
        protocol.sanitise(tmp_path / "t.parquet")
    carrier = SimpleNamespace(schema=two_ids.schema, repeated=lambda names: None)
    carrier.first = lambda records: two_ids.slice(0, records)
    with pytest.raises(dc.ReleaseError, match=ASKED):
        PartsRequest(protocol, tmp_path / "out").check_rows(protocol, carrier)


def test_an_id_whose_values_differ_and_are_written_alike(table: pa.Table, protocol: Any) -> None:
    ids = [str(i // 2) if i % 2 else i // 2 for i in range(ROWS)]
    with pytest.raises(dc.ReleaseError, match=ASKED):
        protocol.sanitise(table.to_pandas().assign(pid=pd.Series(ids, dtype=object)))


def test_streams_are_judged_as_they_pass(table: pa.Table, protocol: Any) -> None:
    for stream in (table.to_reader(), OnlyAStream(table), table.to_reader(max_chunksize=50)):
        with pytest.raises(dc.ReleaseError, match=ASKED):
            protocol.sanitise(stream)
    [refusal] = protocol.check(table.to_reader()).refusals
    assert "looks like an id" in refusal.what
    single = table.set_column(0, "pid", pa.array(range(ROWS)))
    assert protocol.sanitise(single.to_reader()).read_all().num_rows == ROWS
    assert len(protocol.sanitise(OnlyAStream(single))) == ROWS
    said = protocol.sanitise(table.to_reader(), one_row_per_person=True).read_all()
    assert said.num_rows == ROWS


def test_ids_that_repeat_far_behind_in_a_stream(table: pa.Table, protocol: Any) -> None:
    often = pa.concat_tables([table] * 100)
    ids = np.arange(len(often))
    single = often.set_column(0, "pid", pa.array(ids))
    assert protocol.sanitise(single.to_reader(max_chunksize=1000)).read_all().num_rows == len(often)
    ids[-1] = 0
    with pytest.raises(dc.ReleaseError, match=ASKED):
        protocol.sanitise(often.set_column(0, "pid", pa.array(ids)).to_reader(max_chunksize=1000))


@pytest.mark.parametrize("first", ["pid,s,x,a,b", *HEADERS])
def test_standard_input(first: str, table: pa.Table, protocol: Any, tmp_path: Path) -> None:
    protocol.save(tmp_path / "p.json")
    (tmp_path / "t.csv").write_bytes(text(table, first))
    with (tmp_path / "t.csv").open("rb") as file:
        kept = os.dup(0)
        os.dup2(file.fileno(), 0)
        try:
            with pytest.raises(dc.ReleaseError, match=ASKED):
                sanitise_file(Job(tmp_path / "p.json", "-", str(tmp_path / "out.csv")))
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    assert not (tmp_path / "out.csv").exists()
