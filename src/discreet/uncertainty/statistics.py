"""Bounds that robust-2 takes from the projections F_{U|s}: L_{u|s} and rad_s (Proposition 1), for every order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.uncertainty.ball import Ball
from discreet.uncertainty.support import largest, smallest

Floats = NDArray[np.float64]
ENUMERATED = 20
GOLDEN = (np.sqrt(5) - 1) / 2


def most_mass(rho: ArrayLike, radius: ArrayLike, order: float) -> Floats:
    """max R(T) over the ball for a set T of mass ρ = P̂(T): ρ ξ₊(ρ) in robust-2 (28); 1 − e^{−r} as ρ → 0."""
    rho = np.asarray(rho, dtype=float)
    return largest(np.array([1.0, 0.0]), np.stack([rho, 1 - rho], axis=-1), radius, order).value


def least_mass(rho: ArrayLike, radius: ArrayLike, order: float) -> Floats:
    """min R(T) over the ball for a set T of mass ρ: ρ ξ₋(ρ) in robust-2 (27)."""
    rho = np.asarray(rho, dtype=float)
    return smallest(np.array([1.0, 0.0]), np.stack([rho, 1 - rho], axis=-1), radius, order).value


def lower_bounds(ball: Ball) -> Floats:
    """L_{u|s} = min of R_u over F_{U|s} (robust-2 (29)), a row a secret; zero where the projection is the simplex."""
    if ball.estimate.shape[1] == 1:
        return np.ones(ball.estimate.shape)
    return least_mass(ball.conditional, ball.radii[:, None], ball.order)


def upper_bounds(ball: Ball) -> Floats:
    """The largest R_u over F_{U|s}, a row a secret; one where the projection is the simplex."""
    if ball.estimate.shape[1] == 1:
        return np.ones(ball.estimate.shape)
    return most_mass(ball.conditional, ball.radii[:, None], ball.order)


def l1_radius(ball: Ball) -> Floats:
    """rad_s = max ‖R − P̂_{U|s}‖₁ over F_{U|s} (robust-2 (30)): exact up to 20 letters, above an upper bound.

    The deviation is 2 max over T of (most mass of T) − ρ, with ρ = P̂(T|s). The set of pairs (ρ, R(T)) of a Rényi ball
    is convex, because Rényi divergence is jointly quasi-convex; so the deviation is concave in ρ, and the best T is one
    of the two whose masses are nearest to the best ρ. Without enumeration that ρ itself gives the upper bound.
    For a secret never seen every R is possible, whatever it is compared with: 2.
    """
    return np.array([_l1_radius(ball, s) for s in range(len(ball.mass))])


def _l1_radius(ball: Ball, s: int) -> float:
    if ball.mass[s] == 0:
        return 0.0 if ball.radius == 0 else 2.0
    p, radius = ball.conditional[s], float(ball.radii[s])

    def deviation(rho: Floats) -> Floats:
        return 2 * (most_mass(rho, radius, ball.order) - rho)

    best = _concave_maximum(deviation, float(p.min()), 1 - float(p.min()))
    if len(p) > ENUMERATED:
        return min(2.0, float(deviation(np.array([best]))[0]) + 1e-12)
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
    for _ in range(80):
        left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        values = function(np.array([left, right]))
        low, high = (left, high) if values[0] < values[1] else (low, right)
    return (low + high) / 2
