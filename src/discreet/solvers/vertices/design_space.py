"""Coordinates in which clean data has the unit matrix, and what a mechanism is worth in them (theory 6.1).

With r = √p and B orthonormal, B ⟂ r, a row is r∘v = r + B w. Then Σ q v = 1 is Σ q w = 0, the Fisher information of one
released record is W = Σ q w wᵀ (the unit matrix for clean data), and the variance of estimands C, per record, is

    ψ = tr C (M⁻¹ − p pᵀ) = tr C_w W⁻¹,    M = Σ q v vᵀ,    C_w = Bᵀ diag(r) C diag(r) B.

With C = diag(1/(a p (1 − p))) it is the mean of the design effects of all letters. A curator's rows run over (s, x) and
are judged by their averages over x: two sets of coordinates, one for the condition and one for the information.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.exceptions import DistributionError, ParameterError
from discreet.solvers.vertices.pivots import Floats

CONSISTENT = 1e-9
"""How far an averaging matrix may be from one that keeps the prior."""
SINGULAR = 1e-9
"""An eigenvalue of the estimands below this share of the largest counts as zero."""
WHOLE = 1e-3
"""Share of the mean weight that directions nobody asked for receive, so that every letter stays estimable."""


@dataclass(frozen=True, eq=False)
class DesignSpace:
    """The prior over input letters, the averaging v̄ = v·averaging (None: v̄ = v), and the estimands C over targets."""

    prior: Floats
    averaging: Floats | None
    estimands: Floats

    @cached_property
    def target_prior(self) -> Floats:
        if self.averaging is None:
            return self.prior
        found = np.linalg.lstsq(self.averaging, self.prior, rcond=None)[0]
        kept = np.abs(self.averaging @ found - self.prior).max() <= CONSISTENT
        if not kept or (found <= 0).any() or np.abs(self.averaging.sum(axis=0) - 1).max() > CONSISTENT:
            raise DistributionError(
                "the averages are not averages under the prior",
                where="averaging",
                remedy="Column t holds P(z | t) for every input letter z.",
            )
        return np.asarray(found)

    @cached_property
    def balance(self) -> Floats:
        """w = posterior·balance over the input letters: the coordinates in which a mechanism adds up to zero."""
        return np.asarray(complement(self.prior) / np.sqrt(self.prior)[:, None])

    @cached_property
    def judged(self) -> Floats:
        """w̄ = posterior·judged: the coordinates of the averages, in which information is measured."""
        if self.averaging is None:
            return self.balance
        p = self.target_prior
        return np.asarray((self.averaging * np.sqrt(p)) @ complement(p) / self.prior[:, None])

    @cached_property
    def weight(self) -> Floats:
        """C_w, with a thousandth of its mean on directions that the estimands leave out."""
        exact = self.exact_weight
        values = np.linalg.eigvalsh(exact)
        if values[0] < -SINGULAR * values[-1] or values[-1] <= 0:
            raise ParameterError(
                "the estimands are not a weighted sum of squares", where="estimands", remedy="Weights are positive."
            )
        if values[0] > SINGULAR * values[-1]:
            return exact
        return np.asarray(exact + WHOLE * np.trace(exact) / len(exact) * np.eye(len(exact)))

    @cached_property
    def exact_weight(self) -> Floats:
        p = self.target_prior
        scaled = np.sqrt(p)[:, None] * complement(p)
        found = scaled.T @ self.estimands @ scaled
        return np.asarray((found + found.T) / 2)

    @cached_property
    def clean(self) -> float:
        """ψ of clean data, which no mechanism undercuts: W ⪯ 1."""
        return float(np.trace(self.exact_weight))

    def variance(self, weights: Floats, posteriors: Floats) -> float:
        """ψ of a mechanism, infinite where W is singular."""
        moment = (posteriors @ self.judged).T * weights @ (posteriors @ self.judged)
        try:
            return float(np.trace(np.linalg.solve(moment, self.exact_weight)))
        except np.linalg.LinAlgError:
            return float("inf")


def complement(prior: Floats) -> Floats:
    """B: an orthonormal basis of what is perpendicular to √p, by one reflection."""
    axis = np.sqrt(prior / prior.sum())
    axis[-1] += 1.0
    reflection = np.eye(len(prior)) - 2.0 * np.outer(axis, axis) / (axis @ axis)
    return np.asarray(reflection[:, :-1])


def design_effects(weights: Floats, rows: Floats, prior: Floats) -> Floats:
    """(M⁻¹_xx − p_x²)/(p_x − p_x²) from the rows v alone, M = Σ q v vᵀ: the independent check."""
    moment = rows.T * weights @ rows
    inverse = np.linalg.inv(moment * np.sqrt(np.outer(prior, prior)))
    return np.asarray((prior * np.diag(inverse) - prior**2) / (prior - prior**2))
