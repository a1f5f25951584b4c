"""What a channel determines, and how far the rest can range.

Two distributions that differ by a vector of the null space of Q make the same outputs, so w·p is determined exactly
when w is orthogonal to that null space. Any other w·p is only bounded: over all distributions that make the outputs q,
by the duality of linear programming,

    smallest w·p  =  max { λ·q : Qᵀ λ ≤ w },      largest w·p  =  min { λ·q : Qᵀ λ ≥ w },

and each λ is itself a vector of scores: λ·(observed shares) estimates a combination that is never above (below) w·p. A
confidence limit for that combination is therefore one for w·p.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.estimate.fitting import RANK
from discreet.linear_program import INFINITE, Program

SMALL = 1e-8
"""Singular values and entries below the root of the precision of a double cannot be told from zero."""


def null_space(matrix: Floats) -> Floats:
    """Orthonormal columns that Q maps to nothing."""
    _, values, right = np.linalg.svd(matrix)
    rank = int((values > RANK * values[0]).sum())
    return np.asarray(right[rank:].T)


def determined_combinations(matrix: Floats, rows: Floats) -> Floats:
    """The combinations of these rows (over letters) that are determined, as few and as simple as elimination finds.

    One row per combination: its coefficients for the rows given. The first coefficient that is not zero is one.
    """
    left, values, _ = np.linalg.svd(rows @ null_space(matrix))
    lost = int((values > SMALL).sum()) if len(values) else 0
    return _echelon(left[:, lost:].T)


def bounding_scores(
    matrix: Floats, rows: Floats, frequencies: Floats, slack: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """For every row w: λ of its smallest and of its largest value, where the outputs are Q · frequencies ± slack.

    λ bounds w·p whatever the slack is. Without slack it is the sharpest at these outputs, and may be enormous where
    they are on the edge of what is possible; a slack δ adds Σ_y δ_y |λ_y − c| to what is minimised, so that noise of
    the size δ does not drown the bound.
    """
    letters = matrix.shape[1]
    q = matrix @ frequencies
    sums = np.vstack([matrix, np.ones(letters)])
    program = Program(
        np.zeros(letters), np.full(letters, INFINITE), sums, np.append(q - slack, 1.0), np.append(q + slack, 1.0)
    )
    return (
        np.array([-_dual(program, matrix, -row) for row in rows]).reshape(len(rows), len(matrix)),
        np.array([_dual(program, matrix, row) for row in rows]).reshape(len(rows), len(matrix)),
    )


def _dual(program: Program, matrix: Floats, row: Floats) -> Floats:
    """λ with Qᵀ λ ≥ w; what the solver's tolerance leaves open is closed by a constant, since columns add up to one."""
    program.set_cost(row)
    prices = program.solved().prices
    scores = prices[:-1] + prices[-1]
    return np.asarray(scores + max(0.0, float((row - scores @ matrix).max())))


def _echelon(rows: Floats) -> Floats:
    """The reduced row echelon form."""
    rows = rows.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.abs(rows[done:, column]).argmax())
        if np.abs(rows[pivot, column]) <= SMALL:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        others: NDArray[np.bool_] = np.arange(len(rows)) != done
        rows[others] -= np.outer(rows[others, column], rows[done])
        done += 1
    nearest = np.round(rows)
    return np.where(np.abs(rows - nearest) <= SMALL, nearest, rows)
