"""A remedy that is named works: what a refused release is told to do is done, and accepted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import BudgetError
from discreet.release.keyed_draws import KeyedDraw
from discreet.release.ledger import Ledger

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
