"""Another table than the one counted: said, measured where the secret is there, refused where the promise breaks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.exceptions import ReleaseError
from discreet.release import Job, rehearse, sanitise_file
from discreet.release.table_checks import OtherTable

COUNTED = np.array([[900, 500, 100], [300, 500, 700]])
TURNED = np.array([[2900, 40, 60], [40, 900, 60]])
LAW_ONLY = 10 * np.array([[1100, 400, 100], [370, 400, 700]])


def people(counts: np.ndarray) -> pa.Table:
    s, x = (place.repeat(counts.reshape(-1)) for place in (array.reshape(-1) for array in np.indices(counts.shape)))
    return pa.table({"s": s, "x": x, "k": s * 0})


def designed(notion: Any, **more: str) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(people(COUNTED), secret="s", release="x", **more), notion).protocol


@pytest.mark.parametrize("given", [{}, {"given": "k"}])
@pytest.mark.parametrize("notion", [dc.LIP(0.2), dc.LDP(0.4), dc.LIP(0.2) & dc.OrdinaryLDP(8)])
def test_a_broken_promise_is_refused(notion, given, tmp_path) -> None:
    protocol = designed(notion, **given)
    with pytest.raises(ReleaseError, match="not the table that was counted") as refused:
        protocol.sanitise(people(TURNED))
    assert "--law-anyway" in str(refused.value)
    assert rehearse(people(TURNED), protocol).refusals[0].what.startswith("not the table that was counted")
    assert not rehearse(people(TURNED), protocol, law_anyway=True).refusals
    with pytest.warns(OtherTable, match="the level is"):
        assert protocol.sanitise(people(TURNED), law_anyway=True).num_rows == TURNED.sum()
    protocol.save(tmp_path / "p.json")
    pyarrow.csv.write_csv(people(TURNED), tmp_path / "t.csv")
    job = Job(tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "r.csv"))
    with pytest.raises(ReleaseError, match="not the table that was counted"):
        sanitise_file(job)
    assert not [*tmp_path.glob("r.csv*"), *tmp_path.glob("p.json.ledger")]


def test_what_is_only_another_law_is_said() -> None:
    protocol = designed(dc.LIP(0.2))
    with pytest.warns(OtherTable, match="where 0.2 is promised"):
        protocol.sanitise(people(LAW_ONLY))
    with pytest.warns(OtherTable, match="which was not read"):
        protocol.sanitise(people(TURNED).drop_columns(["s"]))
    with pytest.warns(OtherTable, match="was not measured"):
        designed(dc.Shift(0.1)).sanitise(people(TURNED))


def test_the_same_law_and_promises_for_other_tables_say_nothing() -> None:
    drawn = np.random.default_rng(4).multinomial(1500, (COUNTED / COUNTED.sum()).reshape(-1)).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (COUNTED, drawn):
            designed(dc.LIP(0.2)).sanitise(people(table))
        designed(dc.RLDP(0.4)).sanitise(people(TURNED))
        designed(dc.OrdinaryLDP(0.4)).sanitise(people(TURNED))
