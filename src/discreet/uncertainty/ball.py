"""The Rényi ball F = {P : D_α(P̂ ‖ P) ≤ B} as a budget that the secrets share (theory 1.7).

Write P(s, u) = w_s R_s(u) and r_s = D_α(P̂_{U|s} ‖ R_s). Choosing the best w shows that the conditionals (R_s) occur
together in F exactly when their costs fit into one budget:

    order    cost of r_s                    budget κ
    α > 1    P̂_s (e^{β r_s} − 1)           e^{β B} − 1           with β = (α − 1)/α
    α = 1    P̂_s r_s                       B
    α < 1    P̂_s (1 − e^{β r_s})           1 − e^{β B}

Spending all of κ on one secret gives the projection F_{U|s}, again a Rényi ball, of radius B_s (robust-2 Theorem 1).
A secret that was never seen costs nothing: its conditional is arbitrary. Below order 1 a secret costs at most P̂_s,
after which its conditional is arbitrary too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ball:
    """`estimate` is P̂(s, u), a row a secret."""

    estimate: Floats
    order: float
    radius: float

    @cached_property
    def beta(self) -> float:
        """β = (α − 1)/α, the exponent of every power mean below."""
        return 1 - 1 / self.order

    @cached_property
    def budget(self) -> float:
        """κ"""
        return abs(float(np.expm1(self.beta * self.radius))) if self.beta else self.radius

    @cached_property
    def mass(self) -> Floats:
        """P̂_s"""
        return np.asarray(self.estimate.sum(axis=1))

    @cached_property
    def compared(self) -> NDArray[np.intp]:
        """The secrets that some P in F distinguishes: all of them, except that a single point knows only the seen."""
        return np.flatnonzero(self.mass > 0) if self.radius == 0 else np.arange(len(self.mass))

    @cached_property
    def conditional(self) -> Floats:
        """P̂_{U|s}; uniform for a secret that was never seen, where it is never used with a finite radius."""
        seen = self.mass[:, None] > 0
        return np.where(seen, self.estimate, 1 / self.estimate.shape[1]) / np.where(seen, self.mass[:, None], 1)

    @cached_property
    def capacity(self) -> Floats:
        """The budget at which the conditional of each secret has become arbitrary."""
        return np.where(self.mass == 0, 0.0, self.mass if self.beta < 0 else np.inf)

    @cached_property
    def radii(self) -> Floats:
        """B_s, the radius of F_{U|s} (robust-2 (23)); infinite when the projection is the whole simplex."""
        return self.reach(np.full(len(self.mass), self.budget), np.arange(len(self.mass)))

    def reach(self, spent: ArrayLike, secret: ArrayLike) -> Floats:
        """r_s, the Rényi radius that this secret gets for a part of the budget."""
        secret = np.asarray(secret)
        mass, spent = self.mass[secret], np.asarray(spent, dtype=float)
        share = np.divide(spent, mass, out=np.full(np.broadcast(spent, mass).shape, np.inf), where=mass > 0)
        with np.errstate(divide="ignore"):
            if self.beta > 0:
                radius = np.log1p(share) / self.beta
            elif self.beta == 0:
                radius = share
            else:
                radius = np.log1p(-np.minimum(share, 1)) / self.beta
        return np.asarray(np.where(spent >= self.capacity[secret], np.inf, radius))

    def marginal_reach(self, spent: ArrayLike, secret: ArrayLike) -> Floats:
        """dr_s / d(budget)"""
        secret = np.asarray(secret)
        with np.errstate(divide="ignore"):
            if self.beta == 0:
                return np.asarray(1 / self.mass[secret] + 0 * np.asarray(spent))
            return np.asarray(1 / (abs(self.beta) * (self.mass[secret] + np.sign(self.beta) * np.asarray(spent))))

    def divergence(self, distribution: Floats) -> Floats:
        """D_α(P̂ ‖ P) for P(…, s, u)."""
        return renyi(self.estimate.ravel(), distribution.reshape(*distribution.shape[:-2], -1), self.order)

    def contains(self, distribution: Floats, tolerance: float = 1e-9) -> NDArray[np.bool_]:
        """Whether P lies in F, up to a relative tolerance on the radius."""
        return np.asarray(self.divergence(distribution) <= self.radius * (1 + tolerance) + 1e-12)


def renyi(p: Floats, q: Floats, order: float) -> Floats:
    """D_α(p ‖ q) over the last axis (robust-2 (7)); cells that p leaves empty cost nothing."""
    p, q = np.broadcast_arrays(p, q)
    with np.errstate(divide="ignore"):
        log_p, log_q = np.log(p), np.log(q)
    if order == 1:
        terms = np.subtract(log_p, log_q, out=np.zeros(p.shape), where=p > 0)
        return np.asarray((p * terms).sum(axis=-1))
    terms = np.full(p.shape, -np.inf)
    np.add(order * log_p, (1 - order) * log_q, out=terms, where=p > 0)
    return np.asarray(logsumexp(terms, axis=-1) / (order - 1))
