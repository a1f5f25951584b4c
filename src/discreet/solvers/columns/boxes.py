"""What linear conditions imply for a box: each letter is bounded by what a condition leaves for it.

Branch and bound over boxes of target posteriors, compiled: one box at a time, deep before wide (theory 1.4).

A box of target posteriors π_t = p_t w_t is made smaller by what the conditions imply, every p_t h(w_t) is replaced by
its chord, a linear program is solved from wherever the last one ended, and its multipliers bound the box by weak
duality. What reduced costs alone rule out is cut off, and the rest is cut in two.

A proof rests on `implied.shrink`, `_chords`, `_bound` and `_price_out` alone: a wrong point or wrong multipliers cost
time, and a bound that is not a number leaves the box as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiling import compiled
from discreet.solvers.columns.simplex import copy, dictionary_at, optimise, places, refreshed

NEARLY, TINY = 1e-12, 1e-9


class Implications(NamedTuple):
    """Conditions Σ_k a_k x_k ≤ high by their entries other than zero: the positive ones first, up to `middles`."""

    starts: Integers
    middles: Integers
    columns: Integers
    entries: Floats
    inverses: Floats
    high: Floats


def implications(rows: Floats, low: Floats, high: Floats) -> Implications:
    """What low ≤ rows·x ≤ high says for x in [0, 1]; entries too small to imply anything loosen the limits instead."""
    rows, high = np.vstack([rows, -rows]), np.concatenate([high, -low])
    large = np.abs(rows) > TINY
    high = high + np.where(large, 0.0, np.abs(rows)).sum(axis=1)
    rows = np.where(large, rows, 0.0)
    telling = np.maximum(rows, 0.0).sum(axis=1) > high
    rows, high = rows[telling], high[telling]
    order = np.argsort(np.where(rows > 0, 0, np.where(rows < 0, 1, 2)), axis=1, kind="stable")
    sizes, positive = (rows != 0).sum(axis=1), (rows > 0).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    taken = np.arange(rows.shape[1]) < sizes[:, None]
    entries = np.take_along_axis(rows, order, axis=1)[taken]
    return Implications(starts, starts[:-1] + positive, order[taken].astype(np.int64), entries, 1 / entries, high)


@compiled(nogil=True)
def shrink(conditions, lower, upper):  # type: ignore[no-untyped-def]
    """A box inside [0, 1] made smaller, in place, by each condition in turn; False if nothing is left.

    A condition can only tell where less room is `left` than some letter takes up.
    """
    columns, entries, inverses = conditions.columns, conditions.entries, conditions.inverses
    for i in range(len(conditions.high)):
        start, middle, end = conditions.starts[i], conditions.middles[i], conditions.starts[i + 1]
        least, widest = 0.0, 0.0
        for e in range(start, middle):
            a, k = entries[e], columns[e]
            low = a * lower[k]
            least += low
            widest = max(widest, a * upper[k] - low)
        for e in range(middle, end):
            a, k = entries[e], columns[e]
            low = a * upper[k]
            least += low
            widest = max(widest, a * lower[k] - low)
        left = conditions.high[i] - least + NEARLY
        if left < 0:
            return False
        if left >= widest:
            continue
        for e in range(start, middle):
            k = columns[e]
            upper[k] = min(upper[k], lower[k] + left * inverses[e])
        for e in range(middle, end):
            k = columns[e]
            lower[k] = max(lower[k], upper[k] + left * inverses[e])
    return True


# ---- branch and bound over boxes of target posteriors, compiled: one box at a time, deep before wide -----------------


ROUNDING = 1e-11
"""Added to every bound: far above the rounding of a sum of a few thousand terms of order one."""
TOUCHING = 1e-13
"""Where no chord is further from h than this, cutting does not help."""
FLOOR = 1e-9
"""A linear program is left once it is this far below what is worth looking for."""


class SearchSpace(NamedTuple):
    """What the boxes of a search have in common; x, R, σ as in `body`.

    `low` and `high` bound (x, R x); a box bounds π_t, found there at `place[t]` (−1: nowhere, the letter has no mass).
    """

    rows: Floats
    low: Floats
    high: Floats
    place: Integers
    implied: Implications
    target: Integers
    massive: Floats
    mass: Floats
    alpha: Floats


class Boxes(NamedTuple):
    """Boxes with bounds that are known to hold in them."""

    lower: Floats
    upper: Floats
    bounds: Floats


@compiled(nogil=True)
def explore(h, area, state, given, dive, threshold, forget, left, points, gains):  # type: ignore[no-untyped-def]
    """Look at each of the `given` boxes and, deep before wide, at `dive` − 1 boxes that come out of it.

    A box is cut in two while its bound is above `threshold`, and forgotten once it is no more than `forget`. The others
    go to `left`: the first answer says how many. The second is the largest bound of a box that cannot be cut, the third
    the number of boxes that were bounded. Points of linear programs are noted with their gains where the box is cut.
    """
    (m, n), t = area.rows.shape, len(area.mass)
    stack = Boxes(np.empty((dive + 1, t)), np.empty((dive + 1, t)), np.empty(dive + 1))
    lower, upper, bounds = stack
    low, high, cost, slopes, offsets = area.low.copy(), area.high.copy(), np.empty(n), np.empty(t), np.empty(t)
    price, rest, posterior, misses, cheapest = np.empty(m), np.empty(n), np.empty(t), np.empty(t), np.empty(t)
    kept, is_kept = places(dive + 1, m, n), np.zeros(dive + 1, np.bool_)
    local = dictionary_at(kept, dive)
    copy(state, local)
    size, looked, solved, stuck = 0, 0, 0, -np.inf
    for b in range(len(given.bounds)):
        _put(stack, 0, given.lower[b], given.upper[b], given.bounds[b])
        height = 1
        for _ in range(dive):
            if height == 0:
                break
            top = height - 1
            ours, theirs, point = lower[top], upper[top], points[looked]
            looked += 1
            if is_kept[top]:
                copy(dictionary_at(kept, top), local)
                is_kept[top] = False
            if not shrink(area.implied, ours, theirs):
                height -= 1
                continue
            constant = _chords(h, area, ours, theirs, slopes, offsets)
            _program(area, ours, theirs, slopes, low, high, cost)
            price[:] = 0.0
            point[:] = 0.0
            refreshed(area.rows, local)
            floor = forget - constant - FLOOR
            optimise(local, cost, low, high, floor, point, price)
            solved += 1
            bound = _bound(area.rows, cost, price, low, high, rest) + constant
            if bound < bounds[top]:
                bounds[top] = bound
            if bounds[top] <= forget:
                height -= 1
                continue
            _price_out(area, ours, theirs, rest, price, bound - forget, cheapest)
            if bounds[top] <= threshold:
                height -= 1
                _put(left, size, ours, theirs, bounds[top])
                size += 1
                continue
            gains[looked - 1] = _gain(h, area, point, posterior, misses, slopes, offsets)
            at = _widest(h, area, ours, theirs, posterior, misses)
            if at < 0:
                stuck = max(stuck, bounds[top])
                height -= 1
                continue
            # The half without the point comes first: often it is ruled out, and the other is much like this box.
            # If it was not, and is cut itself, the other half will start from where the first ended.
            if top > 0 and not is_kept[top - 1]:
                copy(local, dictionary_at(kept, top - 1))
                is_kept[top - 1] = True
            cut = (posterior[at] + (ours[at] + theirs[at]) / 2) / 2
            _put(stack, height, ours, theirs, bounds[top])
            if posterior[at] <= cut:
                lower[height, at] = theirs[at] = cut
            else:
                upper[height, at] = ours[at] = cut
            height += 1
        is_kept[:] = False
        for i in range(height):
            _put(left, size, lower[i], upper[i], bounds[i])
            size += 1
    copy(local, state)
    return size, stuck, solved


@compiled()
def _put(boxes, at, lower, upper, bound):  # type: ignore[no-untyped-def]
    boxes.bounds[at] = bound
    for t in range(len(lower)):
        boxes.lower[at, t], boxes.upper[at, t] = lower[t], upper[t]


@compiled()
def _chords(h, area, lower, upper, slopes, offsets):  # type: ignore[no-untyped-def]
    """The chords of h over the box, as functions of w_t; answers the sum of their offsets."""
    constant, mass = 0.0, area.mass
    for t in range(len(mass)):
        slopes[t] = offsets[t] = 0.0
        if mass[t] > 0:
            start, end = lower[t] / mass[t], upper[t] / mass[t]
            low = h(start)
            if end > start:
                slopes[t] = (h(end) - low) / (end - start)
            offsets[t] = low - slopes[t] * start
            constant += mass[t] * offsets[t]
    return constant


@compiled()
def _program(area, lower, upper, slopes, low, high, cost):  # type: ignore[no-untyped-def]
    """The chords less α as costs of x, and the box among its bounds."""
    for z in range(len(cost)):
        cost[z] = area.massive[z] * slopes[area.target[z]] - area.alpha[z]
    for t in range(len(area.mass)):
        if area.place[t] >= 0:
            low[area.place[t]], high[area.place[t]] = lower[t], upper[t]


@compiled()
def _bound(rows, cost, price, low, high, rest):  # type: ignore[no-untyped-def]
    """Weak duality: cost·x ≤ Σ_i max of y_i r_i + Σ_z max of (cost − y·R)_z x_z over their intervals, whatever y is."""
    m, n = rows.shape
    total = ROUNDING
    for z in range(n):
        rest[z] = cost[z]
    for i in range(m):
        y = price[i]
        if y != 0.0:
            total += max(y * low[n + i], y * high[n + i])
            for z in range(n):
                rest[z] -= y * rows[i, z]
    for z in range(n):
        total += max(rest[z] * low[z], rest[z] * high[z])
    return total if np.isfinite(total) else np.inf


@compiled()
def _price_out(area, lower, upper, rest, price, slack, cheapest):  # type: ignore[no-untyped-def]
    """Take from the box the part where reduced costs alone bring the bound below the threshold.

    A row whose π_t is Δ away from the end of its interval that the reduced cost ρ prefers gains at most bound − |ρ| Δ.
    Where π_t is a sum of x_z ≥ 0, every unit of it costs at least the cheapest of theirs.
    """
    if not np.isfinite(slack):
        return
    n = len(rest)
    cheapest[:] = -np.inf
    for z in range(n):
        if area.massive[z] > 0:
            cheapest[area.target[z]] = max(cheapest[area.target[z]], rest[z])
    for t in range(len(lower)):
        if area.place[t] < 0:
            continue
        summed = area.place[t] >= n
        rho = price[area.place[t] - n] if summed else rest[area.place[t]]
        start, end = lower[t], upper[t]
        if rho < 0:
            upper[t] = max(start, min(end, start - slack / rho + NEARLY))
        elif rho > 0:
            lower[t] = min(end, max(start, end - slack / rho - NEARLY))
        if summed and cheapest[t] < 0:
            upper[t] = max(lower[t], min(upper[t], NEARLY - slack / cheapest[t]))


@compiled()
def _gain(h, area, point, posterior, misses, slopes, offsets):  # type: ignore[no-untyped-def]
    """What a point gains, its target posteriors, and how far the chords are from h there."""
    gain, mass, target, massive, alpha = 0.0, area.mass, area.target, area.massive, area.alpha
    for t in range(len(mass)):
        posterior[t] = misses[t] = 0.0
    for z in range(len(point)):
        posterior[target[z]] += massive[z] * point[z]
        gain -= alpha[z] * point[z]
    for t in range(len(mass)):
        if mass[t] > 0:
            worth = mass[t] * h(max(posterior[t], 0.0) / mass[t])
            misses[t] = slopes[t] * posterior[t] + mass[t] * offsets[t] - worth
            gain += worth
    return gain


@compiled()
def _widest(h, area, lower, upper, posterior, misses):  # type: ignore[no-untyped-def]
    """Where to cut: the wide interval around the point whose chord is far from h there, or else in the middle.

    −1 for nowhere. Where the point lies outside, the chord of what is left of the box meets h at the nearest end.
    """
    at, most, mass = -1, 0.0, area.mass
    for t in range(len(mass)):
        weight = misses[t] * (upper[t] - lower[t]) if misses[t] > TOUCHING else 0.0
        if weight > most and lower[t] < posterior[t] < upper[t]:
            at, most = t, weight
    if at >= 0:
        return at
    for t in range(len(mass)):
        posterior[t] = (lower[t] + upper[t]) / 2
        if mass[t] > 0:
            ends = h(lower[t] / mass[t]) + h(upper[t] / mass[t])
            miss = mass[t] * (ends / 2 - h(posterior[t] / mass[t]))
            if miss > TOUCHING and miss * (upper[t] - lower[t]) > most:
                at, most = t, miss * (upper[t] - lower[t])
    return at
