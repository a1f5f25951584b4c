"""Many pairs of secrets at once: tangents at a few common splits of the budget, shared by all pairs.

At the split x_k the tangent of h is a part that depends on (output, s) plus e^ε times one that depends on (output, t),
so 9 splits for every row replace a search for every pair. Two neighbouring tangents, mixed so that their slopes cancel,
bound h almost as well as the best one; the mixture is proven at both ends, whatever its weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.certify.integers import Integers
from discreet.certify.linear import RATIO_BITS
from discreet.certify.renyi import BUDGET_BITS, ExactBall, terms
from discreet.certify.rows import Rows, falling_multiplier, integers, rising_multiplier
from discreet.uncertainty.ball import Ball

Indices = NDArray[np.intp]
SPLITS = 8
MIX_BITS = 20
SHARED = 16


@dataclass(frozen=True, eq=False)
class Lines:
    """One side of the tangents, [row, k]: its values at the ends x = 0 and x = κ, when the tangent is taken at x_k."""

    at_zero: Integers
    at_kappa: Integers


def worthwhile(y: Indices, s: Indices, t: Indices, secrets: int) -> bool:
    """Whether the pairs share enough rows for the common splits to be cheaper."""
    rows = len(np.unique(y * secrets + s)) + len(np.unique(y * secrets + t))
    return SHARED * len(y) > rows * (SPLITS + 1)


def unproven(rows: Rows, exact: ExactBall, ball: Ball, price: int, y: Indices, s: Indices, t: Indices) -> Indices:
    """The pairs that the common splits do not prove, by position."""
    secrets = rows.exact.shape[1]
    upper_rows, upper = np.unique(y * secrets + s, return_inverse=True)
    lower_rows, lower = np.unique(y * secrets + t, return_inverse=True)
    rising = _rising(rows, exact, ball, *np.divmod(upper_rows, secrets))
    falling = _falling(rows, exact, ball, *np.divmod(lower_rows, secrets))
    k, weight = _proposal(rising, falling, price, upper, lower)
    left = np.ones(len(y), dtype=bool)
    for ends in ("at_zero", "at_kappa"):
        above, below = getattr(rising, ends), getattr(falling, ends)
        lines = [(above[upper, i] << RATIO_BITS) + price * below[lower, i] for i in (k, k + 1)]
        left &= np.asarray(weight * lines[0] + ((1 << MIX_BITS) - weight) * lines[1] <= 0, dtype=bool)
    return np.flatnonzero(~left)


def _splits(exact: ExactBall) -> Integers:
    """0 = x_0 < … < x_K = κ, symmetric, closer together near both ends where h bends most."""
    half = integers(np.sin(np.pi / 2 * np.arange(SPLITS // 2) / SPLITS) ** 2, BUDGET_BITS) * exact.budget >> BUDGET_BITS
    return np.concatenate([half, [exact.budget // 2], (exact.budget - half)[::-1]])


def _rising(rows: Rows, exact: ExactBall, ball: Ball, y: Indices, s: Indices) -> Lines:
    """ν − T_s(x_k) and its tangent."""
    y, s, spent = _repeated(exact, y, s)
    nu = rising_multiplier(rows, ball, y, s, ball.reach((spent / 2**BUDGET_BITS).astype(float), s))
    found = terms(exact, s, nu[:, None] - rows.exact[y, s], spent, rows.unit)
    value = nu - found.low
    return _lines(value - found.fall_low(spent), value + found.fall_high(exact.budget - spent))


def _falling(rows: Rows, exact: ExactBall, ball: Ball, y: Indices, t: Indices) -> Lines:
    """ν' − T_t(κ − x_k) and its tangent."""
    y, t, spent = _repeated(exact, y, t)
    rest = exact.budget - spent
    nu = falling_multiplier(rows, ball, y, t, ball.reach((rest / 2**BUDGET_BITS).astype(float), t))
    found = terms(exact, t, nu[:, None] + rows.exact[y, t], rest, rows.unit)
    value = nu - found.low
    return _lines(value + found.fall_high(spent), value - found.fall_low(rest))


def _repeated(exact: ExactBall, y: Indices, secrets: Indices) -> tuple[Indices, Indices, Integers]:
    splits = _splits(exact)
    return np.repeat(y, len(splits)), np.repeat(secrets, len(splits)), np.tile(splits, len(y))


def _lines(at_zero: Integers, at_kappa: Integers) -> Lines:
    return Lines(at_zero.reshape(-1, SPLITS + 1), at_kappa.reshape(-1, SPLITS + 1))


def _proposal(rising: Lines, falling: Lines, price: int, upper: Indices, lower: Indices) -> tuple[Indices, Integers]:
    """For every pair two neighbouring tangents k, k + 1 and the weight of the first, found in floats."""
    factor = price / 2.0**RATIO_BITS
    ends = [
        above.astype(float)[upper] + factor * below.astype(float)[lower]
        for above, below in ((rising.at_zero, falling.at_zero), (rising.at_kappa, falling.at_kappa))
    ]
    slope = ends[1] - ends[0]
    first, second = slope[:, :-1], slope[:, 1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(np.nan_to_num(-second / (first - second), nan=0.5), 0.0, 1.0)
    bound = np.maximum(*(share * end[:, :-1] + (1 - share) * end[:, 1:] for end in ends))
    k = bound.argmin(axis=1)
    return k, integers(share[np.arange(len(k)), k], MIX_BITS)
