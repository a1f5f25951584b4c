"""Bounds of e^x and ln x against `decimal`, which rounds correctly; exact products; columns that add up."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.certify import BITS, MAX_BITS, marginal_weights, round_columns
from discreet.certify.exact_arithmetic import (
    LARGEST,
    exact_prior,
    exact_products,
    exp_bounds,
    exp_lower,
    exp_upper,
    ln_bounds,
)
from discreet.exceptions import ParameterError, ProofError
from discreet.joint import Joint
from discreet.testing import joints_with_channels

WIDTH = 96


def decimal(value):
    return Decimal(value.numerator) / Decimal(value.denominator)


@given(st.one_of(st.floats(-5, 5), st.floats(-300, 300), st.floats(-1e-12, 1e-12)))
def test_the_exponential_is_enclosed_and_tightly(x):
    with localcontext() as context:
        context.prec = 200
        truth = decimal(Fraction(x)).exp() * (1 << WIDTH)
        low, high = exp_lower(Fraction(x), WIDTH), exp_upper(Fraction(x), WIDTH)
        assert low <= truth <= high
        assert high - low <= 2 + truth / 2**90


@given(st.integers(1, 10**60))
def test_the_logarithm_is_enclosed_and_tightly(n):
    with localcontext() as context:
        context.prec = 200
        low, high = ln_bounds(n, WIDTH)
        assert low <= Decimal(n).ln() * (1 << WIDTH) <= high
        assert high - low <= 3


@pytest.mark.parametrize("x", [LARGEST + 1, 10**300])
def test_beyond_the_largest_the_bounds_stay_on_their_side(x):
    assert exp_lower(Fraction(x), WIDTH) == exp_lower(Fraction(LARGEST), WIDTH)
    with pytest.raises(ProofError):
        exp_upper(Fraction(x), WIDTH)
    assert exp_lower(Fraction(-x), WIDTH) == 0
    assert exp_bounds(-x << WIDTH, WIDTH)[1] >= 0


@given(joints_with_channels(), st.sampled_from([8, 30, BITS, MAX_BITS]))
def test_columns_add_up_exactly_and_stay_near(case, bits):
    _, channel = case
    weights = round_columns(channel.matrix, bits)
    assert (weights.sum(axis=0) == 1 << bits).all()
    assert (weights[channel.matrix == 0] == 0).all()
    units = np.abs(weights - np.ldexp(channel.matrix, bits))
    assert units.max() <= len(weights) + 2.0 ** (bits - 50)


def test_columns_that_are_off_by_a_billionth_are_spread_in_proportion():
    matrix = np.array([[0.25, 1e-12], [0.75, 1 - 1e-12]]) * (1 + 9e-10)
    weights = round_columns(matrix) / 2.0**BITS
    assert weights == pytest.approx(matrix / matrix.sum(axis=0), rel=1e-3)


@pytest.mark.parametrize("bits", [0, 61])
def test_bits_out_of_range(bits):
    with pytest.raises(ParameterError, match="bits"):
        round_columns(np.eye(2), bits)


def test_products_are_exact():
    rng = np.random.default_rng(0)
    for top in (2**10, 2**53, 2**90):
        left = rng.integers(0, 2**62, (3, 700)).astype(object) * top // 2**62
        right = rng.integers(0, 2**60, (4, 700))
        assert (exact_products(left, right) == left @ right.T.astype(object)).all()


def test_a_prior_of_floats_is_taken_bit_by_bit():
    joint = Joint(np.array([[0.1, 0.2], [0.3, 0.4]]))
    cells = exact_prior(joint)
    assert [[float(c) / float(cells[0, 0]) for c in row] for row in cells] == [[1.0, 2.0], [0.3 / 0.1, 4.0]]


def test_the_marginal_is_a_whole_distribution():
    joint = Joint.from_counts([[5, 1, 0], [2, 2, 9]])
    weights = round_columns(np.array([[0.2, 0.5, 1.0], [0.8, 0.5, 0.0]]))
    marginal = marginal_weights(weights, BITS, joint)
    assert marginal.sum() == 1 << BITS
    assert marginal / 2**BITS == pytest.approx(weights / 2**BITS @ joint.prior)
