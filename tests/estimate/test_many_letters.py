"""Estimates from what is not zero are those from all entries; limits of rare letters hold."""

import numpy as np
import pytest
from scipy import sparse

from discreet import Channel, ParameterError, estimate
from discreet.estimate import many_letters, release_model
from discreet.estimate.many_letters import bernstein


@pytest.fixture
def everything_is_many(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (many_letters, release_model):
        monkeypatch.setattr(module, "MANY_ENTRIES", 0)


def channel(seed: int, size: int = 12, singular: bool = False) -> Channel:
    """Two parts: a band of mixed letters, and letters released as they are."""
    rng = np.random.default_rng(seed)
    matrix = np.diag(rng.uniform(0.5, 1, size)) + np.diag(rng.uniform(0.1, 0.3, size - 1), 1)
    matrix[: size // 2, size // 2 :] = 0.0
    if singular:
        matrix[:, 1] = matrix[:, 0] = np.r_[0.5, 0.5, np.zeros(size - 2)]
        matrix[0, 2:] = 0.0
    return Channel(matrix / matrix.sum(axis=0))


@pytest.mark.parametrize("seed", range(5))
def test_both_ways_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = channel(seed)
    counts = np.random.default_rng(seed).multinomial(5000, found.matrix @ np.full(12, 1 / 12))
    dense = estimate(counts, found)
    for module in (many_letters, release_model):
        monkeypatch.setattr(module, "MANY_ENTRIES", 0)
    thin = estimate(counts, Channel(sparse.csr_array(found.matrix)))
    assert not isinstance(thin.analysis, type(dense.analysis))
    assert np.allclose(thin.frequencies, dense.frequencies)
    assert np.allclose(thin.standard_errors, dense.standard_errors)
    assert np.allclose(thin.covariance, dense.covariance)
    assert np.allclose(thin.covariance_of([3, 1]), dense.covariance_of([3, 1]))
    assert thin.effective_sample_size == pytest.approx(dense.effective_sample_size)
    weights = np.arange(12.0)
    assert thin.combination(weights).value == pytest.approx(dense.combination(weights).value)
    assert thin.combination(weights).standard_error == pytest.approx(dense.combination(weights).standard_error)


@pytest.mark.usefixtures("everything_is_many")
def test_what_is_not_determined_is_bounded() -> None:
    found = channel(3, singular=True)
    truth = np.random.default_rng(1).dirichlet(np.ones(12))
    counts = np.random.default_rng(2).multinomial(20_000, found.matrix @ truth)
    thin = estimate(counts, Channel(sparse.csr_array(found.matrix)))
    assert not thin.determined[:2].any()
    assert np.isnan(thin.frequencies[:2]).all()
    low, high = thin.interval(0.999).T
    assert ((low <= truth) & (truth <= high)).all()
    assert high[:2].max() < 1


@pytest.mark.usefixtures("everything_is_many")
def test_limits_of_rare_letters_cover_and_half_of_them_would_not() -> None:
    found, rng = channel(4), np.random.default_rng(5)
    truth = np.r_[np.full(11, 0.002), 0.978]
    covered, control, rare = [], [], []
    for _ in range(400):
        thin = estimate(rng.multinomial(300, found.matrix @ truth), Channel(sparse.csr_array(found.matrix)))
        limits, middle = thin.interval(0.95), thin.frequencies
        covered.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
        control.append(np.abs(truth - middle) <= 0.1 * (limits[:, 1] - limits[:, 0]) / 2)
        rare.append(thin.functionals.switched)
    assert np.mean(rare) > 0.5
    assert np.mean(covered, axis=0).min() >= 0.93
    assert np.mean(control, axis=0).min() < 0.9


@pytest.mark.usefixtures("everything_is_many")
def test_the_most_likely_distribution_of_many_letters_is_refused() -> None:
    with pytest.raises(ParameterError, match="most likely"):
        estimate(np.full(12, 9), Channel(sparse.csr_array(channel(0).matrix)), method="likelihood")


def test_bernstein_limits_are_wider_than_normal_ones() -> None:
    assert bernstein(np.array([1.0]), np.array([1.0]), 100, 0.95)[0] > 1.96 / 10
