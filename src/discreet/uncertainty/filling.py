"""The extremes of R·v over {R : l ≤ R ≤ u, Σ R = 1}: fill greedily (theory 5.2).

Give every letter its l, then hand out what is left in descending order of v, each letter up to its u: the largest R·v.
In ascending order: the smallest. For the indicator of a set T these are R⁺(T) = min(u(T), 1 − l(Tᶜ)) and
R⁻(T) = 1 − R⁺(Tᶜ). Along a chain of sets one filling is extreme for all of them, so the extremes of a row with levels
on a chain are sums of those of its sets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats

HALVINGS = 200
"""Of the factor of `most_likely_fill`: more than the digits of a double."""


class Filled(NamedTuple):
    """The extreme value of R·v, and an R that has it."""

    value: Floats
    attained_at: Floats


def largest_fill(v: ArrayLike, lower: Floats, upper: Floats) -> Filled:
    """max R·v along the last axis; everything else broadcasts."""
    rows, low, high = np.broadcast_arrays(np.asarray(v, dtype=float), lower, upper)
    order = np.argsort(-rows, axis=-1, kind="stable")
    low, room = np.take_along_axis(low, order, -1), np.take_along_axis(high - low, order, -1)
    before = np.cumsum(room, axis=-1) - room
    left = 1 - low.sum(axis=-1, keepdims=True)
    sorted_r = low + np.clip(left - before, 0.0, room)
    filled = np.empty_like(sorted_r)
    np.put_along_axis(filled, order, sorted_r, -1)
    return Filled(np.einsum("...i,...i->...", filled, rows), filled)


def smallest_fill(v: ArrayLike, lower: Floats, upper: Floats) -> Filled:
    """min R·v along the last axis."""
    opposite = largest_fill(-np.asarray(v, dtype=float), lower, upper)
    return Filled(-opposite.value, opposite.attained_at)


def range_of_sets(lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """R⁺(T) and R⁻(T) of all 2^k sets T of letters, T as the bits of its place."""
    low, high = sums_over_sets(lower), sums_over_sets(upper)
    most = np.minimum(high, 1 - (low[-1] - low))
    least = np.maximum(low, 1 - (high[-1] - high))
    most[0] = least[0] = 0.0
    most[-1] = least[-1] = 1.0
    return most, least


def sums_over_sets(values: Floats) -> Floats:
    """Σ over T of the values, for all 2^k sets T."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums, sums + value])
    return sums


def most_likely_fill(counts: Floats, lower: Floats, upper: Floats) -> Floats:
    """The R of the set nearest to what was counted: counts scaled by one factor and cut at the limits, one row each.

    R = clip(λ · counts, l, u) with Σ R = 1; the sum rises with λ from Σ l to at most Σ u. Where that is not enough the
    letters below their upper limit take the rest in equal shares of their room.
    """
    rows = np.maximum(np.asarray(counts, dtype=float), 0.0)
    low_factor = np.zeros(rows.shape[:-1])
    positive = np.where(rows > 0, rows, np.inf).min(axis=-1, initial=np.inf)
    high_factor = np.where(np.isfinite(positive), 2.0 / np.maximum(positive, np.finfo(float).tiny), 1.0)
    for _ in range(HALVINGS):
        middle = (low_factor + high_factor) / 2
        enough = np.clip(middle[..., None] * rows, lower, upper).sum(axis=-1) >= 1
        low_factor, high_factor = np.where(enough, low_factor, middle), np.where(enough, middle, high_factor)
    found = np.clip(high_factor[..., None] * rows, lower, upper)
    missing = 1 - found.sum(axis=-1, keepdims=True)
    room = np.where(missing > 0, upper - found, found - lower)
    total = room.sum(axis=-1, keepdims=True)
    return np.asarray(found + missing * np.divide(room, total, out=np.zeros_like(room), where=total > 0))
