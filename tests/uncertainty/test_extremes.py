"""The largest and smallest mean over a ball: attained inside it, never beaten, and numbers for almost constant rows."""

from __future__ import annotations

import numpy as np
import pytest
from attacks import members

import discreet as dc
from discreet.uncertainty.extremes import largest, smallest
from discreet.uncertainty.renyi_ball import RenyiBall, renyi

ORDERS = [0.3, 0.5, 1.0, 2.0, 5.0]


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
            drawn = members(RenyiBall(p[None], order, radius), 200, rng)[:, 0]
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


@pytest.mark.parametrize("level", [1e-8, 0.3, 1.0])
@pytest.mark.parametrize("ulps", [1, 3, 10, 1000, 10**6])
def test_almost_constant_rows_have_means(level: float, ulps: int) -> None:
    v = np.full(4, level)
    v[1] += ulps * np.spacing(level)
    v[2] -= ulps * np.spacing(level)
    p = np.array([0.9, 0.0, 0.1 - 1e-9, 1e-9])
    for order in (0.5, 1.0, 2.0, 4.0):
        for radius in (1e-12, 1e-4, 0.3, 30.0):
            assert p @ v * (1 - 1e-15) <= largest(v, p, radius, order).value <= v.max()
            assert v.min() <= smallest(v, p, radius, order).value <= p @ v * (1 + 1e-15)


@pytest.mark.parametrize("method", ["grr", "srr", "ir", "robust-cr", "coupling"])
@pytest.mark.parametrize("epsilon", [0.1, 1.5])
def test_a_mechanism_at_the_edge_is_proven(method: str, epsilon: float) -> None:
    """Rows constant to the last digits once had no level at all, and closed forms at exactly ε no proof."""
    joint = dc.Joint.from_counts([[41, 1974], [269, 1], [10, 0]], include_secret=True)
    found = dc.design(joint, dc.RLDP(epsilon, dc.ChiSquare(0.9)), method=method, time_limit=3)
    assert found.protocol.notion.epsilon == epsilon
    assert found.utility > 0
