"""The restricted master of every column generation: the best weights for the columns so far, and the prices.

    maximise  Σ_j q_j value_j   subject to   Σ_j q_j column_j = totals,   q ≥ 0

At the optimum no column gains: value_j ≤ prices·column_j, with equality for those in use. Whoever finds a column that
gains adds it; the program starts again from where it was. One more line of `totals`, as for an average over outputs,
is one more entry of each column and one more price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Indices
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

    def __init__(self, totals: Floats, deadline: float = math.inf) -> None:
        nothing, empty = np.zeros(0), np.zeros((len(totals), 0))
        self._program = Program(nothing, nothing, empty, totals, totals, primal=True, deadline=deadline)

    def add(self, columns: Floats, values: Floats) -> None:
        """Further columns, one per line."""
        self._program.add_columns(columns, values)

    def weigh(self) -> Weighing:
        """UnfinishedError if the linear program is not solved, which with a permitted mixture among the columns is a
        failure of the solver, or its deadline."""
        solution = self._program.solved()
        return Weighing(solution.point, solution.prices)
