"""A linear program that grows by columns and rows and is solved again from where it stood."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.linear_program import Program


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
