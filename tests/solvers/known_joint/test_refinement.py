"""X = (S, U), distribution known: the best report on S against listed rows, the coupling against the closed form."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from catalogue import solved
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import xlogy

from discreet.datasets import adult
from discreet.exceptions import ParameterError
from discreet.information import entropy, utility
from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP
from discreet.notions.notion import Cone
from discreet.notions.rldp import RLDP
from discreet.solvers.known_joint import refinement
from discreet.solvers.known_joint.secret_report import LipRows, Staircases, report_secret
from discreet.solvers.problem import Problem
from discreet.solvers.two_secrets.pair_generation import generate_pairs
from discreet.testing import epsilons, joints
from discreet.uncertainty.sets import ChiSquare, Exactly

priors = st.lists(st.integers(1, 400), min_size=2, max_size=6).map(lambda counts: np.array(counts) / sum(counts))


def known(joint, notion):
    return solved(refinement.refine, Problem.of(joint, notion))


def reported(family, **limits):
    problem = Problem.of_rows(family.prior, Cone(np.zeros((0, len(family.prior)))))
    return solved(report_secret, problem, family=family, **limits)


def listed_staircases(prior, epsilon):
    rows = np.array(list(product([1.0, np.exp(epsilon)], repeat=len(prior))))
    return rows / (rows @ prior)[:, None]


def listed_box(prior, epsilon):
    """All letters but one at an end, that one wherever p·v = 1 puts it."""
    low, high = np.exp(-epsilon), np.exp(epsilon)
    rows = []
    for k in range(len(prior)):
        for ends in product([low, high], repeat=len(prior) - 1):
            row = np.insert(ends, k, 0.0)
            row[k] = (1 - prior @ row) / prior[k]
            if low - 1e-12 <= row[k] <= high + 1e-12:
                rows.append(row)
    return np.array(rows)


def best_of(rows, prior):
    sharp = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    worth = xlogy(rows, rows) @ prior
    answer = linprog(-worth, A_eq=rows.T, b_eq=np.ones(len(prior)), method="highs", options=sharp)
    assert answer.status == 0
    return -answer.fun


@pytest.mark.parametrize(
    ("family", "listed", "notion"), [(Staircases, listed_staircases, LDP), (LipRows, listed_box, LIP)]
)
@given(prior=priors, epsilon=epsilons)
@settings(max_examples=60, deadline=None)
def test_the_best_report_on_one_attribute(family, listed, notion, prior, epsilon):
    split = reported(family(prior, epsilon), gap=1e-8)
    true = best_of(listed(prior, epsilon), prior)
    assert split.status == "optimal"
    assert split.value == pytest.approx(true, abs=2e-8)
    assert split.upper_bound >= true - 1e-9
    assert np.allclose(split.weights @ split.rows, 1, rtol=0, atol=1e-10)
    cone = notion(epsilon).cone(Joint(np.diag(prior)))
    assert max(cone.excess(row) for row in split.rows) <= 1e-12


def test_a_relaxation_that_bounds_too_little_ends_below_the_optimum(monkeypatch):
    """The negative control of the test above: with a wrong bound the search stops early and says it is optimal."""
    prior = np.array([25, 24, 2, 1, 8, 1]) / 61
    relax = Staircases.relax

    def careless(self, node, prices):
        relaxed = relax(self, node, prices)
        return replace(relaxed, bound=relaxed.best, split=None)

    monkeypatch.setattr(Staircases, "relax", careless)
    split = reported(Staircases(prior, 2.0), gap=1e-8)
    assert split.value < best_of(listed_staircases(prior, 2.0), prior) - 1e-3


def test_forty_two_secrets():
    counts = np.array(adult().column("native-country").value_counts().field("counts").to_pylist())
    split = reported(Staircases(counts / counts.sum(), 0.5))
    assert (len(counts), split.status) == (42, "optimal")
    assert split.value == pytest.approx(0.0113806, abs=2e-6)


def test_out_of_time_keeps_a_permitted_split_and_a_true_bound():
    prior = np.array([30, 21, 17, 13, 11, 8]) / 100
    split = reported(Staircases(prior, 1.0), gap=1e-9, time_limit=0.0)
    assert split.status == "time limit"
    assert split.value <= best_of(listed_staircases(prior, 1.0), prior) + 1e-9 <= split.upper_bound + 2e-9


@given(joints(max_secrets=5, max_letters=5, include_secret=True), st.sampled_from([LDP, LIP]), epsilons)
@settings(max_examples=100, deadline=None)
def test_the_coupling_attains_the_closed_form(joint, notion, epsilon):
    answer = known(joint, notion(epsilon))
    prior = joint.secret_prior[joint.seen]
    if len(prior) > 1:
        listed = {LDP: listed_staircases, LIP: listed_box}[notion]
        closed_form = best_of(listed(prior, epsilon), prior) + joint.entropy - entropy(prior)
    else:
        closed_form = joint.entropy
    assert answer.value == pytest.approx(closed_form, abs=1e-6)
    assert answer.upper_bound >= closed_form - 1e-9
    assert utility(joint, answer.channel) == pytest.approx(answer.value, abs=1e-9)
    assert notion(epsilon).level(answer.channel, joint).epsilon <= epsilon + 1e-9
    assert len(answer.channel.outputs) <= max(1, (joint.table > 0).sum())


@given(joints(max_secrets=2, max_letters=6, include_secret=True), st.sampled_from([LDP, LIP]), epsilons)
@settings(max_examples=60, deadline=None)
def test_two_secrets_agree_with_the_chain(joint, notion, epsilon):
    chain = solved(generate_pairs, Problem.of(joint, notion(epsilon)))
    assert known(joint, notion(epsilon)).value == pytest.approx(chain.value, abs=2e-6)


def test_letters_that_never_occur_are_drawn_from_q():
    joint = Joint.from_counts([[7, 0, 10], [0, 0, 0], [26, 57, 0]], include_secret=True)
    channel = known(joint, LDP(0.7)).channel
    q = channel.matrix @ joint.prior
    assert np.allclose(channel.matrix[:, joint.prior == 0], q[:, None])


def test_without_counts():
    joint = Joint([[0.07, 0.1], [0.26, 0.57]], include_secret=True)
    answer = known(joint, LDP(np.log(2)))
    assert utility(joint, answer.channel) == pytest.approx(0.66340, abs=5e-6)
    assert LDP(1).level(answer.channel, joint).epsilon <= np.log(2) + 1e-12


@pytest.mark.parametrize("notion", [LDP(np.log(2)), RLDP(np.log(2), Exactly())])
def test_example_3_of_robust_2_with_the_distribution_known(notion):
    joint = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
    assert known(joint, notion).value == pytest.approx(0.66340, abs=5e-6)


def test_adult_occupation_and_education():
    joint = Joint.from_table(adult(), secret="occupation", release="education", include_secret=True)
    answer = known(joint, LDP(1.5))
    assert answer.value / joint.entropy == pytest.approx(0.490, abs=5e-4)
    assert answer.upper_bound - answer.value <= 1e-6
    assert len(answer.channel.outputs) <= 240
    assert LDP(1.5).level(answer.channel, joint).epsilon <= 1.5 + 1e-10


def test_a_coupling_with_misplaced_cuts_is_seen_by_the_level(monkeypatch):
    """Without stretching, the place of a cut tells s: the level must show it."""
    joint = Joint.from_counts([[7, 10, 5], [26, 57, 90]], include_secret=True)
    honest = refinement._Line.letter_at
    monkeypatch.setattr(refinement._Line, "letter_at", lambda line, t, place: honest(line, t, place * place))
    channel = known(joint, LDP(0.5)).channel
    assert LDP(0.5).level(channel, joint).epsilon > 0.5 + 1e-3


@pytest.mark.parametrize("notion", [SRLIP(1.0), RLDP(1.0, ChiSquare())])
def test_notions_that_ask_for_more_are_refused(notion):
    joint = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
    with pytest.raises(ParameterError, match="asks for more"):
        known(joint, notion)


def test_other_forms_are_refused():
    with pytest.raises(ParameterError, match="not \\(s, u\\)"):
        known(Joint.from_counts([[7, 10], [26, 57]]), LDP(1.0))


def test_ctrl_c_returns_what_is_there():
    def stop(*report: float) -> None:
        raise KeyboardInterrupt

    split = reported(Staircases(np.array([0.5, 0.3, 0.2]), 1.0), progress=stop)
    assert split.status == "interrupted"
    assert split.upper_bound >= split.value >= 0


def test_a_report_that_is_never_made_is_left_out(monkeypatch):
    """A row of weight zero once had no place on the line of any secret."""
    joint = Joint.from_counts([[3, 5], [4, 1]], include_secret=True)
    best = known(joint, LDP(1.0))
    honest = refinement.best_report

    def with_an_idle_row(*given):
        split = honest(*given)
        return replace(split, rows=np.vstack([split.rows, np.ones(2)]), weights=np.append(split.weights, 0.0))

    monkeypatch.setattr(refinement, "best_report", with_an_idle_row)
    again = known(joint, LDP(1.0))
    assert again.value == pytest.approx(best.value)
    assert len(again.channel.matrix) == len(best.channel.matrix)
