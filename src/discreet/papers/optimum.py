"""Optima for the inner loops of the experiments: straight from the solvers, to a gap that no plot can show.

`discreet.design` would also round, prove and package every mechanism; a figure needs a thousand values, not protocols.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.joint import Joint
from discreet.notions import LDP, LIP
from discreet.notions.cone import Cone
from discreet.notions.level import Notion
from discreet.solvers import binary, columns
from discreet.solvers.problem import Splitting
from discreet.utilities import MutualInformation

GAP = 5e-4


@dataclass(frozen=True, eq=False)
class Optimum:
    """I(X;Y) of the best mechanism found, a bound on all others, the processor seconds it took, and the matrix."""

    value: float
    upper_bound: float
    seconds: float
    matrix: NDArray[np.float64]

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - self.value)

    def share(self, joint: Joint, within: float = 0.02) -> float:
        """I(X;Y)/H(X); not a number, so nothing is drawn, if the search ended further than this from its bound."""
        return self.value / joint.entropy if self.gap <= within * joint.entropy else math.nan


def optimum(joint: Joint, notion: Notion, *, gap: float = GAP, time_limit: float | None = 60.0) -> Optimum:
    """The best mechanism under a notion."""
    started = time.process_time()
    problem = Splitting.from_joint(joint, notion)
    two = isinstance(notion, (LDP, LIP)) and len(joint.seen) == 2 and not joint.reads_secret
    return _timed(problem, started, gap, time_limit, two)


def optimum_in(joint: Joint, cone: Cone, *, gap: float = GAP, time_limit: float | None = 60.0) -> Optimum:
    """The best mechanism whose rows lie in a cone that is no notion: PolyOpt's, or that of the papers' product."""
    started = time.process_time()
    problem = Splitting(joint.prior, joint.target_of, cone, MutualInformation).reduced()
    return _timed(problem, started, gap, time_limit, two=False)


def _timed(problem: Splitting, started: float, gap: float, time_limit: float | None, two: bool) -> Optimum:
    solve = binary.solve if two else columns.solve
    split = solve(problem, gap=gap, time_limit=time_limit)
    matrix = split.channel_matrix(problem)
    return Optimum(split.value, split.upper_bound, time.process_time() - started, matrix)
