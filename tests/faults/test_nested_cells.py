"""Kept cells that have parts: lists, records, maps come out as they went in, or as text, or not at all."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import frames
from discreet.records.cells import bare

ROWS = 40
KEPT = {"keep": ["k"], "keep_order": True, "keep_anyway": True, "one_row_per_person": True}


@pytest.fixture(scope="module")
def protocol() -> dc.Protocol:
    table = pa.table({"s": ["a", "b"] * 200, "x": ["x", "y", "y", "y"] * 100})
    return dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.5)).protocol


# ---- duckdb ---------------------------------------------------------------------------------------------------------

CUT = {
    "UHUGEINT": ("340282366920938463463374607431768211450", "340282366920938463463374607431768211451"),
    "TIMETZ": ("12:00:00+01", "12:00:00+02"),
    "BIT": ("10", "010"),
    "GEOMETRY": ("POINT (0 0)", "POINT (0.1 0)"),
    "TIME": ("24:00:00", "00:00:00"),
    "TIMESTAMPTZ": ("2020-01-01 00:00:00+01", "2020-01-01 00:00:00+02"),
    "ENUM ('BIT', 'TIMETZ')": ("BIT", "TIMETZ"),
}
WITHIN = {
    "struct": "{{'a': {0}}}",
    "a field named so": "{{'BIT': {0}}}",
    "list": "[{0}, null]",
    "array": "array_value({0}, {0})",
    "map": "map([1], [{0}])",
    "key": "map([{0}], [1])",
    "deep": "[{{'a': map([1], [{{'b': [{0}]}}])}}]",
}


def kept_by_duckdb(protocol: dc.Protocol, kind: str, values: tuple[str, str], within: str) -> tuple[Any, Any]:
    """The cells as duckdb writes them, before and after."""
    chosen = f"(case i % 2 when 0 then '{values[0]}'::{kind} else '{values[1]}'::{kind} end)"
    columns = "['a', 'b'][i % 2 + 1] as s, ['x', 'y'][i % 2 + 1] as x"
    with duckdb.connect() as connection:
        source = connection.sql(f"select {columns}, {within.format(chosen)} as k from range({ROWS}) t(i) order by i")
        before = source.project("k::varchar").fetchall()
        released = protocol.sanitise(source, **KEPT)
        return before, released.project("k::varchar").fetchall()


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("kind", CUT)
def test_parts_of_cells_of_duckdb_stay_what_they_are(protocol: dc.Protocol, kind: str, within: str) -> None:
    """Once −6 for 2^128 − 6, no zone, bytes for bits; and the first name of an ENUM in an array for every one."""
    before, after = kept_by_duckdb(protocol, kind, CUT[kind], WITHIN[within])
    assert len(set(before)) == 2
    assert after == before


def test_a_union_is_not_text_that_hides_which_of_its_types_a_cell_has(protocol: dc.Protocol) -> None:
    with pytest.raises(dc.TableError, match=r"read|kept"):
        kept_by_duckdb(protocol, "BIT", ("1", "0"), "{{'a': union_value(u := {0})}}")


def test_fields_have_no_dictionaries() -> None:
    """Which duckdb reads wrongly in lists of a fixed size."""
    coded = pa.dictionary(pa.int8(), pa.string())
    assert bare(pa.list_(coded, 2)) == pa.list_(pa.string(), 2)
    assert bare(pa.struct([("a", pa.map_(pa.string(), coded))])) == pa.struct(
        [("a", pa.map_(pa.string(), pa.string()))]
    )


# ---- Python objects -------------------------------------------------------------------------------------------------

DAY, MOMENT = dt.date(2020, 1, 1), dt.datetime(2020, 1, 1, 5, 30)
BERLIN = ZoneInfo("Europe/Berlin")
APART: dict[str, tuple[Any, Any]] = {
    "a date and a moment of that day": (DAY, MOMENT),
    "a truth value and a number": (True, 1.0),
    "a truth value of numpy": (np.bool_(True), 1),
    "a time with a zone": (dt.time(8), dt.time(8, tzinfo=dt.UTC)),
    "two zones": (MOMENT.replace(tzinfo=dt.UTC), (MOMENT + dt.timedelta(hours=1)).replace(tzinfo=BERLIN)),
    "nanoseconds": (dt.datetime(2020, 1, 1), pd.Timestamp("2020-01-01 00:00:00.000000001")),
    "a duration of nanoseconds": (dt.timedelta(0), pd.Timedelta(1, "ns")),
    "2^53 + 1 beside a fraction": (2**53 + 1, 0.5),
    "bytes and text": (b"a", "a"),
    "decimals and floats": (Decimal("0.1"), 0.1),
}
PARTS: dict[str, Any] = {
    "list": lambda part: [part],
    "tuple": lambda part: (None, part),
    "record": lambda part: {"a": part},
    "deep": lambda part: [{"a": [part]}],
    "array": lambda part: np.array([part, None], dtype=object),
}
FRAMES = {"pandas": lambda table, cells: pd.DataFrame({**table, "k": cells}), "polars": None}
FRAMES["polars"] = lambda table, cells: pl.DataFrame({**table, "k": pl.Series(list(cells), dtype=pl.Object)})


def kept_objects(protocol: dc.Protocol, values: list[Any], frame: str = "pandas") -> Any:
    cells = np.empty(ROWS, object)
    for place in range(ROWS):
        cells[place] = values[place % len(values)]
    table = {"s": ["a", "b"] * (ROWS // 2), "x": ["x", "y"] * (ROWS // 2)}
    return protocol.sanitise(FRAMES[frame](table, cells), **KEPT)["k"]


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("name", APART)
def test_parts_that_differ_stay_apart(protocol: dc.Protocol, name: str, parts: str, frame: str) -> None:
    """As text where Arrow would cut one to fit the other, as outside of lists and records."""
    one, other = map(PARTS[parts], APART[name])
    found = kept_objects(protocol, [one, other], frame)
    assert isinstance(found[0], str)
    assert found[0] != found[1]


def test_cells_without_a_type_in_arrow_may_occur_twice(protocol: dc.Protocol) -> None:
    """They are the same text because they are the same."""
    assert set(kept_objects(protocol, [{"a": {1}}, [{2}], {"a": {1}}])) == {"{'a': {1}}", "[{2}]"}


def test_without_the_second_look_they_are_cut(protocol: dc.Protocol, monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted fault."""
    monkeypatch.setattr(frames, "_every_one", lambda values, cells: True)
    assert not isinstance(kept_objects(protocol, [[DAY], [MOMENT]])[0], str)


WHOLE: dict[str, list[Any]] = {
    "numbers": [[1, 2], [3.5, None], []],
    "text": [["a", " a"], None],
    "arrays": [np.array([1, 2]), np.array([3, 4])],
    "records": [{"a": 1, "b": ["x"]}, {"a": 2}, {"a": None, "b": None}],
    "moments": [[MOMENT], [pd.Timestamp("2021-01-01"), None]],
    "moments of one zone": [[MOMENT.replace(tzinfo=BERLIN)], [MOMENT.replace(tzinfo=BERLIN) + dt.timedelta(1)]],
    "moments in records": [{"at": MOMENT.replace(tzinfo=dt.UTC)}, {"at": None}],
    "days": [{"at": DAY}, {"at": dt.date(2021, 1, 1)}],
    "truth values": [[True, False], [None]],
    "not a number": [[1.5, float("nan")], [2.5, 3.5]],
}


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", WHOLE)
def test_ordinary_parts_stay_parts(protocol: dc.Protocol, name: str, frame: str) -> None:
    found = kept_objects(protocol, WHOLE[name], frame)
    for cell, value in zip(found, WHOLE[name], strict=False):
        listed = cell.to_list() if isinstance(cell, pl.Series) else cell
        assert not isinstance(listed, str)
        assert listed is value is None or frames.identity(listed) == frames.identity(value)


def test_a_long_array_is_not_told_with_dots(protocol: dc.Protocol) -> None:
    found = kept_objects(protocol, [np.arange(5000).astype(object), np.array(["a", 1], dtype=object)])
    assert found[0] == str(list(range(5000)))
    days = np.arange(3000).astype("M8[D]")
    assert "..." not in kept_objects(protocol, [{"d": np.array(["a", 1], dtype=object)}, {"d": days}])[1]


# ---- what comes back as a frame of pandas ---------------------------------------------------------------------------

ZONED = pa.array([1_577_856_600_000_001] * ROWS, pa.int64())
MOMENTS = {
    "zone": ZONED.view(pa.timestamp("us", "Europe/Berlin")),
    "nanoseconds": ZONED.view(pa.timestamp("ns")),
    "duration": ZONED.view(pa.duration("ns")),
}
OFFSETS = pa.array(range(ROWS + 1), pa.int32())
MADE = {
    "list": lambda cells: pa.ListArray.from_arrays(OFFSETS, cells),
    "struct": lambda cells: pa.StructArray.from_arrays([cells], ["a"]),
    "map": lambda cells: pa.MapArray.from_arrays(OFFSETS, pa.array(["a"] * ROWS), cells),
    "deep": lambda cells: pa.ListArray.from_arrays(OFFSETS, pa.StructArray.from_arrays([cells], ["a"])),
}


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("kind", MOMENTS)
def test_moments_inside_of_cells_come_back_to_pandas(protocol: dc.Protocol, kind: str, made: str) -> None:
    """Once without their zone in lists, and as numbers in records and maps."""
    kept = MADE[made](MOMENTS[kind])
    table = pa.table({"s": ["a", "b"] * (ROWS // 2), "x": ["x", "y"] * (ROWS // 2), "k": kept})
    found = protocol.sanitise(table.to_pandas(types_mapper=pd.ArrowDtype), **KEPT)["k"]
    assert pa.chunked_array(found.array.__arrow_array__()).combine_chunks().equals(kept)
