"""The chi-square quantile: proven from above, and tight."""

from fractions import Fraction

import pytest
from fraction_reference import exp_enclosure
from scipy.special import chdtr, chdtri

from discreet.certify.ball_terms import WIDTH, chi_square_quantile_upper, cumulative_lower
from discreet.exceptions import ProofError


@pytest.mark.parametrize("degrees", [1, 2, 3, 10, 239, 251, 2399, 50_000])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.9, 0.95, 0.99, 1 - 1e-9])
def test_the_quantile_is_proven_and_within_a_billionth(degrees, confidence):
    quantile = chi_square_quantile_upper(degrees, Fraction(confidence))
    assert Fraction(cumulative_lower(degrees, quantile), 1 << WIDTH) >= Fraction(confidence)
    assert float(quantile) == pytest.approx(float(chdtri(degrees, 1 - confidence)), rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 7, 239, 2399])
def test_the_cumulative_probability_is_a_close_lower_bound(degrees):
    for q in (0.2 * degrees, float(degrees), 1.3 * degrees):
        assert cumulative_lower(degrees, Fraction(q)) / 2**WIDTH == pytest.approx(float(chdtr(degrees, q)), rel=1e-9)


def test_two_degrees_have_a_closed_form():
    for q in (Fraction(1, 3), Fraction(6), Fraction(40)):
        truth_low = 1 - exp_enclosure(-q / 2)[1]
        bound = Fraction(cumulative_lower(2, q), 1 << WIDTH)
        assert bound <= 1 - exp_enclosure(-q / 2)[0]
        assert bound >= truth_low - Fraction(1, 10**15)


def test_a_quantile_that_is_too_small_is_not_accepted():
    quantile = chi_square_quantile_upper(239, Fraction(0.95)) * (1 - Fraction(1, 10**9))
    assert Fraction(cumulative_lower(239, quantile), 1 << WIDTH) < Fraction(0.95)


def test_a_confidence_out_of_reach_is_refused():
    with pytest.raises(ProofError, match="quantile"):
        chi_square_quantile_upper(5, 1 - Fraction(1, 10**60))
