"""Cutting planes of the robust cone, fast and as coarse as one likes (theory 1.7).

Branch and bound asks for them at very many rows, so the pair oracle runs compiled from end to end. A tolerance leaves
out conditions that a row misses by little: the cone is then slightly too large. Bounds over it stay valid, and rows of
it are brought to level ε at the end.
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet.joint import Joint
from discreet.notions.cone import Cone, ordered_pairs
from discreet.notions.rldp import RLDP, pair_rows
from discreet.uncertainty.kernel import search_one
from discreet.uncertainty.split_kernel import balance

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
CONCAVE = 0.5
"""From this order on the split of the budget is a concave search."""
DIGITS = 7


def coarse_cone(joint: Joint, notion: RLDP, tolerance: float, deadline: float = np.inf) -> Cone:
    """The cone of the notion, without what is missed by less than the tolerance times the size of its terms.

    Linear programs come back to the same rows again and again while others are cut; those that passed are remembered.
    After the deadline (of `time.monotonic`) nothing is cut any more, which leaves bounds valid and rows worthless.
    """
    cone, ball = notion.cone(joint), notion.uncertainty.ball(joint)
    exact = cone.separate
    if exact is None:
        return cone
    compared, price = ball.compared, float(np.exp(notion.epsilon))
    first, second = (compared[part] for part in ordered_pairs(len(compared)))
    k, passed = joint.table.shape[1], set[bytes]()

    def separate(v: Floats) -> Floats:
        key = np.round(v / v.max(), DIGITS).tobytes()
        rows = cone.rows[:0] if key in passed or time.monotonic() > deadline else worst_rows(v)
        rows = rows[rows @ v > tolerance * (np.abs(rows) @ v)]
        if not len(rows):
            passed.add(key)
        return rows

    def worst_rows(v: Floats) -> Floats:
        if ball.order < CONCAVE:
            return exact(v)
        rise, fall = np.zeros((len(first), k)), np.zeros((len(first), k))
        missed = _worst(
            np.ascontiguousarray(joint.expand(v)), ball.conditional, ball.mass, ball.capacity, ball.radii, first,
            second, ball.order, ball.budget, price, tolerance, rise, fall,
        )  # fmt: skip
        return pair_rows(joint, first[missed], second[missed], rise[missed], fall[missed], price)

    return Cone(cone.rows, separate)


@njit(cache=True, error_model="numpy")
def _worst(
    rows: Floats, p: Floats, mass: Floats, capacity: Floats, radii: Floats, first: Indices, second: Indices,
    order: float, kappa: float, price: float, tolerance: float, rise: Floats, fall: Floats,
) -> NDArray[np.bool_]:  # fmt: skip
    """Which pairs miss their condition; fills the conditionals (R_s, R_t) of the worst P for those."""
    c, k = rows.shape
    most, least, scratch = np.empty(c), np.empty(c), np.empty(k)
    for s in range(c):
        most[s] = search_one(rows[s], p[s], radii[s], order, scratch)[0]
        least[s] = -search_one(-rows[s], p[s], radii[s], order, scratch)[0]
    missed = np.zeros(len(first), dtype=np.bool_)
    masses, ends, split, slope = np.empty((1, 2)), np.empty((1, 2)), np.empty(1), np.empty(1)
    for i in range(len(first)):
        s, t = first[i], second[i]
        if most[s] - price * least[t] <= tolerance * (most[s] + price * least[t]):
            continue
        missed[i] = True
        ends[0, 1] = min(kappa, capacity[s])
        ends[0, 0] = split[0] = min(max(kappa - capacity[t], 0.0), ends[0, 1])
        if ends[0, 0] < ends[0, 1]:
            masses[0, 0], masses[0, 1] = mass[s], mass[t]
            balance(
                rows[s : s + 1], rows[t : t + 1], p[s : s + 1], p[t : t + 1], masses, ends, np.full(1, price), order,
                kappa, split, slope,
            )  # fmt: skip
        search_one(rows[s], p[s], _reach(split[0], mass[s], capacity[s], order), order, rise[i])
        search_one(-rows[t], p[t], _reach(max(kappa - split[0], 0.0), mass[t], capacity[t], order), order, fall[i])
    return missed


@njit(cache=True, error_model="numpy")
def _reach(spent: float, mass: float, capacity: float, order: float) -> float:
    """The Rényi radius that a secret gets for a part of the budget, as in `Ball.reach`."""
    if spent >= capacity:
        return np.inf
    beta = 1.0 - 1.0 / order
    if beta == 0:
        return spent / mass
    return float(np.log1p((1.0 if beta > 0 else -1.0) * spent / mass) / beta)
