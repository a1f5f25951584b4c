"""The compiled search behind `support`: min over ν ≥ max v of ν − e^{−r} M_β(ν − v; p).

With ν = max v + e^t (max v − min v), in units of the range of v, the minimum is where

    ln M_β(ν − v) − ln M_{β−1}(ν − v)  =  α r,

and the left side falls with t. Newton's method on its logarithm, kept inside a bracket. All power means are taken
relative to ν − mean through log1p and expm1, so that a tiny radius (ν far away) loses no digits.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
WIDEST, NARROWEST, ROUNDS = 21.0, -300.0, 200
CLOSE = 1e-8
"""A Newton step this short is followed by one of its square."""
FLAT = 1e-12
"""Entries that differ by less are rounding of one: their largest is returned, which is never too small."""


@njit(cache=True, nogil=True, error_model="numpy")
def search(v: Floats, p: Floats, radius: Floats, order: float, value: Floats, rate: Floats, attained: Floats) -> None:
    """Fills value, rate and maximiser of every row."""
    for i in range(len(v)):
        value[i], rate[i] = search_one(v[i], p[i], radius[i], order, attained[i])


@njit(cache=True, error_model="numpy")
def search_one(v: Floats, p: Floats, radius: float, order: float, attained: Floats) -> tuple[float, float]:
    """Value and rate of one row; fills its maximiser."""
    beta = 1.0 - 1.0 / order
    mean, top, bottom, at_top = 0.0, v[0], v[0], 0
    for u in range(len(v)):
        attained[u] = p[u]
        mean += p[u] * v[u]
        bottom = min(bottom, v[u])
        if v[u] > top:
            top, at_top = v[u], u
    scale = top - bottom
    if scale <= FLAT * max(abs(top), abs(bottom)):
        return top, 0.0
    if radius <= 0:
        return mean, np.inf
    if radius == np.inf:
        attained[:] = 0.0
        attained[at_top] = 1.0
        return top, 0.0
    centre = (top - mean) / scale
    variance, highest, lowest = 0.0, bottom, top
    for u in range(len(v)):
        if p[u] > 0:
            highest, lowest = max(highest, v[u]), min(lowest, v[u])
        variance += p[u] * ((v[u] - mean) / scale) ** 2
    if highest <= lowest:  # only an empty cell can be moved to, and ν = max v is best
        kept = np.exp(-radius) if highest < top else 1.0
        for u in range(len(v)):
            attained[u] = kept * p[u]
        attained[at_top] += 1 - kept
        return top - kept * (top - highest), kept * (top - highest)
    low, high = NARROWEST * min(1.0, order), WIDEST
    t = min(max(0.5 * np.log(max(variance / (2 * order * radius), 1e-300)), low), high)
    target = np.log(order * radius)
    for _ in range(ROUNDS):
        apart, slope, _mean = _means(v, p, np.exp(t), centre, top, scale, beta)
        miss = np.log(max(apart, 1e-300)) - target
        if miss > 0:
            low = t
        else:
            high = t
        newton = t - miss * apart / slope if slope < 0 else np.inf
        if abs(newton - t) <= CLOSE * (1 + abs(t)):
            t = newton
            break
        t = newton if low < newton < high else 0.5 * (low + high)
        if high - low <= 1e-15 * (1 + abs(t)):
            break
    gap = np.exp(t)
    nu = gap + centre
    _apart, _slope, log_mean = _means(v, p, gap, centre, top, scale, beta)
    total = 0.0
    for u in range(len(v)):
        attained[u] = 0.0
        if p[u] > 0:
            ratio = (gap + (top - v[u]) / scale) / nu
            attained[u] = p[u] * np.exp((1 - beta) * (log_mean - np.log(ratio)) - radius)
            total += attained[u]
    if total > 1:
        for u in range(len(v)):
            attained[u] /= total
    else:
        attained[at_top] += 1 - total
    value = mean - scale * nu * np.expm1(log_mean - radius)
    if np.isnan(value):  # rounding left no number; the largest entry bounds every mean
        attained[:] = p
        return top, 0.0
    return min(value, top), scale * nu * np.exp(log_mean - radius)


@njit(cache=True, error_model="numpy")
def _means(
    v: Floats, p: Floats, gap: float, centre: float, top: float, scale: float, beta: float
) -> tuple[float, float, float]:
    """ln M_β − ln M_{β−1}, its derivative by ln(gap), and ln(M_β / (ν − mean))."""
    nu = gap + centre
    first, second, third = 0.0, 0.0, 0.0
    for u in range(len(v)):
        if p[u] > 0:
            below = (top - v[u]) / scale
            ratio = (gap + below) / nu
            log_ratio = np.log(ratio) if ratio < 0.5 else np.log1p((below - centre) / nu)
            power = np.expm1((beta - 1) * log_ratio)
            first += p[u] * (np.expm1(beta * log_ratio) if beta != 0 else log_ratio)
            second += p[u] * power
            third += p[u] * (1 + power) / ratio
    log_first = np.log1p(first) / beta if beta != 0 else first
    log_second = np.log1p(second) / (beta - 1)
    below_first = 1 + first if beta != 0 else 1.0
    slope = gap / nu * ((1 + second) / below_first - third / (1 + second))
    return log_first - log_second, slope, log_first
