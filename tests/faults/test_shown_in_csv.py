"""What CSV shows otherwise, with an apostrophe in front, is read back as what it was: letters, given columns, names of
columns; and no two texts are shown alike."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.estimate import estimate_strata
from discreet.records.letters import spreadsheet_safe
from discreet.records.writer import csv_lines, write_records


def table_of(values: list[str], count: int = 1200) -> pa.Table:
    rng = np.random.default_rng(5)
    s = rng.integers(2, size=count)
    x = (s + rng.integers(2, size=count)) % 3
    return pa.table({
        "s": [("no", "yes")[i] for i in s],
        "x": [("a", "b", "c")[i] for i in x],
        "k": [values[i] for i in rng.integers(len(values), size=count)],
    })  # fmt: skip


def texts() -> Iterator[str]:
    for size in range(5):
        yield from map("".join, product("'=;\na -1", repeat=size))


def test_no_two_texts_are_shown_alike_in_either_way() -> None:
    cells = list(texts())
    shown = {spreadsheet_safe(cell) for cell in cells}
    assert len(shown) == len(cells) == sum(8**size for size in range(5))
    lines = csv_lines(pa.record_batch([pa.array(cells, pa.large_string())], names=["k"])).to_pylist()
    assert len(set(lines)) == len(cells)
    assert not any(text.lstrip("'").startswith("=") and not text.startswith("'") for text in shown)


@pytest.mark.parametrize("letters", [["=a", "'=a"], ["@", "''@", "'@"], ["\uff1da", "'\uff1da "]])
def test_values_of_a_given_column_that_csv_shows_alike_are_refused(letters: list[str]) -> None:
    design = dc.design(dc.Joint.from_table(table_of(letters), secret="s", release="x", given="k"), dc.LIP(0.5))
    with pytest.raises(dc.AlphabetError, match="apostrophe"):
        design.protocol  # noqa: B018


@pytest.mark.parametrize("values", [["=west", "east"], ["@", "''=b"]])
def test_strata_of_a_csv_release_are_found_again(values: list[str], tmp_path: Path) -> None:
    """Once every record of such a stratum was in none."""
    table = table_of(values)
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x", given="k"), dc.LIP(0.5)).protocol
    released = protocol.sanitise(table)
    with pa.OSFile(str(tmp_path / "o.csv"), "wb") as sink:
        write_records(sink, released.to_batches(), released.schema, "csv")
    for one in (protocol, protocol.public()):
        found = estimate_strata(tmp_path / "o.csv", one)
        assert {key: result.n for key, result in found.items()} == {
            (value,): table["k"].to_pylist().count(value) for value in values
        }


@pytest.mark.parametrize("name", ["=x", "@x", "+x"])
def test_columns_that_csv_calls_otherwise_are_found_again(name: str, tmp_path: Path) -> None:
    table = table_of(["1"]).select(["s", "x"]).rename_columns(["s", name])
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release=name), dc.LIP(0.5)).protocol
    released = protocol.sanitise(table)
    with pa.OSFile(str(tmp_path / "o.csv"), "wb") as sink:
        write_records(sink, released.to_batches(), released.schema, "csv")
    assert (tmp_path / "o.csv").read_text().startswith(f'"\'{name}"')
    assert dc.estimate(tmp_path / "o.csv", protocol).n == 1200


def test_a_name_that_is_there_is_not_taken_for_another(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("s,=x,'=x\n" + "a,1,2\nb,2,1\na,1,1\nb,1,2\n" * 50)
    joint: Any = dc.Joint.from_table(tmp_path / "t.csv", secret="s", release="=x")
    assert joint.counts.tolist() == [[100, 0], [50, 50]]
