"""SRLIP: side channels that are listed or found as they are needed, and what a witness knows beforehand."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LIP, SRLIP, srlip


def drawn(seed: int) -> Joint:
    return Joint(np.random.default_rng(seed).dirichlet(np.ones(18)).reshape(2, 3, 3))


@pytest.mark.parametrize("curator", [False, True])
def test_the_separated_cone_is_the_listed_one(curator: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, joint = np.random.default_rng(5), drawn(1).curator() if curator else drawn(1)
    listed = SRLIP(0.4).cone(joint)
    monkeypatch.setattr(srlip, "LISTED_ENTRIES", 0)
    separated = SRLIP(0.4).cone(joint)
    verdicts = []
    for _ in range(60):
        row = np.exp(rng.uniform(0, rng.uniform(0, 2), len(joint.letters)))
        verdicts.append(listed.excess(row) <= 0)
        assert (separated.excess(row) <= 0) == verdicts[-1]
    assert 0 < sum(verdicts) < len(verdicts)


def test_the_witness_names_what_is_known_beforehand() -> None:
    """Two attributes that say nothing each and everything together: the worst case knows one of them."""
    cells = np.zeros((2, 2, 2))
    for a in range(2):
        for b in range(2):
            cells[a ^ b, a, b] = 0.25
    joint = Joint(cells)
    channel = Channel(np.array([[0.9, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]]), joint.letters)
    assert LIP(1.0).level(channel, joint).epsilon == pytest.approx(0.0)
    level = SRLIP(1.0).level(channel, joint)
    assert level.epsilon == pytest.approx(np.log(5))
    assert level.witness is not None
    assert [name for name, _ in level.witness.side_channel] == [joint.releases[0].name]
