"""A protocol is proven or is not made; rounding is mended where it broke the notion."""

import math
import subprocess
import sys

import numpy as np
import pytest
from protocol_cases import joint_of, protocol_of

import discreet
from discreet.certify import prove
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError, ProofError
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.protocol import Protocol
from discreet.protocol.file import decode, encode
from discreet.protocol.rounding import rounded


def test_the_stated_level_is_the_channels_own_rounded_up():
    protocol = protocol_of(notion=LIP(2.0))
    level = LIP(1.0).level(protocol.channel, protocol.joint).epsilon
    assert level <= protocol.epsilon <= level + 2e-9
    assert protocol.notion == LIP(2.0)


def test_posteriors_follow_bayes():
    protocol = protocol_of("sees_secret")
    together = protocol.matrix[0] * protocol.joint.prior
    wanted = np.array([together[protocol.joint.target_of == t].sum() for t in range(8)]) / together.sum()
    assert protocol.posterior("a") == pytest.approx(wanted)
    assert protocol.secret_posterior("a") == pytest.approx(together.reshape(2, 8).sum(axis=1) / together.sum())
    with pytest.raises(AlphabetError, match="not an output"):
        protocol.posterior("z")


def test_a_protocol_cannot_be_made_without_its_proof():
    joint = joint_of()
    weights = np.zeros((8, 8), dtype=np.int64)
    np.fill_diagonal(weights, 1 << 52)
    with pytest.raises(ProofError, match="LDP is not proven"):
        Protocol(weights, 52, joint, LDP(1.0))
    good = protocol_of(notion=LDP(2.0))
    with pytest.raises(ProofError, match="LDP is not proven"):
        Protocol(good.weights, 52, joint, LDP(2.0), epsilon=good.epsilon - 3e-9)
    with pytest.raises(ProofError, match="above the notion"):
        Protocol(good.weights, 52, joint, LDP(2.0), epsilon=2.5)


def test_the_weights_cannot_be_changed_afterwards():
    protocol = protocol_of()
    with pytest.raises(ValueError, match="read-only"):
        protocol.weights[0, 0] = 0
    with pytest.raises(ValueError, match="read-only"):
        protocol.matrix[0, 0] = 0


def test_counts_that_contradict_the_probabilities_are_refused():
    joint = Joint(np.array([[0.25, 0.25], [0.25, 0.25]]), n=10, counts=np.array([[4, 1], [1, 4]]))
    with pytest.raises(DistributionError, match="differ"):
        Protocol.make(Channel(np.full((1, 2), 1.0)), joint, LDP(1.0))


def test_attributes_of_one_letter_do_not_make_a_proof_endless():
    joint = Joint.from_counts(np.array([[3, 1], [2, 5]]).reshape(2, 2, *(1,) * 20))
    protocol = Protocol.make(Channel(np.array([[0.6, 0.5], [0.4, 0.5]]), joint.letters), joint, SRLIP(1.0))
    assert decode(encode(protocol)).epsilon == Protocol.make(protocol.channel, joint, LIP(1.0)).epsilon


def test_proofs_and_audits_work_without_any_solver():
    """With the package's own front door left out, which offers everything."""
    code = f"""
import sys, types
package = types.ModuleType("discreet")
package.__path__ = {list(discreet.__path__)!r}
sys.modules["discreet"] = package
sys.modules["discreet.solvers"] = None
import discreet.certify, discreet.audit, discreet.protocol
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert subprocess.run([sys.executable, "-c", code + "import discreet.solvers"], check=False).returncode != 0


def test_a_level_is_finite_or_refused():
    joint = Joint.from_counts([[1, 0], [0, 1]])
    with pytest.raises(ProofError):
        Protocol(np.array([[1 << 52, 0], [0, 1 << 52]]), 52, joint, LDP(1e300))
    assert math.isfinite(protocol_of(notion=LDP(1e300)).epsilon)


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
    with pytest.raises(ProofError, match=r"LDP\(1\).*one value of the secret against another") as error:
        rounded(Channel(np.eye(2), joint.letters), joint, LDP(1.0))
    assert not any(name in str(error.value) for name in ("flu", "cold", "'x'", "'y'"))
