"""Every kind of source gives the same joint, the same release and the same estimate, by every route."""

from __future__ import annotations

import io
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.cli.app import application
from discreet.estimate import estimate, estimate_by
from discreet.exceptions import AlphabetError, TableError
from discreet.joint import Joint
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.randomness import Keystream
from discreet.records.read_ahead import ahead
from discreet.records.source import BATCH_ROWS, open_records
from discreet.release import Job, joint_of_file, sanitise_file

SECRET, RELEASE, RELEASED, PUBLIC = ["health"], ["colour", "size"], "colour×size", "region"


def people(n: int = 600) -> pa.Table:
    """Text as it comes: spaces around it, letters that are not ASCII, empty and missing cells."""
    rng = np.random.default_rng(5)
    colours = pa.array([["rot", " rot", "grün\t", "grün", "", None][i] for i in rng.integers(0, 6, n)])
    return pa.table(
        {
            "note": pa.array([f"CANARY {i}" for i in range(n)]),
            "health": pa.array(rng.choice(["ill", "well"], n).tolist()),
            "colour": colours,
            "size": pa.array(rng.choice(["1", "2.5", "très grand"], n).tolist()),
            "region": pa.array(rng.choice(["nord", "süd"], n).tolist()),
        }
    )


PEOPLE = people()


def csv_bytes(separator: str = ",", encoding: str = "utf-8", end: str = "\n", quoted: bool = False) -> bytes:
    def cell(value: str | None) -> str:
        text = value or ""
        return f'"{text}"' if quoted or separator in text else text

    rows = [PEOPLE.column_names, *zip(*(column.to_pylist() for column in PEOPLE.columns), strict=True)]
    return "".join(separator.join(map(cell, row)) + end for row in rows).encode(encoding)


def parquet_bytes(rows: int = 10_000) -> bytes:
    sink = io.BytesIO()
    pq.write_table(PEOPLE, sink, row_group_size=rows)
    return sink.getvalue()


def arrow_bytes(stream: bool = False, rows: int = 10_000) -> bytes:
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, PEOPLE.schema) as writer:
        writer.write_table(PEOPLE, max_chunksize=rows)
    return sink.getvalue()


class Foreign:
    """Knows nothing but Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return PEOPLE.__arrow_c_stream__(requested_schema)


TABLES: dict[str, Callable[[], Any]] = {
    "pyarrow": lambda: PEOPLE,
    "pyarrow batch": lambda: PEOPLE.combine_chunks().to_batches()[0],
    "pyarrow reader": lambda: PEOPLE.to_reader(),
    "pyarrow views": lambda: PEOPLE.cast(pa.schema([(name, pa.string_view()) for name in PEOPLE.column_names])),
    "pandas": PEOPLE.to_pandas,
    "pandas objects": lambda: PEOPLE.to_pandas().astype(object),
    "polars": lambda: pl.from_arrow(PEOPLE),
    "polars lazy": lambda: pl.DataFrame(PEOPLE).lazy(),
    "polars categorical": lambda: pl.DataFrame(PEOPLE).with_columns(pl.col("colour").cast(pl.Categorical)),
    "duckdb": lambda: duckdb.from_arrow(PEOPLE),
    "C stream": Foreign,
}
FILES: dict[str, tuple[Callable[[], bytes], str, str | None]] = {
    "comma": (csv_bytes, "people.csv", None),
    "semicolon, latin-1": (lambda: csv_bytes(";", "latin-1"), "people.csv", "latin-1"),
    "tab, mark of UTF-8": (lambda: csv_bytes("\t", "utf-8-sig", quoted=True), "people.tsv", None),
    "bar, UTF-16": (lambda: csv_bytes("|", "utf-16"), "people.txt", None),
    "quoted, Windows": (lambda: csv_bytes(";", "cp1252", "\r\n", quoted=True), "people", "cp1252"),
    "parquet": (parquet_bytes, "people.parquet", None),
    "arrow file": (arrow_bytes, "people.arrow", None),
    "arrow stream": (lambda: arrow_bytes(stream=True), "people.feather", None),
    "a wrong name": (parquet_bytes, "people.csv", None),
}


def expected_joint() -> Joint:
    """Counted by hand."""
    letters = {"health": ["ill", "well"], "colour": ["grün", "rot", None], "size": ["1", "2.5", "très grand"]}
    counts = np.zeros((2, 3, 3), int)
    for record in PEOPLE.select([*SECRET, *RELEASE]).to_pylist():
        cells = [(value or "").strip() or None for value in record.values()]
        counts[tuple(known.index(cell) for known, cell in zip(letters.values(), cells, strict=True))] += 1  # type: ignore[attr-defined]
    attributes = [Attribute(name, tuple(known)) for name, known in letters.items()]
    return Joint.from_counts(counts, attributes[:1], attributes[1:])


JOINT = expected_joint()
SIZE = len(JOINT.letters)
PROTOCOL = Protocol.make(
    Channel(0.4 * np.eye(SIZE) + 0.6 / SIZE, JOINT.letters, [f"={i}" for i in range(SIZE)]), JOINT, LIP(2.0)
)


def same_joint(found: Joint) -> None:
    assert (found.secrets, found.releases, found.n) == (JOINT.secrets, JOINT.releases, JOINT.n)
    np.testing.assert_array_equal(found.counts, JOINT.counts)  # type: ignore[arg-type]


def drawn(source: Any, keep_order: bool, encoding: str | None = None) -> list[tuple[str, str]]:
    """What is released from the stream for tests, with a public column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options: dict[str, Any] = {"keep": [PUBLIC], "keep_order": keep_order, "encoding": encoding, "testing": True}
        return cells_of(PROTOCOL.sanitise(source, **options))


def cells_of(released: Any) -> list[tuple[str, str]]:
    with open_records(released, [RELEASED], [PUBLIC]) as source:
        rows = [tuple(row.values()) for batch in source for row in batch.to_pylist()]
    return [tuple(x.decode() if isinstance(x, bytes) else x for x in row) for row in rows]  # type: ignore[misc]


EXPECTED = {keep_order: drawn(PEOPLE, keep_order) for keep_order in (False, True)}


def test_the_expected_release_is_one() -> None:
    assert len(EXPECTED[True]) == len(PEOPLE)
    assert [region for _, region in EXPECTED[True]] == PEOPLE[PUBLIC].to_pylist()
    assert [region for _, region in EXPECTED[False]] != PEOPLE[PUBLIC].to_pylist()
    assert sorted(EXPECTED[False]) != sorted((row[0], "nord") for row in EXPECTED[False])
    assert len(set(EXPECTED[True])) == 2 * SIZE


@pytest.mark.parametrize("kind", TABLES)
def test_tables_in_memory(kind: str) -> None:
    same_joint(Joint.from_table(TABLES[kind](), secret=SECRET, release=RELEASE))
    for keep_order in (True, False):
        assert drawn(TABLES[kind](), keep_order) == EXPECTED[keep_order]


def runs(*arguments: str) -> bytes:
    """What a command prints, from fixed randomness."""
    with mock.patch.object(Keystream, "fresh", return_value=Keystream.testing()):
        shown = CliRunner().invoke(application(arguments[0]), list(arguments), catch_exceptions=False)
    assert shown.exit_code == 0
    return shown.stdout_bytes


@contextmanager
def standard_input(content: bytes) -> Iterator[None]:
    """A pipe that somebody else fills, slowly enough that it is never all there."""
    ours, theirs = os.pipe()
    kept = os.dup(0)

    def fill() -> None:
        with suppress(BrokenPipeError), os.fdopen(theirs, "wb", buffering=0) as pipe:
            for start in range(0, len(content), 1_000):
                pipe.write(content[start : start + 1_000])

    writer = threading.Thread(target=fill)
    os.dup2(ours, 0)
    os.close(ours)
    writer.start()
    try:
        yield
    finally:
        os.dup2(kept, 0)  # the last reader is gone: whoever still writes is told so and ends
        os.close(kept)
        writer.join()


@pytest.mark.parametrize("kind", FILES)
def test_files_by_every_route(kind: str, tmp_path: Path) -> None:
    make, name, encoding = FILES[kind]
    path, out, saved = tmp_path / name, tmp_path / "out.csv", tmp_path / "protocol.json"
    path.write_bytes(make())
    PROTOCOL.save(saved)
    given = [] if encoding is None else ["--encoding", encoding]
    same_joint(Joint.from_table(path, secret=SECRET, release=RELEASE, encoding=encoding))
    same_joint(joint_of_file(str(path), secret=SECRET, release=RELEASE, encoding=encoding))
    columns = ["--secret", "health", "--release", "colour", "--release", "size"]
    designed = tmp_path / "designed.json"
    runs("design", str(path), *columns, "--method", "grr", "--no-curve", "--out", str(designed), *given)
    same_joint(Protocol.load(designed).joint)
    for keep_order in (True, False):
        assert drawn(path, keep_order, encoding) == EXPECTED[keep_order]
        order = f"order {keep_order}"
        sanitise_file(Job(saved, str(path), str(out), (PUBLIC,), keep_order, encoding, testing=True, data=order))
        assert cells_of(out) == as_csv(EXPECTED[keep_order])
        asked = ["--keep", PUBLIC, *(["--keep-order"] if keep_order else []), *given]
        runs("sanitise", str(saved), str(path), str(out), *asked, "--force", "--data", f"{order}, command")
        assert cells_of(out) == as_csv(EXPECTED[keep_order])


def as_csv(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Labels that a spreadsheet would execute are quoted."""
    return [(f"'{output}", region) for output, region in rows]


def test_the_size_of_the_batches_does_not_matter(tmp_path: Path) -> None:
    """In order; a random order takes its randomness between the batches, so that it differs."""
    (tmp_path / "p.parquet").write_bytes(parquet_bytes(rows=100))
    (tmp_path / "p.arrow").write_bytes(arrow_bytes(rows=90))
    (tmp_path / "p.arrows").write_bytes(arrow_bytes(stream=True, rows=80))
    pieces = pa.concat_tables([PEOPLE.slice(0, 7), PEOPLE.slice(7)])
    for make in (*(lambda p=path: p for path in tmp_path.iterdir()), lambda: PEOPLE.to_reader(70), lambda: pieces):
        same_joint(Joint.from_table(make(), secret=SECRET, release=RELEASE))
        assert drawn(make(), keep_order=True) == EXPECTED[True]
        assert sorted(region for _, region in drawn(make(), keep_order=False)) == sorted(PEOPLE[PUBLIC].to_pylist())


@pytest.mark.parametrize("kind", ["comma", "quoted, Windows", "parquet", "arrow file", "arrow stream"])
def test_pipes(kind: str, tmp_path: Path) -> None:
    make, _, encoding = FILES[kind]
    saved, designed = tmp_path / "protocol.json", tmp_path / "designed.json"
    PROTOCOL.save(saved)
    given = [] if encoding is None else ["--encoding", encoding]
    columns = ["--secret", "health", "--release", "colour", "--release", "size"]
    with standard_input(make()):
        runs("design", "-", *columns, "--method", "grr", "--no-curve", "--out", str(designed), *given)
    same_joint(Protocol.load(designed).joint)
    with standard_input(make()):
        same_joint(Joint.from_table("-", secret=SECRET, release=RELEASE, encoding=encoding))
    options = ["--keep", PUBLIC, "--keep-order", "--to", "csv"]
    out = tmp_path / "out.csv"
    with standard_input(make()):
        out.write_bytes(runs("sanitise", str(saved), "-", "-", *options, *given))
    assert cells_of(out) == as_csv(EXPECTED[True])


def test_a_release_of_every_kind_gives_the_same_estimate(tmp_path: Path) -> None:
    rows = EXPECTED[True]
    table = pa.table({RELEASED: [output for output, _ in rows], PUBLIC: [region for _, region in rows]})
    pacsv.write_csv(table, tmp_path / "a.csv")
    pq.write_table(table, tmp_path / "a.parquet")
    lines = [f"{RELEASED};{PUBLIC}", *(f"'{output} ;{region}" for output, region in rows)]
    (tmp_path / "b.txt").write_bytes("\n".join(lines).encode("latin-1"))
    sources: list[tuple[Any, str | None]] = [
        (table, None), (table.to_pandas(), None), (pl.from_arrow(table), None), (duckdb.from_arrow(table), None),
        (table.to_reader(), None), (tmp_path / "a.csv", None), (str(tmp_path / "a.parquet"), None),
        (tmp_path / "b.txt", "latin-1"),
    ]  # fmt: skip
    outputs = [int(output[1:]) for output, _ in rows]
    expected = estimate(np.bincount(outputs, minlength=SIZE), PROTOCOL)
    south = np.bincount([y for y, (_, region) in zip(outputs, rows, strict=True) if region == "süd"], minlength=SIZE)
    for source, encoding in sources:
        found = estimate(source, PROTOCOL, encoding=encoding) if not isinstance(source, pa.RecordBatchReader) else None
        if found is not None:
            np.testing.assert_array_equal(found.frequencies, expected.frequencies)
        groups = estimate_by(source, PROTOCOL, PUBLIC, encoding=encoding)
        assert set(groups) == {"nord", "süd"}
        np.testing.assert_array_equal(groups["süd"].frequencies, estimate(south, PROTOCOL).frequencies)


# ---- the door itself ------------------------------------------------------------------------------------------------


def test_only_the_columns_asked_for_in_their_order(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(csv_bytes())
    (tmp_path / "p.parquet").write_bytes(parquet_bytes())
    (tmp_path / "p.arrow").write_bytes(arrow_bytes())
    for source in [*(make() for make in TABLES.values()), *sorted(tmp_path.iterdir())]:
        with open_records(source, ["size"], ["colour"]) as opened:
            batches = list(opened)
        assert opened.schema.names == ["size", "colour"]
        assert {tuple(batch.schema.names) for batch in batches} == {("size", "colour")}
        assert sum(map(len, batches)) == len(PEOPLE)


def test_batches_are_not_too_long() -> None:
    table = pa.table({"x": np.zeros(2 * BATCH_ROWS + 5, np.int8)})
    for source in (table, pl.from_arrow(table), table.to_reader()):
        with open_records(source, ["x"]) as opened:
            assert [len(batch) for batch in opened] == [BATCH_ROWS, BATCH_ROWS, 5]


def test_values_without_a_common_type_come_as_text_and_are_not_counted() -> None:
    frame = pd.DataFrame({"s": ["a", 1, 2.5, None], "x": [1, 2, 1, 2]}, dtype=object)
    with open_records(frame, ["s", "x"]) as opened:
        assert opened.mixed == ("s",)
        assert [batch.column("s").to_pylist() for batch in opened] == [["a", "1", "2.5", None]]
    with pytest.raises(TableError, match="several types"):
        Joint.from_table(frame, secret="x", release="s")


@pytest.mark.parametrize("source", [PEOPLE, pl.from_arrow(PEOPLE), "file"])
def test_a_column_named_twice_or_not_there(source: Any, tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(csv_bytes())
    source = tmp_path / "p.csv" if isinstance(source, str) else source
    for names, what in ((["size", "size"], "named twice"), (["size", "nobody"], "no such column")):
        with pytest.raises(AlphabetError, match=what):
            open_records(source, names)


def test_no_value_of_another_librarys_message_gets_out() -> None:
    class Broken(Foreign):
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise RuntimeError("CANARY")

    def failing() -> Any:
        yield from PEOPLE.to_batches()
        raise ValueError("CANARY")

    with pytest.raises(TableError, match="RuntimeError") as caught:
        open_records(Broken(), ["size"])
    assert "CANARY" not in str(caught.value)
    reader = pa.RecordBatchReader.from_batches(PEOPLE.schema, failing())
    with pytest.raises(TableError) as caught, open_records(reader, ["size"]) as opened:
        list(opened)
    assert "CANARY" not in str(caught.value)


def test_reading_ahead_keeps_the_order_and_passes_errors_on() -> None:
    def items() -> Any:
        yield from range(100)
        raise KeyError("end")

    met: list[int] = []
    with pytest.raises(KeyError, match="end"):
        met.extend(ahead(items()))
    assert met == list(range(100))
