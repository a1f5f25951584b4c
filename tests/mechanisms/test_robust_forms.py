"""SRR, IR and robust CR: the papers' identities on random joints, exact calibration, and the papers' versions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.exceptions import ParameterError
from discreet.information import mutual_information, utility
from discreet.joint import Joint
from discreet.mechanisms.conditional_reporting import calibrated_robust_cr, paper_robust_cr, robust_cr
from discreet.mechanisms.independent_reporting import calibrated_ir, ir, paper_ir
from discreet.mechanisms.randomised_response import calibrated_grr, calibrated_srr, paper_srr, randomised_response, srr
from discreet.notions import LDP
from discreet.notions.rldp import RLDP
from discreet.testing import epsilons, joints
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

SETS = [ChiSquare(0.9), Renyi(0.5, 0.05), Renyi(1.0, 0.05), Renyi(5.0, 0.1), Everything(), Exactly()]
strengths = st.floats(0.0, 5.0)
robust_joints = joints(max_secrets=3, max_letters=4, include_secret=True)


@given(robust_joints, strengths, strengths)
def test_utility_of_ir_is_robust_1_theorem_4(joint, first, second):
    """I(IR(X);X) = I(R¹(S);S) + I(R²(U);U | R¹(S))"""
    told = randomised_response(len(joint.table), first)
    on_u = randomised_response(joint.table.shape[1], second)
    on_secret = mutual_information(joint.secret_prior[:, None] * told.T)
    with_report = told @ joint.table
    on_rest = sum(mutual_information(row[:, None] / row.sum() * on_u.T) * row.sum() for row in with_report)
    assert utility(joint, ir(joint, first, second)) == pytest.approx(on_secret + on_rest, abs=1e-9)


@given(robust_joints, strengths, st.data())
def test_utility_of_robust_cr_is_robust_1_theorem_6(joint, first, data):
    """I(CR(X);X) = I(G(S);S) + e^ε/(e^ε + |S| − 1) I(R^S(U);U | S)"""
    c, k = joint.table.shape
    seconds = np.array(data.draw(st.lists(strengths, min_size=c, max_size=c)))
    told = randomised_response(c, first)
    on_secret = mutual_information(joint.secret_prior[:, None] * told.T)
    truth = math.exp(first) / (math.exp(first) + c - 1)
    on_rest = sum(
        joint.secret_prior[s] * mutual_information(p[:, None] * randomised_response(k, seconds[s]).T)
        for s, p in zip(joint.seen, joint.release_given_secret, strict=True)
    )
    assert utility(joint, robust_cr(joint, first, seconds)) == pytest.approx(on_secret + truth * on_rest, abs=1e-9)


@given(robust_joints, epsilons)
def test_srr_is_private_whatever_the_distribution(joint, epsilon):
    assert RLDP(epsilon, Everything()).level(srr(joint, epsilon), joint).epsilon == pytest.approx(epsilon, abs=1e-9)


@pytest.mark.parametrize(
    ("mechanism", "uncertainty"),
    [
        (mechanism, uncertainty)
        for mechanism in (calibrated_grr, calibrated_srr, calibrated_robust_cr)
        for uncertainty in SETS
    ]
    + [(calibrated_ir, ChiSquare(0.9)), (calibrated_ir, Everything()), (calibrated_ir, Exactly())],
)
@settings(max_examples=3, derandomize=True)
@given(robust_joints, epsilons)
def test_calibrated_level_is_epsilon_or_the_family_is_exhausted(mechanism, uncertainty, joint, epsilon):
    found = mechanism(joint, RLDP(epsilon, uncertainty))
    assert found.level.epsilon <= epsilon + 1e-9
    exhausted = utility(joint, found.channel) >= joint.entropy - 1e-6 or len(joint.seen) == 1
    if mechanism is not calibrated_robust_cr:
        assert found.level.epsilon >= epsilon - 1e-7 or exhausted or found.saturated


@pytest.mark.parametrize(
    ("exact", "paper"),
    [(calibrated_srr, paper_srr), (calibrated_ir, paper_ir), (calibrated_robust_cr, paper_robust_cr)],
)
@settings(max_examples=4, derandomize=True)
@given(robust_joints, epsilons)
def test_the_papers_bounds_hold_and_exact_calibration_never_loses_to_them(exact, paper, joint, epsilon):
    notion = RLDP(epsilon, ChiSquare(0.95))
    by_bound, by_level = paper(joint, notion), exact(joint, notion)
    assert by_bound.level.epsilon <= epsilon + 1e-9
    assert utility(joint, by_level.channel) >= utility(joint, by_bound.channel) - 1e-6


def test_they_need_the_secret_in_the_data_and_a_robust_notion():
    funnel = Joint.from_counts([[7, 10], [26, 57]])
    with pytest.raises(ParameterError, match="releases X"):
        srr(funnel, 1.0)
    with pytest.raises(ParameterError, match="robust"):
        calibrated_ir(Joint.from_counts([[7, 10], [26, 57]], include_secret=True), LDP(1.0))
