"""Subset sums: for every mass the cheapest set of letters, by dynamic programming over mass buckets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BUCKETS = 400


class CheapestSets:
    """`price[b]` is the smallest sum of prices of a set whose mass falls into bucket b; infinite if there is none.

    Masses are rounded letter by letter, so a bucket is a suggestion: whoever takes the set weighs it again.
    """

    def __init__(self, p: Floats, prices: Floats) -> None:
        self._steps = np.rint(p * BUCKETS).astype(int)
        self._taken = np.zeros((len(p), BUCKETS + 1), dtype=bool)
        self.price = np.full(BUCKETS + 1, np.inf)
        self.price[0] = 0.0
        for u, step in enumerate(self._steps):
            with_u = np.full(BUCKETS + 1, np.inf)
            with_u[step:] = self.price[: BUCKETS + 1 - step] + prices[u]
            self._taken[u] = with_u < self.price
            self.price = np.minimum(self.price, with_u)

    def members(self, bucket: int) -> NDArray[np.bool_]:
        chosen = np.zeros(len(self._steps), dtype=bool)
        for u in range(len(self._steps) - 1, -1, -1):
            if self._taken[u, bucket]:
                chosen[u] = True
                bucket -= self._steps[u]
        return chosen
