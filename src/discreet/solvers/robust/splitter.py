"""The best splitting of one secret under a band, by column generation over shapes (theory 1.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.lp import Program
from discreet.solvers.robust.shapes import Band, Chosen, Secret, Shapes

Floats = NDArray[np.float64]
POOL, USED = 300, 1e-9


@dataclass(frozen=True, eq=False)
class Splitting:
    """Rows t + d·w with their weights, what they are worth together, and the gain q (∇worth − α) of moving entries."""

    shapes: Shapes
    level: Floats
    strength: Floats
    weights: Floats
    value: float
    pull: Floats

    @property
    def rows(self) -> Floats:
        return _rows(self.shapes, self.level, self.strength)


class Splitter:
    """maximise Σ_j q_j worth(v_j) subject to Σ_j q_j v_j = 1 for every letter and Σ_j q_j = 1.

    The last condition makes the weights of different secrets add up to the same total, so that they can be glued. The
    shapes found for one band are kept for the next, weaker or stronger as the band allows.
    """

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        k = len(secret.letters)
        self._shapes = secret.shapes(np.vstack([np.zeros((1, k)), np.eye(k)[: k if k > 1 else 0]]))
        self._level = np.ones(len(self._shapes.w))

    def solve(self, band: Band, levels: Floats, rounds: int) -> Splitting:
        """The best splitting found in this many rounds of pricing at the given means."""
        self._offer_constants(np.append(levels, 1.0))
        for left in range(rounds, -1, -1):
            strength = self._shapes.strength(self._level, band)
            self._keep(strength >= 0)
            strength = strength[strength >= 0]
            rows = _rows(self._shapes, self._level, strength)
            worth = self.secret.worth(rows)
            weights, prices, constant = _weigh(rows, worth)
            if not left:
                break
            sets, found = self.secret.best_sets(prices, constant, levels, band)
            if not self.offer(self.secret.shapes(sets), found):
                break
            self._trim(worth - rows @ prices - constant)
        used = np.flatnonzero(weights > USED)
        pull = weights[used, None] * (self.secret.slope(rows[used]) - prices)
        shapes, level = self._shapes.take(used), self._level[used]
        return Splitting(shapes, level, strength[used], weights[used], float(weights @ worth), pull)

    def offer(self, shapes: Shapes, level: Floats) -> bool:
        """Further shapes at means; whether any of them was new."""
        known = {(w.tobytes(), t) for w, t in zip(self._shapes.w, self._level, strict=True)}
        fresh = [i for i in range(len(level)) if (shapes.w[i].tobytes(), level[i]) not in known]
        self._shapes = self._shapes.joined(shapes.take(np.array(fresh, dtype=np.intp)))
        self._level = np.append(self._level, level[fresh])
        return bool(fresh)

    def _offer_constants(self, levels: Floats) -> None:
        still = np.zeros((len(levels), len(self.secret.grid)))
        self.offer(Shapes(np.zeros((len(levels), len(self.secret.p))), still, still), levels)

    def _trim(self, gains: Floats) -> None:
        """Forget what gains least, when there is too much of it. Rows newer than `gains` stay."""
        if len(gains) > POOL:
            newer = np.arange(len(gains), len(self._level))
            self._keep(np.concatenate([np.argsort(-gains)[: POOL // 2], newer]))

    def _keep(self, index: Chosen) -> None:
        self._shapes, self._level = self._shapes.take(index), self._level[index]


def _rows(shapes: Shapes, level: Floats, strength: Floats) -> Floats:
    return np.asarray(np.maximum(level[:, None] + strength[:, None] * shapes.w, 0.0))


def _weigh(rows: Floats, worth: Floats) -> tuple[Floats, Floats, float]:
    """Weights, prices of the letters, and the price of the total weight; the constant row of mean one is among them."""
    k = rows.shape[1]
    program = Program(np.zeros(0), np.zeros(0), np.zeros((k + 1, 0)), np.ones(k + 1), np.ones(k + 1), primal=True)
    program.add_columns(np.hstack([rows, np.ones((len(rows), 1))]), worth)
    solution = program.solved()
    return solution.point, solution.prices[:-1], float(solution.prices[-1])
