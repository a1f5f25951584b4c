"""A release in parts refuses what one machine refuses, and publishes what one machine publishes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from parts_carrier import TableCarrier

from discreet.exceptions import AlphabetError, BudgetError, ParameterError, ReleaseError, TableError
from discreet.protocol import Protocol
from discreet.protocol.statement import Statement
from discreet.records.persons import Rule, WhoseRows
from discreet.release.assembly import PartsRequest, release_in_parts
from discreet.release.kept_columns import KeptColumns
from discreet.release.ledger import Ledger
from discreet.release.readings import Reading
from discreet.release.whose_rows import RowsAsked


@pytest.fixture
def request_(protocol: Protocol, tmp_path: Path) -> PartsRequest:
    key = tmp_path / "key"
    key.touch(0o600)
    key.write_bytes(bytes(range(32)))
    return PartsRequest(protocol, tmp_path / "out", ("note",), True, key, "id", ledger=tmp_path / "ledger")


def visible_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"key", "ledger"}


@pytest.mark.parametrize(("parts", "orderers"), [(1, 1), (3, 2), (7, 5)])
def test_equals_one_machine(
    request_: PartsRequest, people: pa.Table, protocol: Protocol, parts: int, orderers: int
) -> None:
    outcome = release_in_parts(request_, TableCarrier(people, parts, orderers=orderers))
    options = {"keep": ["note"], "key": request_.key, "identity": "id", "keep_anyway": True}
    alone = protocol.sanitise(people, **options).sort_by("note")
    assert pq.read_table(request_.to).sort_by("note").equals(alone)
    assert outcome.records == len(people)
    assert (outcome.draws, outcome.epsilon) == (1, protocol.epsilon)
    manifest = json.loads(Path(str(outcome.manifest)).read_text())
    assert manifest["order"] == "by a keyed hash"
    assert sum(one["records"] for one in manifest["files"]) == len(people)


def test_the_ledger_takes_both_doors_for_one_draw(request_: PartsRequest, people: pa.Table, protocol: Protocol) -> None:
    release_in_parts(request_, TableCarrier(people))
    protocol.sanitise(people, key=request_.key, identity="id", ledger=request_.ledger)
    assert Ledger(Path(str(request_.ledger)), protocol).draws() == 1


def test_an_empty_table_says_its_columns(request_: PartsRequest, people: pa.Table) -> None:
    outcome = release_in_parts(request_, TableCarrier(people.slice(0, 0)))
    assert outcome.records == 0
    assert pq.read_table(request_.to).column_names == ["colour×size", "note"]


def test_ids_are_made_where_there_are_none(request_: PartsRequest, people: pa.Table) -> None:
    fresh = replace(request_, key=None, identity=None)
    carrier = TableCarrier(people)
    assert release_in_parts(fresh, carrier).records == len(people)
    assert all(b"CANARY" not in one for stored in carrier.stored.values() for one in stored)
    assert not list(Path(request_.to).parent.glob(".*")), "the key that was made is still there"
    with pytest.raises(BudgetError):
        release_in_parts(replace(fresh, to=f"{request_.to}2"), TableCarrier(people))


def lose(drafts: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    return drafts[1:]


def repeat(drafts: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    return [*drafts, next(one for one in drafts if one[0] >= 0)]


@pytest.mark.parametrize("tamper", [lose, repeat])
def test_what_was_not_read_once_is_not_released(request_: PartsRequest, people: pa.Table, tamper: object) -> None:
    with pytest.raises(ReleaseError, match="not what was read"):
        release_in_parts(request_, TableCarrier(people, tamper=tamper))  # type: ignore[arg-type]
    assert visible_in(Path(request_.to).parent) == set()
    assert not Path(str(request_.ledger)).exists()


def other_readings(people: pa.Table) -> dict[str, pa.Table]:
    first, last = people.slice(0, 1), people.slice(len(people) - 1)
    rest = people.slice(1)
    return {
        "one lost": rest,
        "one twice": pa.concat_tables([people, first]),
        "one lost, another twice": pa.concat_tables([rest, last]),
        "one is another": pa.concat_tables(
            [first.set_column(0, "id", pa.array(["somebody"])).set_column(1, "note", pa.array(["else"])), rest]
        ),
    }


@pytest.mark.parametrize("made", [False, True])
@pytest.mark.parametrize("reading", ["one lost", "one twice", "one lost, another twice", "one is another"])
def test_a_table_that_reads_differently_is_not_released(
    request_: PartsRequest, people: pa.Table, reading: str, made: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Several rows are allowed, so that nothing but the two readings can tell; without that check it would go out."""
    people = people.select(["id", "note", *(name for name in people.column_names if name not in ("id", "note"))])
    second = other_readings(people)[reading]
    asked = (
        replace(request_, key=None, identity=None)
        if made
        else replace(request_, several_rows=True, rows=RowsAsked(one_row_per_person=True))
    )
    with pytest.raises(ReleaseError, match="gave other records when it was read again"):
        release_in_parts(asked, TableCarrier(people, second=second))
    assert visible_in(Path(request_.to).parent) == set()
    assert not Path(str(request_.ledger)).exists()
    monkeypatch.setattr(Reading, "check", lambda self, drawn: None)
    assert release_in_parts(asked, TableCarrier(people, second=second)).records in (len(people), len(second))


@pytest.mark.parametrize("made", [False, True])
def test_a_table_that_reads_in_another_order_is_released(request_: PartsRequest, people: pa.Table, made: bool) -> None:
    asked = replace(request_, key=None, identity=None) if made else request_
    second = people.take(pa.array(range(len(people) - 1, -1, -1)))
    assert release_in_parts(asked, TableCarrier(people, second=second)).records == len(people)


def test_refusals(request_: PartsRequest, people: pa.Table, tmp_path: Path) -> None:
    def refused(kind: type[Exception], words: str, table: pa.Table = people, **changed: object) -> None:
        with pytest.raises(kind, match=words):
            release_in_parts(replace(request_, **changed), TableCarrier(table))  # type: ignore[arg-type]
        assert visible_in(tmp_path) <= {"policy.toml", "protocol.json", "there"}

    def column(name: str, cells: list[object]) -> pa.Table:
        return people.set_column(people.schema.get_field_index(name), name, pa.array(cells))

    n = len(people)
    refused(TableError, "5,000 of 5,000 records have a value", column("colour", ["mauve"] * n))
    refused(ReleaseError, "carry an id", column("id", ["same", *people["id"].to_pylist()[1:-1], "same"]))
    refused(TableError, "part 2 of the table, row", column("id", [*people["id"].to_pylist()[:-1], None]))
    refused(ReleaseError, "kept columns tell", people.append_column("copy", people["health"]), keep=("copy",),
            keep_anyway=False)  # fmt: skip
    refused(AlphabetError, "cannot be kept", keep=("health",))
    refused(AlphabetError, "no such column", keep=("nothing",))
    refused(ReleaseError, "not a path", to="s3://bucket/folder")
    (tmp_path / "there").mkdir()
    refused(ReleaseError, "something of this name", to=tmp_path / "there")
    (tmp_path / "policy.toml").write_text("k = 1000\n")
    refused(ReleaseError, "k = 1000", keep=("region",), policy=tmp_path / "policy.toml")
    refused(BudgetError, "a positive number", budget=-1.0)
    assert not Path(str(request_.ledger)).exists()


def test_a_policy_that_holds_is_stated(request_: PartsRequest, people: pa.Table, tmp_path: Path) -> None:
    (tmp_path / "policy.toml").write_text("k = 700\n")
    outcome = release_in_parts(
        replace(request_, keep=("region",), policy=tmp_path / "policy.toml"), TableCarrier(people)
    )
    assert json.loads(Path(str(outcome.manifest)).read_text())["policy"]["k"] == 714


def test_rows_of_persons_are_released_once_or_not_at_all(
    request_: PartsRequest, people: pa.Table, protocol: Protocol
) -> None:
    """What a command said about persons was dropped, and all of their rows were released; nobody looked for ids."""
    twice = people.set_column(0, "id", pa.array([f"person {i // 2}" for i in range(len(people))]))
    twice = twice.append_column("row", pa.array([f"row {i}" for i in range(len(people))]))
    made, by_row = replace(request_, key=None, identity=None), replace(request_, identity="row")

    def refused(asked: PartsRequest, words: str, *rows: object) -> None:
        with pytest.raises((ReleaseError, ParameterError), match=words):
            release_in_parts(replace(asked, rows=RowsAsked(*rows)), TableCarrier(twice))  # type: ignore[arg-type]
        assert visible_in(Path(request_.to).parent) == set()

    with pytest.raises(ReleaseError, match="looks like an id, and ids occur in it several times"):
        protocol.sanitise(twice)
    for asked in (made, by_row):
        refused(asked, "looks like an id, and ids occur in it several times")
        for rule in ("one", "tied", "independent", None):
            refused(asked, "only one row for each of them", "id", None, rule)
            refused(asked, "only one row for each of them", None, "nonsense", rule)
        refused(asked, "a rule for rows without a column", None, None, "one")
        refused(asked, "one row per person, and a column", "id", None, None, True)
    refused(request_, "carry an id that another", "id", None, "one")
    stated = protocol.stating(Statement(rows=WhoseRows("household", "id", Rule.single, 9, 9, 1)))
    refused(replace(request_, protocol=stated), "made to households", "id")
    refused(replace(request_, protocol=stated), "made to households", None, None, None, True)
    said = replace(by_row, rows=RowsAsked(one_row_per_person=True))
    assert release_in_parts(said, TableCarrier(twice)).records == len(people)


def test_rows_of_one_id_with_different_values_share_no_draws(request_: PartsRequest, people: pa.Table) -> None:
    """Which cells of a person are alike once went out, with one row's level beside it."""
    twice = people.set_column(0, "id", pa.array([f"person {i // 2}" for i in range(len(people))]))
    several = replace(request_, several_rows=True, keep=(), rows=RowsAsked(one_row_per_person=True))
    with pytest.raises(ReleaseError, match=r"counted rows: its level is not theirs.*--person id --rows tied"):
        release_in_parts(replace(several, rows=RowsAsked()), TableCarrier(twice))
    with pytest.raises(ReleaseError, match="persons have rows with different values, and draws that equal values"):
        release_in_parts(several, TableCarrier(twice))
    assert visible_in(Path(request_.to).parent) == set()
    first = [2 * (i // 2) for i in range(len(people))]
    alike = twice.set_column(2, "colour", twice["colour"].take(first)).set_column(3, "size", twice["size"].take(first))
    assert release_in_parts(several, TableCarrier(alike)).records == len(people)


def test_columns_that_name_people_are_warned_of(request_: PartsRequest, people: pa.Table) -> None:
    with pytest.warns(KeptColumns, match="name people: note"):
        release_in_parts(request_, TableCarrier(people))
