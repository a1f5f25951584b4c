"""What a release does not determine is bounded, never guessed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.estimate import estimate, posterior
from discreet.estimate.fitting import Sample
from discreet.estimate.functionals import Analysis, Functionals
from discreet.estimate.identification import determined_combinations
from discreet.joint import Joint
from discreet.mechanisms.conditional_reporting import cr
from discreet.notions import LIP
from discreet.protocol import Protocol

MERGED = Channel(
    np.array([[0.8, 0.1, 0.1], [0.2, 0.9, 0.9]]), inputs=("north", "south", "west"), outputs=("up", "down")
)
COUNTS = np.array([400, 600])


def test_only_the_sum_of_two_letters_that_look_alike() -> None:
    found = estimate(COUNTS, MERGED)
    np.testing.assert_array_equal(found.determined, [True, False, False])
    np.testing.assert_array_equal(np.isnan(found.frequencies), [False, True, True])
    assert [words for words, _ in found.combinations] == ["north", "south + west"]
    total = found.combinations[1][1]
    assert total.value == pytest.approx(1 - found.frequencies[0])
    np.testing.assert_allclose(found.bounds[1], [0, total.value], atol=1e-8)
    low, high = found.interval()[1]
    assert low == pytest.approx(0, abs=1e-6)
    assert total.value < high < 1
    assert any("Not determined" in note and "south, west" in note for note in found.notes)
    assert found.effective_sample_size == 0
    assert estimate(COUNTS, MERGED, on="simplex").notes[-1].startswith("Not projected")


@given(st.integers(0, 10**6))
def test_bounds_are_those_of_linear_programming(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.dirichlet(np.ones(3), size=5).T
    counts = rng.multinomial(300, matrix @ rng.dirichlet(np.ones(5)))
    analysis = Analysis(Sample.of([(matrix, counts)]), np.full(5, 0.2))
    bounds = Functionals(analysis, np.eye(5)).bounds
    q = matrix @ analysis.fit.frequencies
    for letter in range(5):
        for side, sign in ((0, 1), (1, -1)):
            other = linprog(sign * np.eye(5)[letter], A_eq=matrix, b_eq=q, bounds=(0, 1), method="highs")
            assert bounds[letter, side] == pytest.approx(sign * other.fun, abs=1e-6)


def test_intervals_of_undetermined_letters_cover() -> None:
    rng = np.random.default_rng(0)
    matrix, truth = rng.dirichlet(np.ones(3), size=5).T, np.array([0.5, 0.25, 0.15, 0.07, 0.03])
    inside = []
    for counts in rng.multinomial(200, matrix @ truth, size=150):
        limits = Functionals(Analysis(Sample.of([(matrix, counts)]), np.full(5, 0.2)), np.eye(5)).limits(0.95)
        inside.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    assert np.mean(inside, axis=0).min() >= 0.93


def test_combinations_lie_in_the_row_space() -> None:
    matrix = np.random.default_rng(2).dirichlet(np.ones(3), size=6).T
    found = determined_combinations(matrix, np.eye(6))
    assert len(found) == 3
    assert np.linalg.matrix_rank(np.concatenate([matrix, found])) == 3
    assert len(determined_combinations(np.eye(4), np.eye(4))) == 4


def test_two_columns_released_apart_bound_their_cross_table() -> None:
    """Only the margins are known: the cells range within the bounds of Fréchet."""
    first, second = _protocol("a", [0.7, 0.3]), _protocol("b", [0.4, 0.6])
    found = estimate([np.array([700, 300]), np.array([400, 600])], [first, second])
    margins = found.attribute("a").frequencies, found.attribute("b").frequencies
    assert found.attribute("a").determined.all()
    bounds = found.table(["a", "b"]).bounds.reshape(2, 2, 2)
    for i in range(2):
        for j in range(2):
            left, right = margins[0][i], margins[1][j]
            np.testing.assert_allclose(bounds[i, j], [max(0, left + right - 1), min(left, right)], atol=1e-6)


def _protocol(name: str, prior: list[float]) -> Protocol:
    joint = Joint(np.array([prior, prior]) / 2, releases=(Attribute(name, ("x", "y")),))
    return Protocol.make(Channel(np.array([[0.75, 0.25], [0.25, 0.75]]), joint.letters), joint, LIP(1.0))


# ---- a mechanism that reads the secret ------------------------------------------------------------------------------


@pytest.fixture
def curator() -> Protocol:
    joint = Joint.from_counts(np.array([[400, 100, 50], [50, 150, 250]])).curator()
    return Protocol.make(cr(joint, 1.0), joint, LIP(2.0))


def test_the_secret_must_be_assumed_or_bounded(curator: Protocol) -> None:
    joint = curator.joint
    counts = np.random.default_rng(0).multinomial(100_000, curator.matrix @ joint.prior)
    found = estimate(counts, curator, assume="nothing")
    assert not found.determined.any()
    assert (found.bounds[:, 0] < joint.target_prior).all()
    assert (joint.target_prior < found.bounds[:, 1]).all()
    assumed = estimate(counts, curator, assume="P(s|x)")
    assert assumed.letters == joint.release_letters
    assert assumed.determined.all()
    assert np.abs((assumed.frequencies - joint.target_prior) / assumed.standard_errors).max() < 5
    assert any(note.startswith("Assumed: P(s|x)") for note in assumed.notes)
    np.testing.assert_allclose(posterior(curator, found).sum(axis=1), 1)


def test_a_wrong_assumption_is_not_harmless(curator: Protocol) -> None:
    """The bounds still hold where P(s|x) has changed; the estimate under the assumption does not."""
    truth = np.array([0.05, 0.1, 0.05, 0.4, 0.1, 0.3])
    counts = np.random.default_rng(1).multinomial(100_000, curator.matrix @ truth)
    target = truth.reshape(2, 3).sum(axis=0)
    limits = estimate(counts, curator, assume="nothing").interval()
    assert ((limits[:, 0] <= target) & (target <= limits[:, 1])).all()
    assumed = estimate(counts, curator, assume="P(s|x)")
    assert np.abs((assumed.frequencies - target) / assumed.standard_errors).max() > 20


def test_intervals_of_what_is_not_determined_stay_inside_what_is_possible() -> None:
    """Bounding scores can be large and noisy: without the range, limits of a frequency went beyond 6."""
    rng = np.random.default_rng(0)
    widest = 0.0
    for _ in range(20):
        matrix = 0.9 / 5 + 0.1 * rng.dirichlet(np.ones(5), size=7).T
        found = estimate(rng.multinomial(200, matrix @ rng.dirichlet(np.ones(7))), Channel(matrix / matrix.sum(axis=0)))
        open_ = ~found.determined
        assert open_.any()
        limits, bounds = found.interval()[open_], found.bounds[open_]
        assert (limits >= 0).all()
        assert (limits <= 1).all()
        assert (limits[:, 0] <= bounds[:, 0] + 1e-9).all()
        assert (limits[:, 1] >= bounds[:, 1] - 1e-9).all()
        widest = max(widest, float(np.ptp(limits, axis=1).max()))
    assert widest == 1
