"""Columns of one type that Arrow does not take by itself are what they are; a decimal is written with its digits.

And what a table is asked is proportional to its columns, not to their square."""

from __future__ import annotations

import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.exceptions import AlphabetError
from discreet.records.cells import text_of_one
from discreet.records.columns import single_names
from discreet.records.csvheader import Header, there
from discreet.records.source import check_names, open_records
from discreet.release.kept_columns import KeptColumns

SECRET = ["a", "b"] * 60
FRAMES = {
    "Int128": lambda: pl.DataFrame({"s": SECRET, "x": pl.Series([0, 5, 5, 0] * 30, dtype=pl.Int128)}),
    "sparse": lambda: pd.DataFrame({"s": SECRET, "x": pd.arrays.SparseArray([0, 5, 5, 0] * 30)}),
    "dummies": lambda: pd.DataFrame({"s": SECRET, "x": pd.get_dummies(pd.Series([0, 1] * 60), sparse=True)[1]}),
}
LETTERS = {"Int128": ("0", "5"), "sparse": ("0", "5"), "dummies": ("False", "True")}


@pytest.mark.parametrize("name", FRAMES)
def test_numbers_of_one_type(name: str) -> None:
    found = dc.Joint.from_table(FRAMES[name](), secret="s", release="x")
    assert tuple(str(letter).capitalize() for letter in found.letters) == LETTERS[name]


def test_values_of_several_types_are_still_told() -> None:
    mixed = pd.DataFrame({"s": SECRET, "x": pd.Series([1, "1", "2", 3] * 30, dtype=object)})
    with pytest.raises(dc.DiscreetError):
        dc.Joint.from_table(mixed, secret="s", release="x")


@pytest.mark.parametrize("scale", [0, 2, 7, 8, 18])
def test_a_decimal_zero_has_the_digits_of_its_scale(tmp_path: Path, scale: int) -> None:
    """As the same table has it in CSV, and as the book of keyed draws says."""
    cells = pa.array([Decimal(0), Decimal(1)] * 60, pa.decimal128(38, scale))
    frame = pa.table({"s": SECRET, "x": cells})
    path = tmp_path / "d.csv"
    path.write_text("s,x\n" + "".join(f"{s},{i % 2:.{scale}f}\n" for i, s in enumerate(SECRET)))
    letters = [dc.Joint.from_table(one, secret="s", release="x").letters for one in (frame, str(path))]
    assert letters[0] == letters[1] == (f"{0:.{scale}f}", f"{1:.{scale}f}")


def test_a_decimal_beyond_measure_keeps_its_power() -> None:
    assert text_of_one(Decimal("1E+999999999")) == "1E+999999999"
    assert text_of_one(Decimal("0E-8")) == "0.00000000"


@pytest.mark.parametrize("kind", ["uuid", "gap", "objects", "period"])
def test_a_kept_column_beside_the_secret(kind: str) -> None:
    ids = [uuid.UUID(int=number) for number in range(1, 121)]
    cells: Any = pa.array([one.bytes for one in ids], pa.uuid())
    if kind == "gap":
        cells = pa.array([None, *(one.bytes for one in ids[1:])], pa.uuid())
    table: Any = pa.table({"s": SECRET, "x": ["p", "q", "q", "p"] * 30, "u": cells})
    if kind in ("objects", "period"):
        column = ids if kind == "objects" else pd.period_range("2020", periods=120, freq="D")
        table = pd.DataFrame({"s": SECRET, "x": ["p", "q", "q", "p"] * 30, "u": column})
    protocol = dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LDP(2)).protocol
    with pytest.warns(KeptColumns):
        found = protocol.sanitise(table, keep=["u"], keep_anyway=True, one_row_per_person=True)
    assert len(found) == 120
    assert len(set(found["u"].to_pylist() if isinstance(table, pa.Table) else found["u"])) == 120


class Counted(str):
    """A name that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_names_are_compared_in_proportion_to_their_number() -> None:
    names = [Counted(f"c{number}") for number in range(3000)]
    others = [Counted(f"c{number}") for number in range(3000)]
    header = Header(tuple(names), ",", True, False)
    calls = (
        lambda: single_names(names),
        lambda: check_names(others, names),
        lambda: there(others, names),
        lambda: header.check(others),
        lambda: header.meaning(others),
    )
    for call in calls:
        Counted.compared = 0
        call()
        assert Counted.compared < 20 * len(names)
    Counted.compared = 0
    assert [name for name in names[:100] if others.count(name) == 1] == names[:100]  # negative control
    assert Counted.compared > 20 * len(names)


def test_two_columns_of_one_name_have_a_remedy_that_helps(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("sec,rel,k,k\na,p,z,z\nb,q,z,z\n")
    table = pa.table([["a", "b"], ["p", "q"], ["z"] * 2, ["z"] * 2], names=["sec", "rel", "k", "k"])
    for source in (table, table.to_reader()):
        with pytest.raises(AlphabetError, match="two columns of this name") as refused:
            open_records(source, ["sec", "k"])
        assert "Give each of them a name of its own" in refused.value.remedy
        assert "Did you mean" not in refused.value.remedy
    with pytest.raises(AlphabetError, match="two columns of this name"):
        open_records(str(path), ["sec", "k"])
