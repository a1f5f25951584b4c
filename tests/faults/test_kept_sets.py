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
