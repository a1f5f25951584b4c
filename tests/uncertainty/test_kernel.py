"""Rows that are constant but for rounding: their largest mean is a number, and never too small."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.uncertainty.support import largest, smallest


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
