"""The master program of column generation: rows weighed and letters priced, with a box that keeps prices tame."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.linear_program import INFINITE, Program
from discreet.notions.notion import Average
from discreet.solvers.problem import Problem
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.tolerances import SPLITS, USED

Mixture = tuple[Floats, Floats, float]
"""Rows, their weights, and the value."""

SLACK = 1e-9
"""The elastic master misses nothing if it misses less than HiGHS may leave of an equation."""
WIDER = 4.0
"""How much the box of the prices grows at a time: a few steps lead from one nat to WIDEST."""
WIDEST = 1e6
"""Prices beyond a million nats come from rounding; the box no longer holds them back."""
USED_UP = 1e-7
"""An average that is so close to its limit has reached it."""
SHARPENING_SECONDS = 1e-9
"""For each entry of the rows in use and each of these or of the letters: what exact weights take."""
SHARPENED_ANYHOW = 0.5
"""Seconds that this may take even where the time is over."""


class Master:
    """maximise Σ_y q_y μ(v_y) subject to Σ_y q_y v_y = 1, q ≥ 0, over a growing list of rows v_y.

    Every equation is multiplied by p_z, so that its terms are masses.

    Early on, few rows leave the prices α almost free, and wild prices attract useless rows. A second, elastic program
    may miss Σ_y q_y v_y = 1 at a cost of `width` per unit of mass, which is the same as |α_z| ≤ width · p_z (more than
    any row is worth, so missing it does not pay for its own sake). The box grows until it no longer matters.

    An average Σ_y q_y g(v_y) ≤ limit is one more line, divided by the largest g of a letter; prices have λ·limit ≥ 0.
    """

    def __init__(self, problem: Problem, deadline: float = np.inf) -> None:
        n = len(problem.prior)
        self._problem, self._deadline = problem, deadline
        self._rows = np.zeros((0, n))
        self._values = np.zeros(0)
        self._mass = np.where(problem.prior > 0, problem.prior, 1.0)
        self.lines = n + (problem.average is not None)
        one_each = sparse.eye_array(self.lines, n, format="csr")
        free, both = np.full(2 * n, INFINITE), sparse.hstack([one_each, -one_each], format="csr")
        self._size = 1.0 if problem.average is None else largest_value(problem.average, problem.prior)
        self._limit = np.array([] if problem.average is None else [problem.average.limit / self._size])
        totals = np.append(self._mass, self._limit)
        least = np.append(self._mass, np.full(self.lines - n, -INFINITE))
        self._exact = RestrictedMaster(totals, deadline, least)
        self._elastic = Program(np.zeros(2 * n), free, both, least, totals, primal=True, deadline=deadline)
        self.add(np.ones((1, n)))
        self._last = self._rows, np.ones(1), float(self._values[0])
        self.width = 2.0 * max(1e-3, float(np.abs(problem.disclosures[1]).max()))
        self._charge()

    @property
    def size(self) -> int:
        return len(self._rows)

    def add(self, rows: Floats) -> None:
        values, columns = self._problem.values(rows), self._columns(rows)
        self._exact.add(columns, values)
        self._elastic.add_columns(columns, values)
        self._rows = np.vstack([self._rows, rows])
        self._values = np.concatenate([self._values, values])

    def _columns(self, rows: Floats) -> Floats:
        average = self._problem.average
        masses = rows * self._mass
        return masses if average is None else np.hstack([masses, (average.values(rows) / self._size)[:, None]])

    def _prices(self, prices: Floats) -> Floats:
        """Prices of the letters, and that of the average where there is one, which is never negative, nor −0."""
        n = len(self._mass)
        return np.append(prices[:n] * self._mass, np.maximum(prices[n:], 0.0) * self._limit + 0.0)

    def widen(self) -> None:
        """A larger box for the prices."""
        self.width *= WIDER
        self._charge()

    def _charge(self) -> None:
        self._elastic.set_cost(np.concatenate([np.full(2 * len(self._mass), -self.width), self._values]))

    def prices(self) -> tuple[Floats, bool]:
        """α of the elastic program, and whether its box still holds it back. Any α gives a valid bound."""
        solution = self._elastic.solved()
        slack, weights = np.split(solution.point, [2 * len(self._mass)])
        self.used = self._rows[weights > USED]
        held = slack.max() > SLACK and self.width < WIDEST
        return self._prices(solution.prices), bool(held)

    def split(self) -> Mixture:
        """The rows in use, their weights and the value: a permitted mechanism, the last one if none comes out now."""
        weighing = self._exact.weigh()
        self.exact_prices = self._prices(weighing.prices)
        used = weighing.used()
        rows, weights = self._rows[used], self._sharpened(self._rows[used], weighing.weights[used])
        if np.abs(weights @ rows - 1).max() > SPLITS:
            rows, weights = self._completed(rows, weights)
        value = float(weights @ self._problem.values(rows)) if len(rows) else -np.inf
        if value >= self._last[2]:
            self._last = rows, weights, value
        return self._last

    def _completed(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """A split from weights that miss Σ_y q_y v_y = 1 by r: a share 1 − τ of them, and the row that is left.

        That row is constant but for (1 − τ) r / τ. All conditions that the constant row meets strictly hold for it once
        τ is large enough. No rows if it takes half of everything.
        """
        together = np.maximum(weights, 0.0) @ rows
        share = 10 * max(float(np.abs(together - 1).max()), SPLITS)
        while share < 0.5:
            left = 1 - (1 - share) * together
            weight = float(left @ self._problem.prior)
            if left.min() >= 0 and self._problem.cone.excess(left) <= 0:
                all_rows = np.vstack([rows, left / weight])
                return all_rows, np.append((1 - share) * np.maximum(weights, 0.0), weight)
            share *= 2
        return rows[:0], weights[:0]

    def _sharpened(self, rows: Floats, weights: Floats) -> Floats:
        """Weights that split the prior to the last digit, where the LP's do so to its tolerance only."""
        average = self._problem.average
        if SHARPENING_SECONDS * rows.size * min(rows.shape) > max(self._deadline - time.monotonic(), SHARPENED_ANYHOW):
            return weights
        if average is not None:
            uses = average.values(rows) / average.limit
            if weights @ uses > 1 - USED_UP:
                rows = np.hstack([rows, uses[:, None]])
        exact = np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0]
        better = exact.min() >= 0 and np.abs(exact @ rows - 1).max() <= np.abs(weights @ rows - 1).max()
        return np.asarray(exact, dtype=np.float64) if better else weights


def largest_value(average: Average, prior: Floats) -> float:
    """The largest g of a letter alone, and so of any row: g is convex."""
    seen = np.flatnonzero(prior > 0)
    letters = np.zeros((len(seen), len(prior)))
    letters[np.arange(len(seen)), seen] = 1 / prior[seen]
    return max(float(average.values(letters).max()), average.limit)
