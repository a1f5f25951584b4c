"""Column generation with exact pricing: the best mechanism and a proof, without listing the vertices (theory 1.3).

A master program weighs the rows found so far and prices the letters; pricing looks for rows that gain at these prices.
Climbing from many starts is cheap and finds most of them; the exact search comes in when climbing no longer helps, and
either finds what climbing missed or proves that nothing is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError, UnfinishedError
from discreet.notions.cone import Cone
from discreet.solvers.master import SPLITS, Master, Mixture
from discreet.solvers.pricing import Pricer
from discreet.solvers.problem import Split, Splitting

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
STALE_ROUNDS = 8
BOXES_A_ROUND = 8000
"""Climbing stops after STALE_ROUNDS without progress, and one more for so many boxes of the last exact search."""
FIRST_SEARCH = 20_000
"""An exact search that finds nothing is interrupted after so many boxes, then whenever their number has doubled."""
STALE = 1e-5
MARGIN = 2e-3
"""An exact search keeps boxes this share of the value below what counts: it may go on where it ended."""
BETWEEN, NEAR, ANYWHERE = 30, 50, 20
LITTLE, NOISE = (-4.0, 0.7), (-2.3, 0.4)
"""Starts of every round; logarithms of how much of an excluded letter, and of how far away in terms of the slopes."""


def solve(
    problem: Splitting,
    *,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
    known_bound: float = np.inf,
) -> Split:
    """The optimal split, proven to within `gap`; or the best so far and its bound, after `time_limit` s or ctrl-C.

    The bound holds for *any* prices α: a split has Σ_y q_y = 1 and Σ_y q_y v_y = 1, so
    Σ_y q_y μ(v_y) = Σ_z α_z + Σ_y q_y (μ(v_y) − α·v_y) ≤ Σ_z α_z + δ, with δ ≥ μ(v) − α·v for every permitted row v.
    `progress` is called with the value, the bound and the seconds so far. `known_bound` was proven elsewhere.
    A linear program that fails stalls the search, which then has the split and the bound it had before.
    """
    if not gap > 0:
        raise ParameterError("the gap is not positive", where="gap", remedy="Try 1e-6.")
    compiled()
    generation = _Generation(problem, gap, time_limit, progress, known_bound)
    try:
        status = generation.run()
    except KeyboardInterrupt:
        status = "interrupted"
    except UnfinishedError:
        status = "stalled"
    return generation.split(status)


@cache
def compiled() -> None:
    """Compile what an exact search runs, by a small one: some ten seconds, the first time on a machine.

    No time limit pays for it, or a short one would end before the first row is found.
    """
    condition = np.array([[0.4, -0.6, 0.1], [-0.5, 0.4, -0.1]])
    problem = Splitting(np.array([0.5, 0.3, 0.2]), np.arange(3), Cone(condition))
    _Generation(problem, 1e-3, None, None, np.inf).run()


class _Generation:
    """One run, which can be asked for its best split at any time."""

    def __init__(
        self, problem: Splitting, gap: float, time_limit: float | None, progress: Progress | None, known_bound: float
    ) -> None:
        self._problem, self._gap, self._progress = problem, gap, progress
        self._started = time.monotonic()
        self._deadline = np.inf if time_limit is None else self._started + time_limit
        self._random = np.random.default_rng(0)
        self._master = Master(problem)
        self._best = self._master.split()
        masses, worths = problem.disclosures
        self._bound = min(known_bound, float(masses @ worths))
        self._last_search = 0

    def run(self) -> str:
        self._pricer = Pricer(self._problem)
        self._bound = min(self._bound, self._pricer.easy_bound)
        self._best = self._one_a_target() or self._best
        starts = self._pricer.body.best_rows(np.diag(np.maximum(self._problem.prior, 1e-9)))
        self._add(starts)
        self._add(self._pricer.climb(starts, np.zeros(len(starts))))
        while not self._late():
            alpha = self._climb()
            self._improve()
            more = not self._late() and self._prove(alpha)
            if more:
                self._improve()
            if self._bound - self._best[2] <= self._gap:
                return "optimal"
            if not more and not self._late():
                return "stalled"
        return "time limit"

    def _one_a_target(self) -> Mixture | None:
        """One row a target letter, as strong as the cone permits, better than the constant row and soon there.

        Rows 1 + λ_t (1_t / p_t − 1) with weights p_t / λ_t add up to a multiple of one, whatever the λ_t are.
        """
        p, body = self._problem.target_prior, self._pricer.body
        seen = np.flatnonzero(p > 0)
        rows = (self._problem.target == seen[:, None]) / p[seen, None]
        strength = body.strengths(rows)
        if not strength.all():
            return None
        weights = (p[seen] / strength) / (p[seen] / strength).sum()
        inside = [body.inside(row) for row in 1 + strength[:, None] * (rows - 1)]
        found = np.array([row for row in inside if row is not None]).reshape(-1, len(self._problem.prior))
        if len(found) < len(seen) or np.abs(weights @ found - 1).max() > SPLITS:
            return None
        return found, weights, float(weights @ self._problem.values(found))

    def _improve(self) -> None:
        found = self._master.split()
        self._best = found if found[2] >= self._best[2] else self._best

    def split(self, status: str) -> Split:
        rows, weights, value = self._best
        return Split(rows, weights, value, max(self._bound, value), status)

    def _climb(self) -> Floats:
        """New rows by climbing, until the prices settle without being held back by the master: these prices."""
        stale, last = 0, -np.inf
        patience = STALE_ROUNDS + self._last_search // BOXES_A_ROUND
        while True:
            alpha, held = self._master.prices()
            total = float(alpha.sum())
            stale = stale + 1 if abs(total - last) <= max(self._gap, STALE * abs(total)) else 0
            last = total
            if self._late() or (stale >= patience and not held):
                return alpha
            if stale >= patience:
                self._master.widen()
                stale = 0
            rows = self._pricer.climb(self._starts(alpha), alpha)
            self._add(rows[self._pricer.gains(rows, alpha) > self._gap / 10])

    def _starts(self, alpha: Floats) -> Floats:
        """Where to climb from: between two rows in use, near one of them, and anywhere.

        Near a row, letters that it excludes are priced as if it had a little of them: the slope at zero would keep them
        out whatever happens to the others.
        """
        random, used, prior = self._random, self._master.used, self._problem.prior
        first, second = (used[random.integers(len(used), size=BETWEEN)] for _ in range(2))
        share = random.uniform(0.3, 0.7, size=(BETWEEN, 1))
        little = np.exp(random.uniform(*LITTLE, size=(NEAR, 1)))
        slopes = self._problem.gradients(np.maximum(used[random.integers(len(used), size=NEAR)], little))
        size = np.exp(random.uniform(*NOISE, size=(NEAR, 1))) * np.abs(slopes).sum(axis=1, keepdims=True)
        near = slopes + size * random.normal(size=slopes.shape) * prior
        anywhere = random.normal(size=(ANYWHERE, len(prior))) * random.exponential(2.0, size=(ANYWHERE, 1)) * prior
        rows = self._pricer.body.best_rows(np.vstack([near, anywhere]) - alpha)
        return np.vstack([share * first + (1 - share) * second, rows])

    def _add(self, rows: Floats) -> None:
        """New rows for the master, once each and inside the cone."""
        _, first = np.unique(np.round(rows * self._pricer.body.scale, 9), axis=0, return_index=True)
        permitted = [row for row in map(self._pricer.body.inside, rows[first]) if row is not None]
        if permitted:
            self._master.add(np.array(permitted))

    def _prove(self, alpha: Floats) -> bool:
        """An exact search at these prices: a bound, and perhaps rows. Whether it found any or left boxes for later.

        A long search is interrupted now and then for climbing, which may find what makes it worthless.
        """
        total, value = float(alpha.sum()), self._best[2]
        before = self._pricer.boxes
        most = max(FIRST_SEARCH, before)
        floor, margin = value + 0.99 * self._gap - total, MARGIN * abs(value)
        priced = self._pricer.price(alpha, floor, len(alpha), self._late, margin, most)
        self._last_search = self._pricer.boxes - before
        self._bound = min(self._bound, total + priced.bound)
        useful = priced.rows[self._pricer.gains(priced.rows, alpha) > self._gap / 10]
        if len(useful):
            self._master.add(useful)
        if self._progress is not None:
            self._progress(value, self._bound, time.monotonic() - self._started)
        return len(useful) > 0 or self._last_search > most

    def _late(self) -> bool:
        return time.monotonic() > self._deadline
