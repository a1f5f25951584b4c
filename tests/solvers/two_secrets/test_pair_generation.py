"""Two secrets: against all extreme rows listed one by one, at the edges, and with planted faults."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from catalogue import solved
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.channel import Channel
from discreet.exceptions import ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.solvers.problem import Problem
from discreet.solvers.two_secrets import pair_generation
from discreet.solvers.two_secrets.chain import Chain
from discreet.solvers.two_secrets.letter_pairs import TwoSidedCone
from discreet.solvers.two_secrets.pair_generation import generate_pairs
from discreet.testing import epsilons, joints
from discreet.utilities.utility import ChiSquareInformation, CorrectGuess, MutualInformation

notions = st.sampled_from([LDP, LIP])


def listed_optimum(problem: Problem) -> float:
    """The LP over every row of one or two letters that lies in the cone, found from the cone alone."""
    n, conditions = len(problem.prior), problem.cone.rows / problem.prior
    posteriors = [w for w in np.eye(n) if (conditions @ w <= 1e-13 * np.abs(conditions).max(initial=0)).all()]
    for i in range(n):
        for j in range(i):
            for condition in conditions:
                if condition[i] * condition[j] < 0:
                    w = np.zeros(n)
                    w[i], w[j] = (
                        condition[j] / (condition[j] - condition[i]),
                        condition[i] / (condition[i] - condition[j]),
                    )
                    if (conditions @ w <= 1e-12 * np.abs(conditions) @ w).all():
                        posteriors.append(w)
    rows = np.array(posteriors) / problem.prior
    answer = linprog(-problem.values(rows), A_eq=rows.T, b_eq=np.ones(n), method="highs")
    assert answer.status == 0
    return float(-answer.fun)


@given(
    joints(max_secrets=2, max_letters=7), notions, epsilons, st.sampled_from([MutualInformation, ChiSquareInformation])
)
@settings(max_examples=150, deadline=None)
def test_optimum_bound_and_level(joint, notion, epsilon, utility):
    problem = Problem.of(joint, notion(epsilon), utility)
    split = solved(generate_pairs, problem, gap=1e-8)
    true = listed_optimum(problem)
    assert split.value == pytest.approx(true, abs=1e-7)
    assert split.upper_bound >= true - 1e-8
    assert split.gap <= 1e-8
    assert np.allclose(split.weights @ split.rows, 1, rtol=0, atol=1e-11)
    channel = Channel(split.matrix, joint.letters)
    assert notion(epsilon).level(channel, joint).epsilon <= epsilon + 1e-11
    assert utility.of(joint, channel) == pytest.approx(split.value, abs=1e-9)


@given(joints(max_secrets=2, max_letters=7), notions, st.sampled_from([1e-9, 1e-6, 1e-3, 10.0, 40.0, 300.0]))
@settings(max_examples=150, deadline=None)
def test_epsilon_tiny_and_huge(joint, notion, epsilon):
    problem = Problem.of(joint, notion(epsilon))
    split = solved(generate_pairs, problem, gap=1e-9)
    assert split.status == "optimal"
    channel = Channel(split.matrix, joint.letters)
    assert notion(epsilon).level(channel, joint).epsilon <= epsilon * (1 + 1e-9) + 1e-13


@given(joints(max_secrets=2, max_letters=30), notions, epsilons)
@settings(max_examples=100, deadline=None)
def test_the_chain_needs_no_linear_program(joint, notion, epsilon):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_generation, "_PairProgram", None)
        assert solved(generate_pairs, Problem.of(joint, notion(epsilon)), gap=1e-10).status == "optimal"


@pytest.mark.parametrize("notion", [LDP(0.4), LIP(0.4)])
def test_two_thousand_letters(notion):
    cells = np.random.default_rng(5).random((2, 2000))
    joint = Joint(cells / cells.sum())
    problem = Problem.of(joint, notion)
    split = solved(generate_pairs, problem)
    assert split.gap <= 1e-9
    assert split.rows.shape[0] <= 2000
    assert notion.level(Channel(split.matrix), joint).epsilon <= notion.epsilon + 1e-11


def test_two_secrets_seen_of_three_and_a_letter_never_seen():
    counts = np.array([[5, 9, 0, 30], [0, 0, 0, 0], [20, 9, 0, 4]])
    joint, small = Joint.from_counts(counts), Joint.from_counts(counts[[0, 2]][:, [0, 1, 3]])
    for notion in (LDP(0.3), LIP(0.3)):
        problem = Problem.of(joint, notion)
        split = solved(generate_pairs, problem)
        assert split.value == pytest.approx(solved(generate_pairs, Problem.of(small, notion)).value, abs=1e-12)
        matrix = split.matrix
        assert np.allclose(matrix[:, 2], matrix @ joint.prior)
        unreduced = Problem.of_rows(joint.prior, notion.cone(joint), joint.target_of)
        assert np.allclose(solved(generate_pairs, unreduced).matrix, matrix)


def test_an_independent_secret_hides_nothing():
    joint = Joint.from_counts(np.outer([2, 3], [5, 7, 11]))
    assert solved(generate_pairs, Problem.of(joint, LDP(0.01))).value == pytest.approx(joint.entropy, abs=1e-9)


def test_more_than_one_average_is_refused():
    joint = Joint.from_counts(np.array([[5, 9, 1], [3, 3, 8], [9, 1, 2]]))
    with pytest.raises(ParameterError, match="more than one average"):
        solved(generate_pairs, Problem.of(joint, LIP(0.5)))


def test_other_utilities_and_targets_are_refused():
    joint = Joint.from_counts(np.array([[5, 9, 1], [3, 3, 8]]))
    with pytest.raises(ParameterError, match="sum over the letters"):
        solved(generate_pairs, Problem.of(joint, LIP(0.5), CorrectGuess))
    with pytest.raises(ParameterError, match="sum over the letters"):
        solved(generate_pairs, Problem.of(joint.curator(), LIP(0.5)))


def test_out_of_time_says_so_with_a_true_bound():
    joint = Joint.from_counts(np.array([[5, 9, 1, 40], [3, 30, 8, 2]]))
    problem = Problem.of(joint, LIP(0.2))
    split = solved(generate_pairs, problem, time_limit=0.0)
    assert split.status == "time limit"
    assert split.upper_bound == pytest.approx(joint.entropy)
    assert LIP(0.2).level(Channel(split.matrix), joint).epsilon <= 0.2 + 1e-12


def test_progress_reports_value_and_bound():
    seen = []
    joint = Joint.from_counts(np.array([[5, 9, 1, 40], [3, 30, 8, 2]]))
    split = solved(generate_pairs, Problem.of(joint, LIP(0.2)), progress=lambda *report: seen.append(report))
    assert seen[-1][:2] == (split.value, split.upper_bound)


# ---- planted faults -----------------------------------------------------------------------------------------------


def test_wrong_prices_are_repaired_by_the_linear_program(monkeypatch):
    """Prices that prove nothing must cost time, not the optimum."""
    joint = Joint.from_counts(np.random.default_rng(3).integers(0, 90, (2, 40)))
    problem = Problem.of(joint, LIP(0.3))
    best = solved(generate_pairs, problem)
    monkeypatch.setattr(Chain, "losses", lambda self, size: np.zeros(size))
    again = solved(generate_pairs, problem, gap=1e-8)
    assert again.status == "optimal"
    assert again.value == pytest.approx(best.value, abs=1e-8)


def test_a_chain_in_the_wrong_place_is_not_called_optimal(monkeypatch):
    """Everything at one end is permitted, but not best: the bound must say so."""
    joint = Joint.from_counts(np.random.default_rng(3).integers(0, 90, (2, 40)))
    problem = Problem.of(joint, LIP(0.3))
    best, band_of = solved(generate_pairs, problem), pair_generation.band_of

    def narrower(problem: Problem) -> TwoSidedCone:
        band = band_of(problem)
        return replace(band, up=band.up + 0.1)

    with monkeypatch.context() as patch:
        patch.setattr(
            pair_generation,
            "best_chain",
            lambda band, make=pair_generation.best_chain: make(replace(band, up=band.up + 0.1)),
        )
        patch.setattr(pair_generation, "_PairProgram", None)
        with pytest.raises(TypeError):
            solved(generate_pairs, problem)
    monkeypatch.setattr(pair_generation, "band_of", narrower)
    assert solved(generate_pairs, problem).value < best.value - 1e-4


def test_a_band_that_is_too_wide_is_caught(monkeypatch):
    joint = Joint.from_counts(np.random.default_rng(3).integers(0, 90, (2, 40)))
    band_of = pair_generation.band_of
    monkeypatch.setattr(
        pair_generation, "band_of", lambda problem: replace(band_of(problem), up=band_of(problem).up - 1e-6)
    )
    with pytest.raises(ProofError):
        solved(generate_pairs, Problem.of(joint, LIP(0.3)))


def test_ctrl_c_returns_what_is_there():
    def stop(*report: float) -> None:
        raise KeyboardInterrupt

    joint = Joint.from_counts(np.array([[5, 9, 1, 40], [3, 30, 8, 2]]))
    split = solved(generate_pairs, Problem.of(joint, LIP(0.2)), progress=stop)
    assert split.status == "interrupted"
    assert split.upper_bound >= split.value > 0
