"""The bound from a disclosed attribute lies above the optimum, and below what is known without it."""

from __future__ import annotations

import pytest
from catalogue import random_joint, solved

from discreet.notions.srlip import SRLIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.side_channels.disclosure_bound import _Most, disclosure_bound


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("epsilon", [0.2, 0.6, 1.5])
def test_no_mechanism_beats_it(seed: int, epsilon: float) -> None:
    joint = random_joint(seed, 2, 3, 4, empty=0.1)
    optimum = solved(generate_columns, Problem.of(joint, SRLIP(epsilon)))
    bound = disclosure_bound(joint, SRLIP(epsilon), Effort())
    assert optimum.value <= bound <= joint.entropy


def test_it_says_something() -> None:
    joint = random_joint(1, 2, 3, 4)
    assert disclosure_bound(joint, SRLIP(0.2), Effort()) < 0.95 * joint.entropy


def test_what_another_attribute_hides_counts_too() -> None:
    """Seeing one attribute and giving up all of its entropy is not the last word."""
    joint = random_joint(1, 2, 3, 4)
    most = _Most(joint, SRLIP(0.2), Effort())
    given_up = min(most.entropy(j) + most.given(j) for j in (0, 1))
    assert disclosure_bound(joint, SRLIP(0.2), Effort()) < given_up - 0.01


def test_out_of_time_it_still_holds() -> None:
    joint = random_joint(1, 2, 3, 4)
    assert disclosure_bound(joint, SRLIP(0.2), Effort.within(0.0)) == pytest.approx(joint.entropy)


def test_a_curator_gets_the_entropy() -> None:
    joint = random_joint(1, 2, 3, 4).curator()
    assert disclosure_bound(joint, SRLIP(0.2), Effort()) == joint.entropy


def test_a_known_bound_is_used_and_ends_the_search() -> None:
    problem = Problem.of(random_joint(1, 2, 3, 4), SRLIP(0.5))
    optimum = solved(generate_columns, problem)
    split = solved(generate_columns, problem, gap=1e-6, known_bound=optimum.value + 5e-7)
    assert split.upper_bound <= optimum.value + 5e-7
    assert split.value == pytest.approx(optimum.value, abs=1e-6)
