"""The first line of a file without a header is somebody's record: nothing of it is shown as names of columns."""

from pathlib import Path

import pytest

import discreet as dc
from discreet.records.first_line import is_header, is_value

VALUES = [
    "+49 151 2345678", "(030) 1234-5678", "0151/2345678", "Tel. 0151 2345678", "DE89370400440532013000",
    "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "anna@example.org", "12 March 1980", "3. Mai 1980",
    "Mar 12, 1980", "1980-Mar-12", "12/03/1980", "1980-03-12T10:00Z", "12:30", "€ 1,200", "35 %", "1e-3", "4929 1234",
    "PATIENT 123456789", "?", "-",
]  # fmt: skip
NAMES = [
    "town",
    "age",
    "income 2019",
    "q12.1",
    "V1",
    "x_20190101",
    "e mail",
    "phone (home)",
    "1st visit",
    "may",
    "Ärzte",
]


@pytest.mark.parametrize("text", VALUES)
def test_no_column_is_called_that(text):
    assert is_value(text)
    assert not is_header(["name", text], [{"Otto"}, {"other"}])


@pytest.mark.parametrize("text", NAMES)
def test_columns_are_called_that(text):
    assert is_header(["name", text], [{"Otto"}, {"1", "2", "3"}])


def test_a_code_that_looks_like_its_column_is_a_value():
    assert not is_header(["kind", "F32.1"], [{"in"}, {"E11.65", "I10", "F20.0"}])
    assert is_header(["kind", "F32.1"], [{"in"}, {"1", "2", "F20.0"}])


RECORDS = [
    ["Anna", "+49 (151) 234-5678", "angst"],
    ["Anna", "DE89 3704 0044 0532 0130 00", "angst"],
    ["Anna", "anna@example.org", "angst"],
    ["Anna", "F32.1", "angst"],
]
MORE = [["Otto", "F20.0", "asthma"], ["Ida", "E11.65", "gout"]]


@pytest.mark.parametrize("record", RECORDS, ids=[record[1] for record in RECORDS])
def test_a_record_is_not_shown(record, tmp_path):
    path = Path(tmp_path, "t.csv")
    path.write_text("\n".join(";".join(row) for row in [record, *MORE]))
    _hidden(path, record)


def test_a_single_line_may_be_a_record(tmp_path):
    path = Path(tmp_path, "t.csv")
    path.write_text("Anna;Berlin;angst\n")
    with pytest.raises(dc.AlphabetError) as caught:
        dc.Joint.from_table(path, secret="angst1", release="Berlim")
    assert not any(cell in str(caught.value) for cell in ("angst ", "angst?", "Berlin"))


def _hidden(path, record):
    for call in (
        lambda: dc.Joint.from_table(path, secret=f"{record[2]}1", release="x"),
        lambda: dc.Joint.from_table(path, secret="y", release=f"{record[1]}1"),
        lambda: dc.look(path),
    ):
        with pytest.raises(dc.DiscreetError) as caught:
            call()
        shown = f"{caught.value.what} {caught.value.remedy}"
        assert not any(cell in shown for cell in record)


def test_ids_are_looked_for_where_names_look_like_values(tmp_path):
    """Where a column was called 2019, no column was looked at."""
    rows = [f"{'ab'[i % 2]},{'uv'[i // 2 % 2]},person{i // 2},{i}" for i in range(400)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["s,x,person,2019", *rows]))
    protocol = dc.design(dc.Joint.from_table(path, secret="s", release="x"), dc.LIP(0.3)).protocol
    with pytest.raises(dc.ReleaseError, match="person"):
        protocol.sanitise(path)
