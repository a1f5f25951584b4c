from __future__ import annotations

import numpy as np
import pytest
from attacks import climb, members, random_ball, ratio

from discreet.uncertainty.pairs import SecretPairs, joint_witness, worst_excess, worst_ratio
from discreet.uncertainty.renyi_ball import RenyiBall

ORDERS = [0.3, 0.5, 1.0, 2.0, 5.0]


def one_pair(ball: RenyiBall, rows: np.ndarray, s: int, t: int) -> SecretPairs:
    return SecretPairs.of(ball, np.array([s]), np.array([t]), rows[[s]], rows[[t]])


@pytest.mark.parametrize("order", ORDERS)
def test_the_pair_oracle_is_never_beaten_and_its_witness_attains_it(order: float) -> None:
    rng = np.random.default_rng(int(10 * order))
    for kind in range(12):
        ball = random_ball(rng, order, kind)
        rows = rng.random(ball.estimate.shape) + 0.02
        s, t = ((0, 1) if kind % 8 else (1, 0)) if kind % 4 == 0 else rng.permutation(len(rows))[:2]
        pairs = one_pair(ball, rows, s, t)
        worst, excess = worst_ratio(pairs), worst_excess(pairs, 1.7)
        assert worst.bound[0] == pytest.approx(worst.value[0], rel=1e-9)
        assert excess.bound[0] == pytest.approx(excess.value[0], abs=1e-9)
        witness = joint_witness(pairs, 0, float(worst.split[0]))
        assert witness.sum() == pytest.approx(1)
        assert witness.min() >= 0
        assert ball.contains(witness)
        assert ratio(witness, rows, s, t) == pytest.approx(worst.value[0], rel=1e-5)
        drawn = members(ball, 400, rng)
        assert (ratio(drawn, rows, s, t) <= worst.bound[0] * (1 + 1e-9)).all()
        likelihood = (drawn * rows).sum(axis=-1) / drawn.sum(axis=-1)
        assert (likelihood[:, s] - 1.7 * likelihood[:, t] <= excess.bound[0] + 1e-9).all()
        for start in drawn[:2]:
            assert climb(ball, lambda p: float(ratio(p, rows, s, t)), start) <= worst.bound[0] * (1 + 1e-7)  # noqa: B023


@pytest.mark.parametrize("order", ORDERS)
def test_a_budget_that_is_too_small_is_caught_by_the_attack(order: float) -> None:
    """Planted fault: 80 % of the radius. The local optimiser must find a distribution in F that is worse."""
    rng = np.random.default_rng(3)
    ball = RenyiBall(rng.dirichlet(np.ones(6)).reshape(2, 3), order, 0.05)
    rows = rng.random((2, 3)) + 0.1
    wrong = RenyiBall(ball.estimate, order, ball.radius * 0.8)
    reached = max(
        climb(ball, lambda p: float(ratio(p, rows, 0, 1)), start) for start in [ball.estimate, *members(ball, 12, rng)]
    )
    assert reached > worst_ratio(one_pair(wrong, rows, 0, 1)).bound[0] * (1 + 1e-4)
    assert reached == pytest.approx(worst_ratio(one_pair(ball, rows, 0, 1)).bound[0], rel=1e-2)


@pytest.mark.parametrize("order", ORDERS)
def test_the_worst_ratio_grows_with_the_set(order: float) -> None:
    rng = np.random.default_rng(4)
    estimate, rows = rng.dirichlet(np.ones(8)).reshape(2, 4), rng.random((2, 4)) + 0.1
    ratios = [
        worst_ratio(one_pair(RenyiBall(estimate, order, r), rows, 0, 1)).bound[0]
        for r in (0.0, 1e-4, 0.01, 0.3, np.inf)
    ]
    assert ratios == sorted(ratios)
    assert ratios[-1] == pytest.approx(rows[0].max() / rows[1].min())


def test_below_order_one_half_the_split_is_not_concave_and_still_global() -> None:
    """Against a fine grid of splits."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        ball = RenyiBall(rng.dirichlet(np.full(6, 0.6)).reshape(2, 3), 0.2, float(rng.uniform(0.01, 2)))
        pairs = one_pair(ball, rng.random((2, 3)) + 0.01, 0, 1)
        low, high = (float(end[0]) for end in pairs.interval())
        grid = np.linspace(low, high, 2000)
        many = pairs.take(np.zeros(2000, dtype=np.intp))
        assert (many.rise(grid).value / many.fall(grid).value).max() <= worst_ratio(pairs).bound[0] * (1 + 1e-10)


def test_rows_that_exclude_a_secret() -> None:
    ball = RenyiBall(np.array([[0.3, 0.2], [0.25, 0.25], [0.0, 0.0]]), 2.0, 0.1)
    rows = np.array([[0.5, 0.2], [0.0, 0.0], [0.0, 0.3]])
    assert worst_ratio(one_pair(ball, rows, 0, 1)).bound[0] == np.inf
    assert worst_ratio(one_pair(ball, rows, 1, 0)).bound[0] == 0
    assert worst_ratio(one_pair(ball, rows, 0, 2)).bound[0] == np.inf
    assert worst_ratio(one_pair(ball, rows, 2, 0)).value[0] < np.inf
