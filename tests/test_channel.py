"""Channels: products, post-processing, merging, restriction, and refusal of what is not a transition matrix."""

import numpy as np
import pytest
from hypothesis import given

from discreet.channel import Channel
from discreet.exceptions import AlphabetError, ChannelError
from discreet.information import entropy, leakage, mutual_information, utility
from discreet.joint import Joint
from discreet.mechanisms.randomised_response import randomised_response
from discreet.testing import joints_with_channels

IDENTITY = np.eye(3)


def test_product_acts_on_pairs_independently():
    a, b = Channel(randomised_response(2, 1.0), ("l", "r")), Channel(randomised_response(3, 2.0))
    both = a.product(b)
    assert both.inputs[1] == ("l", 1)
    for y, (y1, y2) in enumerate(both.outputs):
        for x, (x1, x2) in enumerate(both.inputs):
            expected = a.matrix[a.outputs.index(y1), a.inputs.index(x1)] * b.matrix[y2, x2]
            assert both.matrix[y, x] == pytest.approx(expected, abs=1e-15)


def test_then_reads_the_output():
    merge = Channel([[1, 1, 0], [0, 0, 1]], outputs=("low", "high"))
    after = Channel(randomised_response(3, 1.0)).then(merge)
    assert after.outputs == ("low", "high")
    assert after.matrix[0, 0] == pytest.approx(randomised_response(3, 1.0)[:2, 0].sum())
    with pytest.raises(ChannelError, match="outputs"):
        merge.then(merge)


@given(joints_with_channels())
def test_merged_rows_are_not_proportional(pair):
    _, channel = pair
    merged = channel.merged()
    directions = merged.matrix / merged.matrix.sum(axis=1, keepdims=True)
    apart = np.abs(directions[:, None] - directions[None]).max(axis=2) + np.eye(len(directions))
    assert apart.min() > 1e-13
    np.testing.assert_allclose(merged.matrix.sum(axis=0), 1, atol=1e-12)


def test_restriction_keeps_columns_by_name():
    channel = Channel(randomised_response(3, 1.0), ("a", "b", "c"))
    np.testing.assert_array_equal(channel.restricted(["c", "a"]).matrix, channel.matrix[:, [2, 0]])
    with pytest.raises(AlphabetError, match="does not read"):
        channel.restricted(["z"])


def test_information_of_simple_channels():
    joint = Joint(np.array([[0.1, 0.2, 0.1], [0.3, 0.1, 0.2]]))
    assert utility(joint, Channel(IDENTITY)) == pytest.approx(joint.entropy)
    assert leakage(joint, Channel(IDENTITY)) == pytest.approx(mutual_information(joint.table))
    assert utility(joint, Channel(np.full((2, 3), 0.5))) == pytest.approx(0, abs=1e-15)
    assert entropy([0.5, 0.5, 0]) == pytest.approx(np.log(2))


@given(joints_with_channels())
def test_data_processing(pair):
    joint, channel = pair
    assert -1e-12 <= leakage(joint, channel) <= utility(joint, channel) + 1e-12
    assert utility(joint, channel) <= joint.entropy + 1e-12


@pytest.mark.parametrize(
    ("matrix", "says"),
    [
        ([[0.5, 0.5]], "add up to one"),
        ([[0.9, 0.1], [0.2, 0.8]], "transpose"),
        ([[1.5, 1], [-0.5, 0]], "not a probability"),
        ([[np.nan, 1], [0, 0]], "not a probability"),
        ([0.5, 0.5], "shape"),
        (np.zeros((0, 3)), "shape"),
        ([["x"]], "not numbers"),
    ],
)
def test_what_is_not_a_channel_is_refused(matrix, says):
    with pytest.raises(ChannelError, match=says):
        Channel(matrix)


def test_names_must_be_different():
    with pytest.raises(AlphabetError, match="different names"):
        Channel(IDENTITY, outputs=("a", "a", "b"))
    with pytest.raises(AlphabetError, match="different names"):
        Channel(IDENTITY, inputs=("a", "b"))
