"""Bounds for many pairs at once: what is attained lies below the exact worst case, what is not exceeded above it."""

from __future__ import annotations

import numpy as np
import pytest
from attacks import random_ball

from discreet.notions.notion import ordered_pairs
from discreet.uncertainty.pair_bounds import SplitGrid
from discreet.uncertainty.pairs import SecretPairs, worst_excess, worst_ratio


@pytest.mark.parametrize("order", [0.3, 0.5, 1.0, 2.0, 5.0])
def test_the_exact_worst_case_lies_between_the_bounds(order: float) -> None:
    rng, close = np.random.default_rng(11), []
    for kind in range(20):
        ball = random_ball(rng, order, kind)
        rows = rng.random((3, *ball.estimate.shape)) + 0.05
        first, second = ordered_pairs(len(ball.mass))
        grid = SplitGrid.of(ball, rows)
        for y in range(len(rows)):
            pairs = SecretPairs.of(ball, first, second, rows[y, first], rows[y, second])
            for (attained, bound), exact in (
                (grid.ratios(first, second), worst_ratio(pairs)),
                (grid.excesses(first, second, 1.5), worst_excess(pairs, 1.5)),
            ):
                assert (attained[y] <= exact.bound + 1e-9).all()
                assert (exact.value <= bound[y] + 1e-9).all()
                close.append(np.abs(bound[y] - exact.value).max())
    assert np.median(close) < 0.05  # bounds that leave few pairs to be solved
