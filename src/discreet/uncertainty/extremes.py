"""The largest and smallest mean of a vector over a Rényi ball, for every order; compiled.

    max {R·v : D_α(p ‖ R) ≤ r}  =  min over ν ≥ max v of  ν − e^{−r} M_β(ν − v; p),        β = (α − 1)/α,

with M_β the power mean under p (the geometric mean at order 1). "≤" is Hölder's inequality, so *every* ν gives a valid
upper bound and rounding in the search for the best one can only lose utility, never privacy. The maximiser is
R_u = p_u e^{−r} (M_β / (ν − v_u))^{1−β}; what is missing to one goes to the largest cell, which happens only when that
cell is empty under p (or, below order 1, when the ball reaches the faces of the simplex).

With ν = max v + e^t (max v − min v), in units of the range of v, the minimum is where

    ln M_β(ν − v) − ln M_{β−1}(ν − v)  =  α r,

and the left side falls with t: Newton's method on its logarithm, kept inside a bracket. All power means are taken
relative to ν − mean through log1p and expm1, so that a tiny radius (ν far away) loses no digits.

Two secrets that share a budget (theory 1.7) balance where what one gains equals what the other loses. That search is
valid for orders from 1/2 on, where A_s is concave and B_t convex in what they may spend.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.compiling import compiled

WIDEST, NARROWEST, ROUNDS = 21.0, -300.0, 200
"""Bounds of t = ln of the gap in ranges of v, and of the steps; wherever the search ends, ν gives a valid bound."""
CLOSE = 1e-8
"""A Newton step this short is followed by one of its square."""
FLAT = 1e-12
"""Entries that differ by less are rounding of one: their largest is returned, which is never too small."""
SPLIT_ROUNDS, SPLIT_CLOSE = 100, 1e-12
"""Regula falsi on an angle between 0 and π/2, which is then known to its last digits."""


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
    value, rate, attained = np.empty(shape[:-1]), np.empty(shape[:-1]), np.empty(shape)
    search(
        np.array(np.broadcast_to(v, shape), order="C").reshape(-1, shape[-1]),
        np.array(np.broadcast_to(p, shape), order="C").reshape(-1, shape[-1]),
        np.array(np.broadcast_to(radius, shape[:-1]), order="C").reshape(-1),
        order,
        value.reshape(-1),
        rate.reshape(-1),
        attained.reshape(-1, shape[-1]),
    )
    return Extreme(value, attained, rate)


def smallest(v: ArrayLike, p: ArrayLike, radius: ArrayLike, order: float) -> Extreme:
    """min R·v over {D_α(p ‖ R) ≤ radius}"""
    mirrored = largest(-np.asarray(v, dtype=float), p, radius, order)
    return Extreme(-mirrored.value, mirrored.attained_at, mirrored.rate)


# ---- the search for ν ------------------------------------------------------------------------------------------------


@compiled(nogil=True)
def search(v: Floats, p: Floats, radius: Floats, order: float, value: Floats, rate: Floats, attained: Floats) -> None:
    """Fills value, rate and maximiser of every row."""
    for i in range(len(v)):
        value[i], rate[i] = search_one(v[i], p[i], radius[i], order, attained[i])


@compiled()
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


@compiled()
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


# ---- the split of a budget between two secrets -----------------------------------------------------------------------


@compiled()
def balance(
    upper: Floats, lower: Floats, p: Floats, q: Floats, masses: Floats, ends: Floats, price: Floats, order: float,
    kappa: float, split: Floats, slope: Floats,
) -> None:  # fmt: skip
    """Fills for every pair the best split between its two ends, and d(A_s − price · B_t)/dx there.

    A price that is not positive stands for the ratio A_s/B_t at the split itself: the split then maximises the ratio.
    x = low + (high − low) sin²θ removes the square-root behaviour at both ends; regula falsi (Illinois) on θ.
    """
    scratch = np.empty((2, upper.shape[1]))
    for i in range(len(upper)):
        left, right = 0.0, np.pi / 2
        f_left, f_right = np.inf, -np.inf
        theta, side, rate = np.pi / 4, 0, 0.0
        for _ in range(SPLIT_ROUNDS):
            x = ends[i, 0] + (ends[i, 1] - ends[i, 0]) * np.sin(theta) ** 2
            gain, rate = _gain(x, upper[i], lower[i], p[i], q[i], masses[i], price[i], order, kappa, scratch)
            if gain > 0:
                left, f_left = theta, gain
                f_right = f_right / 2 if side == 1 else f_right
                side = 1
            else:
                right, f_right = theta, gain
                f_left = f_left / 2 if side == -1 else f_left
                side = -1
            if gain == 0 or right - left <= SPLIT_CLOSE:
                break
            after = 0.5 * (left + right)
            if np.isfinite(f_left) and np.isfinite(f_right) and f_left > f_right:
                after = (left * f_right - right * f_left) / (f_right - f_left)
                after = min(max(after, left + 1e-3 * SPLIT_CLOSE), right - 1e-3 * SPLIT_CLOSE)
            if abs(after - theta) <= SPLIT_CLOSE:
                break
            theta = after
        split[i], slope[i] = ends[i, 0] + (ends[i, 1] - ends[i, 0]) * np.sin(theta) ** 2, rate


@compiled()
def _gain(
    x: float, upper: Floats, lower: Floats, p: Floats, q: Floats, masses: Floats, price: float, order: float,
    kappa: float, scratch: Floats,
) -> tuple[float, float]:  # fmt: skip
    """The logarithm of what s gains over what t loses, and the difference of the two."""
    most, up = _mean(upper, p, x, masses[0], order, scratch, 1.0)
    least, down = _mean(lower, q, kappa - x, masses[1], order, scratch, -1.0)
    cost = price if price > 0 else (most / least if least > 0 else np.inf)
    if up <= 0 and down <= 0:
        return 0.0, 0.0
    if up <= 0 or down == np.inf:
        return -700.0, up - cost * down
    if down <= 0 or up == np.inf:
        return 700.0, up - cost * down
    return min(max(np.log(up) - np.log(cost * down), -700.0), 700.0), up - cost * down


@compiled()
def _mean(
    v: Floats, p: Floats, spent: float, mass: float, order: float, scratch: Floats, sign: float
) -> tuple[float, float]:
    """The largest (sign 1) or smallest (sign −1) mean for a part of the budget, and its derivative's size."""
    beta = 1.0 - 1.0 / order
    for u in range(len(v)):
        scratch[0, u] = sign * v[u]
    share = spent / mass
    radius, per_budget = share, 1 / mass
    if beta < 0 and share >= 1:
        radius, per_budget = np.inf, 0.0
    elif beta != 0:
        side = 1.0 if beta > 0 else -1.0
        radius, per_budget = np.log1p(side * share) / beta, 1 / (abs(beta) * (mass + side * spent))
    value, rate = search_one(scratch[0], p, radius, order, scratch[1])
    return sign * value, rate * per_budget
