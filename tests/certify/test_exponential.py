"""Bounds of e^x and ln x against `decimal`, which rounds correctly."""

from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.certify.exponential import LARGEST, exp_bounds, exp_lower, exp_upper, ln_bounds
from discreet.exceptions import ProofError

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
