"""A table with another law than the promise was made for: what is stated was measured, for robust promises too."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet as dc
from discreet.policy import Policy
from discreet.release import Job, rehearse, sanitise, sanitise_file
from discreet.release.ledger import Ledger
from discreet.release.table_checks import OtherTable

COUNTED = np.array([[1000, 1000], [1000, 1000]])
OTHER = np.array([[1900, 100], [700, 1300]])
TURNED = np.array([[1300, 200], [1300, 200]])
"""Another law of the letters, which says nothing of the secret."""
BROKEN = "not the table that was counted"


def people(counts: np.ndarray) -> pa.Table:
    s, x = (place.repeat(counts.reshape(-1)) for place in (array.reshape(-1) for array in np.indices(counts.shape)))
    return pa.table({"s": s, "x": x})


def designed(notion: Any, **more: Any) -> dc.Protocol:
    return dc.design(dc.Joint.from_table(people(COUNTED), secret="s", release="x"), notion, **more).protocol


def level_of(protocol: dc.Protocol, counts: np.ndarray) -> float:
    told = protocol.channel.restricted((0, 1)).matrix @ (counts / counts.sum(axis=1, keepdims=True)).T
    return float(np.abs(np.log(told[:, 0] / told[:, 1])).max())


# ---- what is released all the same ----------------------------------------------------------------------------------


def test_manifest_and_ledger_state_the_level_that_was_measured(tmp_path: Path) -> None:
    """They stated the epsilon of the protocol, 0, and no word of the law."""
    protocol = designed(dc.LDP(0.1))
    true = level_of(protocol, OTHER)
    assert true > 1
    protocol.save(tmp_path / "p.json")
    pyarrow.csv.write_csv(people(OTHER), tmp_path / "t.csv")
    job = Job(tmp_path / "p.json", str(tmp_path / "t.csv"), str(tmp_path / "r.csv"), law_anyway=True)
    with pytest.warns(OtherTable, match="the level is"):
        outcome = sanitise_file(job)
    said = json.loads((tmp_path / "r.csv.manifest.json").read_bytes())
    assert true <= said["total_epsilon"] <= 1.1 * true
    assert said["law"]["levels"] == [{"notion": "LDP", "epsilon": said["total_epsilon"]}]
    assert said["total_epsilon"] == outcome.epsilon == outcome.account.epsilon
    assert "Not promised" in json.loads((tmp_path / "r.csv.datapackage.json").read_bytes())["description"]
    book = Ledger.beside(tmp_path / "p.json", protocol)
    assert [event["there"] for event in book.entered()] == [{"LDP": said["total_epsilon"]}]
    with pytest.raises(dc.BudgetError, match="inf"):
        book.foretold()
    with pytest.raises(dc.BudgetError):
        Ledger.beside(tmp_path / "p.json", protocol, repeat=True).foretold()


@pytest.mark.parametrize(
    "held", [{"budget": 0.2}, {"policy": Policy.of({"epsilon": {"LDP": 0.2}})}], ids=["budget", "policy"]
)
def test_no_budget_and_no_policy_is_lifted(tmp_path: Path, held: dict[str, Any]) -> None:
    protocol, asked = designed(dc.LDP(0.1)), {"ledger": tmp_path / "book", "law_anyway": True, **held}
    assert rehearse(people(OTHER), protocol, **asked).refusals
    with pytest.raises(dc.DiscreetError, match=r"0\.2"), pytest.warns(OtherTable):
        sanitise(people(OTHER), protocol, **asked)
    assert not Ledger(tmp_path / "book", protocol).entered()
    wide = {"budget": 20.0} if "budget" in held else {"policy": Policy.of({"epsilon": {"LDP": 20}})}
    assert not rehearse(people(OTHER), protocol, **{**asked, **wide}).refusals
    with pytest.warns(OtherTable):
        sanitise(people(OTHER), protocol, **{**asked, **wide})
    assert sanitise(people(COUNTED), protocol, **asked, people="counted").num_rows


def test_no_level_without_a_bound_is_meant() -> None:
    """An output that only one secret has shows it."""
    joint = dc.Joint.from_counts(COUNTED, secrets=[0, 1], releases=[0, 1])
    protocol = dc.Protocol.make(dc.Channel(np.eye(2), (0, 1), (0, 1)), joint, dc.LDP(1.0))
    other = people(np.array([[3000, 0], [0, 1000]]))
    with pytest.raises(dc.ReleaseError, match="without bound") as refused:
        sanitise(other.rename_columns([joint.secrets[0].name, joint.releases[0].name]), protocol, law_anyway=True)
    assert "--law-anyway" not in str(refused.value)


# ---- robust promises hold at their set ------------------------------------------------------------------------------


@pytest.mark.parametrize("notion", [dc.RLDP(0.5), dc.RLIP(0.5), dc.RLDP(0.5, dc.Renyi(2, 0.001))], ids=str)
def test_a_robust_promise_is_refused_where_it_is_broken(notion: Any) -> None:
    """It was released without a word: the set holds the distributions near the one counted, not those of all tables."""
    protocol = designed(notion, time_limit=15)
    with pytest.raises(dc.ReleaseError, match=BROKEN) as refused:
        sanitise(people(OTHER), protocol)
    assert "hold for other tables too" not in str(refused.value)
    assert any(one.what.startswith(BROKEN) for one in rehearse(people(OTHER), protocol).refusals)
    with pytest.warns(OtherTable, match="the level is"):
        sanitise(people(OTHER), protocol, law_anyway=True)
    with pytest.warns(OtherTable, match="which was not read"):
        sanitise(people(OTHER).drop_columns(["s"]), protocol)


def test_the_remedy_holds_for_every_table() -> None:
    with pytest.raises(dc.ReleaseError, match=r"dc\.OrdinaryLDP"):
        sanitise(people(OTHER), designed(dc.LDP(0.1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sanitise(people(OTHER), designed(dc.OrdinaryLDP(0.1)))


def test_what_the_set_covers_is_no_other_table() -> None:
    """RLDP bounds no masses: with other shares of the secret the same conditionals are in its set."""
    counts = np.array([[1000, 1000], [400, 1600]])
    joint = dc.Joint.from_table(people(counts), secret="s", release="x")
    shares = people(counts * np.array([[1], [5]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sanitise(shares, dc.design(joint, dc.RLDP(1.5)).protocol)
    with pytest.warns(OtherTable):
        sanitise(shares, dc.design(joint, dc.RLIP(1.5)).protocol)
    with pytest.warns(OtherTable):
        sanitise(people(TURNED), designed(dc.RLDP(1.5)))


def test_groups_that_other_counts_chose_have_limits_here() -> None:
    """Merged by the counts that were designed on; this table did not choose them."""
    counts = np.array([[1000, 900, 20, 10], [900, 1000, 10, 20]])
    other = np.array([[1900, 60, 20, 10], [60, 1900, 10, 20]]) * np.array([[1], [3]])
    group = dc.Grouping.parse([], ["x:rare:50"])
    joint = dc.Joint.from_table(people(counts), secret="s", release="x", group=group)
    with pytest.raises(dc.ReleaseError, match=BROKEN):
        sanitise(people(other), dc.design(joint, dc.LDP(0.2)).protocol)
