"""Ordinary LDP: conditions that are listed and conditions that are found as they are needed are the same."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.joint import Joint
from discreet.notions import OrdinaryLDP, allows, ordinary_ldp


@pytest.mark.parametrize("spread", [0.2, 0.49, 0.51, 2.0])
def test_the_separated_cone_is_the_listed_one(spread: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    joint = Joint(rng.dirichlet(np.ones(12)).reshape(2, 6))
    listed = OrdinaryLDP(0.5).cone(joint)
    monkeypatch.setattr(ordinary_ldp, "LISTED_LETTERS", 2)
    separated = OrdinaryLDP(0.5).cone(joint)
    assert listed.complete
    assert not separated.complete
    for _ in range(50):
        row = np.exp(rng.uniform(0, spread, 6))
        inside = np.log(row.max() / row.min()) <= 0.5
        assert (listed.excess(row) <= 0) == (separated.excess(row) <= 0) == inside


def test_letters_of_probability_zero_count() -> None:
    joint = Joint(np.array([[0.5, 0.0], [0.5, 0.0]]))
    assert not allows(OrdinaryLDP(1.0), np.array([1.0, 3.0]), joint)
    assert allows(OrdinaryLDP(1.0), np.array([1.0, 2.7]), joint)
