"""Column generation with exact pricing: the best mechanism and a proof, without listing the vertices (theory 1.3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError
from discreet.solvers.master import Master
from discreet.solvers.pricing import Pricer
from discreet.solvers.problem import Split, Splitting

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]
STALE_ROUNDS = 2


def solve(
    problem: Splitting, *, gap: float = 1e-6, time_limit: float | None = None, progress: Progress | None = None
) -> Split:
    """The optimal split, proven to within `gap`; or the best so far with its bound when time runs out or ctrl-C is pressed.

    The bound holds for *any* prices α: a split has Σ_y q_y = 1 and Σ_y q_y v_y = 1, so
    Σ_y q_y μ(v_y) = Σ_z α_z + Σ_y q_y (μ(v_y) − α·v_y) ≤ Σ_z α_z + δ, with δ ≥ μ(v) − α·v for every permitted row v.
    """
    if not gap > 0:
        raise ParameterError("the gap is not positive", where="gap", remedy="Try 1e-6.")
    search = _Generation(problem, gap, time_limit, progress)
    try:
        status = search.run()
    except KeyboardInterrupt:
        status = "interrupted"
    return search.split(status)


class _Generation:
    """One run: good rows from many climbs while they help, then exact pricing, which proves or finds what they missed."""

    def __init__(self, problem: Splitting, gap: float, time_limit: float | None, progress: Progress | None) -> None:
        self._problem, self._gap, self._progress = problem, gap, progress
        self._started = time.monotonic()
        self._deadline = np.inf if time_limit is None else self._started + time_limit
        self._random = np.random.default_rng(0)
        self._master = Master(problem)
        self._bound = np.inf
        self._best = self._master.split()

    def run(self) -> str:
        self._pricer = Pricer(self._problem)
        self._starts = self._pricer.body.best_rows(np.diag(np.maximum(self._problem.prior, 1e-9)))
        self._add(self._starts)
        self._add(self._pricer.climb(self._starts, np.zeros(len(self._problem.prior))))
        while not self._late():
            alpha, held = self._climbed()
            self._best = self._master.split()
            if self._late():
                break
            proved, found = self._prove(alpha)
            if self._bound - self._best[2] <= self._gap:
                return "optimal"
            if not found:
                if not held:
                    return "time limit" if self._late() else "stalled"
                self._master.widen()
        return "time limit"

    def split(self, status: str) -> Split:
        rows, weights, value = self._best
        return Split(rows, weights, value, max(self._bound, value), status)

    def _climbed(self) -> tuple[Floats, bool]:
        """Climb from many starts, again and again, until the elastic master no longer gains from it."""
        stale, last = 0, -np.inf
        import os
        while True:
            alpha, held = self._master.prices()
            total = float(alpha.sum())
            stale = stale + 1 if abs(total - last) <= max(self._gap, 1e-3 * abs(total)) else 0
            last = total
            if os.environ.get('VERB2'): print('   ', time.monotonic()-self._started, total, held, self._master.size)
            if stale >= STALE_ROUNDS or self._late():
                return alpha, held
            rows = self._pricer.climb(self._some_starts(alpha), alpha)
            if not self._add(rows[self._pricer.gains(rows, alpha) > self._gap / 10]):
                if not held: return alpha, held
                self._master.widen()

    def _some_starts(self, alpha: Floats) -> Floats:
        n = len(alpha)
        random = self._random.normal(size=(n, n)) * self._random.exponential(2.0, size=(n, 1)) * self._problem.prior
        return np.vstack([self._starts, self._best[0], self._pricer.body.best_rows(random - alpha)])

    def _add(self, rows: Floats) -> bool:
        """New rows for the master, once each and inside the cone."""
        _, first = np.unique(np.round(rows * self._problem.prior, 9), axis=0, return_index=True)
        permitted = [row for row in map(self._pricer.body.inside, rows[first]) if row is not None]
        if permitted:
            self._master.add(np.array(permitted))
        return bool(permitted)

    def _prove(self, alpha: Floats) -> tuple[bool, bool]:
        total, value = float(alpha.sum()), self._best[2]
        n0=self._pricer.boxes; t0=time.monotonic()
        priced = self._pricer.price(alpha, value + 0.99 * self._gap - total, len(alpha), self._late)
        self._bound = min(self._bound, total + priced.bound)
        if len(priced.rows):
            self._master.add(priced.rows)
        import os
        if os.environ.get('VERB'): print(f'{time.monotonic()-self._started:.2f} cpu {time.process_time():.2f} value {value:.7f} bound {total+priced.bound:.7f} best {self._bound:.7f} new {len(priced.rows)} nodes {self._pricer.boxes-n0} t {time.monotonic()-t0:.2f} cols {self._master.size} width {self._master.width}')
        if self._progress is not None:
            self._progress(value, self._bound, time.monotonic() - self._started)
        return True, len(priced.rows) > 0

    def _late(self) -> bool:
        return time.monotonic() > self._deadline
