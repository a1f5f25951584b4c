"""The robust curator: reads the secret, does not tell it, and keeps more of U than the closed forms."""

import numpy as np
import pytest
from catalogue import solved

import discreet as dc
from discreet.solvers.methods import METHODS
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.robust.bands.search import search_bands
from discreet.solvers.robust.curator import _begun, glued_for_release


def drawn(c, k, seed=0):
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(rng.multinomial(32_561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k))


def test_small_alphabets_are_exact():
    joint, notion = dc.Joint.from_counts([[70, 100], [260, 570]]), dc.RLDP(0.2, dc.ChiSquare())
    found = dc.design(joint, notion, sees_secret=True)
    assert found.protocol.joint.sees_secret
    assert found.gap <= 1e-3
    assert found.utility > dc.design(joint, notion).utility


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_large_alphabets_keep_more_than_the_closed_forms(epsilon):
    joint, notion = drawn(4, 6), dc.RLDP(epsilon, dc.ChiSquare())
    found = dc.design(joint, notion, sees_secret=True, time_limit=9.0)
    assert found.method == "coupling"
    assert found.protocol.epsilon <= epsilon
    assert found.utility > 1.3 * dc.design(joint, notion, sees_secret=True, method="simple").utility
    assert found.utility <= found.upper_bound


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_polishing_comes_close_to_the_optimum(epsilon):
    joint, notion = drawn(3, 4, seed=2), dc.RLDP(epsilon, dc.ChiSquare())
    best = dc.design(joint, notion, sees_secret=True)
    found = dc.design(joint, notion, sees_secret=True, method="coupling", time_limit=9.0)
    begun = dc.MutualInformation.of(joint.curator(), _begun(joint.curator(), notion, Effort.within(3.0)))
    assert begun < 0.97 * best.utility
    assert 0.99 * best.utility < found.utility <= best.upper_bound


def test_gluing_again_keeps_every_splitting_and_tells_more_about_u():
    joint = drawn(4, 6)
    told = dc.Joint.from_counts(joint.counts, include_secret=True)
    channel = solved(search_bands, Problem.of(told, dc.RLDP(1.0, dc.ChiSquare())), time_limit=3.0).channel
    widths, rows = glued_for_release(joint.table, channel)
    np.testing.assert_allclose(np.einsum("y,ysu->su", widths, rows), 1.0, atol=1e-9)
    again = dc.Channel(widths[:, None] * rows.reshape(len(widths), -1), told.letters)
    assert dc.MutualInformation.of(joint.curator(), again) > dc.MutualInformation.of(joint.curator(), channel)
    for s in range(4):
        own = dc.Joint(np.outer(np.eye(4)[s], joint.release_given_secret[s]), include_secret=True)
        before, after = (dc.MutualInformation.of(own, one) for one in (channel, again))
        assert after == pytest.approx(before, abs=1e-5)


def test_a_family_without_a_private_member_is_left_out():
    """Conditional Reporting draws from the estimate, which a wide set doubts."""
    joint, notion = dc.Joint.from_counts(np.arange(1, 13).reshape(3, 4)).curator(), dc.RLDP(0.05, dc.ChiSquare())
    with pytest.raises(dc.InfeasibleError, match="weakest"):
        METHODS["cr"].solve(Problem.of(joint, notion), Effort())
    assert dc.design(joint, notion, method="simple").protocol.epsilon <= 0.05
