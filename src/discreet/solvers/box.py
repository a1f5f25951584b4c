"""The best ε-LIP mechanism on one attribute: rows with e^−ε ≤ v_s ≤ e^ε and p·v = 1 (theory 1.6).

Pricing maximises the separable convex Σ_s p_s v_s ln v_s − α_s v_s over a box cut by one equation. On a box every
v ln v is at most its chord, and with chords it is a knapsack: fill the letters in the order of chord slope − α_s / p_s.
At most one letter ends inside its interval, all others are exact there; splitting its interval at that value makes the
bound exact in the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from discreet.solvers.alone import Floats, Relaxed

EXACT = 1e-14


@dataclass(frozen=True, eq=False)
class Box:
    """The permitted rows of ε-LIP on an attribute of prior p. A node is a smaller box: its lower and upper ends."""

    prior: Floats
    epsilon: float

    def starts(self) -> Floats:
        """Each letter as high, and as low, as it may go, the others alike."""
        n, p = len(self.prior), self.prior
        rows = []
        for end in (np.exp(self.epsilon), np.exp(-self.epsilon)):
            others = (1 - end * p) / (1 - p)
            inside = (others >= np.exp(-self.epsilon)) & (others <= np.exp(self.epsilon))
            block = np.where(np.eye(n, dtype=bool), end, others[:, None])
            rows.append(block[inside])
        return np.vstack(rows)

    def root(self) -> Floats:
        n = len(self.prior)
        return np.array([np.full(n, np.exp(-self.epsilon)), np.full(n, np.exp(self.epsilon))])

    def relax(self, node: Floats, prices: Floats) -> Relaxed[Floats]:
        p, (lower, upper) = self.prior, node
        width = upper - lower
        slopes = np.divide(xlogy(upper, upper) - xlogy(lower, lower), width, out=np.zeros_like(width), where=width > 0)
        order = np.argsort(prices / p - slopes)
        filled = np.cumsum((p * width)[order])
        room = 1 - p @ lower
        k = min(int(np.searchsorted(filled, room)), len(p) - 1)
        at = order[k]
        row = lower.copy()
        row[order[:k]] = upper[order[:k]]
        row[at] += (room - (filled[k - 1] if k else 0.0)) / p[at]
        chords = xlogy(lower, lower) + slopes * (row - lower)
        bound, value = p @ chords - prices @ row, p @ xlogy(row, row) - prices @ row
        exact = bound - value <= EXACT
        return Relaxed(float(bound), float(value), row[None, :], None if exact else lambda: _split(node, at, row[at]))


def _split(node: Floats, at: int, value: float) -> tuple[Floats, Floats]:
    below, above = node.copy(), node.copy()
    below[1, at] = above[0, at] = value
    return below, above
