"""Values that differ are letters that differ, or the table is refused: as one letter they would not be hidden from each
other, whatever level is stated."""

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records.cells import MARK, as_text, text_of
from discreet.records.letters import LabelReader, LetterReader

HALVES = [0, 1, 2, 1000, 86_400_000_000_000, -1, -(2**63)]
FAR = [0, 3_000_000, 4_000_000, -4_000_000, 2**31 - 1, -(2**31 - 1)]


def moments(kind: pa.DataType, numbers: list[int]) -> pa.Array:
    stored = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(numbers, stored).view(kind)


COLUMNS = {
    "time64[ns]": moments(pa.time64("ns"), HALVES),
    "time64[us] beyond a day": moments(pa.time64("us"), [1, 86_400_000_001, -1]),
    "time32[s] beyond a day": moments(pa.time32("s"), [1, 86_401, -1]),
    "timestamp[ns]": moments(pa.timestamp("ns"), HALVES),
    "timestamp[ns] of a zone": moments(pa.timestamp("ns", "Europe/Berlin"), HALVES),
    "timestamp[s] in far years": moments(pa.timestamp("s"), [0, 10**12, 2 * 10**12, -(10**12)]),
    "timestamp of no zone": moments(pa.timestamp("s", "Nowhere/At_all"), [0, 1, 2]),
    "date32": moments(pa.date32(), FAR),
    "date64": moments(pa.date64(), [0, 1, 86_400_000, 10**16, 2 * 10**16]),
    "duration[s]": moments(pa.duration("s"), [0, 1, 10**15, 2 * 10**15]),
    "duration[ns]": moments(pa.duration("ns"), HALVES),
    "binary": pa.array([b"tea", b"caf\xe9", b"caf\\xe9", b"\xe9", b"\\xe9", b"\\\xe9", b"\\\\xe9"]),
    "binary and the mark": pa.array([b"\xe9", f"{MARK}\\xe9".encode(), f"{MARK}{MARK}\\\\xe9".encode(), MARK.encode()]),
    "binary_view": pa.array([b"caf\xe9", b"caf\\xe9"], pa.binary_view()),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_differs_has_different_texts(name: str) -> None:
    texts = as_text(COLUMNS[name]).to_pylist()
    assert None not in texts
    assert len(set(texts)) == len(texts)
    assert [as_text(COLUMNS[name].slice(i, 1)).to_pylist()[0] for i in range(len(texts))] == texts


def test_halves_of_characters_are_kept_apart() -> None:
    texts = text_of(["a\ud800", "b\ud801", "a\ud801", MARK, "a"]).to_pylist()
    assert len(set(texts)) == 5
    assert texts[-1] == "a"


@pytest.mark.parametrize("name", COLUMNS)
def test_every_letter_is_read_as_itself(name: str) -> None:
    """Those of a table that was designed on, in a table that is released."""
    column = COLUMNS[name]
    size = len(column)
    cells = pa.array([one for one in column for _ in range(2 * size)], column.type)
    table = pa.table({"s": cells, "x": pa.array([f"x{i % size}" for i in range(len(cells))])})
    attribute = dc.Joint.from_table(table, secret="s", release="x", force=True).secrets[0]
    assert len(attribute) == size
    assert sorted(LetterReader((attribute,)).codes([column]).tolist()) == list(range(size))


def test_labels_that_begin_with_the_mark_are_read_back() -> None:
    labels = (f"{MARK}caf\\xe9", "caf\\xe9", MARK)
    assert LabelReader("x", labels).numbers(pa.array(labels)).tolist() == [0, 1, 2]
    assert LabelReader("x", labels).numbers(pa.array(["tea", MARK * 2])).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (pa.array([datetime.date(2020, 1, 31), datetime.date(68, 9, 3)]), ["2020-01-31", "0068-09-03"]),
        (pa.array([0, 1_500_000], pa.timestamp("us")), ["1970-01-01", "1970-01-01 00:00:01.500000"]),
        (pa.array([0, 1_500_000_000], pa.timestamp("ns")), ["1970-01-01", "1970-01-01 00:00:01.500000"]),
        (pa.array([0], pa.timestamp("s", "UTC")), ["1970-01-01 00:00:00+00:00"]),
        (pa.array([1_698_537_600, 1_698_541_200], pa.timestamp("s", "Europe/Berlin")),
         ["2023-10-29 02:00:00+02:00", "2023-10-29 02:00:00+01:00"]),
        (moments(pa.time64("ns"), [3_600_000_001_000, 0]), ["01:00:00.000001", "00:00:00"]),
        (pa.array([90], pa.duration("s")), ["0:01:30"]),
        (pa.array([" café\\xe9 ", MARK[1:], None]), ["café\\xe9", MARK[1:], None]),
    ],
)  # fmt: skip
def test_ordinary_values_keep_their_texts(column: pa.Array, texts: list[str]) -> None:
    """Letters in protocols, and the ids of draws that repeat, are these texts."""
    assert as_text(column).to_pylist() == texts


def test_a_moment_that_is_none_is_missing() -> None:
    assert text_of([pd.NaT, float("nan"), 1]).to_pylist() == [None, None, "1"]


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"s,x\nA\x81,u\nA\\x81,v\n", "cp1252"),
        (b"s,x\nA\xe9,u\nA\\xe9,v\n", "utf-8"),
        (b"s,x\nA\xe9,u\nA\\xe9,v\n", "ascii"),
        (b"\xef\xbb\xbfs,x\nA\xe9,u\nA\\xe9,v\n", None),
        (b"\xff\xfe" + "s,x\nA\ud800,u\nA\\ud800,v\n".encode("utf-16-le", "surrogatepass"), None),
        (b"s,x\nA+2AA-,u\nA\\ud800,v\n", "utf-7"),
    ],
)
def test_bytes_that_do_not_fit_are_refused(tmp_path: Path, data: bytes, encoding: str | None) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    with pytest.raises(dc.TableError, match="do not fit the encoding") as error:
        dc.Joint.from_table(path, secret="s", release="x", encoding=encoding, force=True)
    assert "A" not in str(error.value).replace("TableError", "").split("(")[0]


def test_a_secret_whose_values_differ_below_the_microsecond_is_hidden() -> None:
    """The stated level, computed again over the true values; the negative control merges two of them by hand."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 3000)
    x = np.where(truth == 0, rng.integers(0, 2, 3000), np.where(rng.random(3000) < 0.98, truth - 1, 2 - truth))
    moment = moments(pa.time64("ns"), [3_600_000_000_000, 1, 2]).take(pa.array(truth))

    def true_factor(secret: Any) -> float:
        table = pa.table({"s": secret, "x": [f"x{i}" for i in x]})
        protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x", force=True), dc.LDP(0.5)).protocol
        rows = np.asarray(protocol.weights, float)[:, [int(str(one)[1:]) for one in protocol.joint.letters]]
        means = np.stack([rows[:, x[truth == one]].mean(axis=1) for one in range(3)])
        return float((means.max(axis=0) / means.min(axis=0)).max())

    assert true_factor(moment) <= np.exp(0.5) + 1e-9
    assert true_factor(pa.array(np.minimum(truth, 1))) > 5


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ['size 5"', '5" size', 'a"b"c', '"quoted ""5"", and a\nline"', "a'b"])
@pytest.mark.parametrize("later", ['7"', "7", '"7"""'])
def test_a_quotation_mark_in_a_header_swallows_no_records(
    separator: str, name: str, later: str, tmp_path: Path
) -> None:
    """Once everything up to the next one was taken for names, and a third of the table was counted."""
    path = tmp_path / "t.csv"
    lines = [separator.join(["s", "x", name])]
    lines += [separator.join(["fm"[i % 2], "uvw"[i % 3], later if i == 200 else "6"]) for i in range(300)]
    path.write_text("\n".join(lines) + "\n")
    assert dc.Joint.from_table(path, secret="s", release="x").n == 300


def test_a_first_line_that_cannot_be_told_from_records_is_refused(tmp_path: Path) -> None:
    """By another separator the quotation mark opens a field; by this one it does not."""
    path = tmp_path / "t.csv"
    path.write_text('s,x,a;"b\n' + 'm,u,1\nf,v,2"\n' * 100)
    with pytest.raises(dc.DiscreetError):
        dc.Joint.from_table(path, secret="s", release="x")
