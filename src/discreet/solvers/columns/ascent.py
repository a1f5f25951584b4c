"""Climbing where an average is priced, compiled: rows that gain most nearby (theory 8.2).

The gain μ(v) − λ g(v) − α·v is neither convex nor concave, so the best rows are not vertices and linearising alone does
not end there. Pairwise steps do: weight moves from the atom of the row that is worth least to the vertex that is worth
most, as far as the gain grows along the way. Without a ceiling the vertices are the letters. What comes out is only a
good row; nothing is proven here.
"""

from __future__ import annotations

import numpy as np

from discreet.compiling import compiled
from discreet.solvers.columns.simplex import optimise, refreshed

ATOMS = 48
"""So many atoms of a row are kept apart; when they are more, the row itself is one atom."""
NUDGE = 1e-6
"""h is known by its values: its slope is taken over this share on either side."""
LEAST = 1e-9
"""Slopes at zero are taken here: −∞ would keep a letter out for ever."""
RULED_OUT = 1e-12
"""The same for the secrets of the average."""
HALVINGS = 12
GOLDEN, SECTIONS = 0.6180339887498949, 14
"""Steps are tried at halves of the longest one, then sections narrow in on the best of these."""
SETTLED = 1e-12
"""A step that gains less is the last one."""


@compiled(nogil=True)
def ascend(h, area, state, starts, steps):  # type: ignore[no-untyped-def]
    """Climb from every line of `starts` (posteriors x), in place; answers the gains."""
    gains = np.empty(len(starts))
    for i in range(len(starts)):
        gains[i] = _ascend(h, area, state, starts[i], steps)
    return gains


@compiled()
def _ascend(h, area, state, x, steps):  # type: ignore[no-untyped-def]
    (m, n), targets, c = area.rows.shape, len(area.mass), len(area.odds)
    posterior, odds, slopes = np.empty(targets), np.empty(c), np.empty(targets)
    moved, step, worth, direction = np.empty(targets), np.empty(c), np.empty(n), np.empty(n)
    atoms, weights, size = np.empty((ATOMS, n)), np.zeros(ATOMS), 1
    plain = m == 1
    atoms[0] = x
    weights[0] = 1.0
    price, point = np.empty(m), np.empty(n)
    _forms(area, x, posterior, odds)
    gain, places = _gain(h, area, x, posterior, odds), np.empty(targets, np.int64)
    for _ in range(steps):
        _worths(h, area, posterior, odds, slopes, worth)
        if plain:
            best, worst = -1, -1
            for z in range(n):
                if area.high[z] > 0 and (best < 0 or worth[z] > worth[best]):
                    best = z
                if x[z] > 0 and (worst < 0 or worth[z] < worth[worst]):
                    worst = z
            if best == worst:
                break
            direction[:] = 0.0
            direction[best], direction[worst], longest = 1.0, -1.0, x[worst]
        else:
            price[:] = 0.0
            point[:] = 0.0
            refreshed(area.rows, state, area.halt)
            optimise(state, worth, area.low, area.high, -np.inf, area.halt, point, price)
            worst, least = 0, np.inf
            for a in range(size):
                value = 0.0
                for z in range(n):
                    value += worth[z] * atoms[a, z]
                if weights[a] > 0 and value < least:
                    worst, least = a, value
            for z in range(n):
                direction[z] = point[z] - atoms[worst, z]
            longest = weights[worst]
        _forms(area, direction, moved, step)
        length, more = _longest(h, area, direction, posterior, moved, odds, step, longest, places)
        if not more > SETTLED:
            break
        gain += more
        for z in range(n):
            x[z] = max(x[z] + length * direction[z], 0.0)
        if plain and length == longest:
            x[worst] = 0.0
        if not plain:
            weights[worst] -= length
            if size == ATOMS:
                atoms[0] = x
                weights[:] = 0.0
                weights[0], size = 1.0, 1
            else:
                atoms[size] = point
                weights[size] = length
                size += 1
        _forms(area, x, posterior, odds)
    return gain


@compiled()
def _forms(area, x, posterior, odds):  # type: ignore[no-untyped-def]
    """Target posteriors and P(s|y) of x, or how they change along a direction."""
    posterior[:] = 0.0
    odds[:] = 0.0
    for z in range(len(x)):
        if x[z] == 0.0:
            continue
        if len(area.shares):
            for t in range(len(posterior)):
                posterior[t] += area.shares[t, z] * x[z]
        else:
            posterior[area.target[z]] += area.massive[z] * x[z]
        for s in range(len(odds)):
            odds[s] += area.secrets[s, z] * x[z]


@compiled()
def _worths(h, area, posterior, odds, slopes, worth):  # type: ignore[no-untyped-def]
    """The gradient of the gain, over x."""
    for t in range(len(posterior)):
        slopes[t] = 0.0
        if area.mass[t] > 0:
            w = max(posterior[t] / area.mass[t], LEAST)
            slopes[t] = (h(w * (1 + NUDGE)) - h(w * (1 - NUDGE))) / (2 * NUDGE * w)
    for z in range(len(worth)):
        worth[z] = -area.alpha[z]
        if len(area.shares):
            for t in range(len(posterior)):
                worth[z] += area.shares[t, z] * slopes[t]
        else:
            worth[z] += area.massive[z] * slopes[area.target[z]]
    for s in range(len(odds)):
        slope = area.price * np.log(max(odds[s], RULED_OUT) / area.odds[s])
        for z in range(len(worth)):
            worth[z] -= slope * area.secrets[s, z]


@compiled()
def _gain(h, area, x, posterior, odds):  # type: ignore[no-untyped-def]
    """What a row gains."""
    gain = 0.0
    for z in range(len(x)):
        gain -= area.alpha[z] * x[z]
    for t in range(len(posterior)):
        if area.mass[t] > 0:
            gain += area.mass[t] * h(max(posterior[t], 0.0) / area.mass[t])
    for s in range(len(odds)):
        if odds[s] > 0:
            gain -= area.price * odds[s] * np.log(odds[s] / area.odds[s])
    return gain


@compiled()
def _along(h, area, posterior, moved, targets, odds, step, priced, length):  # type: ignore[no-untyped-def]
    """The gain after a step of this length, but for what the step leaves as it is: only `targets` move."""
    gain = -priced * length
    for t in targets:
        gain += area.mass[t] * h(max(posterior[t] + length * moved[t], 0.0) / area.mass[t])
    for s in range(len(odds)):
        o = odds[s] + length * step[s]
        if o > 0:
            gain -= area.price * o * np.log(o / area.odds[s])
    return gain


@compiled()
def _longest(h, area, direction, posterior, moved, odds, step, longest, places):  # type: ignore[no-untyped-def]
    """The best step up to the longest one, and how much is gained by it."""
    count, priced = 0, 0.0
    for t in range(len(moved)):
        if moved[t] != 0.0 and area.mass[t] > 0:
            places[count] = t
            count += 1
    targets = places[:count]
    for z in range(len(direction)):
        priced += area.alpha[z] * direction[z]
    start = _along(h, area, posterior, moved, targets, odds, step, priced, 0.0)
    length, best = 0.0, -np.inf
    trial = longest
    for _ in range(HALVINGS):
        gain = _along(h, area, posterior, moved, targets, odds, step, priced, trial)
        if gain > best:
            length, best = trial, gain
        trial /= 2
    low, high = length / 2, min(2 * length, longest)
    first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    one = _along(h, area, posterior, moved, targets, odds, step, priced, first)
    other = _along(h, area, posterior, moved, targets, odds, step, priced, second)
    for _ in range(SECTIONS):
        if one > other:
            high, second, other = second, first, one
            first = high - GOLDEN * (high - low)
            one = _along(h, area, posterior, moved, targets, odds, step, priced, first)
        else:
            low, first, one = first, second, other
            second = low + GOLDEN * (high - low)
            other = _along(h, area, posterior, moved, targets, odds, step, priced, second)
        if max(one, other) > best:
            length, best = (first, one) if one > other else (second, other)
    return length, best - start
