"""With few bits a value outside the alphabet can still have every output: none of them tells that a value was known."""

import numpy as np
import pytest

import discreet as dc
from discreet.certify.exact_arithmetic import marginal_weights, round_columns


def random_weights(rng, bits):
    joint = dc.Joint.from_counts(rng.integers(1, 60, (2, 5)), include_secret=bool(rng.integers(2)))
    outputs = int(rng.integers(2, min(6, 2**bits) + 1))
    return round_columns(rng.dirichlet(np.full(outputs, 0.3), size=joint.size).T, bits), joint


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 5, 6, 20, 52, 60])
def test_every_output_of_a_known_value_is_one_of_an_unknown_value(bits):
    rng = np.random.default_rng(bits)
    for _ in range(200):
        weights, joint = random_weights(rng, bits)
        found = marginal_weights(weights, bits, joint)
        used = weights.any(axis=1)
        assert found.sum() == 1 << bits
        assert ((found > 0) == used).all()
        exact = weights.astype(float) @ joint.prior
        assert np.abs(found - exact).max() <= len(weights) + 2.0 ** (bits - 50)


def test_rounding_alone_leaves_outputs_out():
    """The planted fault: what the repair is for."""
    rng = np.random.default_rng(4)
    left_out = 0
    for _ in range(200):
        weights, joint = random_weights(rng, 4)
        plain = round_columns((weights / 16.0 @ joint.prior)[:, None], 4)[:, 0]
        left_out += int(((plain == 0) & weights.any(axis=1)).any())
    assert left_out > 10


def test_more_outputs_than_parts_are_refused():
    joint = dc.Joint.from_counts([[1, 1], [1, 1]])
    weights = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    with pytest.raises(dc.ChannelError, match="4 outputs in 2\\^1 parts"):
        dc.Protocol(weights, 1, joint, dc.LDP(1.0))
