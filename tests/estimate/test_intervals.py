"""Intervals cover what they promise, for few records and rare letters too; the same check catches ones that do not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import binom

from discreet.channel import Channel
from discreet.estimate import estimate, intervals
from discreet.estimate.fitting import Sample
from discreet.estimate.functionals import Analysis, Functionals

TRUTH = np.array([0.5, 0.3, 0.15, 0.04, 0.01])
RELEASES = 250


def response(strength: float, size: int = 5) -> np.ndarray:
    weights = np.ones((size, size)) + (np.exp(strength) - 1) * np.eye(size)
    return weights / weights.sum(axis=0)


def pairs(size: int = 5) -> np.ndarray:
    """Outputs that mean one letter or one of two, as the optimal mechanisms of two secrets have them."""
    rng = np.random.default_rng(3)
    single, double = np.diag(rng.uniform(0.2, 1, size)), np.zeros((size, size))
    for row in double:
        row[rng.choice(size, 2, replace=False)] = rng.uniform(0.2, 1, 2)
    weights = np.concatenate([single, double])
    return np.asarray(weights / weights.sum(axis=0))


def found(matrix: np.ndarray, n: int, method: str) -> list[Functionals]:
    q = matrix @ TRUTH
    counts = np.random.default_rng(n).multinomial(n, q / q.sum(), size=RELEASES)
    prior = 0.8 * TRUTH + 0.2 / len(TRUTH)
    return [Functionals(Analysis(Sample.of([(matrix, one)]), prior, method), np.eye(len(TRUTH))) for one in counts]  # type: ignore[arg-type]


def covered(limits: list[np.ndarray]) -> np.ndarray:
    return np.mean([(one[:, 0] <= TRUTH + 1e-12) & (one[:, 1] >= TRUTH - 1e-12) for one in limits], axis=0)


LEAST = 0.93 - 3.5 * np.sqrt(0.93 * 0.07 / RELEASES)
MOST = 0.97 + 3.5 * np.sqrt(0.97 * 0.03 / RELEASES)


@pytest.mark.parametrize(("n", "method"), [(100, "linear"), (1000, "linear"), (1000, "likelihood")])
@pytest.mark.parametrize("matrix", [response(1.0), response(3.0), pairs()], ids=["noisy", "clear", "pairs"])
def test_coverage(matrix: np.ndarray, n: int, method: str) -> None:
    share = covered([one.limits(0.95) for one in found(matrix, n, method)])
    assert share.min() >= LEAST
    assert share.max() <= MOST


def test_normal_intervals_of_rare_letters_are_caught() -> None:
    z = float(ndtri(0.975))
    limits = []
    for one in found(pairs(), 100, "linear"):
        half = z * one.standard_errors
        limits.append(np.column_stack([one.values - half, one.values + half]))
    assert covered(limits).min() < LEAST


def test_normal_where_it_holds() -> None:
    for one in found(response(1.0), 100_000, "linear")[:5]:
        assert not one.switched.any()
    assert found(pairs(), 100, "linear")[0].switched.all()


@pytest.mark.parametrize("seen", [1, 3, 12, 40, 49])
def test_limits_are_those_of_the_binomial_mid_p_test(seen: int) -> None:
    """With two outputs T is a binomial count, whose mid-p tails are known exactly."""
    n, lie = 50, 0.15
    channel = Channel(np.array([[1 - lie, lie], [lie, 1 - lie]]))
    low, high = estimate(np.array([seen, n - seen]), channel, on="clip").interval()[0]

    def tail(theta: float, upper: bool) -> float:
        q = lie + (1 - 2 * lie) * theta
        beyond = binom.sf(seen, n, q) if upper else binom.cdf(seen - 1, n, q)
        return float(beyond + binom.pmf(seen, n, q) / 2)

    for theta, upper in ((low, True), (high, False)):
        if 1e-6 < theta < 1 - 1e-6:
            assert tail(theta, upper) == pytest.approx(0.025, rel=0.1)
    if high < 1e-6:  # so few that no frequency explains it: only the nearest one, zero, is left
        assert tail(0.0, upper=False) < 0.025
    if low > 1 - 1e-6:
        assert tail(1.0, upper=True) < 0.025


def test_a_letter_that_never_occurred() -> None:
    """No noise, no occurrence among n: the largest θ with (1 − θ)^n / 2 = 0.025, and nothing below zero."""
    low, high = estimate(np.array([50, 0]), Channel(np.eye(2))).interval()[1]
    assert low == pytest.approx(0, abs=1e-9)
    assert high == pytest.approx(1 - 0.05 ** (1 / 50), rel=1e-4)


def test_a_letter_that_never_occurred_and_hardly_any_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Zero may be the truth; the saddlepoint formula alone would say that it is not."""
    leak = Channel(np.array([[1.0, 0, 0], [0, 0.9998, 0], [0, 0.0002, 1]]))
    counts = np.array([68, 32, 0])
    assert estimate(counts, leak).interval()[2, 0] < 1e-4
    monkeypatch.setattr(intervals, "MOST_CORRECTION", np.inf)
    assert Functionals(estimate(counts, leak).analysis, np.eye(3)).limits(0.95)[2, 0] > 1e-3


def test_notes_say_what_was_switched() -> None:
    rare = estimate(np.array([995, 5]), Channel(np.eye(2), ("common", "rare"), ("common", "rare")))
    assert any("normal approximation fails" in note and "rare" in note for note in rare.notes)
    many = estimate(np.array([600_000, 400_000]), Channel(response(1.0, 2)))
    assert many.notes == ()
