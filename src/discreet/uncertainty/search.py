"""The best split of the budget below order 1/2, where excess is no longer concave: branch and bound.

With t = e^{−r} the mean A_s is a minimum of affine functions, so concave in t, and the budget reads
P̂_s t_s^q + P̂_t t_t^q = constant with q = (1 − α)/α > 1: an arc that lies above its chords. On a piece of the arc the
two tangents at its ends bound A_s and −B_t, and the chord bounds the arc, so the maximum of a few linear functions on
the chord is an upper bound whose error falls with the square of the piece.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import UnfinishedError
from discreet.uncertainty.pair import Pairs

Floats = NDArray[np.float64]
RELATIVE, PIECES, ROUNDS = 1e-11, 16, 200


def global_split(pairs: Pairs, price: Floats | None) -> tuple[Floats, Floats]:
    """The best split of every pair and the proven slack; without a price the best ratio (Dinkelbach's iteration)."""
    if price is not None:
        return _search(pairs, price)
    low, high = pairs.interval()
    split, slack = (low + high) / 2, np.zeros(len(pairs))
    todo = np.arange(len(pairs))
    for _ in range(ROUNDS):
        part = pairs.take(todo)
        rise = part.rise(split[todo]).value
        ratio = rise / part.fall(split[todo]).value
        better, slack[todo] = _search(part, ratio)
        gain = part.rise(better).value - ratio * part.fall(better).value
        settled = gain <= 10 * RELATIVE * rise
        slack[todo[settled]] += np.maximum(gain[settled], 0.0)
        split[todo[~settled]] = better[~settled]
        todo = todo[~settled]
        if len(todo) == 0:
            return split, slack
    raise UnfinishedError("the worst split of the budget was not found", where=f"order {pairs.ball.order}")


def _search(pairs: Pairs, price: Floats) -> tuple[Floats, Floats]:
    """max over x of A_s(x) − price · B_t(κ − x) for every pair, to a relative accuracy, with its proven slack."""
    low, high = pairs.interval()
    cuts = low[:, None] + (high - low)[:, None] * np.sin(np.linspace(0, np.pi / 2, PIECES + 1)) ** 2
    left, right = cuts[:, :-1].ravel(), cuts[:, 1:].ravel()
    owner = np.repeat(np.arange(len(pairs)), PIECES)
    best, split = np.full(len(pairs), -np.inf), low.copy()
    slack = RELATIVE * (pairs.rise(high).value + np.finfo(float).tiny)
    for _ in range(ROUNDS):
        value_left, value_right, bound = _pieces(pairs.take(owner), price[owner], left, right)
        for ends, values in ((left, value_left), (right, value_right)):
            np.maximum.at(best, owner, values)
            attained = values == best[owner]
            split[owner[attained]] = ends[attained]
        alive = bound > best[owner] + slack[owner]
        if not alive.any():
            return split, slack
        left, right, owner = left[alive], right[alive], owner[alive]
        if (right - left).max() <= 1e-15 * high.max():
            np.maximum.at(slack, owner, bound[alive] - best[owner])
            return split, slack
        middle = (left + right) / 2
        left, right, owner = np.r_[left, middle], np.r_[middle, right], np.r_[owner, owner]
    raise UnfinishedError("the worst split of the budget was not found", where=f"order {pairs.ball.order}")


def _pieces(pairs: Pairs, price: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
    """The excess at both ends of every piece, and an upper bound inside."""
    many = pairs.take(np.r_[np.arange(len(left)), np.arange(len(left))])
    split, price = np.r_[left, right], np.r_[price, price]
    rise, fall = many.rise(split), many.fall(split)
    t_s = np.exp(-many.ball.reach(split, many.s))
    t_t = np.exp(-many.ball.reach(many.rest(split), many.t))
    with np.errstate(divide="ignore", invalid="ignore"):
        slope_s = -np.where(t_s > 0, rise.rate / t_s, 0.0)
        slope_t = -price * np.where(t_t > 0, fall.rate / t_t, 0.0)
    value = rise.value - price * fall.value
    above = _on_chord(*(np.split(part, 2) for part in (rise.value, slope_s, t_s)))
    below = _on_chord(*(np.split(part, 2) for part in (-price * fall.value, slope_t, t_t)))
    where = np.stack([np.zeros(len(left)), np.ones(len(left)), above[4], below[4]])
    inside = (_tangents(above, where) + _tangents(below, where)).max(axis=0)
    monotone = np.split(rise.value, 2)[1] - np.split(price * fall.value, 2)[0]
    value_left, value_right = np.split(value, 2)
    return value_left, value_right, np.minimum(inside, monotone)


Chord = tuple[Floats, Floats, Floats, Floats, Floats]


def _on_chord(value: list[Floats], slope: list[Floats], t: list[Floats]) -> Chord:
    """Two tangents as functions of λ ∈ [0, 1] along the chord: values and slopes at its ends, and where they meet.
    A vertical tangent says nothing; the other one then stands alone."""
    run = t[1] - t[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (np.where(run == 0, 0.0, part * run) for part in slope)
        start, end = value[0], value[1]
        only_second, only_first = ~np.isfinite(first), ~np.isfinite(second)
        start = np.where(only_second, end - second, start)
        first = np.where(only_second, second, first)
        end, second = np.where(only_first, start + first, end), np.where(only_first, first, second)
        meet = np.where(first == second, 0.0, (end - second - start) / np.where(first == second, 1.0, first - second))
    return start, first, end, second, np.clip(meet, 0.0, 1.0)


def _tangents(chord: Chord, where: Floats) -> Floats:
    start, first, end, second, _ = chord
    return np.minimum(start + first * where, end - second * (1 - where))
