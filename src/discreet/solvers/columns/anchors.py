"""Where a box takes the tangent of its average, compiled: near the best row of the relaxed box (theory 8.2).

The relaxed gain of a box, chords less the average, is concave. Every linear program gives a vertex of the box, and the
anchor becomes the best mixture of the anchor so far and of all vertices met in this box: with the last one alone
(Frank and Wolfe) hundreds of programs are needed where few letters are told apart by chords, as for a task.

Nothing rests on it: a tangent holds wherever it is taken, and a bad anchor costs time alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import compiled

RULED_OUT = 1e-12
"""The tangent of x ln x is never taken nearer to zero: that costs the price times as much."""
TURNS, MOST_TURNS = 5, 60
"""So often a tangent is moved before the box is cut instead; more often while it is further off than the chords."""
STEPS, NEWTON = 40, 8
"""Pairwise steps over the hull for one vertex more, and the search for the length of each."""
EVEN = 1e-12
"""Corners of the hull whose slopes differ by less are worth the same."""


class Hull(NamedTuple):
    """Rows met in a box: their chords' worth, P(s|y) and weights in the anchor, and room for that of the anchor."""

    rows: Floats
    worths: Floats
    odds: Floats
    weights: Floats
    mixed: Floats
    logs: Floats


@compiled()
def hull_of(secrets, letters):  # type: ignore[no-untyped-def]
    """Room for the anchor and one vertex of every turn."""
    corners = MOST_TURNS + 1
    rows, worths, odds = np.empty((corners, letters)), np.empty(corners), np.empty((corners, secrets))
    return Hull(rows, worths, odds, np.zeros(corners), np.empty(secrets), np.empty(secrets))


@compiled()
def into_the_box(area, lower, upper, anchor, point):  # type: ignore[no-untyped-def]
    """Move an inherited anchor towards a point of the box, until it lies in the box itself."""
    share = 0.0
    for t in range(len(lower)):
        if area.place[t] < 0:
            continue
        ours = theirs = 0.0
        if area.place[t] < len(anchor):
            ours, theirs = anchor[area.place[t]], point[area.place[t]]
        else:
            line = area.rows[area.place[t] - len(anchor)]
            for z in range(len(anchor)):
                ours += line[z] * anchor[z]
                theirs += line[z] * point[z]
        if ours < lower[t] and theirs > ours:
            share = max(share, min(1.0, (lower[t] - ours) / (theirs - ours)))
        elif ours > upper[t] and theirs < ours:
            share = max(share, min(1.0, (upper[t] - ours) / (theirs - ours)))
    for z in range(len(anchor)):
        anchor[z] += share * (point[z] - anchor[z])


@compiled()
def approach(area, slopes, anchor, point, turn, hull):  # type: ignore[no-untyped-def]
    """Move the anchor to the best mixture of what was met in this box; answers the relaxed gain, without its constant.

    The first corner is the anchor that the box began with, the others are the points of its linear programs.
    """
    if turn == 0:
        _put(area, slopes, anchor, hull, 0)
        hull.weights[:] = 0.0
        hull.weights[0] = 1.0
    size = turn + 2
    _put(area, slopes, point, hull, size - 1)
    _mix(hull, size)
    for _ in range(STEPS):
        best, worst, most, least = 0, 0, -np.inf, np.inf
        for s in range(len(hull.mixed)):
            hull.logs[s] = area.price * np.log(max(hull.mixed[s], RULED_OUT) / area.odds[s])
        for i in range(size):
            slope = hull.worths[i]
            for s in range(len(hull.logs)):
                slope -= hull.odds[i, s] * hull.logs[s]
            if slope > most:
                best, most = i, slope
            if hull.weights[i] > 0 and slope < least:
                worst, least = i, slope
        if most - least <= EVEN:
            break
        length = _length(area, hull, best, worst)
        hull.weights[best] += length
        hull.weights[worst] = 0.0 if length == hull.weights[worst] else hull.weights[worst] - length
        _mix(hull, size)
    anchor[:] = 0.0
    gain = 0.0
    for i in range(size):
        if hull.weights[i] > 0:
            gain += hull.weights[i] * hull.worths[i]
            for z in range(len(anchor)):
                anchor[z] += hull.weights[i] * hull.rows[i, z]
    for s in range(len(hull.mixed)):
        if hull.mixed[s] > 0:
            gain -= area.price * hull.mixed[s] * np.log(hull.mixed[s] / area.odds[s])
    return gain


@compiled()
def _put(area, slopes, row, hull, at):  # type: ignore[no-untyped-def]
    """One corner more, of no weight yet."""
    worth = 0.0
    for z in range(len(row)):
        hull.rows[at, z] = row[z]
        if len(area.shares):
            worth -= area.alpha[z] * row[z]
            for t in range(len(area.mass)):
                worth += area.shares[t, z] * slopes[t] * row[z]
        else:
            worth += (area.massive[z] * slopes[area.target[z]] - area.alpha[z]) * row[z]
    hull.worths[at], hull.weights[at] = worth, 0.0
    for s in range(len(area.odds)):
        hull.odds[at, s] = 0.0
        for z in range(len(row)):
            hull.odds[at, s] += area.secrets[s, z] * row[z]


@compiled()
def _mix(hull, size):  # type: ignore[no-untyped-def]
    """P(s|y) of the mixture."""
    hull.mixed[:] = 0.0
    for i in range(size):
        if hull.weights[i] > 0:
            for s in range(len(hull.mixed)):
                hull.mixed[s] += hull.weights[i] * hull.odds[i, s]


@compiled()
def _length(area, hull, best, worst):  # type: ignore[no-untyped-def]
    """How much weight moves from the worst corner to the best: Newton's steps between two limits that close in."""
    low, high, rise = 0.0, hull.weights[worst], hull.worths[best] - hull.worths[worst]
    length = high
    for _ in range(NEWTON):
        slope, bend = rise, 0.0
        for s in range(len(hull.mixed)):
            step = hull.odds[best, s] - hull.odds[worst, s]
            odds = max(hull.mixed[s] + length * step, RULED_OUT)
            slope -= area.price * step * np.log(odds / area.odds[s])
            bend += area.price * step * step / odds
        if slope >= 0:
            low = length
        else:
            high = length
        if low == high:
            break
        length += slope / bend if bend > 0 else 0.0
        if not low < length < high:
            length = (low + high) / 2
    return length
