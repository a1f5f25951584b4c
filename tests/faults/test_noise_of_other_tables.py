"""What was drawn for a table is no count of another one that lies under its name, or has its ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc

LETTERS = {"s": ["ill", "well"], "x": ["a", "b"]}


def people(counts: list[list[int]]) -> pa.Table:
    cells = np.array(counts)
    s, x = (place.repeat(cells.reshape(-1)) for place in (one.reshape(-1) for one in np.indices(cells.shape)))
    return pa.table({name: np.array(LETTERS[name])[codes] for name, codes in (("s", s), ("x", x))})


FIRST, NEXT = people([[5000, 5000], [5000, 5000]]), people([[1800, 200], [200, 1800]])
SHUFFLED = NEXT.take(np.random.default_rng(1).permutation(NEXT.num_rows))


def joint(table: Any, **noise: Any) -> dc.Joint:
    found = dc.Joint.from_table(table, secret="s", release="x", letters=LETTERS, private=dc.Noise(1.0, **noise))
    assert isinstance(found, dc.Joint)
    return found


def test_of_a_file(tmp_path: Path) -> None:
    """The noisy counts of 20,000 people were handed out for next year's 4,000, as learnt from them."""
    table = tmp_path / "people.csv"
    pyarrow.csv.write_csv(FIRST, table)
    drawn = joint(table)
    assert np.array_equal(joint(table, again=True).counts, drawn.counts)
    pyarrow.csv.write_csv(NEXT, table)
    for again in (False, True):
        with pytest.raises(dc.BudgetError, match="under this name before") as refused:
            joint(table, again=again)
        assert "same-noise" not in str(refused.value)
    table.rename(tmp_path / "people-2025.csv")
    ours = joint(tmp_path / "people-2025.csv")
    assert ours.n == 4000
    assert np.array_equal(joint(tmp_path / "people-2025.csv", again=True).counts, ours.counts)
    pyarrow.csv.write_csv(FIRST, table)
    assert np.array_equal(joint(table, again=True).counts, drawn.counts), "put back, it is the same table"


@pytest.mark.parametrize("as_stream", [False, True])
def test_of_a_table_in_memory(tmp_path: Path, as_stream: bool) -> None:
    def given(table: pa.Table) -> Any:
        return table.to_reader() if as_stream else table

    drawn = joint(given(FIRST), ledger=tmp_path / "book")
    assert np.array_equal(joint(given(FIRST), ledger=tmp_path / "book", again=True).counts, drawn.counts)
    with pytest.raises(dc.BudgetError, match="for this table before"):
        joint(given(FIRST), ledger=tmp_path / "book")
    for again in (False, True):
        with pytest.raises(dc.BudgetError, match="under this name before"):
            joint(given(NEXT), ledger=tmp_path / "book", again=again)
    ours = joint(given(NEXT), ledger=tmp_path / "other")
    assert ours.n == 4000
    with pytest.raises(dc.BudgetError, match="under this name before"):
        joint(given(SHUFFLED), ledger=tmp_path / "other")
