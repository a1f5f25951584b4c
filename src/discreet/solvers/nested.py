"""What a curator can do without a search of its own: never worse by reading more (theory 1.10).

Every mechanism that reads X only is one that reads (S, X), with the same rows for all secrets and the same levels; and
values that keep their law (theory 6.8) are one linear program, which for a curator keep nearly everything. Both are
quick, and their rows are where a search over (S, X) starts: from nothing it may not arrive there within any time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from discreet.arrays import Floats, whole
from discreet.attribute import Form
from discreet.exceptions import DiscreetError
from discreet.solvers.agreement import agree
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.columns.polytope import FEW_ENTRIES
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.utilities.agreement import Agreement

LESS_SHARE, LAW_SHARE, LESS_SECONDS = 0.4, 0.25, 15.0
"""The part of the time for the mechanism that reads X only, which comes first: nobody may keep less by reading more.
Then that for values that keep their law; and seconds for either where nobody gave a limit."""
PERMITTED = 1e-9
"""Rows that break a condition by more than this share of its terms are left out."""

Solve = Callable[[Problem, Effort], Solution]


def from_less(problem: Problem, effort: Effort, reading_less: Solve, known_bound: float = np.inf) -> Iterator[Solution]:
    """Column generation that starts from what needs no search; `reading_less` solves the problem that reads X only."""
    starts = curator_starts(problem, effort, reading_less)
    yield from starts
    rows = permitted_starts(problem, starts)
    yield from generate_columns(problem, effort, known_bound=known_bound, known_rows=rows)


def curator_starts(problem: Problem, effort: Effort, reading_less: Solve) -> list[Solution]:
    """Mechanisms of other problems as solutions of this one, without bounds: values that keep their law, and the best
    one found that reads X only."""
    joint, notion = problem.asked
    funnel = Problem.of(replace(joint, form=Form.FUNNEL), notion, problem.utility)
    own = Problem.of(joint, notion, Agreement())
    searches: list[Callable[[Effort], Solution]] = [lambda part: reading_less(funnel, part)]
    if notion.average(joint) is None:
        searches.append(lambda part: solve(agree, own, part))
    found = []
    for search, share in zip(searches, (LESS_SHARE, LAW_SHARE), strict=False):
        part = replace(effort.share(share).unless_told(LESS_SECONDS), inner=True, progress=None)
        try:
            found.append(_as_curator(problem, search(part)))
        except DiscreetError:
            continue
    return found[::-1]


def permitted_starts(problem: Problem, starts: list[Solution]) -> Floats:
    """All of their rows that the cone takes as they are."""
    rows = np.vstack([np.ones((1, len(problem.letters))), *(whole(one.rows) for one in starts)])
    if problem.cone.separate is None and problem.cone.rows.size * len(rows) > FEW_ENTRIES:
        scale = np.abs(rows) @ np.abs(problem.cone.rows).T
        inside = (rows @ problem.cone.rows.T <= PERMITTED * scale).all(axis=1)
        return np.asarray(rows[inside & (rows.min(axis=1) >= 0)])
    return rows[[problem.cone.excess(row) <= PERMITTED for row in rows]]


def _as_curator(problem: Problem, found: Solution) -> Solution:
    """The same mechanism as one over (S, X), worth what the problem says."""
    joint, _ = problem.asked
    matrix = whole(found.matrix)
    wide = matrix if matrix.shape[1] == problem.size else np.tile(matrix, len(joint.table))
    weights = wide @ joint.prior
    wide, weights = wide[weights > 0], weights[weights > 0]
    made = Solution(problem, wide[:, problem.letters] / weights[:, None], weights, 0.0, status=Status.BEGUN)
    return replace(made, value=problem.utility.of(joint, made.channel))
