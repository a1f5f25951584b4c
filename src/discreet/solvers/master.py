"""The master program of column generation: the best weights for the rows so far, and the prices of the letters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.lp import INFINITE, Program
from discreet.solvers.problem import Splitting

Floats = NDArray[np.float64]
Mixture = tuple[Floats, Floats, float]
"""Rows, their weights, and the value."""
SLACK = 1e-9
USED = 1e-12
SPLITS = 1e-9
"""How far Σ_y q_y v_y may be from 1 in a split that is handed out."""
WIDER = 4.0
WIDEST = 1e6


class Master:
    """maximise Σ_y q_y μ(v_y) subject to Σ_y q_y v_y = 1, q ≥ 0, over a growing list of rows v_y.

    Every equation is multiplied by p_z, so that its terms are masses.

    Early on, few rows leave the prices α almost free, and wild prices attract useless rows. A second, elastic program
    may miss Σ_y q_y v_y = 1 at a cost of `width` a unit of mass, which is the same as |α_z| ≤ width · p_z (more than
    any row is worth, so missing it does not pay for its own sake). The box grows until it no longer matters.
    """

    def __init__(self, problem: Splitting) -> None:
        n = len(problem.prior)
        self._problem = problem
        self._rows = np.zeros((0, n))
        self._values = np.zeros(0)
        self._mass = np.where(problem.prior > 0, problem.prior, 1.0)
        empty, free, both = np.zeros(0), np.full(2 * n, INFINITE), np.hstack([np.eye(n), -np.eye(n)])
        self._exact = Program(empty, empty, np.zeros((n, 0)), self._mass, self._mass, primal=True)
        self._elastic = Program(np.zeros(2 * n), free, both, self._mass, self._mass, primal=True)
        self.add(np.ones((1, n)))
        self._last = self._rows, np.ones(1), float(self._values[0])
        self.width = 2.0 * max(1e-3, float(np.abs(problem.disclosures[1]).max()))
        self._charge()

    @property
    def size(self) -> int:
        return len(self._rows)

    def add(self, rows: Floats) -> None:
        values = self._problem.values(rows)
        self._exact.add_columns(rows * self._mass, values)
        self._elastic.add_columns(rows * self._mass, values)
        self._rows = np.vstack([self._rows, rows])
        self._values = np.concatenate([self._values, values])

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
        return solution.prices * self._mass, bool(held)

    def split(self) -> Mixture:
        """The rows in use, their weights and the value: a permitted mechanism, the last one if none comes out now."""
        solution = self._exact.solved()
        self.exact_prices = solution.prices * self._mass
        used = np.flatnonzero(solution.point > USED)
        rows, weights = self._rows[used], _sharpened(self._rows[used], solution.point[used])
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


def _sharpened(rows: Floats, weights: Floats) -> Floats:
    """Weights that split the prior to the last digit, where the LP's do so to its tolerance only."""
    exact = np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0]
    better = exact.min() >= 0 and np.abs(exact @ rows - 1).max() <= np.abs(weights @ rows - 1).max()
    return np.asarray(exact, dtype=np.float64) if better else weights
