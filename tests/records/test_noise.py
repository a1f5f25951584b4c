"""Noise for counts: exact frequencies of the sampler, with a negative control, and what it refuses."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.exceptions import DistributionError, ParameterError
from discreet.records.noise import Noise, projected

DRAWS = 60_000
ALARM = 1e-9
"""The probability of a false alarm of one test."""


def words(seed: int):
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, 2**64, count, dtype=np.uint64)


def p_value(drawn: np.ndarray, epsilon: float) -> float:
    """Of the chi-square test against P(z) ∝ e^(−ε0|z|/2), cells of fewer than twenty together."""
    a = np.exp(-epsilon / 2)
    reach = int(np.log(20 / len(drawn)) / np.log(a))
    z = np.arange(-reach, reach + 1)
    expected = len(drawn) * (1 - a) / (1 + a) * a ** np.abs(z)
    observed = np.array([(drawn == value).sum() for value in z])
    rest = len(drawn) - expected.sum()
    statistic = ((observed - expected) ** 2 / expected).sum() + (len(drawn) - observed.sum() - rest) ** 2 / rest
    return float(chi2.sf(statistic, len(z)))


@pytest.mark.parametrize("epsilon", [3.0, 1.0, 0.5])
def test_noise_has_the_frequencies_it_should(epsilon):
    drawn = Noise(epsilon).added(np.zeros(DRAWS, dtype=np.int64), words(int(10 * epsilon)))
    assert p_value(drawn, epsilon) > ALARM
    assert p_value(drawn, 1.1 * epsilon) < ALARM


def test_a_sampler_that_keeps_minus_zero_is_caught():
    rng = np.random.default_rng(0)
    a = np.exp(-0.5)
    wrong = (rng.geometric(1 - a, DRAWS) - 1) * rng.choice([-1, 1], DRAWS)
    assert p_value(wrong, 1.0) < ALARM


def test_noise_is_added_to_every_cell_and_repeats_with_its_words():
    counts = np.arange(12).reshape(3, 4)
    first, again = (Noise(0.5).added(counts, words(4)) for _ in range(2))
    assert first.shape == counts.shape
    assert np.array_equal(first, again)
    assert not np.array_equal(first, Noise(0.5).added(counts, words(5)))
    shifted = Noise(0.5).added(counts + 3, words(4))
    assert np.array_equal(shifted - first, np.full((3, 4), 3))


def test_decimals_are_taken_as_written():
    assert Noise(0.1).exact == Fraction(1, 10)
    for epsilon in (0.0, -1.0, float("nan"), float("inf"), 1e-300):
        with pytest.raises(ParameterError):
            Noise(epsilon)
    with pytest.raises(DistributionError):
        Noise(1.0).added(np.array([0.5]), words(0))
    with pytest.raises(DistributionError):
        Noise(1.0).added(np.array([-1]), words(0))


def test_the_projection_is_the_nearest_distribution():
    rng = np.random.default_rng(2)
    for _ in range(50):
        noisy = rng.integers(-5, 30, 8)
        found = projected(noisy)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        shares = noisy / max(noisy.sum(), 1)
        for other in rng.dirichlet(np.ones(8), 50):
            assert ((found - shares) ** 2).sum() <= ((other - shares) ** 2).sum() + 1e-12
    assert projected(np.array([-4, -9])) == pytest.approx([1.0, 0.0])
