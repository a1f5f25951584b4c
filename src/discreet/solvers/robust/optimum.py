"""The robust optimum for small alphabets, certified: cuts from the pair oracle plus column generation (theory 1.7).

Nothing stands between the mechanism and F, no polytope as in PolyOpt. Bounds and mechanisms are found apart. A cone
that is slightly too large needs few cuts, and the best mechanism over it bounds every robust one; its rows are good
starts for climbing in the cone itself, cut as finely as it pays. The tolerance shrinks until the two meet.

Branch and bound asks for cuts at very many rows, so the pair oracle runs compiled from end to end. A tolerance leaves
out conditions that a row misses by little: the cone is then slightly too large. Bounds over it stay valid, and rows of
it are brought to level ε at the end.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices, whole
from discreet.channel import Channel
from discreet.compiling import compiled, example
from discreet.exceptions import InfeasibleError
from discreet.joint import Joint
from discreet.mechanisms.calibration import robust
from discreet.notions.notion import Cone, ordered_pairs
from discreet.notions.rldp import RLDP, pair_rows
from discreet.notions.rlip import RLIP
from discreet.solvers.columns.generation import compile_search, generate_columns
from discreet.solvers.columns.pricing import Pricer
from discreet.solvers.columns.row_master import Master
from discreet.solvers.driver import Ending, solve
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.solvers.robust.intervals.cones import interval_cone
from discreet.solvers.robust.rescaling import at_level
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.extremes import balance, search_one
from discreet.uncertainty.sets import ChiSquare, ball_around
from discreet.utilities.utility import Utility

CONCAVE = 0.5
"""From this order on the split of the budget is a concave search."""
DIGITS = 7
"""Rows that agree in so many digits are asked about once: an LP comes back to a row up to rounding."""
TOLERANCES = (3e-2, 1e-2, 1e-3, 1e-4)
"""How much too large the cones of the bounds are: each takes a few times as many cuts as the one before."""
FINE = 1e-6
"""How much too large the cone of the rows is: what bringing them to level ε costs is of this size."""
ROUNDS, STALE_ROUNDS = 40, 3
SETTLED = 1e-6
"""Climbing from one set of rows ends after so many rounds, or so many that gain less than this."""
LIGHTEST = 1e-9
"""Letters of mass zero count as much as this when starts favour single letters."""


def search_optimum(
    problem: Problem, effort: Effort, known_bound: float = math.inf, begin_with: Sequence[Channel] = ()
) -> Iterator[Solution]:
    """The best (ε, F)-RLDP mechanism, or the best so far and its bound when time is up; brought to level ε at the end.

    It is at least as good as the mechanisms to begin with, whose rows are among those it mixes. A cone that is no
    longer cut because its time is over may look unbounded; that alone is no reason to give up.
    """
    compile_robust_search()
    joint, asked = problem.asked
    notion = asked if isinstance(asked, RLIP) else robust(asked, "columns")
    try:
        climber = _MixtureClimber(joint, notion, problem.utility, effort)
    except InfeasibleError:
        if not effort.late():
            raise
        climber = _MixtureClimber(joint, notion, problem.utility, replace(effort, deadline=math.inf))
    climber.begin(begin_with)
    bound, status = known_bound, Status.GAP
    with (ending := Ending()):
        for tolerance in TOLERANCES:
            if effort.late():
                status = Status.TIME_LIMIT
                break
            part = effort.share(0.5).quiet(effort.gap / 2)
            try:
                outer = _outer(problem, climber.letters, tolerance, part, bound)
            except InfeasibleError:
                if not part.late():
                    raise
                continue
            bound = min(bound, outer.upper_bound)
            climber.climb(whole(outer.rows))
            effort.tell(climber.best[2], bound)
            if bound - climber.best[2] <= effort.gap:
                status = Status.OPTIMAL
                break
    channel = named(joint, climber.channel())
    found = Solution.of_channel(problem, channel, status=ending.status or status)
    yield replace(found, upper_bound=max(bound, found.value))


@example("the robust search")
def compile_robust_search() -> None:
    """A small exact search, and the oracles of F by one question each."""
    compile_search()
    joint, notion = Joint.from_counts(np.full((2, 2), 9), include_secret=True), RLDP(0.1, ChiSquare())
    row = np.array([0.8, 0.6, 0.2, 0.4])
    notion.level(Channel(np.array([row, 1 - row])), joint)
    cone = coarse_cone(joint, notion, 1e-3)
    assert cone.separate is not None
    cone.separate(row)


def _outer(problem: Problem, letters: Indices, tolerance: float, effort: Effort, known: float) -> Solution:
    """The best mechanism over a cone that is too large: a bound, and rows of these letters to climb from.

    Which letters matter is not asked of this cone: once its time is over it has no conditions, and none would.
    """
    joint, notion = problem.asked
    assert isinstance(notion, RLDP | RLIP)
    cone = coarse_cone(joint, notion, tolerance, effort.deadline)
    outer = Problem.of_rows(joint.prior, cone, joint.target_of, problem.utility).keeping(letters)
    return solve(generate_columns, outer, effort, known_bound=known)


class _MixtureClimber:
    """Rows of the cone, cut finely, and the best mixture of all that were met."""

    def __init__(self, joint: Joint, notion: RLDP | RLIP, utility: Utility, effort: Effort) -> None:
        self._joint, self._notion, self._effort = joint, notion, effort
        cone = coarse_cone(joint, notion, FINE, effort.deadline)
        self._problem = Problem.of_rows(joint.prior, cone, joint.target_of, utility).reduced()
        self._pricer, self._master = Pricer(self._problem), Master(self._problem)
        self._pricer.tighten(effort.late)
        self._random = np.random.default_rng(0)
        self.best = self._master.split()

    @property
    def letters(self) -> Indices:
        """Those that carry mass or that a condition mentions."""
        return self._problem.letters

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
            if self._effort.late() or not permitted:
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


# ---- cutting planes of the robust cone ------------------------------------------------------------------------------


def coarse_cone(joint: Joint, notion: RLDP | RLIP, tolerance: float, deadline: float = math.inf) -> Cone:
    """The cone of the notion, without what is missed by less than the tolerance times the size of its terms.

    Linear programs come back to the same rows again and again while others are cut; those that passed are remembered.
    After the deadline (of `time.monotonic`) nothing is cut any more, which leaves bounds valid and rows worthless.
    """
    if isinstance(notion, RLIP) or isinstance(notion.uncertainty, Confidence):
        return interval_cone(joint, notion, tolerance, deadline)
    cone, ball = notion.cone(joint), ball_around(notion.uncertainty, joint)
    exact = cone.separate
    if exact is None:
        return cone
    compared, price = ball.compared, float(np.exp(notion.epsilon))
    first, second = (compared[part] for part in ordered_pairs(len(compared)))
    k, passed = joint.table.shape[1], set[bytes]()

    def separate(v: Floats) -> Floats:
        key = np.round(v / v.max(), DIGITS).tobytes()
        rows = cone.rows[:0] if key in passed or time.monotonic() > deadline else worst_rows(v)
        rows = rows[rows @ v > tolerance * (np.abs(rows) @ v)]
        if not len(rows):
            passed.add(key)
        return rows

    def worst_rows(v: Floats) -> Floats:
        if ball.order < CONCAVE:
            return exact(v)
        rise, fall = np.zeros((len(first), k)), np.zeros((len(first), k))
        missed = _worst(
            np.ascontiguousarray(joint.expand(v)), ball.conditional, ball.mass, ball.capacity, ball.radii, first,
            second, ball.order, ball.budget, price, tolerance, rise, fall,
        )  # fmt: skip
        return pair_rows(joint, first[missed], second[missed], rise[missed], fall[missed], price)

    return Cone(cone.rows, separate)


@compiled()
def _worst(
    rows: Floats, p: Floats, mass: Floats, capacity: Floats, radii: Floats, first: Indices, second: Indices,
    order: float, kappa: float, price: float, tolerance: float, rise: Floats, fall: Floats,
) -> NDArray[np.bool_]:  # fmt: skip
    """Which pairs miss their condition; fills the conditionals (R_s, R_t) of the worst P for those."""
    c, k = rows.shape
    most, least, scratch = np.empty(c), np.empty(c), np.empty(k)
    for s in range(c):
        most[s] = search_one(rows[s], p[s], radii[s], order, scratch)[0]
        least[s] = -search_one(-rows[s], p[s], radii[s], order, scratch)[0]
    missed = np.zeros(len(first), dtype=np.bool_)
    masses, ends, split, slope = np.empty((1, 2)), np.empty((1, 2)), np.empty(1), np.empty(1)
    for i in range(len(first)):
        s, t = first[i], second[i]
        if most[s] - price * least[t] <= tolerance * (most[s] + price * least[t]):
            continue
        missed[i] = True
        ends[0, 1] = min(kappa, capacity[s])
        ends[0, 0] = split[0] = min(max(kappa - capacity[t], 0.0), ends[0, 1])
        if ends[0, 0] < ends[0, 1]:
            masses[0, 0], masses[0, 1] = mass[s], mass[t]
            balance(
                rows[s : s + 1], rows[t : t + 1], p[s : s + 1], p[t : t + 1], masses, ends, np.full(1, price), order,
                kappa, split, slope,
            )  # fmt: skip
        search_one(rows[s], p[s], _reach(split[0], mass[s], capacity[s], order), order, rise[i])
        search_one(-rows[t], p[t], _reach(max(kappa - split[0], 0.0), mass[t], capacity[t], order), order, fall[i])
    return missed


@compiled()
def _reach(spent: float, mass: float, capacity: float, order: float) -> float:
    """The Rényi radius that a secret gets for a part of the budget, as in `Ball.reach`."""
    if spent >= capacity:
        return np.inf
    beta = 1.0 - 1.0 / order
    if beta == 0:
        return spent / mass
    return float(np.log1p((1.0 if beta > 0 else -1.0) * spent / mass) / beta)
