"""Batches to batches: the same cells in whatever parts, order and number of attempts; what needs a whole is refused."""

import os
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from public_cases import protocol_of, stratified, table_of, twins

import discreet as dc
from discreet.release import Job, sanitise_batches, sanitise_file

SIZE = 3000
PEOPLE = table_of(twins()[0], SIZE).append_column("id", pa.array([f"p{i}" for i in range(SIZE)]))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "KEY"
    path.write_bytes(os.urandom(32))
    path.chmod(0o600)
    return path


@pytest.fixture
def protocol() -> dc.Protocol:
    return protocol_of(twins()[0])


def cells(reader) -> dict:
    table = reader.read_all()
    return dict(zip(table["id"].to_pylist(), table["release"].to_pylist(), strict=True))


def test_parts_orders_and_attempts_agree_with_the_file(protocol, key, tmp_path):
    options = {"key": key, "identity": "id", "keep": ["id"]}
    whole = cells(sanitise_batches(PEOPLE, protocol, **options))
    assert len(whole) == SIZE
    assert cells(sanitise_batches(PEOPLE, protocol, **options)) == whole
    shuffled = PEOPLE.take(np.random.default_rng(0).permutation(SIZE))
    parts = [cells(sanitise_batches(shuffled.slice(start, 700), protocol, **options)) for start in range(0, SIZE, 700)]
    assert {person: cell for part in parts for person, cell in part.items()} == whole
    assert cells(sanitise_batches(iter(PEOPLE.to_batches(256)), protocol, **options)) == whole
    assert cells(sanitise_batches(duckdb.sql("select * from PEOPLE"), protocol, **options)) == whole
    protocol.save(tmp_path / "protocol.json")
    pacsv.write_csv(PEOPLE, tmp_path / "people.csv")
    source, target = str(tmp_path / "people.csv"), str(tmp_path / "out.csv")
    job = Job(tmp_path / "protocol.json", source, target, keep=("id",), key=key, identity="id", keep_anyway=True)
    sanitise_file(job)
    out = pacsv.read_csv(target)
    assert dict(zip(out["id"].to_pylist(), out["release"].to_pylist(), strict=True)) == whole


def test_another_key_gives_other_cells(protocol, key):
    """The negative control of the test above."""
    first = sanitise_batches(PEOPLE, protocol, key=key, identity="id", keep=["id"])
    before = cells(first)
    key.write_bytes(os.urandom(32))
    assert cells(sanitise_batches(PEOPLE, protocol, key=key, identity="id", keep=["id"])) != before


def test_strata_are_drawn_by_their_own_mechanism(key):
    protocol = stratified(twins()[0])
    table = sanitise_batches(PEOPLE, protocol, key=key, identity="id").read_all()
    assert table.column_names == ["release", "sex"]
    assert table["sex"].to_pylist() == PEOPLE["sex"].to_pylist()  # in the order that they came
    unknown = PEOPLE.set_column(2, "sex", pa.array(["x"] * SIZE))
    with pytest.raises(dc.AlphabetError):
        sanitise_batches(unknown, protocol, key=key, identity="id").read_all()


def test_it_raises_at_the_end_of_the_stream(protocol, key):
    twice = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 1)])
    with pytest.raises(dc.ReleaseError, match="another record carries"):
        sanitise_batches(twice, protocol, key=key, identity="id").read_all()
    strange = PEOPLE.set_column(1, "release", pa.array(["?"] * SIZE))
    with pytest.raises(dc.TableError, match="does not know"):
        sanitise_batches(strange, protocol, key=key, identity="id").read_all()
    assert len(sanitise_batches(strange, protocol, key=key, identity="id", unknown_anyway=True).read_all()) == SIZE


def test_what_was_broken_off_does_not_end_as_if_it_were_whole(protocol, key):
    twice = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 1)])
    reader = sanitise_batches(twice, protocol, key=key, identity="id")
    for _ in range(2):
        with pytest.raises(dc.ReleaseError):
            reader.read_all()


def test_what_cannot_be_released_is_refused_at_once(protocol, key):
    with pytest.raises(dc.ReleaseError, match="no such column"):
        sanitise_batches(PEOPLE.drop_columns(["release"]), protocol, key=key, identity="id")
    with pytest.raises(dc.AlphabetError):
        sanitise_batches(PEOPLE, protocol, key=key, identity="id", keep=["secret"])
    with pytest.raises(dc.ReleaseError, match="no batch"):
        sanitise_batches(iter([]), protocol, key=key, identity="id")
    with pytest.raises(dc.ReleaseError, match="key"):
        sanitise_batches(PEOPLE, protocol, key="nowhere", identity="id")


def test_a_policy_about_the_kept_columns_needs_the_whole(protocol, key, tmp_path, monkeypatch):
    (tmp_path / "policy.toml").write_text("k = 5\n")
    monkeypatch.setenv("DISCREET_POLICY", str(tmp_path / "policy.toml"))
    with pytest.raises((dc.ReleaseError, dc.InputError)):
        sanitise_batches(PEOPLE, protocol, key=key, identity="id", keep=["sex"]).read_all()


@pytest.mark.parametrize(
    "second",
    [
        PEOPLE.slice(0, 9).drop_columns(["id"]), PEOPLE.slice(9, 9).append_column("more", pa.array([1] * 9)),
        PEOPLE.slice(9, 9).set_column(PEOPLE.num_columns - 1, "id", pa.array(range(9))),
    ],
    ids=["fewer", "more", "another type"],
)  # fmt: skip
def test_a_batch_with_other_columns_than_the_first_is_refused(protocol, key, second):
    parts = [*PEOPLE.slice(0, 5).to_batches(), *second.to_batches()]
    reader = sanitise_batches(iter(parts), protocol, key=key, identity="id", keep=["id"])
    with pytest.raises(dc.ReleaseError, match="other columns than the first"):
        reader.read_all()


def test_columns_in_another_order_are_the_same(protocol, key):
    turned = PEOPLE.select(PEOPLE.column_names[::-1])
    parts = [*PEOPLE.slice(0, 500).to_batches(), *turned.slice(500, 500).to_batches()]
    whole = cells(sanitise_batches(PEOPLE.slice(0, 1000), protocol, key=key, identity="id", keep=["id"]))
    assert cells(sanitise_batches(iter(parts), protocol, key=key, identity="id", keep=["id"])) == whole


@pytest.mark.parametrize(
    "batches", [[], 5, None, iter([5]), [[1, 2]], ["x"]], ids=lambda batches: type(batches).__name__
)
def test_what_has_no_batches_is_refused_in_own_words(protocol, key, batches):
    with pytest.raises(dc.ReleaseError, match="batch"):
        sanitise_batches(batches, protocol, key=key, identity="id")
