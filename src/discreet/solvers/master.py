"""The master program of column generation: the best weights for the rows found so far, and the prices of the letters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.lp import INFINITE, Program
from discreet.solvers.problem import Splitting

Floats = NDArray[np.float64]


class Master:
    """maximise Σ_y q_y μ(v_y) subject to Σ_y q_y v_y = 1, q ≥ 0, over a growing list of rows v_y."""

    def __init__(self, problem: Splitting) -> None:
        n = len(problem.prior)
        self._problem = problem
        self._rows = np.zeros((0, n))
        self._values = np.zeros(0)
        empty = np.zeros(0)
        self._program = Program(empty, empty, np.zeros((n, 0)), np.ones(n), np.ones(n), primal=True)
        self.add(np.ones((1, n)))
        self.solve()

    def add(self, rows: Floats) -> None:
        values = self._problem.values(rows)
        self._program.add_columns(rows, values)
        self._rows = np.vstack([self._rows, rows])
        self._values = np.concatenate([self._values, values])

    def solve(self) -> None:
        """Weights, value and prices of the rows so far. The prices need not be exact: any prices give a valid bound."""
        solution = self._program.solved()
        self.alpha = solution.prices
        used = np.flatnonzero(solution.point > 1e-12)
        rows = self._rows[used]
        weights = np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0]
        if weights.min() < 0 or np.abs(weights @ rows - 1).max() > 1e-9:
            weights = solution.point[used]
        self.rows, self.weights = rows, weights
        self.value = float(weights @ self._values[used])

    @property
    def size(self) -> int:
        return len(self._rows)


__all__ = ["INFINITE", "Master"]
