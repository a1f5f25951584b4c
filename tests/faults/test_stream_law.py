"""The law of a table that can be read once is compared as it passes, as that of any other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.release import Job, rehearse, sanitise, sanitise_file
from discreet.release.table_checks import OtherTable

COUNTED = np.array([[900, 500, 100], [300, 500, 700]])
TURNED = np.array([[2900, 40, 60], [40, 900, 60]])
OTHER = "not the table that was counted"


def people(counts: np.ndarray) -> pa.Table:
    s, x = (place.repeat(counts.reshape(-1)) for place in (array.reshape(-1) for array in np.indices(counts.shape)))
    return pa.table({"s": s, "x": x, "k": s * 0, "who": np.arange(len(s))})


def designed(**more: str) -> Any:
    return dc.design(dc.Joint.from_table(people(COUNTED), secret="s", release="x", **more), dc.LIP(0.2)).protocol


@pytest.mark.parametrize("more", [{}, {"given": "k"}])
def test_a_reader(more: dict[str, str]) -> None:
    protocol = designed(**more)
    with pytest.raises(dc.ReleaseError, match=OTHER):
        protocol.sanitise(people(TURNED).to_reader(max_chunksize=100))
    assert any(one.what.startswith(OTHER) for one in rehearse(people(TURNED).to_reader(), protocol).refusals)
    with pytest.warns(OtherTable, match="the level is"):
        assert protocol.sanitise(people(TURNED).to_reader(), law_anyway=True).read_all().num_rows == TURNED.sum()
    assert protocol.sanitise(people(COUNTED).to_reader()).read_all().num_rows == COUNTED.sum()
    with pytest.warns(OtherTable, match="which was not read"):
        assert protocol.sanitise(people(TURNED).drop(["s"]).to_reader()).read_all().num_rows == TURNED.sum()


def test_a_pipe(tmp_path: Path) -> None:
    designed().save(tmp_path / "p.json")
    pyarrow.csv.write_csv(people(TURNED), tmp_path / "t.csv")
    kept = os.dup(0)
    with (tmp_path / "t.csv").open("rb") as file:
        os.dup2(file.fileno(), 0)
        try:
            with pytest.raises(dc.ReleaseError, match=OTHER):
                sanitise_file(Job(tmp_path / "p.json", "-", str(tmp_path / "out.csv")))
        finally:
            os.dup2(kept, 0)
            os.close(kept)
    assert not [*tmp_path.glob("out.csv*"), *tmp_path.glob("p.json.ledger")]


def test_one_row_of_each_person_that_was_counted_is_compared_too() -> None:
    protocol = designed(person="who")
    with pytest.raises(dc.ReleaseError, match=OTHER):
        sanitise(people(TURNED), protocol)
    assert sanitise(people(COUNTED), protocol).num_rows == COUNTED.sum()
