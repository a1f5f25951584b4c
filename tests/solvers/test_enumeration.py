"""Extreme rows: the right ones, sparse, and a refusal rather than an endless run."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from catalogue import random_joint

from discreet.exceptions import UnfinishedError
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.notions.srlip import SRLIP
from discreet.solvers import enumeration


def brute_force(rows: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Every choice of a − 1 tight conditions that leaves one point, if it is permitted."""
    a = len(prior)
    system = np.vstack([rows, -np.eye(a)])
    system = system / np.abs(system).max(axis=1, keepdims=True)
    found = []
    for tight in combinations(range(len(system)), a - 1):
        matrix = np.vstack([prior, system[list(tight)]])
        if np.linalg.cond(matrix) < 1e9:
            v = np.linalg.solve(matrix, np.r_[1.0, np.zeros(a - 1)])
            if (system @ v).max() < 1e-9:
                found.append(v)
    return np.unique(np.round(found, 7) + 0.0, axis=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("notion", [LIP(0.4), LDP(0.4), LDP(1.5), OrdinaryLDP(1.0)], ids=str)
def test_the_extreme_rows_are_those_of_brute_force(seed: int, notion: LIP | LDP | OrdinaryLDP) -> None:
    joint = random_joint(seed, 3, 4, empty=0.2)
    rows = notion.cone(joint).rows
    found = enumeration.vertices(rows, joint.prior)
    expected = brute_force(rows, joint.prior)
    assert len(found) == len(expected)
    assert np.allclose(np.unique(np.round(found, 7) + 0.0, axis=0), expected, atol=1e-6)


def test_side_channels_too() -> None:
    joint = random_joint(3, 2, 2, 2)
    rows = SRLIP(0.4).cone(joint).rows
    assert len(enumeration.vertices(rows, joint.prior)) == len(brute_force(rows, joint.prior))


@pytest.mark.parametrize("c", [2, 3, 4])
@pytest.mark.parametrize("notion", [LIP(0.4), LDP(0.4)], ids=str)
def test_extreme_rows_have_at_most_c_letters(c: int, notion: LIP | LDP) -> None:
    joint = random_joint(c, c, 8)
    found = enumeration.vertices(notion.cone(joint).rows, joint.prior)
    assert (found > 0).sum(axis=1).max() == c


def test_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enumeration, "MOST_RAYS", 20)
    joint = random_joint(0, 3, 8)
    with pytest.raises(UnfinishedError, match="columns"):
        enumeration.vertices(LIP(0.2).cone(joint).rows, joint.prior)
