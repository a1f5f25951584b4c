"""X = (S, U) with a known distribution: the best mechanism in closed form, all of U and the best report on S (theory
1.6).

For every notion that only looks at P(y | s), as LDP, LIP and RLDP with F = {P} do,

    I* = I*(S; ε) + H(U | S),        I*(S; ε) the best mechanism on S alone.

Nothing is better: I(S,U;Y) = I(S;Y) + I(U;Y|S), the first term is at most I*(S; ε) because s ↦ P(y | s) is a
permitted mechanism on S, the second at most H(U | S). And it is attained, if (1) the output contains a report t with
the best Q_S[t, s], (2) given t it says nothing more about s, (3) s and the output determine u. For this, cut the unit
interval of every s twice: into pieces of length P(u | s) and into pieces of length Q_S[t, s]. A record (s, u) draws a
point uniformly in its piece u; the piece t around the point, stretched to [0, 1], holds the point uniformly whatever
s is. The output is t and the cell of the stretched point in the common refinement, over all s, of the cuts by u that
fall into t. Each s has at most |U| − 1 such cuts in all, so there are at most c (|U| − 1) + (number of t) ≤ c |U|
outputs.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from discreet.arrays import Floats, Indices, whole
from discreet.attribute import Form
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.notions.funnel import Funnel
from discreet.notions.notion import Cone, Notion
from discreet.notions.rldp import RLDP
from discreet.solvers.driver import solve
from discreet.solvers.known_joint.secret_report import LipRows, Staircases, report_secret
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.uncertainty.sets import Exactly
from discreet.utilities.utility import MutualInformation

NOT_MUTUAL_INFORMATION = "the closed form is for mutual information"
NOT_SECRET_AND_REST = "a joint whose letters are not (s, u)"
MORE_THAN_REPORTS = "a notion that asks for more than P(y | s) under one distribution"
SECONDS_PER_CELL = 2.5e-6
"""About what one secret in one output of the refinement takes, in exact fractions."""


def refuses_refinement(problem: Problem) -> str | None:
    """Why the closed form does not apply, in words; None if it does."""
    joint, notion = problem.asked
    if problem.utility is not MutualInformation:
        return NOT_MUTUAL_INFORMATION
    if joint.form is not Form.RELEASES_SECRET:
        return NOT_SECRET_AND_REST
    rows = notion.ceiling if isinstance(notion, Funnel) else notion
    known = isinstance(rows, (LDP, LIP)) or (isinstance(rows, RLDP) and isinstance(rows.uncertainty, Exactly))
    return None if known or (rows is None and isinstance(notion, Funnel)) else MORE_THAN_REPORTS


def refine(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The best mechanism when the distribution is taken to be the truth: the best report on S, then all of U."""
    if refused := refuses_refinement(problem):
        raise ParameterError(refused, where="nr", remedy='Use LDP, LIP or RLDP with Exactly() on (S, U), or "columns".')
    joint, notion = problem.asked
    known = known_entropy(joint)
    outputs = int((joint.table > 0).sum())
    left = effort.keeping(SECONDS_PER_CELL * outputs * len(joint.seen))
    report = funnelled(joint, notion, left) if isinstance(notion, Funnel) else best_report(joint, notion, left)
    used = report.weights > 0
    matrix = report.weights[used, None] * whole(report.rows)[used]
    channel = Channel(coupled_rows(joint, matrix / matrix.sum(axis=0)), joint.letters)
    found = Solution.of_channel(problem, named(joint, channel), status=report.status)
    yield replace(found, upper_bound=max(found.value, known + report.upper_bound))


def report_letters(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """Ordinary ε-LDP on many letters: the letters are the secret, and the best report on them is a mix of staircases.

    A mechanism that reads (S, X) and is judged by X may as well read X alone: averaged over S given X it tells as much
    about X, and mixtures of permitted likelihoods are permitted. Letters never seen are as unlikely as the least.
    """
    joint, notion = problem.asked
    seen = np.flatnonzero(joint.target_prior > 0)
    prior = joint.target_prior[seen]
    unlisted = Problem.of_rows(joint.prior, Cone(np.zeros((0, len(joint.prior)))), joint.target_of, joint=joint)
    letters = Problem.of_rows(prior, Cone(np.zeros((0, len(prior)))))
    singles = Staircases(prior, notion.epsilon).rows(np.eye(len(prior), dtype=bool))
    weights = 1 + np.expm1(notion.epsilon) * prior
    begun = Solution(letters, singles, weights / weights.sum(), 0.0)
    yield _over_all(unlisted, seen, replace(begun, value=float(begun.weights @ letters.values(singles))), Status.BEGUN)
    for found in report_secret(letters, effort, Staircases(prior, notion.epsilon)):
        yield _over_all(unlisted, seen, found, found.status)


def _over_all(problem: Problem, seen: Indices, found: Solution, status: Status) -> Solution:
    letters = whole(found.rows)
    rows = np.repeat(letters.min(axis=1, keepdims=True), len(problem.target_prior), axis=1)
    rows[:, seen] = letters
    return replace(found, problem=problem, rows=rows[:, problem.target], status=status)


def nonrobust_bound(joint: Joint, notion: Notion, effort: Effort) -> float:
    """What no mechanism keeps more than when the distribution is the truth, without making the one that keeps it."""
    return known_entropy(joint) + best_report(joint, notion, effort).upper_bound


def known_entropy(joint: Joint) -> float:
    """H(U | S), all of which may be told."""
    return entropy(joint.table) - entropy(joint.secret_prior[joint.seen])


def best_report(joint: Joint, notion: Notion, effort: Effort) -> Solution:
    """The best mechanism on S alone. Its family says which rows are permitted; no cone is listed."""
    prior = joint.secret_prior[joint.seen]
    problem = Problem.of_rows(prior, Cone(np.zeros((0, len(prior)))))
    if len(prior) == 1:
        return Solution(problem, np.ones((1, 1)), np.ones(1), 0.0, 0.0, Status.OPTIMAL)
    family = LipRows(prior, notion.epsilon) if isinstance(notion, LIP) else Staircases(prior, notion.epsilon)
    rest = known_entropy(joint)
    watched = effort.progress

    def shifted(value: float, bound: float, seconds: float) -> None:
        if watched is not None:
            watched(rest + value, rest + bound, seconds)

    return solve(report_secret, problem, replace(effort, progress=shifted), family=family)


def funnelled(joint: Joint, notion: Funnel, effort: Effort) -> Solution:
    """The best report on S with I(S;Y) ≤ M: the best one under the ceiling, or S itself, given with a probability that
    makes it tell M, and otherwise nothing (theory 8.3)."""
    prior = joint.secret_prior[joint.seen]
    if notion.ceiling is None:
        problem = Problem.of_rows(prior, Cone(np.zeros((0, len(prior)))))
        everything = entropy(prior)
        report = Solution(problem, np.diag(1 / prior), prior, everything, everything, Status.OPTIMAL)
    else:
        report = best_report(joint, notion.ceiling, effort)
    share = min(1.0, notion.nats / report.value) if report.value > 0 else 1.0
    if share == 1:
        return replace(report, upper_bound=min(report.upper_bound, notion.nats))
    rows, weights = np.vstack([whole(report.rows), np.ones(len(prior))]), np.append(share * report.weights, 1 - share)
    return Solution(report.problem, rows, weights, notion.nats, notion.nats, Status.OPTIMAL)


def coupled_rows(joint: Joint, report: Floats) -> Floats:
    """Q[(t, cell), (s, u)] from a mechanism Q_S[t, s] on the seen secrets, in exact arithmetic up to the last step.

    Letters of probability zero are treated as nobody in particular: they get q_y.
    """
    c, k = joint.table.shape
    lines = [_Line(joint, int(s), report[:, i]) for i, s in enumerate(joint.seen)]
    rows = []
    for t in range(len(report)):
        cuts = sorted({cut for line in lines for cut in line.cuts[t]})
        for left, right in pairwise(cuts):
            row = np.full((c, k), np.nan)
            for line in lines:
                if not line.reports[t]:
                    row[line.secret] = np.where(joint.table[line.secret] > 0, 0.0, np.nan)
                    continue
                u = line.letter_at(t, (left + right) / 2)
                row[line.secret] = np.where(joint.table[line.secret] > 0, 0.0, np.nan)
                row[line.secret, u] = float(line.reports[t] * (right - left) / line.letters[u])
            q = np.nansum(row * joint.table)
            rows.append(np.where(np.isnan(row), q, row).reshape(-1))
    matrix = np.array(rows)
    return np.asarray(matrix / matrix.sum(axis=0))


class _Line:
    """The unit interval of one secret, cut by the letters u and by the reports t."""

    def __init__(self, joint: Joint, secret: int, reports: Floats) -> None:
        self.secret = secret
        cells = joint.table[secret] if joint.counts is None else joint.counts[secret].reshape(-1)
        self.letters = _shares([Fraction(cell.item()) for cell in cells])
        self.reports = _shares([Fraction(share.item()) for share in reports])
        self._letter_ends, self._report_ends = list(accumulate(self.letters)), list(accumulate(self.reports))
        self.cuts = [self._cuts(t) for t in range(len(reports))]

    def letter_at(self, t: int, place: Fraction) -> int:
        """The letter whose piece holds a place of the stretched piece t."""
        return bisect_right(self._letter_ends, self._start(t) + place * self.reports[t])

    def _start(self, t: int) -> Fraction:
        return self._report_ends[t - 1] if t else Fraction(0)

    def _cuts(self, t: int) -> list[Fraction]:
        if not self.reports[t]:
            return [Fraction(0), Fraction(1)]
        start, end = self._start(t), self._report_ends[t]
        inside = self._letter_ends[bisect_right(self._letter_ends, start) : bisect_left(self._letter_ends, end)]
        return [Fraction(0), *((cut - start) / self.reports[t] for cut in inside), Fraction(1)]


def _shares(masses: list[Fraction]) -> list[Fraction]:
    total = sum(masses)
    return [mass / total for mass in masses]
