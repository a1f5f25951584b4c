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
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.solvers.alone import Floats, Progress, solve_alone
from discreet.solvers.box import Box
from discreet.solvers.problem import Split
from discreet.solvers.staircase import Staircases
from discreet.uncertainty.sets import Exactly


@dataclass(frozen=True, eq=False)
class Coupled:
    """The channel on (s, u), its mutual information, a proven bound on every other one, and how the search ended."""

    channel: Channel
    value: float
    upper_bound: float
    status: str


def solve(
    joint: Joint,
    notion: Notion,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Coupled:
    """The best mechanism for a joint with `include_secret`, when its distribution is taken to be the truth."""
    if not joint.include_secret:
        raise ParameterError(
            "a joint whose letters are not (s, u)", where="nonrobust", remedy="Build it with include_secret=True."
        )
    prior = joint.secret_prior[joint.seen]
    report = _best_report(prior, notion, gap, time_limit, progress)
    used = report.weights > 0
    matrix = report.weights[used, None] * report.rows[used]
    matrix /= matrix.sum(axis=0)
    rest = entropy(joint.table) - entropy(prior)
    value = rest + float((prior * matrix * np.log(matrix / (matrix @ prior)[:, None])).sum())
    channel = Channel(coupled_rows(joint, matrix), joint.letters)
    return Coupled(channel, value, max(value, rest + report.upper_bound), report.status)


def _best_report(
    prior: Floats, notion: Notion, gap: float, time_limit: float | None, progress: Progress | None
) -> Split:
    """The best mechanism on S alone."""
    if len(prior) == 1:
        return Split(np.ones((1, 1)), np.ones(1), 0.0, 0.0, "optimal")
    if isinstance(notion, LIP):
        return solve_alone(Box(prior, notion.epsilon), gap=gap, time_limit=time_limit, progress=progress)
    if isinstance(notion, LDP) or (isinstance(notion, RLDP) and isinstance(notion.uncertainty, Exactly)):
        return solve_alone(Staircases(prior, notion.epsilon), gap=gap, time_limit=time_limit, progress=progress)
    raise ParameterError(
        "a notion that asks for more than P(y | s) under one distribution",
        where="nonrobust",
        remedy="Use LDP, LIP, or RLDP with Exactly().",
    )


def coupled_rows(joint: Joint, report: Floats) -> Floats:
    """Q[(t, cell), (s, u)] from a mechanism Q_S[t, s] > 0 on the seen secrets, in exact arithmetic up to the last step.

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
        start, end = self._start(t), self._report_ends[t]
        inside = self._letter_ends[bisect_right(self._letter_ends, start) : bisect_left(self._letter_ends, end)]
        return [Fraction(0), *((cut - start) / self.reports[t] for cut in inside), Fraction(1)]


def _shares(masses: list[Fraction]) -> list[Fraction]:
    total = sum(masses)
    return [mass / total for mass in masses]
