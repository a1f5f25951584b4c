from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.datasets import adult
from discreet.exceptions import AlphabetError, DiscreetError, DistributionError, TableError
from discreet.joint import Joint
from discreet.records import counting
from discreet.records.cells import MARK
from discreet.records.counting import UnreadableRecords, cells_of, joint_of_file
from discreet.records.source import open_records

COLOURS = ["red", "blue", None, "red", "élan", "Red"]
SIZES = ["L", "S", "S", "L", "S", "S"]
DATA = pa.table({"unused": range(6), "colour": COLOURS, "size": SIZES})
EXPECTED = np.array([[0, 0, 2, 0, 0], [1, 1, 0, 1, 1]])


def count(*arguments: Any) -> tuple[Any, Any, Any]:
    found = cells_of(*arguments)
    return found.secrets, found.releases, found.counts


def _counts(table: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    return count(table, "size", "colour")[2]


def _file(folder: Path, suffix: str) -> Path:
    path = folder / f"data{suffix}"
    if suffix == ".csv":
        csv.write_csv(DATA, path)
    elif suffix == ".parquet":
        pq.write_table(DATA, path, row_group_size=2)
    elif suffix == ".feather":
        feather.write_feather(DATA, str(path))
    else:
        with pa.ipc.new_stream(path, DATA.schema) as writer:
            writer.write_table(DATA, max_chunksize=2)
    return path


FRAMES = {
    "pyarrow": DATA,
    "chunks": pa.concat_tables([DATA.slice(0, 2), DATA.slice(2)]),
    "reader": DATA.to_reader(max_chunksize=2),
    "views": DATA.cast(pa.schema([DATA.schema.field(0), ("colour", pa.string_view()), ("size", pa.string_view())])),
    "pandas": DATA.to_pandas(),
    "pandas objects": DATA.to_pandas().astype(object),
    "polars": pl.DataFrame(DATA),
    "polars lazy": pl.DataFrame(DATA).lazy().filter(pl.col("unused") >= 0),
    "polars categorical": pl.DataFrame(DATA).with_columns(pl.col("colour").cast(pl.Categorical)),
    "polars categorical lazy": pl.DataFrame(DATA).lazy().with_columns(pl.col("colour").cast(pl.Categorical)),
}


@pytest.mark.parametrize("kind", [*FRAMES, "duckdb"])
def test_every_kind_of_frame_gives_the_same_counts(kind: str) -> None:
    frame = FRAMES[kind] if kind in FRAMES else duckdb.connect().from_arrow(DATA)
    secrets, releases, counts = count(frame, "size", ["colour"])
    assert [(a.name, a.letters) for a in secrets] == [("size", ("L", "S"))]
    assert [(a.name, a.letters) for a in releases] == [("colour", ("Red", "blue", "red", "élan", None))]
    assert counts.dtype == np.int64
    np.testing.assert_array_equal(counts, EXPECTED)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".arrow", ".feather"])
def test_every_kind_of_file_gives_the_same_counts(suffix: str, tmp_path: Path) -> None:
    path = _file(tmp_path, suffix)
    np.testing.assert_array_equal(_counts(path), EXPECTED)
    np.testing.assert_array_equal(_counts(str(path)), EXPECTED)


def test_an_arrow_file_may_be_a_file_or_a_stream(tmp_path: Path) -> None:
    with pa.ipc.new_file(tmp_path / "f.arrow", DATA.schema) as writer:
        writer.write_table(DATA)
    np.testing.assert_array_equal(_counts(tmp_path / "f.arrow"), EXPECTED)


def test_a_foreign_arrow_stream_is_a_table() -> None:
    class Foreign:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return DATA.__arrow_c_stream__(requested_schema)

    np.testing.assert_array_equal(_counts(Foreign()), EXPECTED)


def test_several_columns_make_products_in_c_order() -> None:
    table = pa.table({"a": [0, 0, 1, 1], "b": ["x", "y", "x", "x"], "u": [1, 2, 1, 1], "v": ["p", "p", "p", "q"]})
    secrets, releases, counts = count(table, ["a", "b"], ["u", "v"])
    assert [a.name for a in secrets + releases] == ["a", "b", "u", "v"]
    assert counts.shape == (4, 2, 2)
    assert counts[0, 0, 0] == counts[1, 1, 0] == counts[2, 0, 0] == counts[2, 0, 1] == 1
    assert counts.sum() == 4


def test_csv_fields_are_text_without_surrounding_spaces(tmp_path: Path) -> None:
    path = tmp_path / "t.CSV"
    path.write_bytes(b'\xef\xbb\xbfid, s ,x\n1, 1 ,NA\n2,01,\n3,1, \n4, 1,"a, b"\n5,1,"two\nlines"\n')
    secrets, releases, counts = count(path, "s", "x")
    assert secrets[0].letters == ("01", "1")
    assert releases[0].letters == ("NA", "a, b", "two\nlines", None)
    assert counts.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["m", None, "s"], categories=["s", "m", "l"])),
        pl.Series(["m", None, "s"], dtype=pl.Enum(["s", "m", "l"])),
        pa.DictionaryArray.from_arrays(pa.array([1, None, 0], pa.int8()), ["s", "m", "l"]),
        pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(pa.array([1, None], pa.int8()), ["s", "m"]),
                pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["s", "m", "l"]),
            ]
        ),
    ],
    ids=["pandas", "polars", "arrow", "arrow, two dictionaries"],
)
def test_declared_categories_are_kept_in_their_order(column: Any, tmp_path: Path) -> None:
    kinds = {pd.Series: pd.DataFrame, pl.Series: pl.DataFrame}
    table = kinds.get(type(column), pa.table)({"size": column, "x": ["a", "b", "a"]})
    with open_records(table, ["size", "x"]) as source:
        arrow = pa.Table.from_batches(source).unify_dictionaries()
    pq.write_table(arrow, tmp_path / "t.parquet")
    with pa.ipc.new_file(tmp_path / "t.arrow", arrow.schema) as writer:
        writer.write_table(arrow)
    for source in (table, tmp_path / "t.parquet", tmp_path / "t.arrow"):
        secrets, _, counts = count(source, "size", "x")
        assert secrets[0].letters == ("s", "m", None), "a category that nobody has is not published"
        assert counts.tolist() == [[1, 0], [1, 0], [0, 1]]


def test_a_dictionary_that_repeats_itself_is_not_a_declaration() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["b", "a", "b", None]))
    secrets, _, counts = count(pa.table({"s": column, "x": [1, 1, 1, 1]}), "s", "x")
    assert secrets[0].letters == ("a", "b", None)
    assert counts.ravel().tolist() == [1, 2, 1]


@pytest.mark.parametrize(
    ("values", "letters"),
    [
        ([10, 9, -1, 10], (-1, 9, 10)),
        ([2.5, float("nan"), -0.0, 0.0], (0.0, 2.5, None)),
        (pa.array([1.5, None, float("nan"), 1.0], pa.float32()), (1.0, 1.5, None)),
        ([True, None, False, True], (False, True, None)),
        (["10", "9", "", "10"], ("10", "9", None)),
        (["b ", "\tb", "a\n", "  "], ("a", "b", None)),
        ([b"b", b"a", b"\xff", None], ("a", "b", f"{MARK}\\xff", None)),
        ([None, None, None, None], (None,)),
    ],
)
def test_letters_are_sorted_by_value_and_missing_comes_last(values: Any, letters: tuple[object, ...]) -> None:
    _, releases, counts = count(pa.table({"s": [0, 1, 0, 1], "x": values}), "s", "x")
    assert releases[0].letters == letters
    assert counts.sum() == 4


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.none() | st.integers(-2, 2)), min_size=1))
def test_counts_are_those_of_a_plain_loop(records: list[tuple[int, str, int | None]]) -> None:
    records = [*records, (0, "a", 0), (1, "a", 0)]
    table = pa.table({name: [r[i] for r in records] for i, name in enumerate("sxu")})
    secrets, releases, counts = count(table, "s", ["x", "u"])
    for index in np.ndindex(counts.shape):
        letters = tuple(a.letters[i] for a, i in zip(secrets + releases, index, strict=True))
        assert counts[index] == sum(record == letters for record in records)


def test_adult_counts() -> None:
    secrets, releases, counts = count(adult(), "occupation", ["education", "sex"])
    assert counts.shape == (15, 16, 2)
    assert counts.sum() == 32_561
    assert counts[secrets[0].letters.index("Armed-Forces")].sum() == 9
    assert releases[1].letters == ("Female", "Male")
    assert Joint.from_table(adult(), secret="sex", release="race").n == 32_561


# ---- CSV files, as the command line reads them ----------------------------------------------------------------------


def _both(path: Path, **options: Any) -> Joint:
    """Counted from Python and as the commands do; they must agree."""
    joint = Joint.from_table(path, secret="s", release="x", **options)
    other = joint_of_file(str(path), secret=["s"], release=["x"], **options)
    assert (joint.secrets, joint.releases) == (other.secrets, other.releases)
    np.testing.assert_array_equal(joint.counts, other.counts)  # type: ignore[arg-type]
    return joint


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.tsv", "t"])
def test_any_separator_under_any_name(separator: str, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("s,x\n1,u\n2,v\n1,v\n".replace(",", separator))
    joint = _both(tmp_path / name)
    assert joint.releases[0].letters == ("u", "v")
    assert joint.counts is not None
    assert joint.counts.tolist() == [[1, 1], [0, 1]]


def test_a_trailing_tab_makes_no_letter(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,x\n1,u\n2,u\t\n1,v\n")
    assert _both(tmp_path / "t.csv").releases[0].letters == ("u", "v")


def test_ragged_rows_count_as_missing_and_are_told(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,x\n1,u\n2,v\nragged\n2,v,w\n")
    with pytest.warns(UnreadableRecords, match="2 records"):
        joint = _both(tmp_path / "t.csv")
    assert (joint.secrets[0].letters, joint.releases[0].letters) == (("1", "2", None), ("u", "v", None))
    assert joint.counts is not None
    assert joint.counts.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 2]]


def test_an_encoding_is_declared_or_bytes_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("s,x\n1,grün\n2,rot\n".encode("latin-1"))
    assert _both(tmp_path / "t.csv", encoding="latin-1").releases[0].letters == ("grün", "rot")
    with pytest.raises(TableError, match="probably latin-1"):
        _both(tmp_path / "t.csv")
    with pytest.raises(TableError, match="unknown encoding"):
        _both(tmp_path / "t.csv", encoding="klingon")


def test_nothing_to_count(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,x\n")
    with pytest.raises(TableError, match="no records"):
        _both(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("s,x\n1,u\n")
    with pytest.raises(DistributionError, match="one value"):
        _both(tmp_path / "t.csv")


def test_letters_may_come_later_and_dictionaries_differ(tmp_path: Path) -> None:
    """Row groups with their own dictionaries, and letters that only the last of them has."""
    rng = np.random.default_rng(0)
    letters = np.array([f"letter {i:02}" for i in range(40)])
    parts = [letters[rng.integers(0, 5 + 5 * i, 1_000)] for i in range(8)]
    table = pa.table({"s": np.concatenate(parts[::-1]), "x": np.concatenate(parts)})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=700)
    joint = _both(tmp_path / "t.parquet")
    assert joint.secrets[0].letters == tuple(sorted(set(table["s"].to_pylist())))
    expected = np.zeros((40, 40), int)
    np.add.at(expected, tuple(np.searchsorted(letters, table[name].to_numpy()) for name in "sx"), 1)
    np.testing.assert_array_equal(joint.counts, expected)  # type: ignore[arg-type]


# ---- what is refused ----------------------------------------------------------------------------------------------

CANARY = "canary-7391"


def _with(**columns: Any) -> pa.Table:
    return pa.table({"s": ["a", "b"], "x": ["a", CANARY], **columns})


@pytest.mark.parametrize(
    ("table", "secret", "release", "error", "named"),
    [
        (_with(), "nobody", "x", AlphabetError, "nobody"),
        (_with(), "s", "nobody", AlphabetError, "nobody"),
        (_with(), "s", "s", AlphabetError, "s"),
        (_with(), "s", ["x", "x"], AlphabetError, "x"),
        (_with(), [], "x", AlphabetError, "secret"),
        (_with(), "s", [], AlphabetError, "release"),
        (_with(), "s", [3], AlphabetError, "release"),
        (_with(one=[CANARY, CANARY]), "one", "x", DistributionError, "one"),
        (_with(one=[CANARY, CANARY]), ["s", "one"], "x", DistributionError, "one"),
        (_with(inner=[[CANARY], []]), "s", "inner", AlphabetError, "inner"),
        (pa.Table.from_arrays([pa.array([CANARY, "b"])] * 2, names=["s", "s"]), "s", "x", AlphabetError, "s"),
        (_with().slice(0, 0), "s", "x", TableError, "no records"),
        (pd.DataFrame({"s": [1, CANARY], "x": [0, 1]}), "s", "x", TableError, "s"),
        (pl.LazyFrame({"s": [CANARY, "1"], "x": [1, 2]}).cast({"s": pl.Int64}), "s", "x", TableError, "the table"),
        ({"s": [CANARY]}, "s", "x", TableError, "dict"),
        ("data.xlsx", "s", "x", TableError, "data.xlsx"),
        ("missing.csv", "s", "x", TableError, "missing.csv"),
    ],
)
def test_bad_requests_name_the_column_and_never_a_value(
    table: Any, secret: Any, release: Any, error: type[DiscreetError], named: str
) -> None:
    with pytest.raises(error) as caught:
        count(table, secret, release)
    assert named in caught.value.where or named in caught.value.what
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("unclosed.csv", f's,x\n1,2\n"{CANARY},2\n'.encode()),
        ("short.parquet", f"PAR1{CANARY}PAR1".encode()),
        ("short.arrow", f"ARROW1\0\0{CANARY}".encode()),
        ("empty.csv", b""),
        ("headless.csv", f"{CANARY},1\nb,2\n".encode()),
        ("twice.csv", f"s,s,x\n{CANARY},2,3\n".encode()),
        ("broken.parquet", CANARY.encode()),
        ("broken.arrow", CANARY.encode()),
        ("broken.feather", b""),
    ],
)
def test_broken_files_are_refused_without_quoting_them(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises((TableError, AlphabetError)) as caught:
        count(tmp_path / name, "s", "x")
    assert CANARY not in str(caught.value)
    assert caught.value.where


def test_a_product_too_large_to_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"s": [0, 1, 2], "x": [0, 1, 2], "u": [0, 1, 1]})
    monkeypatch.setattr(counting, "MOST_CELLS", 18)
    assert count(table, "s", ["x", "u"])[2].size == 18
    monkeypatch.setattr(counting, "MOST_CELLS", 17)
    with pytest.raises(AlphabetError, match=r"18 combinations.*fewer columns"):
        count(table, "s", ["x", "u"])
