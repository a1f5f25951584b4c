"""Kept columns of a release in parts: whatever they are called and of whatever type, as on one machine."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parts_carrier import TableCarrier

import discreet as dc
from discreet.records.no_numbers import NoNumbers
from discreet.release.assembly import PartsRequest, release_in_parts
from discreet.release.ledger import Ledger
from discreet.release.whose_rows import RowsAsked

BASE: dict[str, Any] = {"s": ["a", "b"] * 50, "x": ["p", "p", "q", "q"] * 25}
MOMENTS = [datetime.datetime(2020, 1, 1, 5), datetime.datetime(2021, 7, 1, 5)] * 50
KEPT: dict[str, Any] = {
    "records": [1, 2, 3, 4, 5] * 20,
    "place": [1, 2] * 50,
    "list": [[1, 2], [3]] * 50,
    "struct": [{"u": 1, "v": [1.5]}, None] * 50,
    "map": pa.array([[("a", 1)], [("b", 2)]] * 50, pa.map_(pa.string(), pa.int64())),
    "moment": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
}


@pytest.fixture(scope="module")
def protocol() -> Any:
    return dc.design(dc.Joint.from_table(pa.table(BASE), secret="s", release="x"), dc.LIP(0.5)).protocol


def request(protocol: Any, folder: Path, name: str, **options: Any) -> PartsRequest:
    asked = {"keep_anyway": True, "ledger": folder / "ledger", "rows": RowsAsked(one_row_per_person=True)}
    return PartsRequest(protocol, folder / "out", (name,), **{**asked, **options})


@pytest.mark.parametrize("name", KEPT)
def test_is_released(protocol: Any, tmp_path: Path, name: str) -> None:
    """A column called "records" was taken for the counts, and lists, structs and maps could not be counted: with the
    secret in the table a worker broke off."""
    table = pa.table({**BASE, name: KEPT[name]})
    assert release_in_parts(request(protocol, tmp_path, name), TableCarrier(table)).records == len(table)
    kept = pq.read_table(tmp_path / "out")[name].to_pylist()
    assert sorted(map(repr, kept)) == sorted(map(repr, table[name].to_pylist()))


def test_what_tells_of_the_secret_is_refused_in_a_list_too(protocol: Any, tmp_path: Path) -> None:
    table = pa.table({**BASE, "list": [[one] for one in BASE["s"]]})
    with pytest.raises(dc.ReleaseError, match="kept columns tell"):
        release_in_parts(request(protocol, tmp_path, "list", keep_anyway=False), TableCarrier(table))


def test_moments_in_the_zone_of_a_worker(protocol: Any, tmp_path: Path) -> None:
    """A worker may be told another zone than the schema has: the writer broke off."""

    class Elsewhere(TableCarrier):
        @property
        def schema(self) -> pa.Schema:
            moved = self.table.schema
            return moved.set(moved.get_field_index("moment"), pa.field("moment", pa.timestamp("us", "Asia/Tokyo")))

    table = pa.table({**BASE, "moment": KEPT["moment"]})
    assert release_in_parts(request(protocol, tmp_path, "moment"), Elsewhere(table)).records == len(table)
    found = pq.read_table(tmp_path / "out")["moment"].cast(pa.timestamp("us", "UTC"))
    assert sorted(found.to_pylist()) == sorted(table["moment"].to_pylist())


@pytest.mark.parametrize("name", ["discreet records", "discreet id"])
def test_names_that_are_kept_are_refused_by_name(protocol: Any, tmp_path: Path, name: str) -> None:
    table = pa.table({**BASE, name: KEPT["records"]})
    with pytest.raises(dc.AlphabetError, match="keeps for itself"):
        release_in_parts(request(protocol, tmp_path, name), TableCarrier(table))


def test_numbers_that_cannot_be_read_do_not_lose_the_counts(tmp_path: Path) -> None:
    """What was missing of a numeric column once took the place of the counted cells."""
    ages = [str(age) for age in range(100)]
    counted = pa.table({"s": BASE["s"], "x": [None, *ages[1:]]})
    table = pa.table({"s": BASE["s"], "x": ["31 years", *ages[1:]], "list": KEPT["list"]})
    group = dc.Grouping.parse(["x=30,60"], [])
    protocol = dc.design(dc.Joint.from_table(counted, secret="s", release="x", group=group), dc.LIP(0.5)).protocol
    asked = request(protocol, tmp_path, "list", unknown_anyway=True)
    with pytest.warns(NoNumbers, match="1 of 100"):
        assert release_in_parts(asked, TableCarrier(table)).records == len(table)


def test_the_first_release_of_a_user_makes_the_folder(
    protocol: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was refused, as the folder of all ledgers was not there yet."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    asked = PartsRequest(protocol, tmp_path / "out", rows=RowsAsked(one_row_per_person=True))
    assert release_in_parts(asked, TableCarrier(pa.table(BASE))).draws == 1
    assert Ledger.of_user(protocol).draws() == 1
    with pytest.raises(dc.ReleaseError, match="No such file"):
        Ledger(tmp_path / "nowhere" / "book", protocol).foretold()
