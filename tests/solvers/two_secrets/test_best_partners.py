"""The best pairs along the order of the letters against looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.two_secrets import best_partners as partners
from discreet.solvers.two_secrets import letter_pairs, pair_generation
from discreet.solvers.two_secrets.letter_pairs import band_of
from discreet.utilities.utility import MutualInformation


def two_secrets(letters: int, seed: int) -> dc.Joint:
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(
        1 + rng.multinomial(40 * letters, rng.dirichlet(np.full(2 * letters, 0.6))).reshape(2, -1)
    )


@pytest.mark.parametrize("seed", range(8))
def test_they_are_the_best_of_all_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    joint, rng = two_secrets(60, seed), np.random.default_rng(seed)
    band = band_of(Problem.of(joint, dc.LIP(rng.uniform(0.05, 1.0))))
    prices = -np.log(band.prior) - rng.uniform(0, 1, 60)
    scanned = band.dearest(prices, MutualInformation)
    monkeypatch.setattr(letter_pairs, "FEW_LETTERS", 0)
    ordered = band.dearest(prices, MutualInformation)
    assert scanned is not None
    assert ordered is not None
    assert ordered.worth.max() == pytest.approx(scanned.worth.max(), abs=1e-12)
    assert len(ordered.worth) == len(scanned.worth)
    assert ordered.slack < 1e-9


def test_partners_in_the_wrong_order_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the order of the letters turned round, the search along it misses the best pairs of most letters."""
    monkeypatch.setattr(letter_pairs, "FEW_LETTERS", 0)
    real, missed = partners._row_maxima, 0
    for seed in range(8):
        joint, rng = two_secrets(60, seed), np.random.default_rng(seed)
        band = band_of(Problem.of(joint, dc.LIP(0.3)))
        prices = -np.log(band.prior) - rng.uniform(0, 1, 60)
        right = band.dearest(prices, MutualInformation)
        with monkeypatch.context() as planted:
            planted.setattr(
                partners,
                "_row_maxima",
                lambda a, b, gain: len(b) - 1 - real(a, b[::-1].copy(), gain[::-1].copy()),
            )
            wrong = band.dearest(prices, MutualInformation)
        assert right is not None
        assert wrong is not None
        missed += int((wrong.worth < right.worth - 1e-9).sum())
    assert missed >= 100


def test_designs_of_thousands_of_letters_are_proven_and_small() -> None:
    joint = two_secrets(4_000, 1)
    found = dc.design(joint, dc.LIP(0.5))
    assert found.gap < 1e-6
    assert found.protocol.columns.nnz <= 2 * 4_000
    assert len(found.protocol.outputs) <= 4_000
    assert found.protocol.epsilon <= 0.5
    exact = joint.counts / joint.counts.sum(axis=1, keepdims=True)  # type: ignore[union-attr]
    likelihoods = found.protocol.columns @ exact.T
    mean = found.protocol.columns @ joint.prior
    assert np.abs(np.log(likelihoods / mean[:, None])).max() <= 0.5


def test_the_ordered_search_gives_the_optimum_of_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.of(two_secrets(300, 3), dc.LDP(0.7))
    *_, scanned = pair_generation.generate_pairs(problem, Effort())
    monkeypatch.setattr(letter_pairs, "FEW_LETTERS", 0)
    *_, ordered = pair_generation.generate_pairs(problem, Effort())
    assert ordered.value == pytest.approx(scanned.value, abs=1e-9)
    assert ordered.upper_bound == pytest.approx(scanned.upper_bound, abs=1e-9)
