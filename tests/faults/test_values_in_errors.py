"""No value of the data in an error: not in its message, not in what it keeps of other libraries' errors."""

import io
import traceback

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.audit.matrix_file import read_matrix
from discreet.exceptions import DiscreetError, InOwnWords
from discreet.records.csvfile import CsvRecords
from discreet.records.source import open_records
from discreet.release import sanitise_batches

CANARY = "CANARY"


def make_protocol():
    joint = dc.Joint.from_counts([[9, 4, 2], [3, 7, 5]], ["ill", "well"], [dc.Attribute("x", ("a", "b", "c"))])
    return dc.Protocol.make(dc.Channel(0.3 * np.eye(3) + 0.7 / 3, joint.letters, ("A", "B", "C")), joint, dc.LIP(2.0))


def kept(error, seen=()):
    """Everything that an error carries: messages, attributes, and the same of the errors it keeps."""
    if error is None or error in seen:
        return []
    found = [repr(error), repr(error.args), repr(vars(error)), repr(getattr(error, "object", ""))]
    found.append("".join(traceback.format_exception_only(error)))
    return [*found, *kept(error.__context__, (*seen, error)), *kept(error.__cause__, (*seen, error))]


def innocent(call):
    """The call fails with an error of ours that carries no value, or not at all."""
    raised = None
    try:
        call()
    except Exception as error:
        raised = error
    assert raised is None or isinstance(raised, DiscreetError), repr(raised)
    assert CANARY not in " ".join(kept(raised))
    return str(raised or "")


class Broken:
    """A table of another library that fails with the data in its message."""

    def __arrow_c_stream__(self, requested_schema=None):
        raise ValueError(f"cannot convert {CANARY}")


STRUCT = pa.array([{f"{CANARY} Smith": 1}, {f"{CANARY} Smith": 2}])
TABLES = {
    "a struct": pa.table({"x": STRUCT}),
    "a list of structs": pa.table({"x": pa.array([[{CANARY: 1}], []])}),
    "a map": pa.table({"x": pa.array([[(CANARY, 1)], []], pa.map_(pa.string(), pa.int64()))}),
    "a dictionary of structs": pa.table({"x": pa.DictionaryArray.from_arrays([0, 1], STRUCT)}),
    "a time zone": pa.table({"x": pa.array([1, 2], pa.timestamp("s", tz=CANARY))}),
    "half a character in pandas": pd.DataFrame({"x": ["a", f"{CANARY} \ud800"]}, dtype=object),
    "half a character among numbers": pd.DataFrame({"x": [1, f"{CANARY} \ud800"]}),
    "values of several types": pd.DataFrame({"x": [1, f"{CANARY}", object(), {CANARY: 1}]}),
    "polars structs": pl.DataFrame({"x": [{CANARY: 1}, {CANARY: 2}]}),
    "polars objects": pl.DataFrame({"x": pl.Series([{CANARY}, {CANARY}], dtype=pl.Object)}),
    "bytes that are no text": pa.table({"x": pa.array([f"{CANARY}".encode() + b"\xff", b"a"])}),
    "a stream that breaks": Broken(),
    "no such column": pa.table({CANARY: ["a"]}),
    "two columns of one name": pa.table([["a"], [CANARY]], names=["x", "x"]),
    "two columns of one name in pandas": pd.DataFrame([["a", CANARY]], columns=["x", "x"]),
    "a batch with two columns of one name": pa.RecordBatch.from_arrays([["a"], [CANARY]], names=["x", "x"]),
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("as_id", [False, True])
def test_a_release_of_an_odd_table_tells_no_value(table, as_id, tmp_path):
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(64)))
    protocol = make_protocol()
    innocent(lambda: protocol.sanitise(table))
    innocent(lambda: protocol.sanitise(table, keep_order=True, keep=["y"]))
    if as_id and isinstance(table, pa.Table) and table.column_names == ["x"]:
        people = pa.table({"x": pa.array(["a"] * len(table)), "id": table["x"]})
        innocent(lambda: protocol.sanitise(people, key=key, identity="id"))
        innocent(lambda: protocol.sanitise(people, keep=["id"], keep_order=True))


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_counting_an_odd_table_tells_no_value(table):
    innocent(lambda: dc.Joint.from_table(table, secret="x", release="y"))
    if isinstance(table, pa.Table) and table.column_names == ["x"]:
        both = table.append_column("y", pa.array(["a"] * len(table)))
        innocent(lambda: dc.Joint.from_table(both, secret="y", release="x"))
        innocent(lambda: dc.Joint.from_table(both, secret="x", release="y"))


def test_lengths_that_a_damaged_file_states_tell_no_value():
    """Such as "Negative size passed to PyBytes_FromStringAndSize", of the interpreter itself."""

    def read():
        with open_records(pa.table({"x": ["a"]}), ["x"]):
            raise SystemError(CANARY)

    assert "cannot be read" in innocent(read)


def test_two_columns_of_one_name_are_told_as_such(tmp_path):
    table = TABLES["two columns of one name"]
    (tmp_path / "t.csv").write_text(f"x,x\na,{CANARY}\n")
    pq.write_table(table, tmp_path / "t.parquet")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    frames = [table for name, table in TABLES.items() if "two columns" in name]
    for one in [*frames, *(tmp_path / f"t.{kind}" for kind in ("csv", "parquet", "arrow"))]:
        assert "two columns of" in innocent(lambda one=one: make_protocol().sanitise(one))


@pytest.mark.parametrize(
    "encoding", ["hex", "base64", "zlib", "rot13", "idna", "punycode", "undefined", "a\0b", "ü", ""]
)
def test_an_encoding_of_something_else_is_refused(encoding, tmp_path):
    """hex once reached the end as an AttributeError."""
    path = tmp_path / "t.csv"
    path.write_text(f"x\n{CANARY}\n")
    said = innocent(lambda: make_protocol().sanitise(path, encoding=encoding))
    assert ("encoding" in said) is bool(encoding)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-7", "shift_jis", "UTF8"])
def test_encodings_of_text_are_read(encoding):
    records = CsvRecords(io.BytesIO("x\na\nb\n".encode(encoding)), ["x"], [], encoding)
    assert [cell.as_py() for batch in records for cell in batch.column("x")] == ["a", "b"]


@pytest.mark.parametrize("encoding", ["ascii", "US-ASCII", "646"])
@pytest.mark.parametrize("text", [f"x\n{CANARY} é\n", f"x{CANARY}é\na\n"])
def test_what_is_not_ascii_is_refused_where_that_was_said(encoding, text, tmp_path):
    """It was read as UTF-8."""
    path = tmp_path / "t.csv"
    path.write_text(text, "utf-8")
    said = innocent(lambda: make_protocol().sanitise(path, encoding=encoding))
    assert f"bytes that do not fit the encoding {encoding}" in said
    path.write_text("x\na\nb\n")
    assert make_protocol().sanitise(path, encoding=encoding).num_rows == 2


def test_broken_files_tell_no_value(tmp_path):
    good = pa.table({"x": [f"{CANARY}{i}" for i in range(1000)]})
    pq.write_table(good, tmp_path / "t.parquet")
    whole = (tmp_path / "t.parquet").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(40):
        broken = bytearray(whole)
        for place in rng.integers(4, len(broken), 6):
            broken[place] = int(rng.integers(256))
        (tmp_path / "b.parquet").write_bytes(broken)
        innocent(lambda: make_protocol().sanitise(tmp_path / "b.parquet"))
    (tmp_path / "q.csv").write_text(f'x\n"{CANARY}\n')
    assert "quote" in innocent(lambda: make_protocol().sanitise(tmp_path / "q.csv"))


class OfAnEngine(Exception):
    """An error of an engine: of no kind that Python has."""


@pytest.mark.parametrize("read", [0, 1])
@pytest.mark.parametrize("kind", [ValueError, RuntimeError, OSError, OfAnEngine])
def test_batches_that_break_off_tell_no_value(kind, read, tmp_path):
    """Which once only the batches that were read themselves did not: what the iterator of them raised came through."""
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(64)))

    def batches():
        yield from pa.table({"id": ["1"], "x": ["a"]}).to_batches() * read
        raise kind(CANARY) from ValueError(CANARY)

    said = innocent(lambda: sanitise_batches(batches(), make_protocol(), key=key, identity="id").read_all())
    assert f"broken off by an error inside ({kind.__name__})" in said


def test_numbers_that_are_none_tell_no_value(tmp_path):
    for text in (f"a,b\n0.5,{CANARY}\n0.5,1\n", f'"{CANARY}', f"{CANARY},\n"):
        (tmp_path / "m.csv").write_text(text)
        innocent(lambda: read_matrix(tmp_path / "m.csv"))
    innocent(lambda: dc.Joint([[CANARY, 1], [2, 3]]))
    innocent(lambda: dc.Joint.from_counts([[CANARY, 1], [2, 3]]))
    innocent(lambda: dc.Channel([[CANARY, 1], [2, 3]]))
    innocent(lambda: dc.Channel(np.full((1, 2), 1.0), ("a", "b")).restricted([CANARY]))


def test_half_a_character_among_the_letters_tells_no_value():
    joint = dc.Joint.from_counts([[9, 4], [3, 7]], releases=[dc.Attribute("x", ("a", f"{CANARY}\ud800"))])
    protocol = dc.Protocol.make(
        dc.Channel(np.full((1, 2), 1.0), joint.letters, (f"{CANARY}\ud800",)), joint, dc.LIP(2.0)
    )
    assert innocent(lambda: protocol.sanitise(pa.table({"x": ["a"]})))


def test_from_none_is_not_enough():
    """The planted fault: what the replaced error still keeps is found."""

    def hidden():
        try:
            raise ValueError(CANARY)
        except ValueError:
            raise dc.TableError("cannot be read") from None

    with pytest.raises(dc.TableError) as caught:
        hidden()
    assert CANARY in " ".join(kept(caught.value))
    with pytest.raises(dc.TableError) as again, InOwnWords(lambda error: dc.TableError("x")):
        raise caught.value
    assert CANARY not in " ".join(kept(again.value))
    with pytest.raises(dc.TableError) as fresh, InOwnWords(lambda error: dc.TableError("y")):
        raise ValueError(CANARY)
    assert CANARY not in " ".join(kept(fresh.value))
