"""Kept columns are published as they are, and nothing else: not what lies under a null, not what a slice left out."""

import decimal
import pickle
import unicodedata
from datetime import date, datetime

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest

import discreet as dc
from discreet.records.cells import readable, rebuilt
from discreet.records.letters import EXECUTED, SKIPPED, spreadsheet_safe
from discreet.records.writer import RISKY, csv_lines
from discreet.release import Job, batches, sanitise_file

CANARY = "CANARY-7"
ROWS = 12


def make_protocol():
    joint = dc.Joint.from_counts([[9, 4, 2], [3, 7, 5]], ["ill", "well"], [dc.Attribute("x", ("a", "b", "c"))])
    return dc.Protocol.make(dc.Channel(0.3 * np.eye(3) + 0.7 / 3, joint.letters, ("A", "B", "C")), joint, dc.LIP(2.0))


def octets(column):
    """All bytes that an array or a column of a table holds on to."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return b"".join(bytes(buffer) for chunk in chunks for buffer in chunk.buffers() if buffer is not None)


def hidden(column):
    """The column with a null in every other cell, and the value still under it."""
    mask = pa.array([i % 2 == 1 for i in range(len(column))])
    shown = pa.array([i % 2 == 0 for i in range(len(column))]).buffers()[1]
    return {
        "if_else": lambda: pc.if_else(mask, pa.scalar(None, column.type), column),
        "mask": lambda: pa.array(column.to_numpy(zero_copy_only=False), column.type, mask=np.array(mask)),
        "buffers": lambda: pa.Array.from_buffers(column.type, len(column), [shown, *column.buffers()[1:]]),
    }


NUMBERS = pa.array([7_000_000_000_000 + i for i in range(ROWS)])
TEXTS = pa.array([f"{CANARY}{i};" for i in range(ROWS)])


@pytest.mark.parametrize("how", ["if_else", "mask", "buffers"])
@pytest.mark.parametrize("keep_order", [True, False])
@pytest.mark.parametrize("column", [NUMBERS, TEXTS], ids=["numbers", "texts"])
def test_what_lies_under_a_null_does_not_leave(how, keep_order, column):
    kept = hidden(column)[how]()
    assert kept.null_count == ROWS // 2
    secret = NUMBERS[1].as_py().to_bytes(8, "little") if column is NUMBERS else f"{CANARY}1;".encode()
    table = pa.table({"x": ["a"] * ROWS, "y": kept})
    released = make_protocol().sanitise(table, keep=["y"], keep_order=keep_order)
    assert sorted(released["y"].to_pylist(), key=str) == sorted(kept.to_pylist(), key=str)
    for buffers in (octets(released["y"]), pickle.dumps(released)):
        assert secret not in buffers


def test_the_same_from_duckdb():
    numbers = pa.table({"n": NUMBERS, "x": ["a"] * ROWS})
    relation = duckdb.sql("select x, nullif(n, 7000000000001) as y from numbers")
    released = make_protocol().sanitise(relation.to_arrow_table(), keep=["y"], keep_order=True)
    assert numbers["n"][1].as_py().to_bytes(8, "little") not in octets(released["y"])


@pytest.mark.parametrize("keep_order", [True, False])
def test_what_a_slice_left_out_does_not_leave(keep_order):
    table = pa.table({"x": ["a"] * ROWS, "y": TEXTS}).slice(3, 4)
    released = make_protocol().sanitise(table, keep=["y"], keep_order=keep_order)
    assert set(released["y"].to_pylist()) == {f"{CANARY}{i};" for i in range(3, 7)}
    assert f"{CANARY}1;".encode() not in pickle.dumps(released)
    assert f"{CANARY}9;".encode() not in octets(released["y"])


def test_the_same_in_an_arrow_file(tmp_path):
    make_protocol().save(tmp_path / "p.json")
    table = pa.table({"x": ["a"] * ROWS, "y": hidden(TEXTS)["buffers"]()}).slice(1, 6)
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    job = Job(tmp_path / "p.json", str(tmp_path / "t.arrow"), str(tmp_path / "o.arrow"), keep=("y",), keep_order=True)
    sanitise_file(job)
    assert f"{CANARY}1;".encode() in (tmp_path / "t.arrow").read_bytes()
    assert f"{CANARY}1;".encode() not in (tmp_path / "o.arrow").read_bytes()
    assert f"{CANARY}2;".encode() in (tmp_path / "o.arrow").read_bytes()


KINDS = {
    pa.int8(): 77, pa.uint64(): 2**63, pa.float16(): np.float16(1.5), pa.float64(): 2.5, pa.bool_(): True,
    pa.string(): CANARY, pa.binary(): CANARY.encode(), pa.binary(8): CANARY.encode(), pa.string_view(): CANARY * 3,
    pa.decimal128(9, 2): decimal.Decimal("1.25"), pa.date32(): date(2020, 1, 1),
    pa.timestamp("us"): datetime(2020, 1, 1), pa.duration("s"): 5, pa.time64("us"): 5,
    pa.month_day_nano_interval(): (1, 2, 3),
    pa.list_(pa.string()): [CANARY], pa.struct([("a", pa.string())]): {"a": CANARY},
    pa.map_(pa.string(), pa.int8()): [(CANARY, 1)], pa.list_(pa.int8(), 2): [7, 7],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_kind_of_column_is_rebuilt(kind):
    values = pa.array([KINDS[kind]] * 8, kind)
    shown = pa.array([True, False] * 4).buffers()[1]
    children = [values.field(i) for i in range(kind.num_fields)] if isinstance(values, pa.StructArray) else None
    if not pa.types.is_nested(kind):
        values = pa.Array.from_buffers(kind, 8, [shown, *values.buffers()[1:]])
    elif children:
        values = pa.Array.from_buffers(kind, 8, [shown], children=children)
    part = values.slice(1, 5)
    found = rebuilt(readable(part))
    assert found.to_pylist() == readable(part).to_pylist()
    assert (found.offset, len(found)) == (0, 5)
    if CANARY in str(KINDS[kind]) and children is not None:
        assert octets(found).count(CANARY.encode()) == 2


def test_columns_passed_on_as_they_are_would_be_noticed(monkeypatch):
    """The planted fault."""
    monkeypatch.setattr(batches, "rebuilt", lambda cells: cells)
    table = pa.table({"x": ["a"] * ROWS, "y": hidden(NUMBERS)["buffers"]()})
    released = make_protocol().sanitise(table, keep=["y"], keep_order=True)
    assert NUMBERS[1].as_py().to_bytes(8, "little") in octets(released["y"])


# ---- spreadsheets ---------------------------------------------------------------------------------------------------

FORMULA = '=HYPERLINK("http://x","y")'
EXECUTABLE = [
    *(f"{sign}1+1" for sign in "=+-@＝＋－＠﹦﹢﹣﹫⁼⁺₌₊"),
    *(f"{space}{FORMULA}" for space in (" ", "\n", "\r", "\t", "\x0b", "\0", "\x7f", "\xa0", "\u3000", "\u200b")),
    *(f"{space}{FORMULA}" for space in ("\ufeff", "\u202e", "\xad", "\u2028", " \n ", "\U000e0001", "\u061c")),
    "\n", "\ttext", "\n＝1", " ＝1", "\u200b ＠SUM(1)", "⩵1", "⩶SUM(1)",
]  # fmt: skip
HARMLESS = ["", "a", "-5", "+1.5e3", " -5", "5", "a=b", "é=1", "日本", "'a", "(=1)", "😀 = fun", "ﬁ"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_no_kept_cell_is_executed(kind, tmp_path):
    make_protocol().save(tmp_path / "p.json")
    for name, cells in (("unsafe", EXECUTABLE), ("safe", HARMLESS)):
        table = pa.table({"x": ["a"] * len(cells), "y": pa.array(cells, kind)})
        with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
        for order in (True, False):
            source, target = str(tmp_path / "t.arrow"), tmp_path / "o.csv"
            job = Job(tmp_path / "p.json", source, str(target), keep=("y",), keep_order=order, data=f"{name}{order}")
            sanitise_file(job)
            parse = pacsv.ParseOptions(newlines_in_values=True)
            convert = pacsv.ConvertOptions(column_types={"y": pa.string()}, strings_can_be_null=False)
            found = pacsv.read_csv(target, parse_options=parse, convert_options=convert)["y"].to_pylist()
            assert sorted(found) == sorted(map(spreadsheet_safe, cells))
            assert all(cell.startswith("'") for cell in found) if name == "unsafe" else sorted(found) == sorted(cells)


BEHIND_A_SEPARATOR = [
    *(f"x{separator}{between}{sign}1+1{separator}y" for separator in ";\t|\n\r" for between in ("", " ", '"', "\u200b")
      for sign in ("=", "＝", "@", "⩵")),
    "x;;=1+1", "x;=1;=2", "a\r\n=1+1", '"=1"; "=2"', "x; \n=1+1", "5;=1+1", "x|-a", "\t=1+1", "é;＋a",
]  # fmt: skip
HARMLESS_INSIDE = ["x; y", "x;-5", "a|b|c", "5; +1.5e3", "a\nb", "x;;y", "a;b=c", "x, =1+1", "é;日本"]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_nothing_is_executed_where_another_separator_is_told(sign):
    """A reader that splits at it knows nothing of the quotes inside of a field."""
    for cell in (*BEHIND_A_SEPARATOR, *EXECUTABLE):
        batch = pa.record_batch([pa.array([5]), pa.array([cell], pa.large_string())], names=["n", "y"])
        (line,) = csv_lines(batch).to_pylist()
        for found in line.decode().replace("\r", "\n").split("\n"):
            for field in found.split(sign):
                seen = [one for one in field if one != '"' and unicodedata.category(one) not in SKIPPED]
                assert unicodedata.normalize("NFKC", "".join(seen[:1]))[:1] not in tuple(EXECUTED), repr(cell)
    for cell in HARMLESS_INSIDE:
        assert spreadsheet_safe(cell) == cell


def test_both_ways_to_write_lines_agree():
    for cell in (*EXECUTABLE, *HARMLESS, *BEHIND_A_SEPARATOR, *HARMLESS_INSIDE):
        (line,) = csv_lines(pa.record_batch([pa.array([cell], pa.large_string())], names=["y"])).to_pylist()
        quoted = spreadsheet_safe(cell).replace('"', '""')
        assert line.decode() == f'"{quoted}"\n'


def test_the_first_byte_finds_everything_that_may_be_executed():
    """Over all characters: whatever is skipped or taken for one of = + - @ begins with a byte that is looked at."""
    for number in (*range(0xD800), *range(0xE000, 0x110000)):
        sign = chr(number)
        if unicodedata.category(sign) in SKIPPED or unicodedata.normalize("NFKC", sign)[:1] in tuple(EXECUTED):
            assert RISKY[sign.encode()[0]], hex(number)


def test_nested_columns_are_kept_beside_the_secret_and_nothing_under_them() -> None:
    """Once refused in another library's words, because nested cells cannot be numbered by their value."""
    count = 400
    hidden = pa.array([f"CANARY{i:05d}" for i in range(count)])
    validity = np.packbits(np.arange(count) % 2 == 1, bitorder="little").tobytes()
    under = pa.Array.from_buffers(pa.string(), count, [pa.py_buffer(validity), *hidden.buffers()[1:]])
    nested = {
        "struct": pa.StructArray.from_arrays([under], ["f"]),
        "list": pa.ListArray.from_arrays(pa.array([0] * (count + 1), pa.int32()), hidden),
    }
    table = pa.table({"s": ["a", "b"] * (count // 2), "x": ["u", "u", "v", "v"] * (count // 4)})
    joint = dc.Joint.from_table(table, secret="s", release="x")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    for name, column in nested.items():
        released = protocol.sanitise(table.append_column(name, column), keep=[name], keep_order=True, keep_anyway=True)
        assert released[name].to_pylist() == column.to_pylist()
        assert b"CANARY00000" not in pickle.dumps(released)
        assert (b"CANARY00001" in pickle.dumps(released)) == (name == "struct")  # the control: what is there is kept


def test_an_audit_measures_a_protocol_beside_columns(tmp_path, capsys):
    import json

    import pandas as pd

    from discreet.cli.app import run

    rows = [(s, k, s ^ k) for s in (0, 1) for k in (0, 1) for _ in range(200)]
    frame = pd.DataFrame(rows, columns=["s", "k", "x"])
    frame.to_csv(tmp_path / "t.csv", index=False)
    joint = dc.Joint.from_table(frame, secret="s", release="x")
    dc.design(joint, dc.LIP(0.5)).protocol.save(tmp_path / "p.json")
    asked = ["audit", str(tmp_path / "p.json"), "--given", "k", "--json"]
    assert run([*asked, "--data", str(tmp_path / "t.csv")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["alone"] == 0
    assert found["beside_limit"] > 0.5
    assert run(asked) != 0, "no table"
    frame.drop(columns="s").to_csv(tmp_path / "u.csv", index=False)
    assert run([*asked, "--data", str(tmp_path / "u.csv")]) != 0, "no secret"
