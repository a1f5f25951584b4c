"""The largest and smallest mean of a vector over a Rényi ball, for every order.

    max {R·v : D_α(p ‖ R) ≤ r}  =  min over ν ≥ max v of  ν − e^{−r} M_β(ν − v; p),        β = (α − 1)/α,

with M_β the power mean under p (the geometric mean at order 1). "≤" is Hölder's inequality, so *every* ν gives a valid
upper bound and rounding in the search for the best one can only lose utility, never privacy. The maximiser is
R_u = p_u e^{−r} (M_β / (ν − v_u))^{1−β}; what is missing to one goes to the largest cell, which happens only when that
cell is empty under p (or, below order 1, when the ball reaches the faces of the simplex).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.uncertainty.kernel import search

Floats = NDArray[np.float64]


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
