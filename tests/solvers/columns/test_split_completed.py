"""A split that the LP misses by its tolerance is completed to one that sums to one exactly, inside the cone."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import random_joint, solved

from discreet.notions.lip import LIP
from discreet.solvers.columns.generation import Master, generate_columns
from discreet.solvers.problem import Problem


@pytest.mark.parametrize("missed", [1e-8, 1e-5, 1e-3])
def test_a_split_that_misses_is_completed(missed: float) -> None:
    problem = Problem.of(random_joint(0, 3, 6), LIP(0.5))
    optimum = solved(generate_columns, problem)
    off = optimum.weights * (1 + missed * np.random.default_rng(0).normal(size=len(optimum.weights)))
    rows, weights = Master(problem)._completed(optimum.rows, off)
    assert np.abs(weights @ rows - 1).max() <= 1e-12
    assert max(problem.cone.excess(row) for row in rows) <= 1e-12
    assert weights.min() >= 0
    assert optimum.value * (1 - 1000 * missed) <= weights @ problem.values(rows) <= optimum.value


def test_what_cannot_be_completed_is_not_handed_out() -> None:
    problem = Problem.of(random_joint(0, 3, 6), LIP(0.5))
    optimum = solved(generate_columns, problem)
    rows, weights = Master(problem)._completed(optimum.rows, 0.2 * optimum.weights)
    assert len(rows) == len(weights) == 0
