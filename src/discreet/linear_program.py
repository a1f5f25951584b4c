"""Linear programs: the one file that touches the LP solver (HiGHS).

A `Program` keeps one solver object alive, so that a change of costs, columns or rows restarts from the last basis.
Nothing from an unsuccessful solve is ever handed on: `solve` returns an optimal `Solution`, or None.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.arrays import Floats, Rows
from discreet.exceptions import UnfinishedError

INFINITE = float(highspy.kHighsInf)
FEASIBLE = 1e-9
"""How far HiGHS may leave a bound or a condition, and a reduced cost its sign. 1e-10 is the least it accepts."""

GRACE = 0.5
"""Seconds: programs of some hundred letters end within them."""

DUAL_SIMPLEX, PRIMAL_SIMPLEX = 1, 4  # as HiGHS numbers its strategies


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """An optimal basic solution: its point, and the price of every row (of unit right-hand side)."""

    point: Floats
    prices: Floats


class Program:
    """maximise cost·x subject to lower ≤ x ≤ upper and row_lower ≤ rows·x ≤ row_upper, always warm.

    After its deadline (of `time.monotonic`) it gets no more than GRACE: what small programs need, and large ones do not
    keep anybody waiting.
    """

    def __init__(
        self,
        lower: Floats,
        upper: Floats,
        rows: Rows,
        row_lower: Floats,
        row_upper: Floats,
        *,
        primal: bool = False,
        deadline: float = math.inf,
    ) -> None:
        self._deadline = deadline
        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._highs.silent()
        self._strategy = PRIMAL_SIMPLEX if primal else DUAL_SIMPLEX
        options: dict[str, str | int | float] = {
            "presolve": "off",
            "solver": "simplex",
            "threads": 1,
            "simplex_strategy": self._strategy,
            "primal_feasibility_tolerance": FEASIBLE,
            "dual_feasibility_tolerance": FEASIBLE,
            "small_matrix_value": 1e-12,
        }
        for option, value in options.items():
            self._highs.setOptionValue(option, value)
        self._highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
        nothing = np.zeros(0)
        self._highs.addCols(len(lower), np.zeros(len(lower)), lower, upper, 0, *_empty(len(lower)), nothing)
        self.add_rows(rows, row_lower, row_upper)

    @property
    def columns(self) -> int:
        return int(self._highs.getNumCol())

    def until(self, deadline: float) -> None:
        """Another deadline from now on."""
        self._deadline = deadline

    def add_rows(self, rows: Rows, row_lower: Floats, row_upper: Floats) -> None:
        if rows.shape[0]:
            starts, indices, values = _sparse(rows)
            self._highs.addRows(rows.shape[0], row_lower, row_upper, len(values), starts, indices, values)

    def add_columns(self, columns: Rows, cost: Floats) -> None:
        """New variables, at least zero; `columns` holds one per row."""
        starts, indices, values = _sparse(columns)
        k = columns.shape[0]
        self._highs.addCols(k, cost, np.zeros(k), np.full(k, INFINITE), len(values), starts, indices, values)

    def set_cost(self, cost: Floats) -> None:
        self._highs.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)

    def solve(self) -> ProgramSolution | None:
        """The optimum, or None. After a failure the other simplex method tries once more, from no basis."""
        other = DUAL_SIMPLEX + PRIMAL_SIMPLEX - self._strategy
        return self._solution(self._optimal() or self._optimal_with("simplex_strategy", other))

    def solved(self) -> ProgramSolution:
        """The optimum of a program that is known to have one."""
        solution = self.solve() or self._solution(self._optimal_with("presolve", "on"))
        if solution is None:
            raise UnfinishedError(
                "a linear program that has an optimum was not solved",
                remedy="Drop letters or secrets that hardly occur.",
            )
        return solution

    def _solution(self, optimal: bool) -> ProgramSolution | None:
        if not optimal:
            self._highs.clearSolver()
            return None
        solution = self._highs.getSolution()
        point, prices = np.array(solution.col_value), np.array(solution.row_dual)
        valid = solution.value_valid and solution.dual_valid and np.isfinite(point).all() and np.isfinite(prices).all()
        return ProgramSolution(point, prices) if valid else None

    def _optimal_with(self, option: str, value: str | int) -> bool:
        """Whether it is solved from no basis with one option changed, which is then put back."""
        _, before = self._highs.getOptionValue(option)
        self._highs.clearSolver()
        self._highs.setOptionValue(option, value)
        solved = self._optimal()
        self._highs.setOptionValue(option, before)
        return solved

    def _optimal(self) -> bool:
        if self._deadline < math.inf:
            left = max(self._deadline - time.monotonic(), GRACE)
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
        ran = self._highs.run()
        return bool(
            ran == highspy.HighsStatus.kOk and self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        )


def solve_once(
    cost: Floats,
    lower: Floats,
    upper: Floats,
    rows: sparse.csr_array,
    row_lower: Floats,
    row_upper: Floats,
    *,
    presolve: bool = True,
    deadline: float = math.inf,
) -> ProgramSolution | None:
    """A sparse program that is solved once: maximise cost·x within the bounds. None if it was not solved, in time."""
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(row_lower)
    model.sense_ = highspy.ObjSense.kMaximize
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, lower, upper
    model.row_lower_, model.row_upper_ = row_lower, row_upper
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_ = rows.indptr, rows.indices
    model.a_matrix_.value_ = rows.data
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.silent()
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("presolve", "on" if presolve else "off")
    if deadline < math.inf:
        highs.setOptionValue("time_limit", max(deadline - time.monotonic(), GRACE))
    highs.passModel(model)
    if highs.run() != highspy.HighsStatus.kOk or highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = highs.getSolution()
    return ProgramSolution(np.array(solution.col_value), np.array(solution.row_dual))


def _empty(size: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    return np.zeros(size, dtype=np.int32), np.zeros(0, dtype=np.int32)


def _sparse(matrix: Rows) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Starts, indices and values of the non-zero entries, row by row."""
    if not isinstance(matrix, np.ndarray):
        return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data
    which, indices = np.nonzero(matrix)
    starts = np.searchsorted(which, np.arange(len(matrix)))
    return starts.astype(np.int32), indices.astype(np.int32), matrix[which, indices]
