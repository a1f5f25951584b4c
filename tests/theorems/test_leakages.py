"""How the leakages of the field relate (theory 9.1), as properties of random channels."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.information import leakage, secret_with_output
from discreet.joint import Joint
from discreet.notions import ALIP, LDP, LIP, PML, Perfect, Shift
from discreet.testing import joints_with_channels, post_processings

ROUNDING = 1e-9


def level(notion, channel, joint):
    return notion.level(channel, joint).epsilon


def maximal_leakage(joint, channel):
    """ln Σ_y max_s P(y|s), from the definition."""
    together = secret_with_output(joint, channel)
    masses = together.sum(axis=1)
    return math.log((together[masses > 0] / masses[masses > 0, None]).max(axis=0).sum())


@given(joints_with_channels())
def test_the_order_of_the_leakages(pair):
    """LDP ≥ LIP ≥ PML ≥ maximal leakage ≥ I(S;Y)"""
    joint, channel = pair
    told = [level(notion, channel, joint) for notion in (LDP(1), LIP(1), PML(1))]
    told += [maximal_leakage(joint, channel), leakage(joint, channel)]
    assert all(first >= second - ROUNDING for first, second in pairwise(told))


@given(joints_with_channels())
def test_lip_bounds_the_average_by_its_hyperbolic_tangent(pair):
    joint, channel = pair
    epsilon = level(LIP(1), channel, joint)
    if epsilon < math.inf:
        assert leakage(joint, channel) <= epsilon * math.tanh(epsilon / 2) + ROUNDING


def test_the_hyperbolic_tangent_is_attained():
    """Three equal secrets, odds of 4 to 1 to 1: every chance doubles or halves, and ln 2 · tanh(ln 2 / 2) is told."""
    joint = Joint(np.eye(3) / 3)
    channel = Channel((np.ones((3, 3)) + 3 * np.eye(3)) / 6)
    epsilon = level(LIP(1), channel, joint)
    assert epsilon == pytest.approx(math.log(2))
    assert leakage(joint, channel) == pytest.approx(epsilon * math.tanh(epsilon / 2))


@given(joints_with_channels(), st.floats(0.05, 3.0))
def test_alip_with_equal_sides_is_lip(pair, epsilon):
    joint, channel = pair
    assert level(ALIP(epsilon, epsilon), channel, joint) == level(LIP(1), channel, joint)
    assert ALIP(math.inf, epsilon) == PML(epsilon)
    ours, theirs = ALIP(epsilon, epsilon).cone(joint).rows, LIP(epsilon).cone(joint).rows
    assert np.array_equal(ours, theirs)


@given(joints_with_channels(), st.floats(0.05, 3.0), st.floats(0.05, 3.0))
def test_alip_lies_between_pml_and_lip(pair, low, up):
    joint, channel = pair
    found = level(ALIP(low, up), channel, joint)
    assert level(PML(1), channel, joint) <= found + ROUNDING
    assert found <= max(1.0, up / low) * level(LIP(1), channel, joint) + ROUNDING


@given(joints_with_channels())
def test_pml_bounds_the_shift(pair):
    """ε-PML ⇒ Shift(1 − e^−ε)"""
    joint, channel = pair
    assert level(Shift(1), channel, joint) <= 1 - math.exp(-level(PML(1), channel, joint)) + ROUNDING


@given(joints_with_channels())
def test_perfect_is_no_shift_at_all(pair):
    joint, channel = pair
    if level(Perfect(), channel, joint) <= 1e-9:
        assert level(Shift(1), channel, joint) <= 1e-9


@given(joints_with_channels(), st.data())
def test_post_processing_never_raises_them(pair, data):
    joint, channel = pair
    after = channel.then(data.draw(post_processings(channel)))
    for notion in (PML(1), ALIP(0.3, 0.7), Shift(1), Perfect()):
        assert level(notion, after, joint) <= level(notion, channel, joint) + ROUNDING
    assert maximal_leakage(joint, after) <= maximal_leakage(joint, channel) + ROUNDING
