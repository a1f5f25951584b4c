"""A remedy that is named works: what a refused release is told to do is done, and accepted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import BudgetError, InfeasibleError
from discreet.release.keyed_draws import KeyedDraw
from discreet.release.ledger import Ledger
from discreet.study import Purpose, Study

KEYED = KeyedDraw("k" * 64, "id", "p" * 64)
KEY, BUDGET, REPEAT, PEOPLE = "Release with the key", "declare a budget", "--repeat", "--people NAME"


def protocol_of(mix: float = 0.3, belt: float | None = None) -> dc.Protocol:
    joint = dc.Joint.from_counts([[9, 4, 2], [3, 7, 5]], ["ill", "well"], [dc.Attribute("x", ("a", "b", "c"))])
    channel = dc.Channel(mix * np.eye(3) + (1 - mix) / 3, joint.letters, ("A", "B", "C"))
    notion = dc.LIP(2.0) if belt is None else dc.LIP(2.0) & dc.OrdinaryLDP(belt)
    return dc.Protocol.make(channel, joint, notion)


def split() -> dc.Protocol:
    """Two draws say everything, one nothing: the secret is the exclusive or of what is released."""
    joint = dc.Joint.from_counts([[10, 0, 0, 10], [0, 10, 10, 0]], ["even", "odd"])
    shown = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
    return dc.Protocol.make(dc.Channel(np.array(shown) / 2, joint.letters, tuple("abcd")), joint, dc.LDP(0.5))


def remedy(ledger: Ledger, draw: KeyedDraw | None = None, budget: float | None = None) -> str:
    with pytest.raises(BudgetError) as found:
        ledger.account(draw, budget)
    return str(found.value)


def of(tmp_path: Path, protocol: dc.Protocol, **more: bool) -> Ledger:
    return Ledger(tmp_path / "p.ledger", protocol, **more)


def test_a_key_is_no_way_after_a_release_without_one(tmp_path: Path) -> None:
    ledger = of(tmp_path, protocol_of())
    ledger.enter(budget=0.5)
    told = remedy(ledger, budget=0.001)
    assert KEY not in told
    assert "Publish the first release again" in told
    with pytest.raises(BudgetError):
        ledger.account(KEYED, 0.001)


def test_the_key_of_an_earlier_release_is_one(tmp_path: Path) -> None:
    ledger = of(tmp_path, protocol_of())
    ledger.enter(KEYED, budget=0.5)
    assert KEY in remedy(ledger, budget=ledger.account(KEYED).epsilon)
    assert ledger.account(KEYED).draws == 1


def test_no_budget_where_nothing_is_bounded(tmp_path: Path) -> None:
    ledger = of(tmp_path, split())
    ledger.enter()
    told = remedy(ledger)
    assert BUDGET not in told
    assert REPEAT not in told
    assert PEOPLE in told
    for budget in (1.0, 1e300):
        with pytest.raises(BudgetError):
            ledger.account(None, budget)
    assert Ledger(ledger.path, ledger.protocol, "others").account().draws == 1


def test_a_budget_and_a_repeat_where_they_work(tmp_path: Path) -> None:
    ledger = of(tmp_path, protocol_of(0.9))
    ledger.enter()
    told = remedy(ledger)
    assert BUDGET in told
    assert REPEAT in told
    assert of(tmp_path, protocol_of(0.9), repeat=True).account().draws == 2
    assert ledger.account(None, 100.0).draws == 2


def test_a_first_draw_above_its_budget(tmp_path: Path) -> None:
    """Neither a key nor an earlier release, nor another name, would help."""
    told = remedy(of(tmp_path, protocol_of()), budget=1e-6)
    assert told.endswith("(p.ledger). Declare a larger budget.")


def test_a_need_that_a_belt_stands_in_the_way_of() -> None:
    """Once reading the secret was the remedy, also to whom it reads it, and where only the belt can give way."""
    joint = dc.Joint.from_counts([[90, 5, 5], [5, 90, 5], [5, 5, 90]], ["u", "v", "w"])
    for one, belt, told in ((joint, 0.5, "a larger belt"), (joint.curator(), 0.5, "a larger belt")):
        with pytest.raises(InfeasibleError, match=told):
            Study.begin(one, dc.LIP(1.0) & dc.OrdinaryLDP(belt), purpose=Purpose.values, need=0.95)
    followed = Study.begin(joint, dc.LIP(1.0) & dc.OrdinaryLDP(8.0), purpose=Purpose.values, need=0.95)
    assert followed.unchanged is not None
    assert followed.unchanged >= 0.95


def test_two_values_of_a_secret_are_not_to_be_merged() -> None:
    """They would be one, and there would be nothing to hide."""
    columns = (dc.Attribute("k", ("m", "n")),)
    for letters, told in ((("a", "b"), "Give fewer columns"), (("a", "b", "c"), "Merge 'a' with")):
        counts = {("m",): [[9, 9], *[[99, 99]] * (len(letters) - 1)], ("n",): [[99, 99]] * len(letters)}
        joint = dc.StratifiedJoint(columns, {key: dc.Joint.from_counts(n, letters) for key, n in counts.items()})
        with pytest.raises(dc.DistributionError, match=told):
            dc.design(joint, dc.LIP(0.5))
