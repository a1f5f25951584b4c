"""The closed-form levels of the papers as identities on random joints, and exact calibration."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.exceptions import ParameterError
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms import unary_encoding as oue_module
from discreet.mechanisms.calibration import calibrate, strongest
from discreet.mechanisms.conditional_reporting import cr
from discreet.mechanisms.randomised_response import grr
from discreet.mechanisms.unary_encoding import oue, oue_information, oue_level, subset_masses
from discreet.notions import LDP, LIP, SRLIP
from discreet.testing import epsilons, joints

strengths = st.floats(0.0, 6.0)


def conditionals_and_average(joint):
    return joint.release_given_secret, joint.table.sum(axis=0)


def largest_move(numerator, denominator):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmax(np.abs(np.log(numerator / denominator)))


@given(joints(), strengths)
def test_level_of_grr_is_equation_29(joint, alpha):
    p_xs, p_x = conditionals_and_average(joint)
    grow = math.expm1(alpha)
    expected = largest_move(1 + grow * p_xs, 1 + grow * p_x)
    assert LIP(1).level(grr(joint, alpha), joint).epsilon == pytest.approx(expected, abs=1e-12)


@given(joints(), st.floats(0.01, 6.0))
def test_level_of_oue_is_equation_32(joint, alpha):
    p_xs, p_x = conditionals_and_average(joint)
    grow = math.expm1(alpha)
    conditional = np.array([subset_masses(row)[0] for row in p_xs])
    expected = largest_move(1 + grow * conditional, 1 + grow * subset_masses(p_x)[0])
    assert LIP(1).level(oue(joint, alpha), joint).epsilon == pytest.approx(expected, abs=1e-12)


@given(joints(), strengths)
def test_level_of_cr_is_equation_33(joint, alpha):
    p_xs, p_x = conditionals_and_average(joint)
    grow, together = math.expm1(alpha), p_xs.sum(axis=0)
    expected = largest_move(grow * p_xs + together, grow * p_x + together)
    curator = joint.curator()
    channel = cr(curator, alpha)
    assert LIP(1).level(channel, curator).epsilon == pytest.approx(expected, abs=1e-9)
    assert LDP(1).level(channel, curator).epsilon <= alpha + 1e-9  # Proposition 2


@pytest.mark.parametrize("notion", [LDP, LIP])
@given(joints(), st.one_of(st.floats(0.0, 6.0), st.just(math.inf)))
def test_fast_level_of_oue_agrees_with_the_written_out_channel(notion, joint, alpha):
    fast = oue_level(joint, alpha, notion(1))
    assert fast == pytest.approx(notion(1).level(oue(joint, alpha), joint).epsilon, abs=1e-9)


@given(joints(), st.one_of(strengths, st.just(math.inf)))
def test_information_of_oue_agrees_with_the_written_out_channel(joint, alpha):
    assert oue_information(joint, alpha).value == pytest.approx(utility(joint, oue(joint, alpha)), abs=1e-12)


def test_estimated_information_of_oue_covers_the_exact_value(monkeypatch):
    joint = Joint(np.random.default_rng(3).dirichlet(np.ones(24)).reshape(2, 12))
    exact = oue_information(joint, 1.5).value
    monkeypatch.setattr(oue_module, "SUMMED_LETTERS", 4)
    estimate = oue_information(joint, 1.5)
    assert 0 < estimate.standard_error < 0.002
    assert abs(estimate.value - exact) < 5 * estimate.standard_error
    assert abs(estimate.value - 1.05 * exact) > 5 * estimate.standard_error  # the test can tell 5 % apart


def test_limit_of_oue_is_half_the_entropy():
    joint = Joint(np.random.default_rng(4).dirichlet(np.ones(20)).reshape(2, 10))
    assert oue_information(joint, math.inf).value == pytest.approx(joint.entropy / 2, abs=1e-12)
    assert utility(joint, grr(joint, math.inf)) == pytest.approx(joint.entropy, abs=1e-12)


@pytest.mark.parametrize("notion", [LDP, LIP])
@pytest.mark.parametrize("family", [grr, oue, cr])
@given(joints(), epsilons)
def test_calibrated_level_is_epsilon_or_the_family_is_exhausted(notion, family, joint, epsilon):
    form = joint.curator() if family is cr else joint
    found = calibrate(family, form, notion(epsilon))
    assert found.level.epsilon <= epsilon
    assert found.saturated or found.level.epsilon >= epsilon - 1e-9


@given(joints(attributes=2, max_letters=3), epsilons)
def test_grr_can_be_calibrated_to_srlip(joint, epsilon):
    found = calibrate(grr, joint, SRLIP(epsilon))
    assert found.level.epsilon <= epsilon
    assert found.saturated or found.level.epsilon >= epsilon - 1e-9


def test_calibration_never_returns_a_member_above_epsilon():
    """A level that jumps over epsilon: the search must end below the jump."""
    strength = strongest(lambda alpha: 0.0 if alpha < 0.7 else 5.0, 1.0)
    assert strength < 0.7


def test_cr_needs_the_secret_and_oue_refuses_what_it_cannot_list():
    joint = Joint(np.full((2, 17), 1 / 34))
    with pytest.raises(ParameterError, match="reads the secret"):
        cr(joint, 1.0)
    with pytest.raises(ParameterError, match="cannot be listed"):
        oue(joint, 1.0)
