"""Levels at other records: limits contain the level at the truth, and the split-half check finds what is not robust."""

import numpy as np
import pytest

import discreet as dc
from discreet.audit.level_limits import level_limits
from discreet.study.comparisons import split_half

RNG = np.random.default_rng(0)
TRUTH = np.array([[0.26, 0.02, 0.02, 0.02], [0.02, 0.25, 0.03, 0.02], [0.02, 0.04, 0.2, 0.1]])
MATRIX = np.array([[0.9, 0.1, 0.5, 0.4], [0.1, 0.9, 0.5, 0.6]])


@pytest.mark.parametrize("notion", [dc.LDP(1.0), dc.LIP(1.0), dc.SRLIP(1.0)])
def test_limits_contain_the_level_at_the_truth(notion):
    joint = dc.Joint(TRUTH)
    channel, level = dc.Channel(MATRIX, joint.letters), notion.level(dc.Channel(MATRIX, joint.letters), joint).epsilon
    misses, raised = 0, 0
    for _ in range(30):
        found = level_limits(channel, joint, notion, RNG.multinomial(4000, TRUTH.ravel()).reshape(3, 4))
        misses += not found.low <= level <= found.high
        raised += found.low > 0.01
        assert found.low <= found.measured <= found.high
    assert misses <= 6
    assert raised == 30


def test_notions_that_rest_on_no_distribution_have_no_limits():
    joint = dc.Joint(TRUTH)
    assert level_limits(dc.Channel(MATRIX, joint.letters), joint, dc.OrdinaryLDP(1.0), np.ones((3, 4), int)) is None


def test_the_other_half_exceeds_what_is_not_robust():
    counts = np.random.default_rng(1).multinomial(400, np.random.default_rng(2).dirichlet(np.ones(24))).reshape(3, 8)
    joint = dc.Joint.from_counts(counts + 1)
    found = split_half(joint, dc.LIP(0.2), seconds=3)
    assert found.measured > 0.2
    assert split_half(joint, dc.LIP(0.2), seconds=3) == found
    assert split_half(joint, dc.RLDP(0.2), seconds=3) is None
    assert split_half(dc.Joint(TRUTH), dc.LIP(0.2), seconds=3) is None
