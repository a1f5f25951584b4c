"""The restricted master of every column generation: the best weights for the columns so far, and the prices.

    maximise  Σ_j q_j value_j   subject to   Σ_j q_j column_j = totals,   q ≥ 0

At the optimum no column gains: value_j ≤ prices·column_j, with equality for those in use. Whoever finds a column that
gains adds it; the program starts again from where it was. One more line of `totals`, as for an average over outputs,
is one more entry of each column and one more price; where `least` is below the total, the line may stay below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Indices, Rows
from discreet.linear_program import Program
from discreet.solvers.tolerances import USED


@dataclass(frozen=True, eq=False)
class Weighing:
    """The weight of every column, and the price of every line."""

    weights: Floats
    prices: Floats

    def used(self, above: float = USED) -> Indices:
        return np.flatnonzero(self.weights > above)


class RestrictedMaster:
    """A list of columns that grows, always warm."""

    def __init__(self, totals: Floats, deadline: float = math.inf, least: Floats | None = None) -> None:
        nothing, empty = np.zeros(0), np.zeros((len(totals), 0))
        low = totals if least is None else least
        self._program = Program(nothing, nothing, empty, low, totals, primal=True, deadline=deadline)

    def add(self, columns: Rows, values: Floats) -> None:
        """Further columns, one per line."""
        self._program.add_columns(columns, values)

    def weigh(self) -> Weighing:
        """UnfinishedError if the linear program is not solved, which with a permitted mixture among the columns is a
        failure of the solver, or its deadline."""
        solution = self._program.solved()
        return Weighing(solution.point, solution.prices)


# A linear program that grows by columns and rows and is solved again from where it stood.


class Optimum(NamedTuple):
    """The value, the variables, and the price of every row."""

    value: float
    x: Floats
    prices: Floats


class GrowingProgram:
    """maximise cost·x subject to lower ≤ rows·x ≤ upper, x ≥ 0."""

    def __init__(self, lower: Floats, upper: Floats) -> None:
        nothing = np.zeros(0)
        self._program = Program(nothing, nothing, np.zeros((len(lower), 0)), lower, upper, primal=True)
        self._costs = np.zeros(0)

    @property
    def columns(self) -> int:
        return len(self._costs)

    def add_columns(self, costs: Floats, columns: Floats) -> None:
        """Dense columns, one per row of `columns`."""
        if len(costs):
            self._program.add_columns(columns, costs)
            self._costs = np.concatenate([self._costs, costs])

    def add_row(self, lower: float, upper: float, places: Indices, entries: Floats) -> None:
        row = np.zeros((1, self.columns))
        row[0, places] = entries
        self._program.add_rows(row, np.array([lower]), np.array([upper]))

    def solve(self) -> Optimum:
        found = self._program.solved()
        return Optimum(float(self._costs @ found.point), found.point, found.prices)
