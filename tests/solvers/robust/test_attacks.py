"""Brute force against finished mechanisms: 10,000 members of F and local optimisation from 50 starts."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.uncertainty.sets import ball_around

sys.path.insert(0, str(Path(__file__).parents[2] / "uncertainty"))
from attacks import climb, members, ratio

MEMBERS, STARTS = 10_000, 50
CASES = {
    "example 3": (dc.Joint.from_counts([[7, 10], [26, 57]], include_secret=True), dc.RLDP(math.log(2), dc.ChiSquare())),
    "coupling": (
        dc.Joint.from_counts([[90, 30, 5], [25, 60, 40], [9, 9, 90]], include_secret=True),
        dc.RLDP(1.0, dc.ChiSquare()),
    ),
    "curator": (dc.Joint.from_counts([[30, 10, 5], [5, 20, 40], [9, 9, 9]]).curator(), dc.RLDP(0.7, dc.ChiSquare())),
    "coupling for a curator": (
        dc.Joint.from_counts([[30, 10, 5], [5, 20, 40], [9, 9, 0]]).curator(),
        dc.RLDP(0.7, dc.ChiSquare()),
    ),
    "coupling of X alone": (
        dc.Joint.from_counts([[30, 10, 0, 5], [5, 20, 0, 40], [9, 9, 0, 0]]),
        dc.RLDP(0.9, dc.ChiSquare()),
    ),
}


def strongest_attack(channel, joint, notion, seed=0):
    """The largest ln P(y | s) / P(y | t) that brute force finds over F, over all outputs and pairs of secrets."""
    rng = np.random.default_rng(seed)
    ball, rows = ball_around(notion.uncertainty, joint), joint.expand(channel.matrix)
    drawn = members(ball, MEMBERS, rng)
    likelihoods = np.einsum("nsu,ysu->nys", drawn / drawn.sum(axis=2, keepdims=True), rows)
    ratios = likelihoods[:, :, :, None] / likelihoods[:, :, None, :]
    best, start = ratios.max(axis=0), ratios.argmax(axis=0)
    worst = float(best.max())
    for y, s, t in zip(*np.unravel_index(np.argsort(-best, axis=None)[:STARTS], best.shape), strict=True):
        worst = max(worst, climb(ball, lambda p: float(ratio(p, rows[y], s, t)), drawn[start[y, s, t]]))  # noqa: B023
    return math.log(worst)


@pytest.mark.parametrize("name", CASES)
def test_no_attack_beats_the_proven_level(name):
    joint, notion = CASES[name]
    protocol = dc.design(joint, notion, method="coupling" if "coupling" in name else "auto", time_limit=5.0).protocol
    reached = strongest_attack(protocol.channel, protocol.joint, notion)
    assert reached <= protocol.epsilon + 1e-9
    assert reached >= 0.9 * protocol.epsilon


def test_the_attack_catches_a_mechanism_for_a_set_that_is_too_small():
    """Planted fault: designed for a set of half the radius, attacked over the whole one."""
    joint, _ = CASES["example 3"]
    whole, half = (dc.RLDP(math.log(2), dc.Renyi(2, radius)) for radius in (0.04, 0.02))
    protocol = dc.design(joint, half, time_limit=5.0).protocol
    assert strongest_attack(protocol.channel, protocol.joint, half) <= protocol.epsilon + 1e-9
    assert strongest_attack(protocol.channel, protocol.joint, whole) > protocol.epsilon + 0.01
