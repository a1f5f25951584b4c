"""A promise that is robust over a set of one distribution is no more than the same promise at that distribution."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.notions.notion import at_prior, words_of
from discreet.policy import Policy

COUNTS = np.array([[900, 500, 100], [300, 500, 700]])
ONE = dc.RLDP(0.4, dc.Exactly())
ROBUST = [dc.RLDP(0.4), dc.RLDP(0.4, dc.Everything()), dc.RLDP(0.4, dc.ChiSquare()), dc.RLDP(0.4, dc.Renyi(2, 0.01))]
SETS = [*ROBUST, dc.RLIP(0.4), dc.OrdinaryLDP(0.4), dc.RLDP(0.4) & dc.OrdinaryLDP(2)]


def people(counts: np.ndarray) -> pa.Table:
    s, x = (place.repeat(counts.reshape(-1)) for place in (array.reshape(-1) for array in np.indices(counts.shape)))
    return pa.table({"s": s, "x": x})


def test_a_policy_that_asks_for_a_robust_promise_refuses_it():
    table, policy = people(COUNTS), Policy.of({"robust": True})
    joint = dc.Joint.from_table(table, secret="s", release="x")
    for notion in (ONE, ONE & dc.OrdinaryLDP(3)):
        with pytest.raises(dc.ReleaseError, match="robust = true; here the promise rests on one estimated"):
            dc.design(joint, notion).protocol.sanitise(table, policy=policy)
    assert len(dc.design(joint, dc.RLDP(0.4)).protocol.sanitise(table, policy=policy)) == COUNTS.sum()


@pytest.mark.parametrize("notion", SETS, ids=str)
def test_sets_of_more_than_one_are_robust(notion):
    assert not at_prior(notion)


@pytest.mark.parametrize("notion", [ONE, dc.LIP(1), dc.OrdinaryLDP(3) & ONE, dc.Funnel(0.1)], ids=str)
def test_one_distribution_is_not(notion):
    assert at_prior(notion)
    assert len(notion.promises) == 1 or words_of(notion).at_prior


def test_another_law_breaks_it():
    protocol = dc.design(dc.Joint.from_table(people(COUNTS), secret="s", release="x"), ONE).protocol
    with pytest.raises(dc.ReleaseError, match="not the table that was counted"):
        protocol.sanitise(people(np.array([[2900, 40, 60], [40, 900, 60]])))
