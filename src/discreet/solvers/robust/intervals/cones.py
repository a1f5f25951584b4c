"""RLDP and RLIP over intervals as cones of rows, whatever the mechanism reads (theory 5.2, 5.3).

Both cones are polyhedra with very many faces; the face that a row misses most is a greedy fill away.
"""

from __future__ import annotations

import math
import time

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import compiled
from discreet.joint import Joint
from discreet.notions.notion import Cone
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.uncertainty.intervals import IntervalSet

DIGITS = 9
"""Rows that agree in so many digits are asked about once."""


def interval_cone(joint: Joint, notion: RLDP | RLIP, tolerance: float, deadline: float = math.inf) -> Cone:
    """The cone of the notion, without what is missed by less than the tolerance times the size of its terms: larger,
    never smaller. Rows that passed are remembered; after the deadline (of `time.monotonic`) nothing is cut any more."""
    price, rows_at_estimate = float(np.exp(notion.epsilon)), notion.cone(joint).rows
    known = notion.known(joint) if isinstance(notion, RLIP) else notion.uncertainty.around(joint)
    assert isinstance(known, IntervalSet)
    limits = known.limits
    letters = limits.low, limits.high, known.unmet, np.ascontiguousarray(known.estimate)
    passed: set[bytes] = set()

    def separate(v: Floats) -> Floats:
        key = np.round(v / v.max(), DIGITS).tobytes()
        if key in passed or time.monotonic() > deadline:
            return np.zeros((0, len(v)))
        expanded = np.ascontiguousarray(joint.expand(v))
        if isinstance(notion, RLIP):
            found = _missed_informed(expanded, *letters, *limits.masses, price, tolerance)
        else:
            found = _missed_pairs(expanded, *letters, price, tolerance)
        if not len(found):
            passed.add(key)
        return found.reshape(len(found), joint.table.size) if joint.reads_secret else np.asarray(found.sum(axis=1))

    return Cone(rows_at_estimate, separate)


@compiled()
def _filled(v: Floats, lower: Floats, upper: Floats, sign: float, filled: Floats) -> float:
    """The largest (sign 1) or smallest (sign −1) R·v, and its R."""
    order = np.argsort(-sign * v)
    left = 1.0 - lower.sum()
    total = 0.0
    for place in order:
        extra = min(max(left, 0.0), upper[place] - lower[place])
        left -= extra
        filled[place] = lower[place] + extra
        total += filled[place] * v[place]
    return total


@compiled()
def _extremes(
    v: Floats, lower: Floats, upper: Floats, unmet: Floats, table: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """A_s and B_s, what is left of their conditionals, and how much of each is drawn from the law of all outputs."""
    c, k = v.shape
    most, least, top, bottom = np.empty(c), np.empty(c), np.empty((c, k)), np.empty((c, k))
    up, down, law = np.zeros(c), np.zeros(c), (v * table).sum()
    for s in range(c):
        most[s] = _filled(v[s], lower[s], upper[s], 1.0, top[s])
        least[s] = _filled(v[s], lower[s], upper[s], -1.0, bottom[s])
        if law > most[s]:
            up[s] = unmet[s]
            most[s] += up[s] * (law - most[s])
            top[s] *= 1 - up[s]
        if law < least[s]:
            down[s] = unmet[s]
            least[s] += down[s] * (law - least[s])
            bottom[s] *= 1 - down[s]
    return most, least, top, bottom, up, down


@compiled()
def _missed_pairs(
    v: Floats, lower: Floats, upper: Floats, unmet: Floats, table: Floats, price: float, tolerance: float
) -> Floats:
    """R_s·v_s − e^ε R_t·v_t at the worst (R_s, R_t), for every pair that misses its condition."""
    c, k = v.shape
    most, least, top, bottom, up, down = _extremes(v, lower, upper, unmet, table)
    found, count = np.zeros((c * (c - 1), c, k)), 0
    for s in range(c):
        for t in range(c):
            if s != t and most[s] - price * least[t] > tolerance * (most[s] + price * least[t]):
                found[count, s] = top[s]
                found[count, t] = -price * bottom[t]
                found[count] += (up[s] - price * down[t]) * table
                count += 1
    return found[:count]


@compiled()
def _missed_informed(
    v: Floats,
    lower: Floats,
    upper: Floats,
    unmet: Floats,
    table: Floats,
    mass_lower: Floats,
    mass_upper: Floats,
    price: float,
    tolerance: float,
) -> Floats:
    """P(y|s) − e^ε P(y) and P(y) − e^ε P(y|s) at the worst conditionals and masses, where they miss their condition."""
    c, k = v.shape
    most, least, top, bottom, up, down = _extremes(v, lower, upper, unmet, table)
    found, count = np.zeros((2 * c, c, k)), 0
    weights, values = np.empty(c), np.empty(c)
    for s in range(c):
        values[:] = least
        values[s] = most[s]
        below = _filled(values, mass_lower, mass_upper, -1.0, weights)
        if most[s] - price * below > tolerance * (most[s] + price * below):
            drawn = up[s]
            for t in range(c):
                found[count, t] = -price * weights[t] * (top[t] if t == s else bottom[t])
                drawn -= price * weights[t] * (up[t] if t == s else down[t])
            found[count, s] += top[s]
            found[count] += drawn * table
            count += 1
        values[:] = most
        values[s] = least[s]
        above = _filled(values, mass_lower, mass_upper, 1.0, weights)
        if above - price * least[s] > tolerance * (above + price * least[s]):
            drawn = -price * down[s]
            for t in range(c):
                found[count, t] = weights[t] * (bottom[t] if t == s else top[t])
                drawn += weights[t] * (down[t] if t == s else up[t])
            found[count, s] -= price * bottom[s]
            found[count] += drawn * table
            count += 1
    return found[:count]
