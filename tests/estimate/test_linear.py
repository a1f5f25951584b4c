"""Linear estimates: exactly unbiased, as good as the best of their kind at the prior, and where they are placed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from discreet.channel import Channel
from discreet.estimate import estimate
from discreet.estimate.fitting import left_inverse, on_simplex

SIX_IN_A_MILLION = -float(ndtri(1e-6 / 2))
TRUTH = np.array([0.6, 0.3, 0.08, 0.02])


def channel(seed: int, outputs: int = 7, letters: int = 4) -> Channel:
    return Channel(np.random.default_rng(seed).dirichlet(np.full(outputs, 0.4), size=letters).T)


def mean_z(measured_with: Channel, released_with: Channel) -> float:
    """The largest |z| of the mean of many estimates against the truth."""
    q = released_with.matrix @ TRUTH
    counts = np.random.default_rng(1).multinomial(60, q / q.sum(), size=4000)
    values = np.array([estimate(one, measured_with).frequencies for one in counts])
    errors = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return float(np.abs((values.mean(axis=0) - TRUTH) / errors).max())


@given(st.integers(0, 10**6), st.integers(4, 9))
def test_scores_undo_the_channel(seed: int, outputs: int) -> None:
    matrix = channel(seed, outputs).matrix
    matrix = 0.7 * matrix + 0.3 * np.eye(outputs, 4)
    inverse = left_inverse(matrix, np.random.default_rng(seed).dirichlet(np.ones(4)) * 0.9 + 0.025)
    np.testing.assert_allclose(inverse @ matrix, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(inverse.sum(axis=0), 1, atol=1e-8)


def test_unbiased() -> None:
    assert mean_z(channel(3), channel(3)) < SIX_IN_A_MILLION


def test_another_channel_is_caught() -> None:
    other = Channel(0.99 * channel(3).matrix + 0.01 * channel(4).matrix)
    assert mean_z(other, channel(3)) > SIX_IN_A_MILLION


def test_standard_errors_are_those_of_repeated_releases() -> None:
    q = channel(3).matrix @ TRUTH
    counts = np.random.default_rng(2).multinomial(400, q, size=3000)
    found = [estimate(one, channel(3)) for one in counts]
    spread = np.cov(np.array([one.frequencies for one in found]).T)
    stated = np.mean([one.covariance for one in found], axis=0)
    np.testing.assert_allclose(stated, spread, atol=0.12 * np.abs(np.diag(spread)).max())


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=8))
def test_projection_is_the_nearest_distribution(values: list[float]) -> None:
    given_, projected = np.array(values), on_simplex(np.array(values))
    assert projected.min() >= 0
    assert projected.sum() == pytest.approx(1)
    corners = np.eye(len(values))
    assert ((given_ - projected) @ (corners - projected).T).max() <= 1e-9


def test_placement() -> None:
    grr = Channel(np.full((3, 3), 0.3) + 0.1 * np.eye(3))
    counts = np.array([70, 20, 10])
    raw = estimate(counts, grr)
    assert raw.frequencies.min() < 0
    assert raw.frequencies.sum() == pytest.approx(1)
    np.testing.assert_allclose(estimate(counts, grr, on="clip").frequencies, np.clip(raw.frequencies, 0, 1))
    np.testing.assert_allclose(estimate(counts, grr, on="simplex").frequencies, on_simplex(raw.frequencies))
    for on in ("raw", "clip", "simplex"):
        found = estimate(counts, grr, on=on)  # type: ignore[arg-type]
        low, high = found.interval().T
        assert (low <= found.frequencies).all()
        assert (found.frequencies <= high).all()
