from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.exceptions import AlphabetError, BudgetError, ParameterError, TableError
from discreet.protocol import Protocol
from discreet.release.ledger import Ledger
from discreet.release.sanitise import NotPrivate

MAKERS: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "reader": lambda table: table.to_reader(),
    "batch": lambda table: table.combine_chunks().to_batches()[0],
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "lazy": lambda table: pl.DataFrame(table).lazy(),
    "duckdb": duckdb.from_arrow,
}


def as_arrow(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect().to_arrow()
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    return pa.Table.from_pandas(frame) if isinstance(frame, pd.DataFrame) else pa.table(frame)


@pytest.mark.parametrize("kind", MAKERS)
def test_the_kind_that_came_in_goes_out(people: pa.Table, protocol: Protocol, kind: str) -> None:
    frame = MAKERS[kind](people)
    released = protocol.sanitise(frame, keep=["region"])
    assert type(released) is type(frame)
    table = as_arrow(released)
    assert table.column_names == ["colour×size", "region"]
    assert Counter(table["region"].to_pylist()) == Counter(people["region"].to_pylist())
    assert set(table["colour×size"].to_pylist()) == {str(output) for output in protocol.outputs}


@pytest.mark.filterwarnings("ignore:drawn from a fixed stream")
def test_every_kind_draws_from_the_same_kernel(people: pa.Table, protocol: Protocol) -> None:
    columns = [
        as_arrow(protocol.sanitise(make(people), keep_order=True, testing=True))["colour×size"].to_pylist()
        for make in MAKERS.values()
    ]
    assert all(column == columns[0] for column in columns)


def test_order_is_random_unless_kept(people: pa.Table, protocol: Protocol) -> None:
    assert protocol.sanitise(people, keep=["id"])["id"].to_pylist() != people["id"].to_pylist()
    assert protocol.sanitise(people, keep=["id"], keep_order=True)["id"].to_pylist() == people["id"].to_pylist()


def test_a_pandas_index_does_not_get_out(people: pa.Table, protocol: Protocol) -> None:
    frame = people.to_pandas().set_index("note")
    released = protocol.sanitise(frame, keep_order=True)
    assert released.index.equals(pd.RangeIndex(len(frame)))
    assert "CANARY" not in released.to_csv()


def test_a_column_of_mixed_types(protocol: Protocol) -> None:
    frame = pd.DataFrame({"colour": ["red", 3, None, 2.5, b"x"], "size": [1, "2", "x", float("nan"), 1]}, dtype=object)
    assert len(protocol.sanitise(frame)) == 5


def test_categories(people: pa.Table, protocol: Protocol) -> None:
    frame = people.to_pandas().astype({"colour": "category", "region": "category"})
    assert Counter(protocol.sanitise(frame, keep=["region"])["region"]) == Counter(frame["region"])


@pytest.mark.parametrize("column", ["health", "colour", "size", "colour×size"])
def test_secret_and_sanitised_columns_cannot_be_kept(people: pa.Table, protocol: Protocol, column: str) -> None:
    with pytest.raises(AlphabetError, match="cannot be kept"):
        protocol.sanitise(people, keep=[column])


def test_misuse(people: pa.Table, protocol: Protocol, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="no such file"):
        protocol.sanitise(tmp_path / "in.csv")
    with pytest.raises(AlphabetError):
        protocol.sanitise(people.drop_columns(["colour"]))
    with pytest.raises(ParameterError, match="go together"):
        protocol.sanitise(people, identity="id")
    with pytest.raises(TableError):
        protocol.sanitise(17)


def test_unseen_and_missing_values_are_draws_from_the_population(protocol: Protocol) -> None:
    n = 200_000
    odd = pa.table({"colour": pa.array(["mauve", None] * (n // 2)), "size": np.ones(n)})
    drawn = Counter(protocol.sanitise(odd, unknown_anyway=True)["colour×size"].to_pylist())
    expected = protocol.marginal / 2.0**protocol.bits
    for output, share in zip(protocol.outputs, expected, strict=True):
        assert abs(drawn[str(output)] / n - share) < 6 * np.sqrt(share / n)


def said(frame: Any) -> dict[str, Any]:
    found: dict[str, Any] = (
        frame.attrs["discreet release"]
        if isinstance(frame, pd.DataFrame)
        else json.loads(frame.schema.metadata[b"discreet release"])
    )
    return found


@pytest.mark.parametrize("kind", ["pyarrow", "batch", "reader", "pandas"])
def test_a_release_says_what_it_is(people: pa.Table, protocol: Protocol, kind: str) -> None:
    statement = said(protocol.sanitise(MAKERS[kind](people), keep=["region"]))
    assert statement["protocol"]["sha256"] == protocol.digest
    assert (statement["records"], statement["order"]) == (len(people), "random")
    assert statement["randomness"].startswith("AES-256-CTR")
    with pytest.warns(NotPrivate, match="not private"):
        tested = protocol.sanitise(MAKERS[kind](people), testing=True)
    assert said(tested)["randomness"] == "testing: fixed key, not private"


def test_a_ledger_counts_frames_as_it_counts_files(people: pa.Table, protocol: Protocol, tmp_path: Path) -> None:
    book = tmp_path / "protocol.json.ledger"
    protocol.save(tmp_path / "protocol.json")
    first = protocol.sanitise(people, ledger=book, budget=1e6)
    assert said(first)["independent_draws"] == 1
    second = said(protocol.sanitise(people, ledger=book))
    assert second["independent_draws"] == 2
    assert second["total_epsilon"] >= protocol.epsilon
    assert Ledger.beside(tmp_path / "protocol.json", protocol).draws() == 2
    before = book.read_bytes()
    with pytest.raises(BudgetError):
        protocol.sanitise(people, ledger=book, budget=protocol.epsilon / 2)
    assert book.read_bytes() == before
    assert said(protocol.sanitise(people, ledger=book, data="others", budget=1e6))["independent_draws"] == 1
    with pytest.raises(ParameterError, match="without a ledger"):
        protocol.sanitise(people, budget=1.0)


def test_a_table_that_cannot_be_read_is_not_counted(people: pa.Table, protocol: Protocol, tmp_path: Path) -> None:
    with pytest.raises(AlphabetError):
        protocol.sanitise(people.drop_columns("colour"), ledger=tmp_path / "ledger")
    assert not (tmp_path / "ledger").exists()
