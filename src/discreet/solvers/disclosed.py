"""An upper bound for side-channel notions: let everybody see an attribute, and solve what is left value by value.

Publishing X_j next to Y can only add information, and given X_j = x the mechanism still satisfies ε-SRLIP under
P( · | x), because the side channels that contain j are among those it was made for:

    I(X;Y) ≤ I(X; Y, X_j) = H(X_j) + Σ_x P(x) I(X;Y | X_j = x) ≤ H(X_j) + Σ_x P(x) · (optimum under P( · | X_j = x))

Each of these problems has far fewer letters than the whole, so together they take seconds where the whole takes hours.
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
GAP = 1e-3


def bound(joint: Joint, notion: SRLIP, *, time_limit: float = 60.0) -> float:
    """The least of these bounds over all attributes, on I(X;Y) of every ε-SRLIP mechanism that reads X only."""
    best = joint.entropy
    if joint.reads_secret or len(joint.shape) < 2:
        return best
    deadline = time.monotonic() + time_limit
    for j in range(len(joint.shape)):
        best = min(best, _bound_seeing(joint, notion, j, deadline))
    return best


def _bound_seeing(joint: Joint, notion: SRLIP, attribute: int, deadline: float) -> float:
    axes = tuple(i for i in range(joint.probabilities.ndim) if i != attribute + 1)
    masses = joint.probabilities.sum(axis=axes)
    total = entropy(masses)
    for value in np.flatnonzero(masses > 0):
        cells = np.take(joint.probabilities, value, axis=attribute + 1)
        total += masses[value] * _most(cells / cells.sum(), notion, deadline - time.monotonic())
    return total


def _most(cells: Floats, notion: SRLIP, seconds: float) -> float:
    """A bound on I(X;Y) under one conditional distribution; the mechanism of a secret that is certain may tell all."""
    joint = Joint(cells)
    if len(joint.seen) < 2 or seconds <= 0:
        return joint.entropy
    return columns.solve(Splitting.from_joint(joint, notion), gap=GAP, time_limit=seconds).upper_bound
