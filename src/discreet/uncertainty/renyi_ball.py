"""The Rényi ball F = {P : D_α(P̂ ‖ P) ≤ B} as a budget that the secrets share (theory 1.7), with its projections.

Write P(s, u) = w_s R_s(u) and r_s = D_α(P̂_{U|s} ‖ R_s). Choosing the best w shows that the conditionals (R_s) occur
together in F exactly when their costs fit into one budget:

    order    cost of r_s                    budget κ
    α > 1    P̂_s (e^{β r_s} − 1)           e^{β B} − 1           with β = (α − 1)/α
    α = 1    P̂_s r_s                       B
    α < 1    P̂_s (1 − e^{β r_s})           1 − e^{β B}

Spending all of κ on one secret gives the projection F_{U|s}, again a Rényi ball, of radius B_s (robust-2 Theorem 1).
A secret that was never seen costs nothing: its conditional is arbitrary. Below order 1 a secret costs at most P̂_s,
after which its conditional is arbitrary too. From the projections robust-2 takes the bounds L_{u|s} and rad_s
(Proposition 1); here they are exact for every order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from discreet.arrays import Floats, Indices
from discreet.uncertainty.extremes import Extreme, largest, smallest
from discreet.uncertainty.uncertainty import UncertaintySet

ENUMERATED = 20
"""Up to here the sets of letters are enumerated, a million of them."""
GOLDEN = (np.sqrt(5) - 1) / 2
SECTIONS = 80
"""Golden sections until the interval is a 1e-16th of what it was."""
ROUNDING = 1e-12
"""What sums of doubles may add to a divergence that is exactly the radius."""


@dataclass(frozen=True, eq=False)
class RenyiBall(UncertaintySet):
    """`estimate` is P̂(s, u), one row per secret."""

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
    def compared(self) -> Indices:
        """The secrets that some P in F distinguishes: all of them, except that a single point knows only the seen."""
        return np.flatnonzero(self.mass > 0) if self.radius == 0 else np.arange(len(self.mass))

    @cached_property
    def conditional(self) -> Floats:
        """P̂_{U|s}; uniform for a secret that was never seen, where it is never used with a finite radius."""
        seen = self.mass[:, None] > 0
        return np.where(seen, self.estimate, 1 / self.estimate.shape[1]) / np.where(seen, self.mass[:, None], 1)

    @property
    def everything(self) -> bool:
        return self.radius == np.inf

    @property
    def single(self) -> bool:
        return self.radius == 0

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

    def ranges(self, rows: Floats, laws: Floats | None = None) -> tuple[Extreme, Extreme]:
        p, radii = self.conditional if laws is None else laws, self.radii
        return largest(rows, p, radii, self.order), smallest(rows, p, radii, self.order)

    def divergence(self, distribution: Floats) -> Floats:
        """D_α(P̂ ‖ P) for P(…, s, u)."""
        return renyi(self.estimate.ravel(), distribution.reshape(*distribution.shape[:-2], -1), self.order)

    def contains(self, distribution: Floats, tolerance: float = 1e-9) -> NDArray[np.bool_]:
        """Whether P lies in F, up to a relative tolerance on the radius."""
        return np.asarray(self.divergence(distribution) <= self.radius * (1 + tolerance) + ROUNDING)


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


# ---- bounds from the projections -------------------------------------------------------------------------------------


def most_mass(rho: ArrayLike, radius: ArrayLike, order: float) -> Floats:
    """max R(T) over the ball for a set T of mass ρ = P̂(T): ρ ξ₊(ρ) in robust-2 (28); 1 − e^{−r} as ρ → 0."""
    rho = np.asarray(rho, dtype=float)
    return largest(np.array([1.0, 0.0]), np.stack([rho, 1 - rho], axis=-1), radius, order).value


def least_mass(rho: ArrayLike, radius: ArrayLike, order: float) -> Floats:
    """min R(T) over the ball for a set T of mass ρ: ρ ξ₋(ρ) in robust-2 (27)."""
    rho = np.asarray(rho, dtype=float)
    return smallest(np.array([1.0, 0.0]), np.stack([rho, 1 - rho], axis=-1), radius, order).value


def lower_bounds(ball: RenyiBall) -> Floats:
    """L_{u|s} = min of R_u over F_{U|s} (robust-2 (29)), one row per secret; zero where that is the simplex."""
    if ball.estimate.shape[1] == 1:
        return np.ones(ball.estimate.shape)
    return least_mass(ball.conditional, ball.radii[:, None], ball.order)


def upper_bounds(ball: RenyiBall) -> Floats:
    """The largest R_u over F_{U|s}, one row per secret; one where the projection is the simplex."""
    if ball.estimate.shape[1] == 1:
        return np.ones(ball.estimate.shape)
    return most_mass(ball.conditional, ball.radii[:, None], ball.order)


def l1_radius(ball: RenyiBall) -> Floats:
    """rad_s = max ‖R − P̂_{U|s}‖₁ over F_{U|s} (robust-2 (30)): exact up to 20 letters, above an upper bound.

    The deviation is 2 max over T of (most mass of T) − ρ, with ρ = P̂(T|s). The set of pairs (ρ, R(T)) of a Rényi ball
    is convex, because Rényi divergence is jointly quasi-convex; so the deviation is concave in ρ, and the best T is one
    of the two whose masses are nearest to the best ρ. Without enumeration that ρ itself gives the upper bound.
    For a secret never seen every R is possible, whatever it is compared with: 2.
    """
    return np.array([_l1_radius(ball, s) for s in range(len(ball.mass))])


def _l1_radius(ball: RenyiBall, s: int) -> float:
    if ball.mass[s] == 0:
        return 0.0 if ball.radius == 0 else 2.0
    p, radius = ball.conditional[s], float(ball.radii[s])

    def deviation(rho: Floats) -> Floats:
        return 2 * (most_mass(rho, radius, ball.order) - rho)

    best = _concave_maximum(deviation, float(p.min()), 1 - float(p.min()))
    if len(p) > ENUMERATED:
        return min(2.0, float(deviation(np.array([best]))[0]) + ROUNDING)
    masses = _subset_masses(p)
    above = int(np.searchsorted(masses, best))
    nearest = masses[[max(above - 1, 0), min(above, len(masses) - 1)]]
    return float(deviation(nearest).max())


def _subset_masses(p: Floats) -> Floats:
    """The sorted masses of all sets T that are neither empty nor everything."""
    masses = np.zeros(1)
    for mass in p:
        masses = np.concatenate([masses, masses + mass])
    return np.sort(np.minimum(masses[1:-1], 1.0)) if len(p) > 1 else np.array([1.0])


def _concave_maximum(function: Callable[[Floats], Floats], low: float, high: float) -> float:
    """Golden section."""
    if high <= low:
        return low
    for _ in range(SECTIONS):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        values = function(np.array([left, right]))
        low, high = (left, high) if values[0] < values[1] else (low, right)
    return (low + high) / 2
