"""Notions refuse a level that is not one, and channels that do not fit."""

import math

import numpy as np
import pytest

from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.information import mutual_information
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.funnel import Funnel

NOTIONS = [LDP, LIP, SRLIP, OrdinaryLDP]


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan])
def test_epsilon_must_be_positive_and_finite(notion, epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        notion(epsilon)


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_channel_for_other_letters_is_refused(notion):
    with pytest.raises(ChannelError, match="letters"):
        notion(1).level(Channel(np.eye(3)), Joint(np.full((2, 2), 0.25)))


@pytest.mark.parametrize("notion", NOTIONS)
def test_an_output_that_excludes_a_secret_has_no_finite_level(notion):
    joint = Joint(np.array([[0.5, 0.0], [0.0, 0.5]]))
    assert notion(1).level(Channel(np.eye(2)), joint).epsilon == math.inf


@pytest.mark.parametrize("notion", [LDP, LIP, SRLIP])
def test_secrets_of_probability_zero_do_not_count(notion):
    joint = Joint(np.array([[0.2, 0.3], [0.1, 0.4], [0.0, 0.0]]))
    without = Joint(np.array([[0.2, 0.3], [0.1, 0.4]]))
    channel = Channel(np.array([[0.9, 0.2], [0.1, 0.8]]))
    assert notion(1).level(channel, joint).epsilon == pytest.approx(notion(1).level(channel, without).epsilon)


def test_a_share_for_the_funnel_tells_four_digits_of_the_table():
    joint = Joint.from_counts([[31, 7, 5], [4, 23, 41]])
    nats, whole = Funnel.share(0.1, joint).nats, Funnel.share(1.0, joint).nats
    assert nats == float(f"{nats:.4g}")
    assert whole == float(f"{whole:.4g}")
    assert nats <= 0.1 * mutual_information(joint.table) < nats * 1.001
