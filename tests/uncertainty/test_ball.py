from __future__ import annotations

import numpy as np
import pytest
from attacks import members, random_ball

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi
from discreet.uncertainty.ball import Ball, renyi
from discreet.uncertainty.support import largest, smallest

ORDERS = [0.3, 0.5, 1.0, 2.0, 5.0]
EXAMPLE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)


def test_example_1_of_robust_2() -> None:
    ball = ChiSquare(0.95).ball(EXAMPLE)
    truth = np.array([[0.1, 0.1], [0.2, 0.6]])
    assert ball.radius == pytest.approx(0.0752, abs=5e-5)
    assert ball.divergence(truth) == pytest.approx(0.0281, abs=5e-5)
    assert ball.contains(truth)


def test_chi_square_is_the_set_it_names() -> None:
    rng = np.random.default_rng(0)
    ball = ChiSquare(0.9).ball(EXAMPLE)
    boundary = members(ball, 50, rng)
    chi_square = ((ball.estimate - boundary) ** 2 / boundary).sum(axis=(1, 2))
    assert chi_square * EXAMPLE.n == pytest.approx(np.full(50, 6.251389), abs=1e-4)


@pytest.mark.parametrize("order", ORDERS)
def test_conditionals_fit_together_exactly_when_their_costs_fit_the_budget(order: float) -> None:
    """Theory 1.7, with random conditionals and the best weights found by brute force over them."""
    rng = np.random.default_rng(int(order * 10))
    for _ in range(200):
        ball = Ball(rng.dirichlet(np.ones(6)).reshape(2, 3), order, float(10 ** rng.uniform(-2, 0)))
        conditionals = (1 - (share := rng.random())) * ball.conditional + share * rng.dirichlet(np.ones(3), size=2)
        weights = np.linspace(1e-6, 1 - 1e-6, 4001)
        together = np.stack([weights, 1 - weights], axis=1)[:, :, None] * conditionals
        cheapest = float(ball.divergence(together).min())
        reached = np.array([renyi(ball.conditional[s], conditionals[s], order) for s in range(2)])
        cost = ball.mass @ (reached if order == 1 else np.abs(np.expm1(ball.beta * reached)))
        if abs(cheapest / ball.radius - 1) > 1e-4:
            assert (cheapest <= ball.radius) == (cost <= ball.budget)


@pytest.mark.parametrize("order", ORDERS)
def test_projections_contain_sampled_members(order: float) -> None:
    """10,000 members of F at each order: every conditional lies in its projection (Theorem 1)."""
    rng = np.random.default_rng(5)
    for kind in range(20):
        ball = random_ball(rng, order, kind)
        drawn = members(ball, 500, rng)
        conditionals = drawn / drawn.sum(axis=-1, keepdims=True)
        for s in np.flatnonzero(np.isfinite(ball.radii)):
            assert (renyi(ball.conditional[s], conditionals[:, s], order) <= ball.radii[s] * (1 + 1e-6) + 1e-9).all()


@pytest.mark.parametrize("order", ORDERS)
def test_a_radius_without_the_weight_of_the_secret_is_caught(order: float) -> None:
    """A planted fault: B itself instead of B_s. Some member of F must lie outside."""
    rng = np.random.default_rng(6)
    ball = Ball(np.array([[0.05, 0.05], [0.5, 0.4]]), order, 0.02)
    drawn = members(ball, 500, rng)
    conditionals = drawn[:, 0] / drawn[:, 0].sum(axis=-1, keepdims=True)
    assert (renyi(ball.conditional[0], conditionals, order) > ball.radius * 1.5).any()


@pytest.mark.parametrize("order", [*ORDERS, 0.9, 1.1, 20.0])
def test_extremes_are_attained_inside_the_ball_and_never_beaten(order: float) -> None:
    rng = np.random.default_rng(7)
    for kind in range(60):
        k = int(rng.integers(2, 7))
        p, v = rng.dirichlet(np.full(k, 0.5)), rng.random(k) ** 2
        if kind % 3 == 0:
            p[rng.integers(k)] = 0
            p /= p.sum()
        radius = float(10 ** rng.uniform(-6, 1))
        for found, sign in ((largest(v, p, radius, order), 1), (smallest(v, p, radius, order), -1)):
            at = found.attained_at
            assert at.min() >= 0
            assert at.sum() == pytest.approx(1, abs=1e-12)
            assert at @ v == pytest.approx(float(found.value), abs=1e-12)
            assert renyi(p, at, order) <= radius * (1 + 1e-7)
            drawn = members(Ball(p[None], order, radius), 200, rng)[:, 0]
            assert (sign * (drawn @ v) <= sign * found.value + 1e-11).all()


@pytest.mark.parametrize("order", [0.1, 0.2, 0.5, 0.9, 1.0, 1.1, 2.0, 20.0, 100.0])
def test_bound_and_maximiser_agree_in_many_awkward_cases(order: float) -> None:
    """Tiny and huge radii, empty cells, skewed distributions and rows: the dual bound equals what R attains."""
    rng = np.random.default_rng(9)
    p = rng.dirichlet(np.full(5, 0.3), size=3000) * (rng.random((3000, 5)) < 0.9)
    p = p[p.sum(axis=1) > 0.1] / p[p.sum(axis=1) > 0.1].sum(axis=1, keepdims=True)
    v = rng.random(p.shape) ** rng.choice([0.2, 1, 4], size=(len(p), 1))
    radius = 10 ** rng.uniform(-8, 1.5, size=len(p))
    found = largest(v, p, radius, order)
    assert np.abs((found.attained_at * v).sum(axis=1) - found.value).max() < 1e-12
    assert (renyi(p, found.attained_at, order) <= radius * (1 + 1e-5)).all()


def test_radius_zero_and_infinity() -> None:
    v, p = np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.5, 0.0])
    assert largest(v, p, 0.0, 2.0).value == 2.0
    assert largest(v, p, np.inf, 2.0).value == 3.0
    assert smallest(v, p, np.inf, 0.5).attained_at.tolist() == [0, 1, 0]
    assert largest(np.ones(3), p, 0.3, 2.0).value == 1.0


def test_mass_moves_to_an_empty_cell_when_it_is_the_largest() -> None:
    found = largest(np.array([0.0, 1.0, 5.0]), np.array([0.5, 0.5, 0.0]), 0.1, 2.0)
    assert found.attained_at[2] > 0.01
    assert renyi(np.array([0.5, 0.5, 0.0]), found.attained_at, 2.0) == pytest.approx(0.1)


def test_a_secret_that_was_never_seen_is_arbitrary() -> None:
    ball = Renyi(2, 0.1).ball(Joint(np.array([[0.5, 0.5], [0.0, 0.0]])))
    assert ball.radii[1] == np.inf
    assert np.isfinite(ball.radii[0])
    assert Exactly().ball(Joint(ball.estimate)).compared.tolist() == [0]


def test_one_secret_with_nearly_all_the_mass() -> None:
    ball = Ball(np.array([[0.6, 0.4 - 1e-9], [1e-9, 0.0]]), 2.0, 0.01)
    assert ball.radii[0] == pytest.approx(0.01, rel=1e-6)
    assert ball.radii[1] > 10


@pytest.mark.parametrize(
    "make", [lambda: ChiSquare(1.0), lambda: ChiSquare(0.0), lambda: Renyi(0, 1), lambda: Renyi(2, 0)]
)
def test_parameters_outside_their_range(make: object) -> None:
    assert callable(make)
    with pytest.raises(ParameterError):
        make()


def test_a_confidence_set_needs_n() -> None:
    with pytest.raises(ParameterError, match="number of records"):
        ChiSquare().ball(Joint(np.full((2, 2), 0.25)))
    assert Everything().ball(Joint(np.full((2, 2), 0.25))).radii.tolist() == [np.inf, np.inf]
