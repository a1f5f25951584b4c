"""An upper bound for side-channel notions: let everybody see an attribute, and solve what is left value by value.

Given X_k = x the mechanism still satisfies ε-SRLIP under P( · | x), because the side channels that contain k are among
those it was made for. So what Y tells about T once X_k is known is at most

    M(T | k) = Σ_x P(X_k = x) · (the most that ε-SRLIP lets be told about T under P( · | X_k = x)),

problems with far fewer letters than the whole, which together take seconds where the whole takes hours. For every j,

    I(X;Y) = I(X_j;Y) + I(X;Y | X_j) ≤ I(X_j;Y) + M(X | j),    I(X_j;Y) ≤ I(X_j; Y, X_k) ≤ I(X_j;X_k) + M(X_j | k).
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.srlip import SRLIP
from discreet.solvers import columns
from discreet.solvers.problem import Splitting

Floats = NDArray[np.float64]
GAP = 1e-4


def bound(joint: Joint, notion: SRLIP, *, time_limit: float = 60.0) -> float:
    """The least of these bounds over all attributes, on I(X;Y) of every ε-SRLIP mechanism that reads X only."""
    attributes = range(len(joint.shape))
    if joint.reads_secret or len(attributes) < 2:
        return joint.entropy
    most = _Most(joint, notion, time.monotonic() + time_limit)
    alone = [most.entropy(j) for j in attributes]
    inside = [most.given(j) for j in attributes]
    best = min(joint.entropy, *(a + b for a, b in zip(alone, inside, strict=True)))
    for j in attributes:
        for k in attributes:
            if k != j and inside[j] < best:
                together = alone[j] + alone[k] - most.entropy(j, k)
                best = min(best, together + most.given(k, target=j) + inside[j])
    return best


class _Most:
    """M(T | k), solved until the deadline; what is left then is bounded by its entropy."""

    def __init__(self, joint: Joint, notion: SRLIP, deadline: float) -> None:
        self._cells, self._notion, self._deadline = joint.probabilities, notion, deadline

    def entropy(self, *attributes: int) -> float:
        others = tuple(axis for axis in range(self._cells.ndim) if axis - 1 not in attributes)
        return entropy(self._cells.sum(axis=others).ravel())

    def given(self, attribute: int, target: int | None = None) -> float:
        """M(T | X_attribute), with T = X_target or all of X."""
        values = np.moveaxis(self._cells, attribute + 1, 0)
        left = None if target is None else target - (target > attribute)
        masses = [float(cells.sum()) for cells in values]
        return sum(p * self._most(cells / p, left) for p, cells in zip(masses, values, strict=True) if p > 0)

    def _most(self, cells: Floats, target: int | None) -> float:
        """Under one conditional distribution; a secret that is certain permits to tell all."""
        joint = Joint(cells)
        of = np.arange(len(joint.letters)) if target is None else np.indices(joint.shape)[target].ravel()
        seconds = self._deadline - time.monotonic()
        if len(joint.seen) < 2 or seconds <= 0:
            return entropy(np.bincount(of, weights=joint.prior))
        problem = Splitting(joint.prior, of, self._notion.cone(joint)).reduced()
        return columns.solve(problem, gap=GAP, time_limit=seconds).upper_bound
