"""The problem every solver solves, and the answer every solver gives (theory 1).

    maximise  Σ_y q_y μ(v_y)   subject to   Σ_y q_y v_y = 1 (every letter z),  q ≥ 0,  v_y ∈ K,  p·v_y = 1

A mechanism splits the prior into permitted posteriors: v_y[z] = P(z | y) / P(z), q_y = P(Y = y).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.joint import Joint
from discreet.notions.cone import Cone
from discreet.notions.level import Notion
from discreet.utilities import MutualInformation, Utility

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Splitting:
    """Split `prior` over the input letters into rows of `cone`, valued by `utility` on the target T = f(z).

    `target[z]` is f(z). `letters` says which of the `size` letters of the mechanism the problem is about; the others
    carry no mass and no condition mentions them, so every row may treat them as it treats nobody: Q[y, z] = q_y.
    """

    prior: Floats
    target: Indices
    cone: Cone
    utility: Utility = MutualInformation
    letters: Indices = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    size: int = 0

    def __post_init__(self) -> None:
        if not self.size:
            object.__setattr__(self, "letters", np.arange(len(self.prior)))
            object.__setattr__(self, "size", len(self.prior))

    @classmethod
    def from_joint(cls, joint: Joint, notion: Notion, utility: Utility = MutualInformation) -> Splitting:
        """The problem of a joint and a notion, without the letters that do not matter."""
        return cls(joint.prior, joint.target_of, notion.cone(joint), utility).reduced()

    def reduced(self) -> Splitting:
        """The same problem without letters of mass zero that occur in no condition.

        Letters of mass zero that do occur (RLDP) stay: they constrain, with zero utility. The rows of a cone with a
        `separate` are not all known; a letter is then silent if neither it alone nor all others without it are refused.
        """
        silent = (self.prior == 0) & ~np.any(self.cone.rows != 0, axis=0)
        if self.cone.separate is not None:
            for z in np.flatnonzero(silent):
                silent[z] = not _weighed(self.cone.separate, len(self.prior), int(z))
        keep = np.flatnonzero(~silent)
        if len(keep) == len(self.prior):
            return self
        cone = Cone(self.cone.rows[:, keep], _restricted(self.cone.separate, keep, len(self.prior)))
        target = np.unique(self.target[keep], return_inverse=True)[1]
        return Splitting(self.prior[keep], target, cone, self.utility, letters=self.letters[keep], size=self.size)

    @cached_property
    def target_prior(self) -> Floats:
        """p_T"""
        return np.asarray(np.bincount(self.target, weights=self.prior), dtype=np.float64)

    @cached_property
    def one_to_one(self) -> bool:
        """Whether T = Z, so that a row is its own marginal."""
        return bool(np.array_equal(self.target, np.arange(len(self.prior))))

    @cached_property
    def given_target(self) -> Floats:
        """p(z | f(z)), zero where the target has no mass."""
        mass = self.target_prior[self.target]
        return np.divide(self.prior, mass, out=np.zeros_like(self.prior), where=mass > 0)

    @cached_property
    def _averaging(self) -> sparse.csr_array:
        n = len(self.prior)
        return sparse.csr_array((self.given_target, (np.arange(n), self.target)), shape=(n, len(self.target_prior)))

    def marginals(self, rows: Floats) -> Floats:
        """w_t = Σ_{f(z)=t} p(z|t) v_z for every row v."""
        if self.one_to_one:
            return rows
        return np.asarray(rows @ self._averaging)

    def values(self, rows: Floats) -> Floats:
        """μ(v) for every row v."""
        return self.utility.values(self.marginals(rows), self.target_prior)

    @cached_property
    def disclosures(self) -> tuple[Floats, Floats]:
        """p_t and μ(e_t / p_t) of every target that occurs: the rows that publish T itself.

        μ is convex, so no row is worth more than the largest of them, and no mechanism more than Σ_t p_t μ(e_t / p_t).
        """
        p = self.target_prior[self.target_prior > 0]
        return p, np.array([float(self.utility.values(row[None, :], p)[0]) for row in _diagonal(1 / p)])

    def gradients(self, rows: Floats) -> Floats:
        """A subgradient of μ at every row v, over the input letters."""
        slopes = self.utility.gradient(self.marginals(rows), self.target_prior)
        return np.asarray(slopes[:, self.target] * self.given_target)


@dataclass(frozen=True, eq=False)
class Split:
    """Permitted rows with weights that split the prior, their value, and a proven bound on every other split.

    `status` is "optimal", or why the search ended before that: "gap", "time limit", "interrupted", "stalled".
    """

    rows: Floats
    weights: Floats
    value: float
    upper_bound: float
    status: str

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - self.value)

    def is_optimal(self, tolerance: float = 1e-6) -> bool:
        return self.gap <= tolerance

    def channel_matrix(self, problem: Splitting) -> Floats:
        """Q[y, z] over all letters; the letters left out of the problem get Q[y, z] = q_y."""
        weights = self.weights / self.weights.sum()
        matrix = np.repeat(weights[:, None], problem.size, axis=1)
        matrix[:, problem.letters] = self.weights[:, None] * self.rows
        return np.asarray(matrix / matrix.sum(axis=0))


def _diagonal(entries: Floats) -> Iterator[Floats]:
    """The rows of a diagonal matrix, one at a time: the matrix itself may not fit."""
    for i, entry in enumerate(entries):
        row = np.zeros(len(entries))
        row[i] = entry
        yield row


def _weighed(separate: Callable[[Floats], Floats], size: int, z: int) -> bool:
    alone, others = np.zeros(size), np.ones(size)
    alone[z] = 1.0
    others[z] = 0.0
    return len(separate(alone)) > 0 or len(separate(others)) > 0


def _restricted(
    separate: Callable[[Floats], Floats] | None, keep: Indices, size: int
) -> Callable[[Floats], Floats] | None:
    if separate is None:
        return None
    found: Callable[[Floats], Floats] = separate

    def restricted(row: Floats) -> Floats:
        full = np.zeros(size)
        full[keep] = row
        return found(full)[:, keep]

    return restricted
