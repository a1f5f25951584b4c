"""The Rényi ball as a shared budget, its projections, and the bounds that robust-2 takes from them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from attacks import members, random_ball

from discreet.joint import Joint
from discreet.uncertainty import ChiSquare, Exactly, Renyi
from discreet.uncertainty.renyi_ball import (
    RenyiBall,
    l1_radius,
    least_mass,
    lower_bounds,
    most_mass,
    renyi,
    upper_bounds,
)

ORDERS = [0.3, 0.5, 1.0, 2.0, 5.0]


PRINTED = ChiSquare(0.95).around(Joint.from_counts([[7, 10], [26, 57]], include_secret=True))


@pytest.mark.parametrize("order", ORDERS)
def test_conditionals_fit_together_exactly_when_their_costs_fit_the_budget(order: float) -> None:
    """Theory 1.7, with random conditionals and the best weights found by brute force over them."""
    rng = np.random.default_rng(int(order * 10))
    for _ in range(200):
        ball = RenyiBall(rng.dirichlet(np.ones(6)).reshape(2, 3), order, float(10 ** rng.uniform(-2, 0)))
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
    ball = RenyiBall(np.array([[0.05, 0.05], [0.5, 0.4]]), order, 0.02)
    drawn = members(ball, 500, rng)
    conditionals = drawn[:, 0] / drawn[:, 0].sum(axis=-1, keepdims=True)
    assert (renyi(ball.conditional[0], conditionals, order) > ball.radius * 1.5).any()


def test_a_secret_that_was_never_seen_is_arbitrary() -> None:
    ball = Renyi(2, 0.1).around(Joint(np.array([[0.5, 0.5], [0.0, 0.0]])))
    assert ball.radii[1] == np.inf
    assert np.isfinite(ball.radii[0])
    assert Exactly().around(Joint(ball.estimate)).compared.tolist() == [0]


def test_one_secret_with_nearly_all_the_mass() -> None:
    ball = RenyiBall(np.array([[0.6, 0.4 - 1e-9], [1e-9, 0.0]]), 2.0, 0.01)
    assert ball.radii[0] == pytest.approx(0.01, rel=1e-6)
    assert ball.radii[1] > 10


def test_example_2_of_robust_2_with_the_radii_of_its_own_theorem() -> None:
    """The paper prints B = (0.3782, 0.0900): its Theorem 1 without the exponents, ln((e^B − (1 − P̂_s))/P̂_s)."""
    printed = np.log((np.exp(PRINTED.radius) - (1 - PRINTED.mass)) / PRINTED.mass)
    assert printed == pytest.approx([0.3782, 0.0900], abs=5e-5)
    assert PRINTED.radii == pytest.approx([0.40673, 0.09031], abs=5e-6)
    assert PRINTED.conditional == pytest.approx(np.array([[0.4118, 0.5882], [0.3133, 0.6867]]), abs=5e-5)
    assert upper_bounds(PRINTED)[0, 0] == pytest.approx(0.72728, abs=5e-6)


def test_example_2_digits_follow_from_the_printed_radii() -> None:
    """With the radii as printed every other number of Example 2 comes out, so the formulas after Theorem 1 agree."""
    radii = np.array([0.3782, 0.0900])[:, None]
    least = least_mass(PRINTED.conditional, radii, 2.0)
    most = most_mass(PRINTED.conditional, radii, 2.0)
    assert least == pytest.approx(np.array([[0.1620, 0.2829], [0.1923, 0.5337]]), abs=6e-5)
    assert 2 * np.abs(most - PRINTED.conditional).max(axis=1) == pytest.approx([0.6107, 0.3061], abs=1.2e-4)


@pytest.mark.parametrize("rho", [0.01, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("radius", [1e-4, 0.1, 2.0])
def test_lemma_1_is_the_closed_form_at_order_2(rho: float, radius: float) -> None:
    e = np.exp(radius)
    root = np.sqrt((e - 1) * (e - (2 * rho - 1) ** 2))
    assert most_mass(rho, radius, 2.0) == pytest.approx((e + 2 * rho - 1 + root) / (2 * e), rel=1e-10)
    assert least_mass(rho, radius, 2.0) == pytest.approx((e + 2 * rho - 1 - root) / (2 * e), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("order", ORDERS)
def test_bounds_and_radius_hold_for_members_and_are_attained(order: float) -> None:
    rng = np.random.default_rng(11)
    for kind in range(8):
        ball = random_ball(rng, order, kind)
        drawn = members(ball, 200, rng)
        conditionals = drawn / drawn.sum(axis=-1, keepdims=True)
        radius = l1_radius(ball)
        assert (conditionals >= lower_bounds(ball) - 1e-9).all()
        assert (conditionals <= upper_bounds(ball) + 1e-9).all()
        seen = ball.mass > 0
        distance = np.abs(conditionals - ball.conditional).sum(axis=-1)[:, seen]
        assert (distance <= radius[seen] + 1e-9).all()
        for s in np.flatnonzero(seen):
            assert radius[s] == pytest.approx(_radius_by_subsets(ball, int(s)), abs=1e-9)


def _radius_by_subsets(ball: RenyiBall, s: int) -> float:
    """(30), subset by subset."""
    p = ball.conditional[s]
    sets = [list(t) for size in range(1, len(p)) for t in combinations(range(len(p)), size)]
    masses = np.array([p[t].sum() for t in sets])
    return float(2 * (most_mass(masses, ball.radii[s], ball.order) - masses).max())


@pytest.mark.parametrize("order", ORDERS)
def test_the_safe_radius_of_a_large_alphabet(order: float) -> None:
    """Never below the exact one (of the same distribution, its last letters merged), and close to it."""
    rng = np.random.default_rng(12)
    p = rng.dirichlet(np.ones(24))
    coarse = np.r_[p[:17], p[17:].sum()]
    fine, exact = (l1_radius(RenyiBall(np.stack([part, part]) / 2, order, 0.05))[0] for part in (p, coarse))
    assert exact <= fine <= exact * 1.01


@pytest.mark.parametrize("radius", [0.01, 0.2])
def test_order_2_reproduces_the_bound_of_proposition_2(radius: float) -> None:
    ball = RenyiBall(np.full((2, 24), 1 / 48), 2.0, radius)
    assert l1_radius(ball)[0] == pytest.approx(np.sqrt(np.expm1(ball.radii[0])), rel=1e-6)


def test_secrets_never_seen() -> None:
    ball = RenyiBall(np.array([[0.5, 0.5], [0.0, 0.0]]), 2.0, 0.1)
    assert lower_bounds(ball)[1].tolist() == [0, 0]
    assert l1_radius(ball)[1] == 2
