"""A little below ε: mixtures with the constant row go from ε to ε', for every condition."""

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

import discreet as dc
from discreet.solvers.retreat import MANY_LETTERS, SHARE, retreat
from discreet.utilities.utility import MutualInformation


def joint_of(letters):
    counts = np.random.default_rng(1).integers(1, 50, size=(3, letters))
    return dc.Joint.from_counts(counts)


@pytest.mark.parametrize("notion", [dc.LDP(0.5), dc.LIP(3), dc.PML(1e-3), dc.ALIP(0.3, 0.7), dc.ALIP(5, 1e-3)])
def test_a_mixture_with_the_constant_row_goes_as_far_as_the_retreat(notion):
    """In decimals of 60 digits: the ends of all conditions, mixed, keep the conditions of ε'."""
    found = retreat(joint_of(MANY_LETTERS + 1), notion, MutualInformation)
    with localcontext(prec=60):
        ups = [(Decimal(notion.epsilon), Decimal(found.notion.epsilon))]
        downs = ups
        if isinstance(notion, dc.ALIP):
            assert isinstance(found.notion, dc.ALIP)
            downs = [(Decimal(notion.low), Decimal(found.notion.low))]
        needed = [(limit.exp() - below.exp()) / (limit.exp() - 1) for limit, below in ups]
        if not isinstance(notion, dc.PML):
            needed += [((-below).exp() - (-limit).exp()) / (1 - (-limit).exp()) for limit, below in downs]
    assert float(max(needed)) <= found.mixing * (1 + 1e-6)
    assert float(max(needed)) >= found.mixing / 10  # nor much further
    assert found.notion.epsilon == pytest.approx(notion.epsilon * (1 - SHARE), rel=1e-12)
    assert found.bound(1.0) > 1.0


@pytest.mark.parametrize("notion", [dc.LIP(800), dc.ALIP(0.3, 800)])
def test_factors_that_no_float_holds(notion):
    assert 0 < retreat(joint_of(MANY_LETTERS + 1), notion, MutualInformation).mixing < 1e-4


def test_few_letters_and_other_conditions_stay_where_they_are():
    for joint, notion in [
        (joint_of(MANY_LETTERS), dc.LIP(0.5)),
        (joint_of(MANY_LETTERS + 1), dc.Shift(0.1)),
        (joint_of(MANY_LETTERS + 1), dc.OrdinaryLDP(0.5)),
    ]:
        assert retreat(joint, notion, MutualInformation).notion == notion


@pytest.mark.parametrize("notion", [dc.PML(0.5), dc.ALIP(0.3, 0.7)])
def test_nothing_has_to_be_mended(notion):
    found = dc.design(joint_of(MANY_LETTERS + 9), notion, time_limit=3.0)
    assert found.protocol.epsilon <= notion.epsilon
    assert found.protocol.cost < 1e-6
    assert found.upper_bound >= found.utility
    assert math.isfinite(found.upper_bound)
