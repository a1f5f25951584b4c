"""Kept columns of every Arrow type that carries text, bytes or fields: nothing in CSV is executed, and no metadata of
the input is in what is released."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.records.cells import bare, rebuilt
from discreet.records.writer import _csv_cells, csv_lines
from discreet.release import Job, sanitise_file

FORMULA = b"=1+1+cmd|' /C calc'!A0"
ROWS = 40
CANARY = "CANARY: patient 4711 was removed"


@pytest.fixture(scope="module")
def protocol() -> Any:
    table = pa.table({"s": ["a", "b"] * 200, "x": ["x", "y", "y", "y"] * 100})
    return dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.5)).protocol


def released(protocol: Any, kept: pa.Array, folder: Path, kind: str) -> Path:
    """The file of a release that keeps this column as it is."""
    protocol.save(folder / "p.json")
    table = pa.table({"s": ["a", "b"] * (ROWS // 2), "x": ["x", "y"] * (ROWS // 2), "k": kept})
    source = folder / "t.arrow"
    with pa.ipc.new_file(source, table.schema) as writer:
        writer.write_table(table)
    target = folder / f"o.{kind}"
    sanitise_file(Job(folder / "p.json", str(source), str(target), keep=("k",), testing=True, data=kind))
    return target


TEXTS: dict[str, pa.DataType] = {
    str(kind): kind
    for kind in (
        pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(),
        pa.binary(len(FORMULA)),
    )
}  # fmt: skip


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "dictionary"])
@pytest.mark.parametrize("name", TEXTS)
def test_no_type_carries_a_formula_into_csv(protocol: Any, name: str, coded: bool, tmp_path: Path) -> None:
    kept = pa.array([FORMULA] * ROWS, pa.binary()).cast(TEXTS[name])
    kept = pa.DictionaryArray.from_arrays(pa.array([0] * ROWS), kept[:1]) if coded else kept
    with released(protocol, kept, tmp_path, "csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["k"] for row in rows] == ["'" + FORMULA.decode()] * ROWS


def test_bytes_of_fixed_size_that_are_no_text_are_escaped(protocol: Any, tmp_path: Path) -> None:
    """Behind a mark, since a text may hold the same signs. In Parquet they stay bytes."""
    kept = pa.array([b"=\xe9\xff1"] * ROWS, pa.binary(4))
    with released(protocol, kept, tmp_path, "csv").open(newline="") as file:
        assert {row["k"] for row in csv.DictReader(file)} == {"\ufffd\ufffd\ufffd=\\xe9\\xff1"}
    (tmp_path / "again").mkdir()
    found = pq.read_table(released(protocol, kept, tmp_path / "again", "parquet"))["k"]
    assert found.combine_chunks().equals(kept)


def test_both_ways_to_write_csv_make_every_text_safe() -> None:
    for kind in TEXTS.values():
        cells = pa.array([FORMULA, None]).cast(kind)
        assert _csv_cells(cells).to_pylist() == ["'" + FORMULA.decode(), None]
        assert csv_lines(pa.record_batch([cells[:1]], names=["k"]))[0].as_py().startswith(b"\"'=")


# ---- metadata of fields ---------------------------------------------------------------------------------------------


def told(name: str, kind: pa.DataType, nullable: bool = True) -> pa.Field:
    return pa.field(name, kind, nullable, metadata={"comment": CANARY})


NUMBER = told("item", pa.int64())
INSIDE = pa.struct([told("f", pa.int64())])
NESTED: dict[str, tuple[pa.DataType, Any]] = {
    "struct": (INSIDE, {"f": 1}),
    "list": (pa.list_(NUMBER), [1]),
    "large list": (pa.large_list(NUMBER), [1]),
    "list of fixed size": (pa.list_(NUMBER, 2), [1, 2]),
    "map": (pa.map_(told("key", pa.string(), False), told("value", pa.int64())), [("a", 1)]),
    "a list of structs in a struct": (pa.struct([told("g", pa.list_(told("item", INSIDE)))]), {"g": [{"f": 1}]}),
}
VIEWS: dict[str, tuple[pa.DataType, Any]] = {
    "list view": (pa.list_view(NUMBER), [1]),
    "large list view": (pa.large_list_view(NUMBER), [1]),
}
KINDS = NESTED | VIEWS


def octets(kind: pa.DataType) -> bytes:
    return bytes(pa.schema([("k", kind)]).serialize())


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("into", ["memory", "arrow", "parquet"])
def test_metadata_of_nested_fields_do_not_leave(protocol: Any, name: str, into: str, tmp_path: Path) -> None:
    kind, value = KINDS[name]
    kept = pa.array([value] * ROWS, kind)
    if name == "map":  # Arrow makes maps without the metadata, but reads them with it
        kept = pa.MapArray.from_arrays(kept.offsets, kept.keys, kept.items, kind)
    assert CANARY.encode() in octets(kept.type), "the control"
    if into == "memory":
        table = pa.table({"s": ["a", "b"] * (ROWS // 2), "x": ["x", "y"] * (ROWS // 2), "k": kept})
        found = protocol.sanitise(table, keep=["k"])
        assert CANARY.encode() not in bytes(found.schema.serialize())
        assert found["k"].to_pylist() == kept.to_pylist()
        return
    target = released(protocol, kept, tmp_path, into)
    assert CANARY.encode() not in target.read_bytes()
    schema = pq.read_schema(target) if into == "parquet" else pa.ipc.open_file(target).schema
    assert CANARY.encode() not in bytes(schema.serialize())


OTHERS = [
    pa.sparse_union([told("a", pa.int8())]),
    pa.dense_union([told("a", pa.int8()), told("b", INSIDE)], [3, 5]),
    pa.dictionary(pa.int8(), INSIDE, ordered=True),
    pa.run_end_encoded(pa.int32(), INSIDE),
    pa.list_(told("item", pa.opaque(INSIDE, "a", "b"))),
    pa.opaque(INSIDE, "a", "b"),
]


@pytest.mark.parametrize("kind", [*OTHERS, *(kind for kind, _ in KINDS.values())], ids=str)
def test_a_bare_type_is_the_same_type_without_metadata(kind: pa.DataType) -> None:
    assert CANARY.encode() in octets(kind)
    assert CANARY.encode() not in octets(bare(kind))
    if "opaque" not in str(kind):
        assert bare(kind) == kind


@pytest.mark.parametrize(
    "kind", [pa.uuid(), pa.opaque(pa.string(), "a", "b"), pa.list_(pa.string()), pa.int8()], ids=str
)
def test_a_type_without_metadata_stays_as_it_is(kind: pa.DataType) -> None:
    assert bare(kind).equals(kind, check_metadata=True)


PRECISE = {
    "time64": pa.array([1, None, 86_399_999_999_999], pa.time64("ns")),
    "date64": pa.array([86_400_000, None, -(2**27) * 86_400_000], pa.int64()).view(pa.date64()),
    "timestamp": pa.array([1, None, 2**62 + 1], pa.timestamp("ns", "Europe/Paris")),
    "far": pa.array([1, None, 2**62], pa.timestamp("us")),
    "duration": pa.array([1, None, 3], pa.duration("ns")),
    "date32": pa.array([1, None, 2**30], pa.date32()),
}
WITHIN = {
    "list": lambda cells: pa.ListArray.from_arrays([0, 1, 2, 3], cells),
    "struct": lambda cells: pa.StructArray.from_arrays([cells], ["f"]),
    "map": lambda cells: pa.MapArray.from_arrays([0, 1, 2, 3], pa.array(["a", "b", "c"]), cells),
    "deep": lambda cells: pa.ListArray.from_arrays([0, 1, 3], pa.StructArray.from_arrays([cells], ["f"])),
    "view": lambda cells: pa.ListViewArray.from_arrays(
        pa.array([0, 1], pa.int32()), pa.array([1, 2], pa.int32()), cells
    ),
}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("kind", PRECISE)
def test_moments_in_nested_cells_are_kept_to_the_last_digit(kind: str, within: str) -> None:
    """Python has no nanoseconds in a time, and no day after the year 9999: what cannot be kept is refused."""
    cells = WITHIN[within](PRECISE[kind])
    try:
        found = rebuilt(cells)
    except dc.TableError:
        assert within == "view"
        return
    assert found.type == cells.type
    assert found.equals(cells)


# ---- what comes back as a frame of pandas ---------------------------------------------------------------------------

LARGE = 2**53 + 1
"""The first whole number that is no float."""
WHOLE_NUMBERS = {
    "nullable": (pa.array([LARGE, None] * (ROWS // 2)), [LARGE, None]),
    "unsigned": (pa.array([2**64 - 1, None] * (ROWS // 2), pa.uint64()), [2**64 - 1, None]),
    "whole": (pa.array([LARGE, LARGE + 1] * (ROWS // 2)), [LARGE, LARGE + 1]),
    "struct": (pa.array([{"a": LARGE}, {"a": None}] * (ROWS // 2)), [{"a": LARGE}, {"a": None}]),
    "list": (pa.array([[LARGE, None], [LARGE]] * (ROWS // 2)), [[LARGE, None], [LARGE]]),
}


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_whole_numbers_beside_missing_ones_keep_every_digit_in_pandas(protocol: Any, name: str) -> None:
    """Once floats: 2^53 + 1 came back as 2^53."""
    kept, expected = WHOLE_NUMBERS[name]
    columns = {"s": ["a", "b"] * (ROWS // 2), "x": ["x", "y"] * (ROWS // 2), "k": kept}
    frame = pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype)
    found = protocol.sanitise(frame, keep=["k"], keep_order=True, keep_anyway=True)["k"]
    assert [plainly(cell) for cell in found[:2]] == expected


def plainly(cell: Any) -> Any:
    return None if cell is pd.NA else list(cell) if isinstance(cell, np.ndarray) else cell
