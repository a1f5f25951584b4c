"""A privacy notion as a convex cone: a mechanism is allowed exactly when every row of Q lies in it (theory 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cone:
    """K = {v ≥ 0 : rows · v ≤ 0, and separate(v) finds nothing}.

    `rows` are linear conditions, one a row, over the input letters. Where they do not say it all (RLDP has infinitely
    many, SRLIP exponentially many), `separate(v)` returns further rows that v violates, none if v lies in K.
    Every row must be valid for K: with too few of them the cone is too large, never too small.
    """

    rows: Floats
    separate: Callable[[Floats], Floats] | None = None

    @property
    def complete(self) -> bool:
        return self.separate is None

    def excess(self, v: Floats) -> float:
        """The largest violation of a condition by v, relative to the size of its terms; at most 0 inside the cone."""
        rows = self.rows if self.separate is None else np.vstack([self.rows, self.separate(v)])
        terms = rows * v
        scale = np.abs(terms).sum(axis=1)
        used = scale > 0
        negative = float(-v.min()) / max(float(np.abs(v).max()), np.finfo(float).tiny)
        return float(max([negative, *(terms[used].sum(axis=1) / scale[used])]))


def ordered_pairs(size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All (i, j) with i ≠ j."""
    first, second = np.nonzero(~np.eye(size, dtype=bool))
    return first, second
