"""The robust optimum for small alphabets, certified: cuts from the pair oracle plus column generation (theory 1.7).

Nothing stands between the mechanism and F, no polytope as in PolyOpt. Bounds and mechanisms are found apart. A cone
that is slightly too large needs few cuts, and the best mechanism over it bounds every robust one; its rows are good
starts for climbing in the cone itself, cut as finely as it pays. The tolerance shrinks until the two meet.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.exceptions import InfeasibleError
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers import columns
from discreet.solvers.master import Master
from discreet.solvers.pricing import Pricer
from discreet.solvers.problem import Split, Splitting
from discreet.solvers.robust.cuts import coarse_cone
from discreet.solvers.robust.private import at_level
from discreet.solvers.robust.ready import compiled
from discreet.utilities import MutualInformation, Utility

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
TOLERANCES = (3e-2, 1e-2, 1e-3, 1e-4)
FINE = 1e-6
ROUNDS, STALE_ROUNDS = 40, 3
SETTLED = 1e-6
LIGHTEST = 1e-9


@dataclass(frozen=True, eq=False)
class Exact:
    """The channel, what it keeps, a proven bound on every other mechanism, and how the search ended."""

    channel: Channel
    value: float
    upper_bound: float
    status: str

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - self.value)


def solve(
    joint: Joint,
    notion: RLDP,
    utility: Utility = MutualInformation,
    *,
    gap: float = 1e-3,
    time_limit: float | None = 60.0,
    progress: Progress | None = None,
    known_bound: float = np.inf,
    begin_with: Sequence[Channel] = (),
) -> Exact:
    """The best (ε, F)-RLDP mechanism, proven to within `gap`; or the best so far and its bound when time is up.

    It is at least as good as the mechanisms to begin with, whose rows are among those it mixes. A cone that is no
    longer cut because its time is over may look unbounded; that alone is no reason to give up.
    """
    compiled()
    started = time.monotonic()
    deadline = started + (np.inf if time_limit is None else time_limit)
    try:
        climber = _Climber(joint, notion, utility, deadline)
    except InfeasibleError:
        if time.monotonic() <= deadline:
            raise
        climber = _Climber(joint, notion, utility, np.inf)
    climber.begin(begin_with)
    bound, status = known_bound, "gap"
    for tolerance in TOLERANCES:
        left = deadline - time.monotonic()
        if left <= 0:
            status = "time limit"
            break
        try:
            outer = _outer(joint, notion, utility, tolerance, gap / 2, left / 2, bound)
        except InfeasibleError:
            if time.monotonic() <= deadline - left / 2:
                raise
            continue
        bound = min(bound, outer.upper_bound)
        climber.climb(outer.rows)
        if progress is not None:
            progress(climber.best[2], bound, time.monotonic() - started)
        if outer.status == "interrupted" or bound - climber.best[2] <= gap:
            status = "interrupted" if outer.status == "interrupted" else "optimal"
            break
    channel = climber.channel()
    value = utility.of(joint, channel)
    return Exact(channel, value, max(bound, value), status)


def _outer(
    joint: Joint, notion: RLDP, utility: Utility, tolerance: float, gap: float, seconds: float, known: float
) -> Split:
    """The best mechanism over a cone that is too large: a bound, and rows to climb from."""
    cone = coarse_cone(joint, notion, tolerance, time.monotonic() + seconds)
    problem = Splitting(joint.prior, joint.target_of, cone, utility).reduced()
    limit = seconds if np.isfinite(seconds) else None
    return columns.solve(problem, gap=gap, time_limit=limit, known_bound=known)


class _Climber:
    """Rows of the cone, cut finely, and the best mixture of all that were met."""

    def __init__(self, joint: Joint, notion: RLDP, utility: Utility, deadline: float) -> None:
        self._joint, self._notion, self._deadline = joint, notion, deadline
        cone = coarse_cone(joint, notion, FINE, deadline)
        self._problem = Splitting(joint.prior, joint.target_of, cone, utility).reduced()
        self._pricer, self._master = Pricer(self._problem), Master(self._problem)
        self._random = np.random.default_rng(0)
        self.best = self._master.split()

    def begin(self, channels: Sequence[Channel]) -> None:
        for channel in channels:
            matrix = channel.matrix[:, self._problem.letters]
            weights = matrix @ self._problem.prior
            used = weights > 0
            self._master.add(matrix[used] / weights[used, None])
        self.best = self._master.split()

    def climb(self, rows: Floats) -> None:
        """Climb from these rows, from those in use and from others, at the prices of the mixture, until it settles."""
        prior, stale = np.maximum(self._problem.prior, LIGHTEST), 0
        alpha, _ = self._master.prices()
        for _ in range(ROUNDS):
            favouring = np.vstack([np.diag(prior), self._random.normal(size=(len(prior), len(prior))) * prior - alpha])
            others = self._pricer.body.best_rows(favouring)
            climbed = self._pricer.climb(np.vstack([rows, self.best[0], others]), alpha)
            permitted = [row for row in map(self._pricer.body.inside, climbed) if row is not None]
            if time.monotonic() > self._deadline or not permitted:
                return
            self._master.add(np.array(permitted))
            before, self.best = self.best[2], self._master.split()
            alpha, held = self._master.prices()
            stale = stale + 1 if self.best[2] - before <= SETTLED else 0
            if stale >= STALE_ROUNDS and not held:
                return
            if stale >= STALE_ROUNDS:
                self._master.widen()
                stale = 0

    def channel(self) -> Channel:
        """The best mixture, at level ε."""
        rows, weights, _ = self.best
        widths = weights / weights.sum()
        full = np.ones((len(rows), self._problem.size))
        full[:, self._problem.letters] = rows / (widths @ rows)
        return at_level(self._joint, self._notion, widths, full, grow=False)
