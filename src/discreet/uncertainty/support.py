"""The largest and smallest mean of a vector over a Rényi ball, for every order.

    max {R·v : D_α(p ‖ R) ≤ r}  =  min over ν ≥ max v of  ν − e^{−r} M_β(ν − v; p),        β = (α − 1)/α,

with M_β the power mean under p (the geometric mean at order 1). "≤" is Hölder's inequality, so *every* ν gives a valid
upper bound and rounding in the search for the best one can only lose utility, never privacy. The maximiser is
R_u = p_u e^{−r} (M_β / (ν − v_u))^{1−β}; what is missing to one goes to the largest cell, which happens only when that
cell is empty under p (or, below order 1, when the ball reaches the faces of the simplex).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.uncertainty.roots import falling_root

Floats = NDArray[np.float64]
WIDEST, NARROWEST = 21.0, -300.0


@dataclass(frozen=True, eq=False)
class Extreme:
    """max or min of R·v: its value, the R that attains it, and the rate |d value / dr| at which the radius buys it."""

    value: Floats
    attained_at: Floats
    rate: Floats


def largest(v: ArrayLike, p: ArrayLike, radius: ArrayLike, order: float) -> Extreme:
    """max R·v over {D_α(p ‖ R) ≤ radius}; v, p over the last axis, everything broadcast."""
    v, p, radius = np.asarray(v, dtype=float), np.asarray(p, dtype=float), np.asarray(radius, dtype=float)
    shape = np.broadcast_shapes(v.shape, p.shape, (*radius.shape, 1))
    v, p = np.broadcast_to(v, shape), np.broadcast_to(p, shape)
    radius = np.broadcast_to(radius, shape[:-1])
    mean, top = (p * v).sum(axis=-1), v.max(axis=-1)
    flat = top - v.min(axis=-1) <= 1e-15 * np.abs(v).max(axis=-1)
    bounded = ~flat & (radius > 0) & (radius < np.inf)
    value = np.where(flat | (radius == np.inf), top, mean)
    rate = np.where(radius == 0, np.inf, 0.0)
    rate[flat] = 0.0
    attained = np.where((radius == np.inf)[..., None], _at_top(v, np.ones(shape[:-1])), p)
    closed_form = bounded & two_valued(v) if order == 2 else np.zeros_like(bounded)
    for chosen, solve in ((closed_form, _two_level), (bounded & ~closed_form, partial(_bounded, order=order))):
        if chosen.any():
            inner = solve(v[chosen], p[chosen], radius[chosen])
            value[chosen], attained[chosen], rate[chosen] = inner.value, inner.attained_at, inner.rate
    return Extreme(value, attained, rate)


def smallest(v: ArrayLike, p: ArrayLike, radius: ArrayLike, order: float) -> Extreme:
    """min R·v over {D_α(p ‖ R) ≤ radius}"""
    mirrored = largest(-np.asarray(v, dtype=float), p, radius, order)
    return Extreme(-mirrored.value, mirrored.attained_at, mirrored.rate)


def two_valued(v: Floats) -> NDArray[np.bool_]:
    """Which rows take two values only."""
    return np.asarray(((v == v.max(axis=-1, keepdims=True)) | (v == v.min(axis=-1, keepdims=True))).all(axis=-1))


def _two_level(v: Floats, p: Floats, radius: Floats) -> Extreme:
    """Order 2, v with two values, the larger one on a set T of mass ρ: the largest R(T) is ρ ξ₊(ρ), robust-2 (32).

    With g = e^r − 1 and h = g + 4ρ(1 − ρ) it exceeds ρ by (√(gh) − (2ρ − 1) g) / 2e^r.
    """
    top, bottom = v.max(axis=-1), v.min(axis=-1)
    high = v == top[:, None]
    rho = np.minimum(np.where(high, p, 0.0).sum(axis=-1), 1.0)
    g, grown = np.expm1(radius), np.exp(radius)
    h, tilt = g + 4 * rho * (1 - rho), 2 * rho - 1
    root = np.sqrt(g) * np.sqrt(h)
    mass = np.clip(rho + (root - tilt * g) / (2 * grown), rho, 1.0)
    rate = ((g + h) / (2 * root) - (root + tilt) / grown) / 2
    inside, outside = (
        np.divide(m, r, out=np.zeros_like(m), where=r > 0) for m, r in ((mass, rho), (1 - mass, 1 - rho))
    )
    attained = p * np.where(high, inside[:, None], outside[:, None])
    attained += _at_top(v, 1 - attained.sum(axis=-1))
    return Extreme(bottom + (top - bottom) * mass, attained, (top - bottom) * np.maximum(rate, 0.0))


def _bounded(v: Floats, p: Floats, radius: Floats, order: float) -> Extreme:
    """The one-dimensional search, over ν = max v + e^t (max v − min v), for vectors (i, u) and radii (i)."""
    beta = 1 - 1 / order
    mean, top = (p * v).sum(axis=-1), v.max(axis=-1)
    scale = top - v.min(axis=-1)
    below, centre = (top[:, None] - v) / scale[:, None], (top - mean) / scale
    live = p > 0

    def logs(t: Floats) -> tuple[Floats, Floats]:
        """ν − (mean of v), and ln((ν − v) / (ν − mean)), in units of the range of v."""
        gap = np.exp(t)
        nu = gap + centre
        ratio = (gap[:, None] + below) / nu[:, None]
        deviation = (below - centre[:, None]) / nu[:, None]
        exact = np.where(ratio < 0.5, np.log(ratio), np.log1p(np.maximum(deviation, -0.75)))
        return nu, np.where(live, exact, 0.0)

    def log_mean(exponent: float, log_ratio: Floats) -> Floats:
        if exponent == 0:
            return np.asarray((p * log_ratio).sum(axis=-1))
        return np.asarray(np.log1p((p * np.expm1(exponent * log_ratio)).sum(axis=-1)) / exponent)

    def slope(t: Floats) -> Floats:
        """−d(dual value)/dν up to sign and scale: e^{−r} (M_β/M_{β−1})^{1−β} − 1, on a logarithmic scale."""
        _, log_ratio = logs(t)
        apart = log_mean(beta, log_ratio) - log_mean(beta - 1, log_ratio)
        return np.log(np.maximum(apart, 1e-300)) - np.log(order * radius)

    low = np.full(len(v), NARROWEST * min(1.0, order))
    t = falling_root(slope, low, np.full(len(v), WIDEST))
    nu, log_ratio = logs(t)
    log_power_mean = log_mean(beta, log_ratio)
    value = mean - scale * nu * np.expm1(log_power_mean - radius)
    weights = p * np.exp(-radius[:, None] + (1 - beta) * (log_power_mean[:, None] - log_ratio))
    total = weights.sum(axis=-1)
    weights /= np.maximum(total, 1.0)[:, None]
    attained = weights + _at_top(v, 1 - weights.sum(axis=-1))
    return Extreme(np.minimum(value, top), attained, scale * nu * np.exp(log_power_mean - radius))


def _at_top(v: Floats, mass: Floats) -> Floats:
    """This mass on the largest cell of v."""
    placed = np.zeros(v.shape)
    np.put_along_axis(placed, v.argmax(axis=-1)[..., None], mass[..., None], axis=-1)
    return placed
