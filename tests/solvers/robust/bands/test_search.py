"""The coupling of bands: private by its exact level, proven, and better than the closed forms."""

import numpy as np
import pytest
from catalogue import solved

import discreet as dc
from discreet.channel import fewer_outputs
from discreet.exceptions import UnfinishedError
from discreet.information import utility
from discreet.linear_program import Program
from discreet.solvers.problem import Problem
from discreet.solvers.robust.bands.search import search_bands


def drawn(c, k, seed=0):
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(
        rng.multinomial(32_561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k), include_secret=True
    )


@pytest.mark.parametrize(("c", "k"), [(4, 5), (6, 3)])
def test_private_proven_and_better_than_the_closed_forms(c, k):
    joint, notion = drawn(c, k), dc.RLDP(1.5, dc.ChiSquare(0.9))
    found = solved(search_bands, Problem.of(joint, notion), time_limit=5.0)
    assert notion.level(found.channel, joint).epsilon <= 1.5
    assert dc.Protocol.make(found.channel, joint, notion).epsilon <= 1.5
    assert dc.design(joint, notion, method="simple").utility < found.value <= found.upper_bound


def test_merging_outputs_loses_no_more_than_allowed_and_raises_no_level():
    joint, notion = drawn(4, 5), dc.RLDP(1.5, dc.ChiSquare(0.9))
    found = solved(search_bands, Problem.of(joint, notion), time_limit=5.0)
    fewer = fewer_outputs(joint, found.channel, 0.02)
    assert len(fewer.outputs) < len(found.channel.outputs)
    assert utility(joint, fewer) >= 0.98 * found.value - 1e-9
    assert notion.level(fewer, joint).epsilon <= 1.5 + 1e-9


def test_rare_and_unseen_secrets_are_kept_private():
    joint = dc.Joint.from_counts([[0, 0, 0], [1, 0, 0], [9, 3, 20], [400, 300, 10], [90, 80, 70]], include_secret=True)
    notion = dc.RLDP(1.0, dc.ChiSquare(0.95))
    found = dc.design(joint, notion, method="coupling", time_limit=5.0)
    assert found.protocol.epsilon <= 1.0
    assert found.utility >= dc.design(joint, notion, method="simple").utility - 1e-9


def test_a_point_and_everything_have_their_own_methods():
    with pytest.raises(dc.ParameterError, match="coupling"):
        solved(search_bands, Problem.of(drawn(3, 3), dc.RLDP(1.0, dc.Everything())))


def test_a_linear_program_that_fails_on_the_way_costs_utility_only(monkeypatch):
    joint, notion = drawn(4, 4), dc.RLDP(1.5, dc.ChiSquare(0.9))
    calls, honest = [], Program.solved

    def failing(self):
        calls.append(self)
        if len(calls) > 100:
            raise UnfinishedError("planted")
        return honest(self)

    whole = solved(search_bands, Problem.of(joint, notion))
    monkeypatch.setattr(Program, "solved", failing)
    found = solved(search_bands, Problem.of(joint, notion))
    assert 0.5 * whole.value < found.value < whole.value
    assert notion.level(found.channel, joint).epsilon <= notion.epsilon
    with pytest.raises(UnfinishedError, match="planted"):
        solved(search_bands, Problem.of(joint, notion))
