from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

import discreet.datasets
from discreet.datasets import adult
from discreet.exceptions import TableError

SCRIPT = Path(__file__).parents[2] / "scripts/build_adult.py"
COLUMNS = [
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native-country",
    "income",
    "age",
]
SIZES = {"workclass": 9, "education": 16, "marital-status": 7, "occupation": 15, "relationship": 6, "race": 5}
SIZES |= {"sex": 2, "native-country": 42, "income": 2, "age": 73}


def test_adult_is_the_training_part() -> None:
    table = adult()
    assert table.num_rows == 32_561
    assert table.column_names == COLUMNS
    assert {name: len(table[name].unique()) for name in COLUMNS} == SIZES
    assert all(table[name].null_count == 0 for name in COLUMNS)
    assert Counter(table["income"].to_pylist()) == {"<=50K": 24_720, ">50K": 7_841}
    assert Counter(table["occupation"].to_pylist())["Armed-Forces"] == 9
    assert table.slice(0, 1).to_pylist()[0] == dict(
        zip(
            COLUMNS,
            [
                "State-gov",
                "Bachelors",
                "Never-married",
                "Adm-clerical",
                "Not-in-family",
                "White",
                "Male",
                "United-States",
                "<=50K",
                39,
            ],
            strict=True,
        )
    )


def test_adult_has_no_spaces_around_values() -> None:
    table = adult()
    for name in COLUMNS[:-1]:
        assert all(letter == letter.strip() for letter in table[name].unique().to_pylist())


def test_a_changed_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discreet.datasets, "ADULT_SHA256", "0" * 64)
    with pytest.raises(TableError, match=r"adult\.parquet"):
        adult()


def test_the_licence_travels_with_the_data() -> None:
    text = (Path(discreet.datasets.__file__).parent / "ADULT-LICENCE.txt").read_text()
    assert all(part in text for part in ("CC BY 4.0", "Becker", "Kohavi", "10.24432/C5XW20"))


def test_the_script_keeps_the_last_rows_and_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    script = runpy.run_path(str(SCRIPT))
    row = "{age}, Private, 1, HS-grad, 9, Divorced, Sales, Unmarried, White, Female, 0, 0, 40, Cuba, <=50K"
    rows = [row.format(age=17)] + [row.format(age=a % 90) for a in range(script["TRAINING_ROWS"])]
    table = script["training_part"]("\n".join(rows).encode())
    assert table.num_rows == script["TRAINING_ROWS"]
    assert table["age"][0].as_py() == 0
    assert table["native-country"][0].as_py() == "Cuba"
    script["write"](table, tmp_path / "a.parquet")
    script["write"](table, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
