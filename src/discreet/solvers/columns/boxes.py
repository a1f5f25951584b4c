"""Branch and bound over boxes of target posteriors, compiled: one box at a time, deep before wide (theory 1.4).

A box of target posteriors π_t = p_t w_t is made smaller by what the conditions imply, every p_t h(w_t) is replaced by
its chord, a linear program is solved from wherever the last one ended, and its multipliers bound the box by weak
duality. What reduced costs alone rule out is cut off, and the rest is cut in two.

With an average at a price λ, a row loses λ Σ_s τ_s ln(τ_s/p_s), τ_s = P(s|y): concave, and never cut (theory 8.2). It
is replaced by its tangent at an anchor, any row at all, which comes nearer to the best of the relaxed box with every
program (`anchors`) and is inherited by the boxes that come out of it.

A proof rests on `implications.shrink`, `_chords`, `_tangent`, `_bound` and `_price_out` alone: a wrong point or wrong
multipliers cost time, and a bound that is not a number leaves the box as it was.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.compiling import compiled
from discreet.solvers.columns.anchors import MOST_TURNS, RULED_OUT, TURNS, approach, hull_of, into_the_box
from discreet.solvers.columns.implications import NEARLY, Implications, shrink
from discreet.solvers.columns.simplex import copy, dictionary_at, optimise, places, refreshed

ROUNDING = 1e-11
"""Added to every bound: far above the rounding of a sum of a few thousand terms of order one."""
TOUCHING = 1e-13
"""Where no chord is further from h than this, cutting does not help."""
NEARER = 1e-10
"""A box that cannot be cut is looked at again while its tangent lowers the bound by more than this."""
FLOOR = 1e-9
"""A linear program is left once it is this far below what is worth looking for."""


class SearchSpace(NamedTuple):
    """What the boxes of a search have in common; x, R, σ as in `body`.

    `low` and `high` bound (x, R x); a box bounds π_t, found there at `place[t]` (−1: nowhere, the letter has no mass).
    `shares[t, z]` = P(t|z) where T is a task, otherwise it has no lines. `secrets[s, z]` = P(s|z) where an average over
    the secrets has the price `price`, and `odds[s]` = p_s; otherwise they have no lines.
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
    shares: Floats
    secrets: Floats
    odds: Floats
    price: float
    halt: NDArray[np.bool_]


class Boxes(NamedTuple):
    """Boxes with bounds that are known to hold in them, and the anchors of tangents (of no letters without any)."""

    lower: Floats
    upper: Floats
    bounds: Floats
    anchors: Floats


@compiled(nogil=True)
def explore(h, area, state, given, dive, threshold, forget, left, points, gains):  # type: ignore[no-untyped-def]
    """Look at each of the `given` boxes and, deep before wide, at `dive` − 1 boxes that come out of it.

    A box is cut in two while its bound is above `threshold`, and forgotten once it is no more than `forget`. The others
    go to `left`: the first answer says how many. The second is the largest bound of a box that cannot be cut, the third
    the number of boxes that were bounded. Points of linear programs are noted with their gains where the box is cut.
    """
    (m, n), t = area.rows.shape, len(area.mass)
    concave = len(area.odds) > 0
    width = given.anchors.shape[1]
    stack = Boxes(np.empty((dive + 1, t)), np.empty((dive + 1, t)), np.empty(dive + 1), np.empty((dive + 1, width)))
    lower, upper, bounds, anchors = stack
    odds, hull, turns = np.empty(len(area.odds)), hull_of(len(area.odds), width), MOST_TURNS if concave else 1
    low, high, cost, slopes, offsets = area.low.copy(), area.high.copy(), np.empty(n), np.empty(t), np.empty(t)
    price, rest, posterior, misses, cheapest = np.empty(m), np.empty(n), np.empty(t), np.empty(t), np.empty(t)
    kept, is_kept = places(dive + 1, m, n), np.zeros(dive + 1, np.bool_)
    local = dictionary_at(kept, dive)
    copy(state, local)
    size, looked, solved, stuck = 0, 0, 0, -np.inf
    for b in range(len(given.bounds)):
        _put(stack, 0, given.lower[b], given.upper[b], given.bounds[b], given.anchors[b])
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
            before = bounds[top]
            for turn in range(turns):
                _program(area, ours, theirs, slopes, low, high, cost)
                whole = constant
                if concave:
                    whole += _tangent(area, anchors[top], odds, cost)
                price[:] = 0.0
                point[:] = 0.0
                refreshed(area.rows, local, area.halt)
                floor = forget - whole - FLOOR
                optimise(local, cost, low, high, floor, area.halt, point, price)
                solved += 1
                bound = _bound(area.rows, cost, price, low, high, rest) + whole
                if bound < bounds[top]:
                    bounds[top] = bound
                if not concave or bounds[top] <= forget:
                    break
                if turn == 0:
                    into_the_box(area, ours, theirs, anchors[top], point)
                relaxed = approach(area, slopes, anchors[top], point, turn, hull) + constant
                if relaxed > threshold:
                    break
                if turn >= TURNS:
                    chords = relaxed - _gain(h, area, anchors[top], posterior, misses, slopes, offsets)
                    if chords > bound - relaxed:
                        break
            if bounds[top] <= forget:
                height -= 1
                continue
            _price_out(area, ours, theirs, rest, price, bound - forget, cheapest)
            if bounds[top] <= threshold:
                height -= 1
                _put(left, size, ours, theirs, bounds[top], anchors[top])
                size += 1
                continue
            if concave:
                point[:] = anchors[top]
            gains[looked - 1] = _gain(h, area, point, posterior, misses, slopes, offsets)
            at = _widest(h, area, ours, theirs, posterior, misses)
            if at < 0 and concave and bounds[top] < before - NEARER:
                continue  # nothing to cut, but the tangent still comes nearer
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
            _put(stack, height, ours, theirs, bounds[top], anchors[top])
            if posterior[at] <= cut:
                lower[height, at] = theirs[at] = cut
            else:
                upper[height, at] = ours[at] = cut
            height += 1
        is_kept[:] = False
        for i in range(height):
            _put(left, size, lower[i], upper[i], bounds[i], anchors[i])
            size += 1
    copy(local, state)
    return size, stuck, solved


@compiled()
def _put(boxes, at, lower, upper, bound, anchor):  # type: ignore[no-untyped-def]
    boxes.bounds[at] = bound
    for z in range(len(anchor)):
        boxes.anchors[at, z] = anchor[z]
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
    if len(area.shares):
        for z in range(len(cost)):
            cost[z] = -area.alpha[z]
            for t in range(len(area.mass)):
                cost[z] += area.shares[t, z] * slopes[t]
    else:
        for z in range(len(cost)):
            cost[z] = area.massive[z] * slopes[area.target[z]] - area.alpha[z]
    for t in range(len(area.mass)):
        if area.place[t] >= 0:
            low[area.place[t]], high[area.place[t]] = lower[t], upper[t]


@compiled()
def _tangent(area, anchor, odds, cost):  # type: ignore[no-untyped-def]
    """−λ Σ_s τ_s ln(τ_s/p_s) replaced by its tangent at the anchor: added to the costs; answers what is left over.

    −h lies below each of its tangents: −τ ln(τ/p) ≤ −τ (ln(o/p) + 1) + o for every o > 0, and Σ_s τ_s = 1 on all rows.
    """
    constant = -1.0
    for s in range(len(odds)):
        o = 0.0
        for z in range(len(cost)):
            o += area.secrets[s, z] * anchor[z]
        o = max(o, RULED_OUT)
        odds[s] = o
        constant += o
        slope = area.price * np.log(o / area.odds[s])
        for z in range(len(cost)):
            cost[z] -= slope * area.secrets[s, z]
    return area.price * (constant + ROUNDING)


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
    cheapest[:] = 0.0 if len(area.shares) else -np.inf
    for z in range(n):
        if area.massive[z] > 0 and not len(area.shares):
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
        if len(area.shares):
            for t in range(len(mass)):
                posterior[t] += area.shares[t, z] * point[z]
        else:
            posterior[target[z]] += massive[z] * point[z]
        gain -= alpha[z] * point[z]
    for s in range(len(area.odds)):
        odds = 0.0
        for z in range(len(point)):
            odds += area.secrets[s, z] * point[z]
        if odds > 0:
            gain -= area.price * odds * np.log(odds / area.odds[s])
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
