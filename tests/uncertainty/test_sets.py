"""What a steward may say, and the ball that it becomes."""

from __future__ import annotations

import numpy as np
import pytest
from attacks import members

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.uncertainty import ChiSquare, Everything, Renyi

EXAMPLE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)


def test_example_1_of_robust_2() -> None:
    ball = ChiSquare(0.95).around(EXAMPLE)
    truth = np.array([[0.1, 0.1], [0.2, 0.6]])
    assert ball.radius == pytest.approx(0.0752, abs=5e-5)
    assert ball.divergence(truth) == pytest.approx(0.0281, abs=5e-5)
    assert ball.contains(truth)


def test_chi_square_is_the_set_it_names() -> None:
    rng = np.random.default_rng(0)
    ball = ChiSquare(0.9).around(EXAMPLE)
    boundary = members(ball, 50, rng)
    chi_square = ((ball.estimate - boundary) ** 2 / boundary).sum(axis=(1, 2))
    assert chi_square * EXAMPLE.n == pytest.approx(np.full(50, 6.251389), abs=1e-4)


@pytest.mark.parametrize(
    "make", [lambda: ChiSquare(1.0), lambda: ChiSquare(0.0), lambda: Renyi(0, 1), lambda: Renyi(2, 0)]
)
def test_parameters_outside_their_range(make: object) -> None:
    assert callable(make)
    with pytest.raises(ParameterError):
        make()


def test_a_confidence_set_needs_n() -> None:
    with pytest.raises(ParameterError, match="number of records"):
        ChiSquare().around(Joint(np.full((2, 2), 0.25)))
    assert Everything().around(Joint(np.full((2, 2), 0.25))).radii.tolist() == [np.inf, np.inf]
