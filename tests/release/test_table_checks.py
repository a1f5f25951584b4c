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
from discreet.release.table_checks import OtherTable, levels_there

COUNTED = np.array([[900, 500, 100], [300, 500, 700]])
TURNED = np.array([[2900, 40, 60], [40, 900, 60]])
LAW_ONLY = 10 * np.array([[1100, 400, 100], [370, 400, 700]])


def people(counts: np.ndarray) -> pa.Table:
    s, x = (place.repeat(counts.reshape(-1)) for place in (array.reshape(-1) for array in np.indices(counts.shape)))
    return pa.table({"s": s, "x": x, "k": s * 0})


def designed(notion: Any, **more: str) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(people(COUNTED), secret="s", release="x", **more), notion).protocol


@pytest.mark.parametrize("given", [{}, {"given": "k"}])
@pytest.mark.parametrize(
    "notion",
    [
        dc.LIP(0.2),
        dc.LDP(0.4),
        dc.RLDP(0.4, dc.Exactly()),
        dc.LIP(0.2) & dc.OrdinaryLDP(8),
        dc.LDP(3) & dc.LIP(0.2),
        dc.SRLIP(0.2),
        dc.PML(0.2),
        dc.ALIP(0.3, 0.2),
        dc.Shift(0.1),
        dc.Perfect(),
        dc.Funnel(0.01),
        dc.MaximalLeakage(0.1),
        dc.Guess(0.6),
        dc.Funnel(0.2, ceiling=dc.LIP(0.2)),
    ],
    ids=str,
)
def test_a_broken_promise_is_refused(notion, given, tmp_path) -> None:
    protocol = designed(notion, **given)
    with pytest.raises(ReleaseError, match="not the table that was counted") as refused:
        protocol.sanitise(people(TURNED))
    assert "--law-anyway" in str(refused.value)
    assert rehearse(people(TURNED), protocol).refusals[0].what.startswith("not the table that was counted")
    assert not rehearse(people(TURNED), protocol, law_anyway=True).refusals
    with pytest.warns(OtherTable, match="the level (of LIP )?is"):
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


def test_every_promise_is_held_to_its_own_number() -> None:
    """Once the level of a ceiling was compared with the nats of its average, and that of a second promise with the
    first one's epsilon."""
    with pytest.warns(OtherTable, match=r"the level of LIP is 0\.\d+, where 0.4 is promised"):
        designed(dc.Funnel(0.06, ceiling=dc.LIP(0.4))).sanitise(people(LAW_ONLY))
    with pytest.raises(ReleaseError, match=r"the level of Funnel is 0\.\d+, where 0.001 is promised"):
        designed(dc.Funnel(0.001, ceiling=dc.LIP(2))).sanitise(people(TURNED))


def test_letters_that_nobody_had_are_drawn_as_outputs_were() -> None:
    """A sparse channel has no column for them; the level there is that of the law that was counted."""
    counts = np.zeros((2, 1500), int)
    counts[:, :1100] = np.random.default_rng(5).integers(1, 9, (2, 1100))
    protocol = dc.design(dc.Joint.from_counts(counts), dc.LIP(0.1), method="grr").protocol
    assert not isinstance(protocol.channel.rows, np.ndarray)
    other = counts[:, ::-1] * np.array([[1], [5]])
    there = dc.Joint.from_counts(other)
    exact = (protocol.weights / 2.0**protocol.bits) @ there.letter_given_secret.T
    average = (protocol.weights / 2.0**protocol.bits) @ there.prior
    level = np.abs(np.log(exact / average[:, None])).max()
    assert levels_there(protocol, other.reshape(1, -1)).measured == pytest.approx(level)


def test_the_same_law_and_promises_for_every_table_say_nothing() -> None:
    drawn = np.random.default_rng(4).multinomial(1500, (COUNTED / COUNTED.sum()).reshape(-1)).reshape(2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for table in (COUNTED, drawn):
            designed(dc.LIP(0.2)).sanitise(people(table))
            designed(dc.RLDP(0.4)).sanitise(people(table))
        designed(dc.RLDP(0.4, dc.Everything())).sanitise(people(TURNED))
        designed(dc.OrdinaryLDP(0.4)).sanitise(people(TURNED))


def test_more_records_than_limits_are_computed_for() -> None:
    """Once an error about Confidence, which nobody had asked for."""
    protocol, many = designed(dc.LIP(0.2)), 20_000 * TURNED
    few = levels_there(protocol, TURNED.reshape(1, -1))
    found = levels_there(protocol, many.reshape(1, -1))
    assert found.measured == pytest.approx(few.measured)
    assert few.least < found.least < found.measured
