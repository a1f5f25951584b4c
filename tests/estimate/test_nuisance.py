"""The other frequencies under a hypothesis: a stationary point of the stated objective; the intervals that use them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.arrays import Floats
from discreet.estimate import intervals
from discreet.estimate.fitting import Sample
from discreet.estimate.functionals import Analysis, Functionals

OVERLAPPING = np.array(
    [
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.806, 0.0, 0.0, 0.0, 1.0],
        [0.049, 0.0, 0.0, 0.054, 0.0],
        [0.145, 0.0, 0.0, 0.024, 0.0],
        [0.0, 1.0, 0.0, 0.922, 0.0],
    ]
)
"""Two rare letters, the last ones, that share their outputs with frequent ones: an optimal channel for LIP(0.3)."""
EXPECTED = np.array([23.4, 122.2, 150.9, 2.3, 1.2])
PRIOR = np.array([0.06, 0.33, 0.39, 0.06, 0.16])


def objective(sample: Sample, scores: Floats, statistic: float, p: Floats, most: float) -> float:
    """ln L − ln f_T + ε Σ ln p, f_T normal up to (T − E T)²/V = z² and a power of V beyond."""
    q = sample.matrix @ p
    means = np.add.reduceat(scores * q, sample.starts)
    variance = (np.add.reduceat(scores**2 * q, sample.starts) - means**2) @ sample.sizes
    squared = (statistic - means @ sample.sizes) ** 2
    beyond = squared / variance > most
    density = -0.5 * np.log(variance) - (
        (most - most * np.log(most) + most * np.log(squared / variance)) / 2 if beyond else squared / variance / 2
    )
    return float(sample.counts @ np.log(q) - density + intervals.RECORDS / len(p) * np.log(p).sum())


def uneven_slope(sample: Sample, weights: Floats, scores: Floats, statistic: float, p: Floats, most: float) -> float:
    """The largest slope of the objective a unit of √p along directions that keep Σ p and w·p."""
    kept = np.linalg.svd(np.stack([np.ones_like(p), weights]) * np.sqrt(p))[2][2:] * np.sqrt(p)
    slopes = [
        objective(sample, scores, statistic, p + h, most) - objective(sample, scores, statistic, p - h, most)
        for h in 1e-5 * kept
    ]
    return float(np.abs(slopes).max() / 2e-5)


@pytest.mark.parametrize("most", [1.0, 3.84, 1e6])
@pytest.mark.parametrize("waves", [1, 2])
def test_stationary_under_the_hypothesis(waves: int, most: float) -> None:
    rng = np.random.default_rng(waves)
    channels = [OVERLAPPING, 0.7 * np.eye(5) + 0.06][:waves]
    truth = EXPECTED / EXPECTED.sum()
    sample = Sample.of([(matrix, rng.multinomial(300, matrix @ truth)) for matrix in channels])
    weights = np.array([[0, 0, 0, 0, 1.0], [0, 0, 0, 1.0, 0], [0, 0.2, 0.5, 1.0, 0.1]])
    scores = weights @ np.linalg.pinv(sample.scaled)
    scores = scores - scores.min(axis=1)[:, None]
    start = np.tile([0.1, 0.4, 0.44, 0.03, 0.03], (3, 1))
    statistic = scores @ sample.counts
    found = intervals.given_statistic(sample, weights, scores, statistic, start, most)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    np.testing.assert_allclose((found * weights).sum(axis=1), (start * weights).sum(axis=1), rtol=1e-6)
    for i in range(3):
        assert uneven_slope(sample, weights[i], scores[i], statistic[i], found[i], most) < 0.01
        assert uneven_slope(sample, weights[i], scores[i], statistic[i], start[i], most) > 0.1


def covered(others: int = 0, each: float = 3.0) -> float:
    """The share of intervals for the rare letter that hold it, with so many other letters beside, told as they are."""
    records = 300 + round(others * each)
    truth = np.concatenate([EXPECTED / EXPECTED.sum() * 300, np.full(others, each)]) / records
    channel = np.zeros((len(OVERLAPPING) + others, 5 + others))
    channel[: len(OVERLAPPING), :5], channel[len(OVERLAPPING) :, 5:] = OVERLAPPING, np.eye(others)
    prior = np.concatenate([PRIOR * 300, np.full(others, each)]) / records
    counts = np.random.default_rng(1).multinomial(records, channel @ truth, size=400)
    rare = np.eye(5 + others)[4:5]
    limits = [Functionals(Analysis(Sample.of([(channel, one)]), prior), rare).limits(0.95)[0] for one in counts]
    return float(np.mean([low <= truth[4] <= high for low, high in limits]))


@pytest.mark.parametrize("others", [0, 115])
def test_coverage_where_the_variance_has_to_be_fitted(others: int) -> None:
    assert 0.93 - 3.5 * 0.0128 <= covered(others) <= 0.97 + 3.5 * 0.0085


@pytest.mark.parametrize("others", [0, 115])
def test_a_fit_that_ignores_the_hypothesis_is_caught(others: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "given_statistic", lambda *problem: problem[4])
    assert covered(others) < 0.93 - 3.5 * 0.0128


def test_groups_of_single_letters_are_the_fit_of_all_and_fewer_hold_the_hypothesis() -> None:
    draws = np.random.default_rng(8)
    matrix = draws.dirichlet(np.full(30, 0.3), size=12).T
    truth = draws.dirichlet(np.ones(12))
    sample = Sample.of([(matrix, draws.multinomial(400, matrix @ truth))])
    weights = np.eye(12)[:3]
    scores = weights @ np.linalg.pinv(matrix)
    start, statistic = np.tile(0.5 * truth + 0.5 / 12, (3, 1)), scores @ sample.counts
    whole = intervals.given_statistic(sample, weights, scores, statistic, start, 4.0)
    single = intervals.LetterGroups.of(sample, weights, scores, truth, 40)
    assert single.count == 12
    same = intervals.given_statistic(sample, weights, scores, statistic, start, 4.0, single)
    np.testing.assert_allclose(same, whole, atol=1e-6)
    few = intervals.LetterGroups.of(sample, weights, scores, truth, 5)
    found = intervals.given_statistic(sample, weights, scores, statistic, start, 4.0, few)
    np.testing.assert_allclose((found * weights).sum(axis=1), (start * weights).sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found - start).max() > 1e-3
    together = few.number[0] == 4
    np.testing.assert_allclose(np.ptp((found / start)[0, together]), 0, atol=1e-9)
    assert together.sum() == 8
