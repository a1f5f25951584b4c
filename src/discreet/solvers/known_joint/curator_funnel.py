"""The funnel where the mechanism reads S too: a bound that needs no search, and rows to begin with (theory 8.3).

A curator's rows run over all (s, x), and climbing from nothing takes long. Two permitted mechanisms are known: the best
one on (S, X), all of X given S and S itself now and then, which is judged by other things; and the best one under a LIP
so strict that it implies the average, ε tanh(ε/2) = M.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from discreet.arrays import Floats, whole
from discreet.attribute import Form
from discreet.notions.funnel import Funnel
from discreet.notions.lip import LIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import solve
from discreet.solvers.known_joint.refinement import coupled_rows, funnelled, known_entropy, refuses_refinement
from discreet.solvers.problem import Effort, Problem

PART, SECONDS, GAP = 0.4, 20.0, 1e-4
"""The share of the time for the second mechanism, the seconds where nobody gave a limit, and when it is good enough."""


def funnel_bound(problem: Problem) -> float:
    """M + H(X|S), whoever reads what: I(X;Y) ≤ I(S;Y) + I(X;Y|S)."""
    joint, notion = problem.asked
    return notion.epsilon + known_entropy(joint)


def curator_rows(problem: Problem, effort: Effort) -> Floats | None:
    """Permitted rows over the letters of the problem; None for mechanisms that read X alone."""
    joint, notion = problem.asked
    if joint.form is not Form.CURATOR or not isinstance(notion, Funnel):
        return None
    return np.vstack([_of_the_pair(problem, notion, effort), _of_a_strict_level(problem, notion, effort)])


def _of_the_pair(problem: Problem, notion: Funnel, effort: Effort) -> Floats:
    joint, _ = problem.asked
    pair = replace(joint, form=Form.RELEASES_SECRET)
    if refuses_refinement(Problem.of(pair, notion)):
        return np.ones((1, len(problem.prior)))
    report = funnelled(pair, notion, effort.share(PART / 2))
    matrix = report.weights[:, None] * whole(report.rows)
    matrix = coupled_rows(pair, matrix / matrix.sum(axis=0))
    return np.asarray(matrix / (matrix @ joint.prior)[:, None])[:, problem.letters]


def _of_a_strict_level(problem: Problem, notion: Funnel, effort: Effort) -> Floats:
    """Where there is a ceiling as well, rows that miss it are moved inside or left out by whoever adds them."""
    joint, _ = problem.asked
    epsilon = float(brentq(lambda level: level * np.tanh(level / 2) - notion.nats, 1e-9, 1e3))
    strict = Problem.of(joint, LIP(epsilon))
    found = solve(generate_columns, strict, effort.share(PART).unless_told(SECONDS).quiet(GAP))
    rows = np.ones((len(found.weights), problem.size))
    rows[:, strict.letters] = whole(found.rows)
    return np.asarray(rows[:, problem.letters])
