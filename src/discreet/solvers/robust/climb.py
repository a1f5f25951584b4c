"""The best rows of one secret under a band, of any shape: linear programs with cuts from the ball (theory 1.4, 1.8).

worth(v) − α·v is convex in v, so maximising its tangent over the band climbs to a vertex in a few steps. The band is
known through cuts R·v ≤ ceiling(x), R·v ≥ floor(x), one for every conditional R that a row was found to break.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.lp import INFINITE, Program
from discreet.solvers.robust.shapes import Band, Others, Secret
from discreet.uncertainty.support import largest, smallest

Floats = NDArray[np.float64]
CLIMBS, ROUNDS, AT_ONCE, KEPT = 8, 25, 3, 300
BROKEN, GAINED = 1e-4, 1e-6


class Climber:
    """Cuts stay valid from band to band: only their right-hand sides move."""

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        nothing = np.zeros(0, dtype=np.intp)
        self._cuts, self._split, self._above = np.zeros((0, len(secret.p))), nothing, nothing.astype(bool)

    def climb(self, band: Band, prices: Floats, starts: Floats, others: Others, late: Callable[[], bool]) -> Floats:
        """From every start the row where its climb ends, inside the band; starts that lead nowhere are left out."""
        program, found = self._program(band), []
        for start in starts:
            row, gain = start, self._gain(start, prices, others)
            for _ in range(CLIMBS):
                if late():
                    break
                higher = self._vertex(program, band, self.secret.slope(row[None], others)[0] - prices)
                if higher is None or self._gain(higher, prices, others) <= gain + GAINED:
                    break
                row, gain = higher, self._gain(higher, prices, others)
            if row is not start:
                found.append(row)
        return np.array(found).reshape(len(found), len(self.secret.p))

    def _gain(self, row: Floats, prices: Floats, others: Others) -> float:
        return float(self.secret.worth(row[None], others)[0] - row @ prices)

    def _program(self, band: Band) -> Program:
        p = self.secret.p
        means = np.array([band.floor[-1]]), np.array([band.ceiling[0]])
        program = Program(np.zeros(len(p)), max(means[1][0], 0.0) / p, p[None], *means)
        kept = slice(max(len(self._cuts) - KEPT, 0), None)
        self._cuts, self._split, self._above = self._cuts[kept], self._split[kept], self._above[kept]
        _add(program, band, self._cuts, self._split, self._above)
        return program

    def _vertex(self, program: Program, band: Band, cost: Floats) -> Floats | None:
        """The row of the band that is best at this cost, up to a little strength."""
        secret = self.secret
        upward, downward = secret.radii
        program.set_cost(cost)
        for _ in range(ROUNDS):
            solution = program.solve()
            if solution is None:
                return None
            row = solution.point
            high = largest(row, secret.p, upward, secret.ball.order)
            low = smallest(row, secret.p, downward, secret.ball.order)
            above, below = _worst(high.value - band.ceiling), _worst(band.floor - low.value)
            if not len(above) + len(below):
                break
            cuts = np.vstack([high.attained_at[above], low.attained_at[below]])
            split, side = np.append(above, below), np.arange(len(cuts)) < len(above)
            _add(program, band, cuts, split, side)
            self._cuts = np.vstack([self._cuts, cuts])
            self._split, self._above = np.append(self._split, split), np.append(self._above, side)
        mean = float(np.clip(row @ secret.p, band.floor[-1], band.ceiling[0]))
        shape = secret.shapes(row[None])
        strength = min(1.0, float(shape.strength(np.array([mean]), band)[0]))
        return np.maximum(mean + strength * shape.w[0], 0.0) if strength > 0 else None


def _worst(excess: Floats) -> NDArray[np.intp]:
    worst = np.argsort(-excess)[:AT_ONCE]
    return worst[excess[worst] > BROKEN]


def _add(program: Program, band: Band, cuts: Floats, split: NDArray[np.intp], above: NDArray[np.bool_]) -> None:
    lower = np.where(above, -INFINITE, band.floor[split])
    program.add_rows(cuts, lower, np.where(above, band.ceiling[split], INFINITE))
