"""Rounding: whole columns, zeros kept, nothing moved further than it must."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.certify import BITS, MAX_BITS, marginal_weights, prove, round_columns, rounded
from discreet.certify.integers import exact_prior, exact_products
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError, ProofError
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions import LDP, LIP, OrdinaryLDP
from discreet.testing import joints_with_channels


@given(joints_with_channels(), st.sampled_from([8, 30, BITS, MAX_BITS]))
def test_columns_add_up_exactly_and_stay_near(case, bits):
    _, channel = case
    weights = round_columns(channel.matrix, bits)
    assert (weights.sum(axis=0) == 1 << bits).all()
    assert (weights[channel.matrix == 0] == 0).all()
    units = np.abs(weights - np.ldexp(channel.matrix, bits))
    assert units.max() <= len(weights) + 2.0 ** (bits - 50)


def test_columns_that_are_off_by_a_billionth_are_spread_in_proportion():
    matrix = np.array([[0.25, 1e-12], [0.75, 1 - 1e-12]]) * (1 + 9e-10)
    weights = round_columns(matrix) / 2.0**BITS
    assert weights == pytest.approx(matrix / matrix.sum(axis=0), rel=1e-3)


@pytest.mark.parametrize("bits", [0, 61])
def test_bits_out_of_range(bits):
    with pytest.raises(ParameterError, match="bits"):
        round_columns(np.eye(2), bits)


def test_products_are_exact():
    rng = np.random.default_rng(0)
    for top in (2**10, 2**53, 2**90):
        left = rng.integers(0, 2**62, (3, 700)).astype(object) * top // 2**62
        right = rng.integers(0, 2**60, (4, 700))
        assert (exact_products(left, right) == left @ right.T.astype(object)).all()


def test_a_prior_of_floats_is_taken_bit_by_bit():
    joint = Joint(np.array([[0.1, 0.2], [0.3, 0.4]]))
    cells = exact_prior(joint)
    assert [[float(c) / float(cells[0, 0]) for c in row] for row in cells] == [[1.0, 2.0], [0.3 / 0.1, 4.0]]


def test_the_marginal_is_a_whole_distribution():
    joint = Joint.from_counts([[5, 1, 0], [2, 2, 9]])
    weights = round_columns(np.array([[0.2, 0.5, 1.0], [0.8, 0.5, 0.0]]))
    marginal = marginal_weights(weights, BITS, joint)
    assert marginal.sum() == 1 << BITS
    assert marginal / 2**BITS == pytest.approx(weights / 2**BITS @ joint.prior)


@pytest.mark.parametrize("notion", [LDP, LIP, OrdinaryLDP])
@pytest.mark.parametrize("size", [3, 16, 100])
def test_the_repair_of_a_tight_design_costs_less_than_a_millionth(notion, size):
    rng = np.random.default_rng(size)
    joint = Joint.from_counts(rng.integers(1, 1000, (4, size)))
    matrix = np.ones((size, size)) + np.expm1(1.0) * np.eye(size)
    channel = Channel(matrix / matrix.sum(axis=0), joint.letters)
    tight = notion(notion(1.0).level(channel, joint).epsilon * (1 - 1e-13))
    exact = rounded(channel, joint, tight)
    prove(exact.weights, exact.bits, joint, tight)
    assert exact.cost <= 1e-6 * utility(joint, channel)


def test_rows_too_small_to_round_are_merged_not_mixed():
    joint = Joint.from_counts([[5, 3], [2, 7]])
    matrix = np.array([[0.6, 0.4], [0.4, 0.6]])
    tiny = np.array([[3e-15, 1e-15]])
    channel = Channel(np.vstack([matrix * (1 - tiny.sum(axis=0)), tiny]), joint.letters, ("a", "b", "dust"))
    exact = rounded(channel, joint, LDP(LDP(1.0).level(Channel(matrix), joint).epsilon * (1 + 1e-9)))
    assert exact.outputs == ("a", "b")
    assert abs(exact.cost) < 1e-12


def test_a_channel_that_breaks_its_notion_is_refused_by_name():
    joint = Joint.from_counts([[50, 3], [2, 70]], secrets=["flu", "cold"], releases=["x", "y"])
    with pytest.raises(ProofError, match=r"LDP\(1\).*'flu' against 'cold'"):
        rounded(Channel(np.eye(2), joint.letters), joint, LDP(1.0))


def test_weights_that_are_not_a_channel_are_refused():
    joint = Joint.from_counts([[5, 3], [2, 7]])
    good = round_columns(np.full((2, 2), 0.5))
    for wrong in (good[:, :1], good + 1, -good, good.astype(float)):
        with pytest.raises(ChannelError):
            prove(wrong, BITS, joint, LDP(1.0))
    wrapped = np.array([[2**62, 2**62], [2**62, 2**62], [2**62, 2**62], [2**62 + 2**52, 2**62 + 2**52]])
    with pytest.raises(ChannelError):
        prove(wrapped, BITS, joint, LDP(1.0))
