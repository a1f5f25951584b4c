"""Exact audits: every notion's level, in words, from protocols, matrices and files."""

import math

import numpy as np
import pytest

from discreet.audit import audit, audit_channel, realised_level
from discreet.channel import Channel
from discreet.exceptions import AlphabetError, DistributionError, ParameterError
from discreet.information import leakage, utility
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.notion import Level, Witness
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.uncertainty import ChiSquare, Confidence, Everything, Exactly, Renyi
from discreet.wording import in_words

JOINT = Joint.from_counts(
    [[30, 10, 5], [5, 20, 40]], secrets=["Armed-Forces", "Sales"], releases=["low", "mid", "high"]
)
MATRIX = np.array([[0.7, 0.3, 0.2], [0.3, 0.7, 0.8]])


def test_levels_are_those_of_the_notions():
    found = audit(MATRIX, JOINT, Renyi(2, 0.1))
    channel = Channel(MATRIX, JOINT.letters)
    assert found.ldp == LDP(1).level(channel, JOINT).epsilon
    assert found.lip == LIP(1).level(channel, JOINT).epsilon
    assert found.srlip == SRLIP(1).level(channel, JOINT).epsilon
    assert found.ordinary == OrdinaryLDP(1).level(channel, JOINT).epsilon == pytest.approx(math.log(3.5))
    assert found.rldp == RLDP(1, Renyi(2, 0.1)).level(channel, JOINT).epsilon
    assert (found.mutual_information, found.leakage) == (utility(JOINT, channel), leakage(JOINT, channel))
    assert found.ldp <= found.rldp <= audit(MATRIX, JOINT, Everything()).rldp == pytest.approx(found.ordinary)
    assert audit(MATRIX, JOINT, Exactly()).rldp == pytest.approx(found.ldp)


def test_the_worst_cases_are_told_in_words():
    found = audit(Channel(MATRIX, JOINT.letters, ("HS-grad or 11th", "other")), JOINT)
    times = math.exp(found.ldp)
    assert found.witnesses["LDP"] == (
        f"output 'HS-grad or 11th' makes 'Armed-Forces' {math.ceil(100 * times) / 100} times as likely as 'Sales'"
    )
    assert "before" in found.witnesses["LIP"]
    assert found.witnesses["RLDP"].endswith("at the worst distribution of the set")
    assert found.uncertainty == Confidence()


def test_the_direction_of_a_move_is_told():
    mild = Joint.from_counts([[99, 1], [1, 1]], secrets=["a", "b"])
    rare = audit(np.array([[0.9, 0.1], [0.1, 0.9]]), mild)
    y, s = np.unravel_index(np.abs(np.log(rare.posterior / rare.prior)).argmax(), rare.posterior.shape)
    up = rare.posterior[y, s] > rare.prior[s]
    assert f"output {y} makes '{rare.secrets[s]}'" in rare.witnesses["LIP"]
    assert rare.witnesses["LIP"].endswith("times as likely as before" if up else "times less likely than before")


def test_what_an_attacker_already_knows_is_told():
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.integers(1, 30, (2, 2, 3)))
    matrix = rng.dirichlet(np.ones(2), size=6).T
    assert "for somebody who knows release" in audit(matrix, joint).witnesses["SRLIP"]


def test_an_output_that_excludes_a_secret_is_named():
    joint = Joint.from_counts([[1, 0], [0, 1]], secrets=["yes", "no"])
    found = audit(np.eye(2), joint)
    assert found.ldp == math.inf
    assert found.witnesses["LDP"] == "output 0 excludes 'no' and leaves 'yes' possible"
    assert found.witnesses["LIP"] == "output 0 excludes 'no'"


def test_an_output_that_tells_nothing():
    assert in_words(Level(0.0, Witness("y", "s", "t"))) == "no output tells anything about the secret"
    found = audit(np.full((2, 3), 0.5), JOINT)
    assert found.posterior == pytest.approx(np.tile(JOINT.secret_prior, (2, 1)))


def test_posteriors_are_those_of_bayes():
    found = audit(MATRIX, JOINT)
    together = JOINT.table @ MATRIX.T
    assert pytest.approx(together / together.sum(axis=0)) == found.posterior.T
    assert (found.outputs, found.secrets) == ((0, 1), ("Armed-Forces", "Sales"))


def test_a_protocol_brings_its_joint_and_its_set(tmp_path):
    channel = Channel(MATRIX, JOINT.letters)
    protocol = Protocol.make(channel, JOINT, RLDP(2.0, ChiSquare(0.8)))
    protocol.save(tmp_path / "p.json")
    for given in (protocol, tmp_path / "p.json", str(tmp_path / "p.json")):
        found = audit(given)
        assert found.uncertainty == ChiSquare(0.8)
        assert found.proven == protocol.epsilon
        assert found.rldp <= protocol.epsilon


def test_the_level_at_another_distribution():
    other = np.array([[10, 10, 1], [1, 1, 10]]) / 33
    protocol = Protocol.make(Channel(MATRIX, JOINT.letters), JOINT, LDP(2.0))
    conditionals = other / other.sum(axis=1, keepdims=True)
    likelihoods = MATRIX @ conditionals.T
    realised = realised_level(protocol.channel, JOINT, other).epsilon
    assert realised == pytest.approx(np.log(likelihoods.max(axis=1) / likelihoods.min(axis=1)).max())
    assert audit(protocol, Joint(other, JOINT.secrets, JOINT.releases)).ldp == realised
    with pytest.raises(DistributionError, match="cells"):
        realised_level(protocol.channel, JOINT, np.full((2, 2), 0.25))


def test_a_curator_form_is_audited_over_its_set_too():
    joint = JOINT.curator()
    matrix = np.hstack([MATRIX, MATRIX[:, ::-1]])
    found = audit(matrix, joint)
    assert found.rldp > found.ldp


def test_inputs_are_matched_by_name():
    shuffled = [2, 0, 1]
    channel = Channel(MATRIX[:, shuffled], tuple(JOINT.letters[i] for i in shuffled))
    assert audit(channel, JOINT).ldp == pytest.approx(audit(MATRIX, JOINT).ldp)
    numbers = Joint.from_counts([[3, 1], [1, 5]], releases=[10, 20])
    named = Channel(np.array([[0.9, 0.2], [0.1, 0.8]]), ("20", "10"))
    assert audit(named, numbers).ldp == pytest.approx(audit(np.array([[0.2, 0.9], [0.8, 0.1]]), numbers).ldp)
    with pytest.raises(AlphabetError, match="names differ"):
        audit_channel(Channel(MATRIX, ("x", "y", "z")), JOINT)
    with pytest.raises(AlphabetError, match="2 letters"):
        audit(np.eye(2), JOINT)


def test_a_matrix_needs_a_joint():
    with pytest.raises(ParameterError, match="joint"):
        audit(MATRIX)


def test_averages_are_told_with_their_worst_output():
    """Every number by hand from P(s, y): I(S;Y), maximal leakage, the best guess."""
    channel = Channel(MATRIX, JOINT.letters, ("a", "b"))
    found = audit(channel, JOINT)
    together = JOINT.table @ MATRIX.T
    prior, shares = together.sum(axis=1), together.sum(axis=0)
    assert found.levels["Funnel"].epsilon == pytest.approx(leakage(JOINT, channel))
    largest = (together / prior[:, None]).max(axis=0).sum()
    assert found.levels["MaximalLeakage"].epsilon == pytest.approx(math.log(largest))
    assert found.levels["Guess"].epsilon == pytest.approx(together.max(axis=0).sum())
    told = (together / shares * np.log(together / shares / prior[:, None])).sum(axis=0)
    y = int(told.argmax())
    assert found.witnesses["Funnel"] == f"on average; most is told by output '{'ab'[y]}': {told[y]:.4g} nats"
    rise = (together / shares / prior[:, None]).max(axis=0)
    assert f"output '{'ab'[int(rise.argmax())]}' makes" in found.witnesses["MaximalLeakage"]
    surest = float((together / shares).max())
    assert found.witnesses["Guess"].startswith(f"of all records, {100 * round(prior.max(), 4):.10g}% without")
    assert found.witnesses["Guess"].endswith(f"{100 * round(surest, 4):.10g}%")
    ordered = [found.levels[name].epsilon for name in ("LDP", "LIP", "PML", "MaximalLeakage", "Funnel")]
    assert ordered == sorted(ordered, reverse=True)
