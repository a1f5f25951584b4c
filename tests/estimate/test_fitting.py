"""Maximum likelihood: it never falls, its certificate is true, and a convex solver finds the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.estimate.fitting import MostLikely, most_likely
from discreet.exceptions import UnfinishedError


def drawn(seed: int, outputs: int, letters: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.full(outputs, 0.5), size=letters).T
    q = matrix @ rng.dirichlet(np.full(letters, 0.4))
    return matrix, rng.multinomial(n, q / q.sum()).astype(float)


def log_likelihood(matrix: np.ndarray, counts: np.ndarray, p: np.ndarray) -> float:
    seen = counts > 0
    return float(counts[seen] @ np.log(matrix[seen] @ p))


def by_convex_solver(matrix: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sequential quadratic programming, which knows nothing of EM."""
    a, seen = matrix.shape[1], counts > 0
    rows = matrix[seen]
    found = minimize(
        lambda p: -counts[seen] @ np.log(np.maximum(rows @ p, 1e-300)),
        np.full(a, 1 / a),
        jac=lambda p: -rows.T @ (counts[seen] / np.maximum(rows @ p, 1e-300)),
        method="SLSQP",
        bounds=[(0, 1)] * a,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(a)},
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    return np.asarray(found.x / found.x.sum())


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(2, 8), st.sampled_from([5, 100, 10**4, 10**8]))
def test_never_falls_and_is_certified(seed: int, outputs: int, letters: int, n: int) -> None:
    matrix, counts = drawn(seed, outputs, letters, n)
    fit = most_likely(matrix, counts, np.full(letters, 1 / letters))
    assert np.diff(fit.history).min(initial=0) >= -1e-13 * (1 + abs(fit.history[-1]))
    assert fit.frequencies.min() >= 0
    assert fit.frequencies.sum() == pytest.approx(1, abs=1e-12)
    assert fit.gap <= 1e-6 + 1e-11 * n


@pytest.mark.parametrize("seed", range(20))
def test_agrees_with_a_convex_solver(seed: int) -> None:
    matrix, counts = drawn(seed, outputs=9, letters=5, n=500)
    fit, other = most_likely(matrix, counts, np.full(5, 0.2)), by_convex_solver(matrix, counts)
    best = log_likelihood(matrix, counts, fit.frequencies)
    assert best >= log_likelihood(matrix, counts, other) - 1e-9
    assert best <= log_likelihood(matrix, counts, other) + 1e-6
    np.testing.assert_allclose(fit.frequencies, other, atol=1e-4)


@given(st.integers(0, 10**6))
def test_the_gap_bounds_what_is_missing_for_any_distribution(seed: int) -> None:
    matrix, counts = drawn(seed, outputs=7, letters=4, n=200)
    best = most_likely(matrix, counts, np.full(4, 0.25))
    p = np.random.default_rng(seed + 1).dirichlet(np.ones(4))
    seen = counts > 0
    gap = float((matrix[seen].T @ (counts[seen] / (matrix[seen] @ p))).max()) - counts.sum()
    missing = log_likelihood(matrix, counts, best.frequencies) - log_likelihood(matrix, counts, p)
    assert gap >= missing - 1e-8
    assert missing >= -1e-8


@pytest.mark.parametrize(("letters", "epsilon", "n"), [(240, 0.01, 10**5), (240, 0.01, 10**7), (50, 1e-3, 10**9)])
def test_channels_that_say_next_to_nothing(letters: int, epsilon: float, n: int) -> None:
    """Randomised response has its maximum in closed form: p_x = max(0, α c_x − β) with the scale that sums to one."""
    rng = np.random.default_rng(1)
    truth = np.exp(epsilon) / (np.exp(epsilon) + letters - 1)
    lie = (1 - truth) / (letters - 1)
    matrix = np.full((letters, letters), lie) + (truth - lie) * np.eye(letters)
    counts = rng.multinomial(n, matrix @ rng.dirichlet(np.full(letters, 0.5))).astype(float)
    fit = most_likely(matrix, counts, np.full(letters, 1 / letters)).finished()
    ordered = np.sort(counts)[::-1]
    for k in range(letters, 0, -1):  # the k most frequent outputs have q_y ∝ c_y, all others the least possible
        q = ordered[:k] / ordered[:k].sum() * (1 - lie * (letters - k))
        if q[-1] > lie:
            break
    expected = np.where(counts >= ordered[k - 1], (counts / ordered[:k].sum() * (1 - lie * (letters - k)) - lie), 0)
    np.testing.assert_allclose(fit.frequencies, expected / (truth - lie), atol=1e-4)
    assert fit.gap < 1e-5 + 1e-13 * n


def test_an_unfinished_fit_is_refused() -> None:
    with pytest.raises(UnfinishedError, match="may still rise"):
        MostLikely(np.array([0.5, 0.5]), gap=0.1, history=(0.0,)).finished()
