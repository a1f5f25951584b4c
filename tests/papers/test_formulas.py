"""The closed forms that the robust papers print against the exact quantities of the engine."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.information import utility
from discreet.mechanisms.conditional_reporting import robust_cr
from discreet.mechanisms.independent_reporting import distance, ir
from discreet.papers.distributions import observed
from discreet.papers.formulas import cr_information, distance_bound, ir_information, ir_strengths, radius_bounds
from discreet.papers.robust_2.table_2 import single_u
from discreet.uncertainty import ChiSquare
from discreet.uncertainty.renyi_ball import l1_radius

CASES = [(2, 5, 32_561), (5, 2, 32_561), (3, 3, 1_000), (5, 5, 100)]


@pytest.mark.parametrize(("c", "k", "n"), CASES)
@pytest.mark.parametrize("number", range(3))
def test_bounds_bound(c: int, k: int, n: int, number: int) -> None:
    ball = ChiSquare(0.95).around(observed(number, c, k, n)[0])
    assert (radius_bounds(ball) >= l1_radius(ball) - 1e-9).all()
    assert distance_bound(ball) >= distance(ball) - 1e-9
    assert single_u(ball) <= distance_bound(ball)


def test_the_bound_is_exact_for_a_large_set() -> None:
    ball = ChiSquare(0.95).around(observed(0, 5, 5, 100)[0])
    np.testing.assert_allclose(radius_bounds(ball), l1_radius(ball), atol=1e-9)


@pytest.mark.parametrize(("c", "k", "n"), CASES)
def test_information_is_that_of_the_channel(c: int, k: int, n: int) -> None:
    joint, _ = observed(1, c, k, n)
    ball = ChiSquare(0.95).around(joint)
    d, radii = distance_bound(ball), radius_bounds(ball)
    assert ir_information(joint, 1.5, d) == pytest.approx(utility(joint, ir(joint, *ir_strengths(joint, 1.5, d))))
    best = cr_information(joint, 1.5, radii)
    values = [
        utility(joint, robust_cr(joint, first, np.log1p(2 * np.expm1(1.5 - first) / radii)))
        for first in np.linspace(0, 1.5, 151)
    ]
    assert best == pytest.approx(max(values), rel=1e-3)
    assert best >= max(values) - 1e-9
