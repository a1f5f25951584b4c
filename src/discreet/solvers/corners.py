"""Problems over a handful of letters: list the extreme rows with Qhull, then one linear program.

Made for the attributes of a product, which are solved again and again for different budgets. Qhull works in floating
point: a row may be off by rounding, and nothing here is a proof. Whoever uses it measures the level of what it
returns.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import HalfspaceIntersection

from discreet.exceptions import ParameterError
from discreet.notions.cone import Floats
from discreet.solvers.lp import Program
from discreet.solvers.problem import Splitting

MOST_LETTERS = 5
USED = 1e-12


def best_rows(problem: Splitting) -> tuple[Floats, Floats]:
    """The rows of the best split and their weights."""
    rows = extreme_rows(problem)
    n = len(problem.prior)
    program = Program(np.zeros(0), np.zeros(0), np.zeros((n, 0)), np.ones(n), np.ones(n), primal=True)
    program.add_columns(rows, problem.values(rows))
    weights = program.solved().point
    used = weights > USED
    return rows[used], weights[used]


def extreme_rows(problem: Splitting) -> Floats:
    """The vertices of {v ∈ K : p·v = 1} for 3 to 5 letters of positive mass.

    In posteriors w = p v, with the last one left out, around w = p: the constant row is inside every condition.
    """
    p = problem.prior
    if not 3 <= len(p) <= MOST_LETTERS or p.min() <= 0:
        raise ParameterError(f"not 3 to {MOST_LETTERS} letters of positive mass", where="corners")
    conditions = np.vstack([problem.cone.rows / p, -np.eye(len(p))])
    while True:
        scaled = conditions / np.abs(conditions).max(axis=1, keepdims=True)
        faces = np.hstack([scaled[:, :-1] - scaled[:, -1:], scaled[:, -1:]])
        found = HalfspaceIntersection(faces, p[:-1]).intersections
        posteriors = np.maximum(np.hstack([found, 1 - found.sum(axis=1, keepdims=True)]), 0.0)
        rows = np.unique(np.round(posteriors, 13), axis=0) / p
        separate = problem.cone.separate
        cuts = [cut for cut in map(separate, rows) if len(cut)] if separate is not None else []
        if not cuts:
            return np.asarray(rows / (rows @ p)[:, None])
        conditions = np.unique(np.vstack([conditions, *(cut / p for cut in cuts)]), axis=0)
