"""An upper bound for side-channel notions: let everybody see an attribute, and solve what is left value by value.

Given X_k = x the mechanism still satisfies ε-SRLIP under P( · | x), because the side channels that contain k are among
those it was made for. So what Y tells about T once X_k is known is at most

    M(T | k) = Σ_x P(X_k = x) · (the most that ε-SRLIP lets be told about T under P( · | X_k = x)),

problems with far fewer letters than the whole, which together take seconds where the whole takes hours. For every j,

    I(X;Y) = I(X_j;Y) + I(X;Y | X_j) ≤ I(X_j;Y) + M(X | j),    I(X_j;Y) ≤ I(X_j; Y, X_k) ≤ I(X_j;X_k) + M(X_j | k).
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.srlip import SRLIP
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem

GAP = 1e-4
"""Of each of the small problems: what they add up to is loose by more than that anyhow."""


def disclosure_bound(joint: Joint, notion: SRLIP, effort: Effort) -> float:
    """The least of these bounds over all attributes, on I(X;Y) of every ε-SRLIP mechanism that reads X only."""
    attributes = range(len(joint.shape))
    if joint.reads_secret or len(attributes) < 2:
        return joint.entropy
    most = _Most(joint, notion, effort.quiet(GAP))
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

    def __init__(self, joint: Joint, notion: SRLIP, effort: Effort) -> None:
        self._cells, self._notion, self._effort = joint.probabilities, notion, effort

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
        if len(joint.seen) < 2 or self._effort.late():
            return entropy(np.bincount(of, weights=joint.prior))
        problem = Problem.of_rows(joint.prior, self._notion.cone(joint), of).reduced()
        return solve(generate_columns, problem, self._effort).upper_bound
