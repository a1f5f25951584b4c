"""The compiled search for the split of the budget where the gain of one secret and the loss of the other balance.

Valid for orders from 1/2 on, where A_s is concave and B_t convex in what they may spend.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet.uncertainty.kernel import search_one

Floats = NDArray[np.float64]
ROUNDS, CLOSE = 100, 1e-12


@njit(cache=True, error_model="numpy")
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
        for _ in range(ROUNDS):
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
            if gain == 0 or right - left <= CLOSE:
                break
            after = 0.5 * (left + right)
            if np.isfinite(f_left) and np.isfinite(f_right) and f_left > f_right:
                after = (left * f_right - right * f_left) / (f_right - f_left)
                after = min(max(after, left + 1e-3 * CLOSE), right - 1e-3 * CLOSE)
            if abs(after - theta) <= CLOSE:
                break
            theta = after
        split[i], slope[i] = ends[i, 0] + (ends[i, 1] - ends[i, 0]) * np.sin(theta) ** 2, rate


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
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
