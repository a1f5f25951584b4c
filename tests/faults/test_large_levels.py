"""Levels near the end of floating point: an error in words, no overflow, no warning of another library."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import ParameterError
from discreet.release.draws_together import draws_told, stated_total
from discreet.study.balance import balance_points

JOINT = dc.Joint.from_counts([[300, 60, 40], [500, 300, 800]])
SQUARE = np.array([[0.7, 0.3, 0.2], [0.3, 0.7, 0.8]])


@pytest.mark.parametrize("level", [100.5, 710.0, 1e308])
@pytest.mark.parametrize("kind", [dc.LDP, dc.LIP, dc.RLIP, lambda level: dc.LIP(1.0) & dc.OrdinaryLDP(level)])
def test_a_level_that_hides_nothing_is_refused_in_words(level, kind):
    joint = dc.Joint.from_counts([[300, 60, 40], [500, 300, 800]])
    notion = dc.RLIP(level, dc.Confidence(0.95)) if kind is dc.RLIP else kind(level)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ParameterError, match="a level above 100"):
            dc.design(joint, notion)


def test_a_protocol_of_such_a_level_can_be_asked_what_draws_come_to():
    channel = dc.Channel(SQUARE, JOINT.letters, ("A", "B"))
    protocol = dc.Protocol.make(channel, JOINT, dc.LIP(1e308) & dc.OrdinaryLDP(1e308))
    assert protocol.epsilon < 2
    assert math.isfinite(stated_total(protocol, 2))
    assert draws_told(protocol).startswith("One, two and three")


def test_a_balance_where_nothing_is_hidden():
    """Every row that a second start of the climbs finds was met before."""
    joint = dc.Joint.from_counts([[310, 185, 135], [898, 164, 308]])
    assert isinstance(balance_points(joint, dc.LDP(30.0), seconds=2.0), tuple)
