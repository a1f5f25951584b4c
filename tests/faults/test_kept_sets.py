"""Which kept columns, and which of them together, are judged for what they tell about the secret, and what is said of
those that are not."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.release.kept_columns import KeptColumns

ROWS = 4_000
DRAWS = np.random.default_rng(8)
S = np.tile([0, 1], ROWS // 2)
X = DRAWS.integers(0, 3, ROWS)
UNIQUE = np.array([f"seen by doctor number {i}" for i in range(ROWS)], object)


@pytest.fixture(scope="module")
def protocol():
    joint = dc.Joint.from_table(pa.table({"s": S, "x": X}), secret="s", release="x")
    return dc.design(joint, dc.LIP(0.2)).protocol


def notes(common):
    """More than half of the notes are nobody else's."""
    return pa.array(np.where(common, "the oncology ward", UNIQUE))


TELLING = notes((S == 1) & (np.arange(ROWS) % 3 > 0))
SILENT = notes(np.arange(ROWS) % 3 == 0)
RARE_TELLS = notes((S == 1) & (np.arange(ROWS) < ROWS * 3 // 4))


@pytest.mark.parametrize("column", [TELLING, RARE_TELLS], ids=["common", "rare"])
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("keep", [["note"], ["ward", "note"]])
def test_what_a_column_of_mostly_unique_values_tells_is_measured(protocol, column, stream, keep):
    table = pa.table({"s": S, "x": X, "note": column, "ward": DRAWS.integers(0, 2, ROWS)})
    with (
        pytest.warns(KeptColumns, match="name people: note"),
        pytest.raises(dc.ReleaseError, match="kept columns tell about the secret"),
    ):
        protocol.sanitise(table.to_reader() if stream else table, keep=keep, one_row_per_person=True)
    assert any("kept columns tell" in one.what for one in protocol.check(table, keep=keep).refusals)


def test_one_that_tells_nothing_is_kept_with_a_warning(protocol):
    table = pa.table({"s": S, "x": X, "note": SILENT})
    with pytest.warns(KeptColumns, match="name people: note"):
        assert len(protocol.sanitise(table, keep=["note"], one_row_per_person=True)) == ROWS


def test_common_values_are_judged_beside_another_column(protocol):
    """The ward and the note say nothing each, and everything together."""
    ward = DRAWS.integers(0, 2, ROWS)
    common = (ward == S) & (DRAWS.random(ROWS) < 0.9)
    table = pa.table({"s": S, "x": X, "note": notes(common), "ward": ward})
    with (
        pytest.warns(KeptColumns, match="name people: note"),
        pytest.raises(dc.ReleaseError, match="kept columns tell about the secret"),
    ):
        protocol.sanitise(table, keep=["note", "ward"], one_row_per_person=True)


# ---- sets of columns ------------------------------------------------------------------------------------------------


def columns(pair, several, values=2):
    """Several columns, of which the last two tell the secret together, and nothing else does."""
    first = DRAWS.integers(0, 2, ROWS)
    noise = {f"k{i:02}": DRAWS.integers(0, values, ROWS) for i in range(several - 2)}
    second = first ^ S if pair else DRAWS.integers(0, 2, ROWS)
    return pa.table({"s": S, "x": X, **noise, "one": first, "two": second})


@pytest.mark.parametrize("several", [12, 30])
@pytest.mark.parametrize("stream", [False, True])
def test_every_pair_of_many_columns_is_judged(protocol, several, stream):
    table = columns(True, several)
    keep = table.schema.names[2:]
    with pytest.raises(dc.ReleaseError, match="--given one --given two, which"):
        protocol.sanitise(table.to_reader() if stream else table, keep=keep, one_row_per_person=True)
    silent = columns(False, several)
    assert not [one for one in protocol.check(silent, keep=keep).warnings if "not judged" in one.what]


def test_pairs_that_are_not_judged_are_counted(protocol):
    table = columns(False, 40)
    keep = table.schema.names[2:]
    with pytest.warns(KeptColumns, match="not judged: 321 of 780 pairs"):
        protocol.sanitise(table, keep=keep, one_row_per_person=True)
    assert any("321 of 780 pairs" in one.what for one in protocol.check(table, keep=keep).warnings)


def test_of_too_many_combinations_the_pairs_that_can_be_held_are_judged(protocol, monkeypatch):
    monkeypatch.setattr("discreet.release.kept_columns.MOST_CELLS", 1_000)
    table = columns(True, 4, values=100)
    with (
        pytest.warns(KeptColumns, match="together have too many combinations"),
        pytest.raises(dc.ReleaseError, match="--given one --given two, which"),
    ):
        protocol.sanitise(table, keep=table.schema.names[2:], one_row_per_person=True)


def test_of_a_stream_of_too_many_combinations_it_is_said_that_pairs_were_not_judged(protocol, monkeypatch):
    monkeypatch.setattr("discreet.release.kept_columns.MOST_CELLS", 1_000)
    table = columns(True, 4, values=100)
    with pytest.warns(KeptColumns, match="not judged: 6 of 6 pairs of kept columns"):
        protocol.sanitise(table.to_reader(), keep=table.schema.names[2:], one_row_per_person=True)


def test_a_column_that_cannot_be_held_is_named(protocol, monkeypatch):
    monkeypatch.setattr("discreet.release.record_counts.MOST_KINDS", 1_000)
    table = columns(False, 3, values=1_500)
    keep = table.schema.names[2:]
    with pytest.warns(KeptColumns, match="not judged: k00, which has too many values"):
        protocol.sanitise(table.to_reader(), keep=keep, one_row_per_person=True)
    assert any("k00, which has too many values" in one.what for one in protocol.check(table, keep=keep).warnings)
