"""Columns beside a release are judged and published as their readers see them.

Letters are compared without spaces, an empty text is missing, and −0 is 0. A reader of the file tells these apart: a
given column is published by its letters, and what is kept as it is is judged as it is, also beside columns that make
cells rare, and where the table can be read only once.
"""

import io
import os
import secrets
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.records.cells import told_apart
from discreet.release import Job, rehearse_file, sanitise_batches, sanitise_file
from discreet.release.kept_columns import KeptColumns

ROWS = 4_000
DRAWS = np.random.default_rng(5)
S = np.tile([0, 1], ROWS // 2)
COIN = np.repeat([0, 1], ROWS // 2)
OTHER_NAN = np.array([0x7FF8000000000001], np.int64).view(np.float64)[0]


def chosen(pair, kind=None):
    """One of two cells, as the coin falls."""
    return pa.array([pair[k] for k in COIN], kind) if kind is None or not pa.types.is_floating(kind) else floats(pair)


def floats(pair):
    cells = np.array([np.nan if one is None else one for one in pair], np.float64)[COIN]
    return pa.array(cells, mask=np.array([one is None for one in pair])[COIN])


WRITINGS = {
    "a space behind": chosen(("north", "north ")),
    "a space that does not break": chosen(("north", "north\N{NO-BREAK SPACE}")),
    "empty and missing": chosen(("", None), pa.string()),
    "blank and missing": chosen(("  ", None), pa.large_string()),
    "no bytes and missing": chosen((b"", None), pa.binary()),
    "zeros": floats((0.0, -0.0)),
    "no number and missing": floats((float("nan"), None)),
    "two that are no numbers": floats((float("nan"), OTHER_NAN)),
    "a dictionary": chosen(("north", "north ")).dictionary_encode(),
}


def seen(column):
    """What a reader of the column can tell apart."""
    parts = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [cell for part in parts for cell in told_apart(part.dictionary_decode() if is_coded(part) else part)]


def is_coded(part):
    return pa.types.is_dictionary(part.type)


@pytest.mark.parametrize("name", WRITINGS)
def test_readers_tell_these_cells_apart(name):
    """The control: otherwise nothing here could fail."""
    assert len(set(seen(WRITINGS[name]))) == 2


@pytest.mark.parametrize("name", WRITINGS)
@pytest.mark.parametrize("into", ["frame", "parquet", "csv"])
def test_a_given_column_is_published_by_its_letters(name, into, tmp_path):
    """X = S xor the coin: beside cells that tell the coin, X is S."""
    table = pa.table({"s": S, "x": S ^ COIN, "k": WRITINGS[name], "w": ["a", "b", "b", "a"] * (ROWS // 4)})
    joint = dc.Joint.from_table(table, secret="s", release="x", given=["k", "w"])
    protocol = dc.design(joint, dc.LIP(0.2)).protocol
    if into == "frame":
        released = protocol.sanitise(table, testing=True)
    else:
        protocol.save(tmp_path / "p.json")
        pq.write_table(table, tmp_path / "t.parquet")
        target = tmp_path / f"out.{into}"
        sanitise_file(Job(tmp_path / "p.json", str(tmp_path / "t.parquet"), str(target), testing=True))
        strings = pacsv.ConvertOptions(column_types={"k": pa.string()}, strings_can_be_null=True)
        released = pq.read_table(target) if into == "parquet" else pacsv.read_csv(target, convert_options=strings)
    assert len(set(seen(released["k"]))) == 1
    assert sorted(set(seen(released["w"]))) == ["a", "b"]


def test_a_given_number_is_written_in_one_way(tmp_path):
    """Counted as numbers, released from text: 7 and 7.0 are one letter."""
    counted = pa.table({"s": S, "x": S ^ COIN, "k": np.where(S == COIN, 7, 8)})
    protocol = dc.design(dc.Joint.from_table(counted, secret="s", release="x", given="k"), dc.LIP(0.2)).protocol
    protocol.save(tmp_path / "p.json")
    text = "s,x,k\n" + "".join(f"{s},{s ^ c},{7 + (s != c)}{'.0' * c}\n" for s, c in zip(S, COIN, strict=True))
    (tmp_path / "t.csv").write_text(text)
    sanitise_file(Job(tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "o.csv"), testing=True))
    released = pacsv.read_csv(tmp_path / "o.csv", convert_options=pacsv.ConvertOptions(column_types={"k": pa.string()}))
    assert set(released["k"].to_pylist()) == {"7", "8"}


@pytest.fixture(scope="module")
def protocol():
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS)})
    return dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.5)).protocol


@pytest.mark.parametrize("name", WRITINGS)
def test_a_copy_of_the_secret_is_refused_however_it_is_written(protocol, name, tmp_path):
    """Also by the check, in the same words."""
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "k": WRITINGS[name]})
    with pytest.raises(dc.ReleaseError, match="--given k") as refused:
        protocol.sanitise(table, keep=["k"])
    protocol.save(tmp_path / "p.json")
    pq.write_table(table, tmp_path / "t.parquet")
    job = Job(tmp_path / "p.json", str(tmp_path / "t.parquet"), str(tmp_path / "o.parquet"), keep=("k",))
    assert [one.what for one in rehearse_file(job).refusals] == [refused.value.what]
    assert rehearse_file(job).level_beside_kept == np.inf


def test_two_moments_that_a_clock_shows_alike_are_two(protocol):
    """2:30 comes twice in the night when clocks go back."""
    moments = pa.array(np.where(COIN == 1, 1635643800, 1635640200), pa.timestamp("s", "Europe/Berlin"))
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "k": moments})
    with pytest.raises(dc.ReleaseError, match="--given k"):
        protocol.sanitise(table, keep=["k"])


@pytest.mark.parametrize("values", [100, 400])
def test_a_column_of_many_values_hides_no_copy_of_the_secret(protocol, values, tmp_path):
    x, many = DRAWS.integers(0, 3, ROWS), DRAWS.integers(0, values, ROWS)
    table = pa.table({"s": COIN, "x": x, "k": COIN, "z": many, "w": DRAWS.integers(0, 2, ROWS)})
    with pytest.raises(dc.ReleaseError, match="--given k, which"):
        protocol.sanitise(table, keep=["z", "k", "w"])
    assert len(protocol.sanitise(table, keep=["z", "w"])) == ROWS, "the control"
    protocol.save(tmp_path / "p.json")
    pq.write_table(table, tmp_path / "t.parquet")
    job = Job(tmp_path / "p.json", str(tmp_path / "t.parquet"), str(tmp_path / "o.parquet"), keep=("z", "k", "w"))
    assert len(rehearse_file(job).refusals) == 1


def test_a_given_column_of_many_values_hides_no_copy_of_the_secret():
    """Forty strata of 100 records, five secrets: no stratum has fifty records of a kept value."""
    secret, given = np.tile(np.arange(5), ROWS // 5), np.repeat(np.arange(40), ROWS // 40)
    table = pa.table({"s": secret, "g": given, "x": DRAWS.integers(0, 2, ROWS), "k": secret})
    table = table.append_column("w", pa.array(given % 7)).append_column("z", pa.array(DRAWS.integers(0, 5, ROWS)))
    joint = dc.Joint.from_table(table, secret="s", release="x", given="g")
    strata = dc.design(joint, dc.LIP(0.5), force=True, method="grr").protocol
    with pytest.raises(dc.ReleaseError, match="--given g --given k, which"):
        strata.sanitise(table, keep=["k"])
    assert len(strata.sanitise(table, keep=["w", "z"])) == ROWS, "the controls: what g tells, and noise"


def test_two_columns_that_tell_together_are_found_beside_a_third(protocol):
    half = DRAWS.integers(0, 2, ROWS)
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "a": half, "b": half ^ COIN})
    table = table.append_column("z", pa.array(DRAWS.integers(0, 300, ROWS)))
    with pytest.raises(dc.ReleaseError, match="--given a --given b, which"):
        protocol.sanitise(table, keep=["a", "b", "z"])
    assert len(protocol.sanitise(table, keep=["a", "z"])) == ROWS, "the control"


@pytest.mark.parametrize(
    "promise",
    [
        dc.OrdinaryLDP(8) & dc.LIP(0.1),
        dc.LIP(0.1) & dc.OrdinaryLDP(8),
        dc.PML(1) & dc.LIP(0.1),
        dc.Funnel(0.5, ceiling=dc.LIP(0.1)),
        dc.MaximalLeakage(0.5, ceiling=dc.LIP(0.1)),
        dc.Guess(0.9, ceiling=dc.LIP(0.1)),
        dc.Guess(0.55),
    ],
    ids=str,
)
def test_kept_columns_are_held_to_every_promise(promise):
    """A column that tells 0.4 for certain, where the first number is larger or is no logarithm."""
    joint = dc.Joint.from_counts([[500, 300], [300, 500]], [dc.Attribute("s", (0, 1))], [dc.Attribute("x", ("a", "b"))])
    protocol = dc.design(joint, promise).protocol
    secret = np.repeat([0, 1], ROWS // 2)
    kept = np.where(DRAWS.random(ROWS) < 0.72, secret, 1 - secret)
    x = np.where(DRAWS.random(ROWS) < 0.625, secret, 1 - secret)
    table = pa.table({"s": secret, "x": np.array(["a", "b"])[x], "k": kept, "w": DRAWS.integers(0, 2, ROWS)})
    with pytest.raises(dc.ReleaseError, match="--given k, which"):
        protocol.sanitise(table, keep=["k"])
    assert len(protocol.sanitise(table, keep=["w"])) == ROWS, "the control"


def test_secrets_that_are_written_otherwise_are_told(protocol, tmp_path):
    """The protocol knows 0 and 1."""
    words = np.array(["nought", "one"])[COIN]
    table = pa.table({"s": words, "x": DRAWS.integers(0, 3, ROWS), "k": COIN})
    with pytest.warns(KeptColumns, match="4,000 of 4,000 values of the secret are unknown"):
        protocol.sanitise(table, keep=["k"])
    protocol.save(tmp_path / "p.json")
    pq.write_table(table, tmp_path / "t.parquet")
    job = Job(tmp_path / "p.json", str(tmp_path / "t.parquet"), str(tmp_path / "o.parquet"), keep=("k",))
    assert any("kept columns are not judged" in one.what for one in rehearse_file(job).warnings)
    few = np.where(np.arange(ROWS) < 100, "nought", np.array(["0", "1"])[COIN])
    with pytest.raises(dc.ReleaseError, match="--given k, which"):
        protocol.sanitise(table.set_column(0, "s", pa.array(few)), keep=["k"])


class Worded(pa.ExtensionType):
    """Text by another name."""

    def __init__(self, storage=None):
        super().__init__(storage or pa.string(), "test.worded")

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls(storage)


def worded(values):
    return pa.ExtensionArray.from_storage(Worded(values.type), values)


def of_extension(cells):
    coded = cells.dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, worded(coded.dictionary))


@pytest.mark.parametrize("keep_order", [True, False])
@pytest.mark.parametrize(
    ("made", "two"),
    [
        (of_extension, pa.array(["north", "north "])),
        (of_extension, pa.array([0.0, -0.0])),
        (pc.run_end_encode, pa.array(["north", "north "])),
    ],
    ids=["dictionary of an extension of text", "of numbers", "run ends"],
)
def test_a_given_column_of_a_type_over_text_is_published_by_letters(made, two, keep_order):
    """Once by its cells, in which the secret was the space behind the word."""
    letters = pa.table({"s": S, "x": DRAWS.integers(0, 2, ROWS), "k": two.take(pa.array(COIN * 0))})
    protocol = dc.design(dc.Joint.from_table(letters, secret="s", release="x", given="k"), dc.LIP(0.2)).protocol
    table = letters.set_column(2, "k", made(two.take(pa.array(S))))
    found = protocol.sanitise(table, keep_order=keep_order, testing=True)
    assert len(set(seen(found["k"]))) == 1


def test_a_group_called_missing_is_not_what_is_missing():
    """Two strata were published under one name."""
    k = np.array(["missing", "v", ""], object)[DRAWS.integers(0, 3, ROWS)]
    table = pa.table({"s": S, "x": DRAWS.integers(0, 2, ROWS), "k": pa.array([one or None for one in k])})
    grouping = dc.Grouping(merge={"k": {"w": ["v"]}})
    joint = dc.Joint.from_table(table, secret="s", release="x", given="k", group=grouping)
    released = dc.design(joint, dc.LIP(0.2)).protocol.sanitise(table, testing=True)
    assert set(released["k"].to_pylist()) == {"missing", "w", None}


def test_columns_of_too_many_combinations_are_judged_one_by_one(protocol, monkeypatch):
    monkeypatch.setattr("discreet.release.kept_columns.MOST_CELLS", 1_000)
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "k": COIN, "z": DRAWS.integers(0, 300, ROWS)})
    with (
        pytest.warns(KeptColumns, match="each was judged by itself"),
        pytest.raises(dc.ReleaseError, match="--given k, which"),
    ):
        protocol.sanitise(table, keep=["k", "z"])


@pytest.mark.parametrize("keep", [("k",), ("z", "k")])
def test_a_stream_is_judged_while_it_is_read(protocol, keep):
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "k": COIN, "z": DRAWS.integers(0, 100, ROWS)})

    def stream(columns):
        return pa.RecordBatchReader.from_batches(
            table.select(columns).schema, table.select(columns).to_batches(max_chunksize=700)
        )

    with pytest.raises(dc.ReleaseError, match="--given k, which"):
        protocol.sanitise(stream(table.schema.names), keep=keep)
    assert protocol.sanitise(stream(["x", "k", "z"]), keep=keep).read_all().num_rows == ROWS, "no secret, no judgement"
    assert protocol.sanitise(stream(table.schema.names), keep=keep, keep_anyway=True).read_all().num_rows == ROWS


def test_batches_are_judged_when_they_have_ended(protocol, monkeypatch):
    monkeypatch.setenv("KEPT_KEY", secrets.token_hex(32))
    table = pa.table({"s": COIN, "x": DRAWS.integers(0, 3, ROWS), "k": COIN, "id": np.arange(ROWS)})
    asked = {"key": "env:KEPT_KEY", "identity": "id", "keep": ["k"]}
    with pytest.raises(dc.ReleaseError, match="--given k, which"):
        sanitise_batches(table, protocol, **asked).read_all()
    assert sanitise_batches(table.drop_columns(["s"]), protocol, **asked).read_all().num_rows == ROWS
    assert sanitise_batches(table, protocol, **asked, keep_anyway=True).read_all().num_rows == ROWS


def test_a_pipe_is_judged_before_anything_is_published(protocol, tmp_path):
    protocol.save(tmp_path / "p.json")
    x, text = DRAWS.integers(0, 3, ROWS), io.StringIO("s,x,k\n")
    text.seek(0, io.SEEK_END)
    text.writelines(f"{s},{x},{'y' * s}z\n" for s, x in zip(COIN, x, strict=True))
    command = [sys.executable, "-m", "discreet", "sanitise", "p.json", "-", "-", "--keep", "k", "--one-row-per-person"]
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    found = subprocess.run(
        command, input=text.getvalue(), capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
    )
    assert found.returncode not in (0, 1)
    assert found.stdout == ""
    assert "kept columns tell about the secret" in found.stderr
    assert not (tmp_path / "p.json.ledger").exists() or "release" not in (tmp_path / "p.json.ledger").read_text()
