"""What a proof begins with: weights that are a channel, and a prover that is known."""

import math

import numpy as np
import pytest

from discreet.certify import BITS, prove, prover_of, round_columns
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, NOTIONS, RLDP
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi


def test_weights_that_are_not_a_channel_are_refused():
    joint = Joint.from_counts([[5, 3], [2, 7]])
    good = round_columns(np.full((2, 2), 0.5))
    for wrong in (good[:, :1], good + 1, -good, good.astype(float)):
        with pytest.raises(ChannelError):
            prove(wrong, BITS, joint, LDP(1.0))
    wrapped = np.array([[2**62, 2**62], [2**62, 2**62], [2**62, 2**62], [2**62 + 2**52, 2**62 + 2**52]])
    with pytest.raises(ChannelError):
        prove(wrapped, BITS, joint, LDP(1.0))


def test_a_level_that_is_no_number_is_refused():
    joint = Joint.from_counts([[5, 3], [2, 7]])
    weights = round_columns(np.full((2, 2), 0.5))
    for level in (-1.0, math.nan, math.inf):
        with pytest.raises(ParameterError, match="level"):
            prove(weights, BITS, joint, LDP(1.0), level)
    assert prove(weights, BITS, joint, LDP(1.0), 0.0).epsilon == 0.0


def test_every_notion_has_a_prover_and_no_other_type_has():
    sets = (ChiSquare(0.9), Renyi(2.0, 0.1), Everything(), Exactly())
    known = [*(kind.asked(1.0, 0.9) for kind in NOTIONS.values()), *(RLDP(1.0, stated) for stated in sets)]
    assert all(prover_of(notion) is not None for notion in known)

    class Stronger(LIP):
        pass

    class Wider(ChiSquare):
        pass

    for notion in (Stronger(1.0), RLDP(1.0, Wider(0.9))):
        with pytest.raises(ParameterError, match="no proof is known"):
            prover_of(notion)
