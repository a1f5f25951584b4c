"""Robust mechanisms that read X only, for alphabets of any size."""

import numpy as np
import pytest
from catalogue import solved

import discreet as dc
from discreet.information import utility
from discreet.notions.rldp import largest_excess
from discreet.solvers.problem import Problem
from discreet.solvers.robust.funnel import begin_with_letters, polish_funnel
from discreet.solvers.robust.rescaling import weaker
from discreet.uncertainty.sets import ball_around


def drawn(c, k, seed=0, n=32_561):
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(rng.multinomial(n, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k))


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_it_comes_close_to_the_optimum(epsilon):
    joint, notion = drawn(3, 6), dc.RLDP(epsilon, dc.ChiSquare())
    best = dc.design(joint, notion)
    found = dc.design(joint, notion, method="coupling")
    assert 0.95 * best.utility < found.utility <= best.upper_bound
    assert found.utility > 1.05 * dc.design(joint, notion, method="grr").utility


def test_auto_takes_it_where_the_optimum_is_out_of_reach():
    joint, notion = drawn(2, 20), dc.RLDP(0.5, dc.ChiSquare())
    found = dc.design(joint, notion, time_limit=6.0)
    assert found.method == "coupling"
    assert found.protocol.epsilon <= 0.5
    assert found.utility > 2 * dc.design(joint, notion, method="simple").utility
    assert found.utility <= found.upper_bound


def test_letters_and_secrets_never_seen():
    counts = np.array([[30, 0, 9, 20, 4], [12, 0, 22, 3, 9], [0, 0, 0, 0, 0]])
    for rows in (counts[:2], counts):
        joint, notion = dc.Joint.from_counts(rows), dc.RLDP(1.0, dc.ChiSquare())
        channel = solved(polish_funnel, Problem.of(joint, notion), time_limit=3.0).channel
        assert notion.level(channel, joint).epsilon <= 1.0
        assert channel.matrix.sum(axis=0) == pytest.approx(np.ones(5))


def test_one_output_a_letter_each_as_strong_as_it_may_be():
    joint, notion = drawn(3, 5, n=500), dc.RLDP(0.8, dc.ChiSquare())
    begun = begin_with_letters(joint, notion)
    assert notion.level(begun, joint).epsilon <= 0.8
    assert utility(joint, begun) >= (1 - 1e-6) * dc.design(joint, notion, method="grr").utility
    for row in weaker(joint, notion, np.diag(1 / joint.prior)):
        excess = largest_excess(ball_around(notion.uncertainty, joint), joint.expand(row[None]), np.exp(0.8))
        assert excess == pytest.approx(0, abs=1e-7)
