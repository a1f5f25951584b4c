"""Every solver on the catalogue and on random joints: the same optimum, permitted rows, a true bound."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from catalogue import Known, catalogue, random_joint, solved
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion
from discreet.notions.srlip import SRLIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.enumeration import enumerate_rows
from discreet.solvers.problem import Problem, Solution
from discreet.utilities.utility import MutualInformation

AGREE = 1e-7
GAP = 5e-8


def check(problem: Problem, split: Solution) -> None:
    """A permitted split whose value is what it says."""
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9
    assert split.weights.min() >= 0
    assert np.allclose(split.rows @ problem.prior, 1)
    assert max(problem.cone.excess(row) for row in split.rows) < 1e-12
    assert split.value == pytest.approx(float(split.weights @ problem.values(split.rows)), abs=1e-12)
    assert split.upper_bound >= split.value
    assert len(split.weights) <= len(problem.prior)


@pytest.mark.parametrize("known", catalogue(), ids=lambda known: known.name)
def test_catalogue(known: Known) -> None:
    reference = solved(enumerate_rows, known.problem)
    split = solved(generate_columns, known.problem, gap=GAP)
    for each in (reference, split):
        check(known.problem, each)
    assert split.status == "optimal"
    assert split.value == pytest.approx(reference.value, abs=AGREE)
    assert split.upper_bound >= reference.value - 1e-9
    if known.value is not None:
        assert reference.value == pytest.approx(known.value, abs=AGREE)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    c=st.integers(2, 5),
    a=st.integers(2, 7),
    empty=st.sampled_from([0.0, 0.3, 0.6]),
    epsilon=st.sampled_from([1e-3, 0.1, 0.5, 1.5, 20.0]),
    notion=st.sampled_from([LIP, LDP]),
    curator=st.booleans(),
)
def test_random_joints(
    seed: int, c: int, a: int, empty: float, epsilon: float, notion: type[LIP] | type[LDP], curator: bool
) -> None:
    joint = random_joint(seed, c, a, empty=empty)
    problem = Problem.of(joint.curator() if curator and c * a <= 12 else joint, notion(epsilon))
    reference = solved(enumerate_rows, problem)
    split = solved(generate_columns, problem, gap=GAP)
    check(problem, split)
    assert split.value == pytest.approx(reference.value, abs=AGREE)
    assert split.upper_bound >= reference.value - 1e-9


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), epsilon=st.sampled_from([0.2, 1.0]), empty=st.sampled_from([0.0, 0.3]))
def test_random_side_channels(seed: int, epsilon: float, empty: float) -> None:
    problem = Problem.of(random_joint(seed, 2, 2, 2, 2, empty=empty), SRLIP(epsilon))
    reference = solved(enumerate_rows, problem)
    split = solved(generate_columns, problem, gap=GAP)
    check(problem, split)
    assert split.value == pytest.approx(reference.value, abs=AGREE)


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_monotone_in_epsilon_and_ldp_between_two_lips(seed: int) -> None:
    joint = random_joint(seed, 3, 8)

    def best(notion: Notion) -> float:
        return solved(generate_columns, Problem.of(joint, notion), gap=1e-7).value

    lip = [best(LIP(epsilon)) for epsilon in (0.1, 0.2, 0.4, 0.8, 1.6)]
    assert all(after >= before - 1e-6 for before, after in pairwise(lip))
    assert lip[1] - 1e-6 <= best(LDP(0.4)) <= lip[2] + 1e-6
    assert best(LDP(0.4)) >= best(LDP(0.2)) - 1e-6


def test_matrix_of_a_split_is_a_channel_of_the_same_value_and_level() -> None:
    joint = Joint(np.array([[0.1, 0.0, 0.3, 0.1], [0.2, 0.0, 0.1, 0.2]]))
    problem = Problem.of(joint, LIP(0.3))
    assert problem.letters.tolist() == [0, 2, 3]
    split = solved(generate_columns, problem)
    channel = Channel(split.matrix)
    assert channel.matrix.shape[1] == 4
    assert np.allclose(channel.matrix[:, 1], channel.matrix @ joint.prior)
    assert MutualInformation.of(joint, channel) == pytest.approx(split.value, abs=1e-9)
    assert LIP(0.3).level(channel, joint).epsilon <= 0.3 + 1e-9
