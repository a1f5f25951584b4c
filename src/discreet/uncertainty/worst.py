"""Excess and ratio of two secrets over F, attained by a split of the budget and proven never to be exceeded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.uncertainty.pair import Pairs
from discreet.uncertainty.roots import falling_root
from discreet.uncertainty.search import global_split

Floats = NDArray[np.float64]
FLAT = 700.0


@dataclass(frozen=True, eq=False)
class Worst:
    """`value` is attained at the split x of the budget; `bound` is never exceeded by any P in F."""

    value: Floats
    bound: Floats
    split: Floats


def worst_excess(pairs: Pairs, price: float) -> Worst:
    """max over F of P_{U|s}·v_s − price · P_{U|t}·v_t"""
    prices = np.full(len(pairs), float(price))
    split, slack = _split(pairs, prices)
    low, high = pairs.interval()
    value = pairs.rise(split).value - prices * pairs.fall(split).value
    crude = pairs.rise(high).value - prices * pairs.fall(low).value
    return Worst(value, np.minimum(value + slack, np.maximum(crude, value)), split)


def worst_ratio(pairs: Pairs) -> Worst:
    """sup over F of (P_{U|s}·v_s) / (P_{U|t}·v_t): 0 where v_s vanishes, infinite where t may exclude what s allows."""
    low, high = pairs.interval()
    most, least = pairs.rise(high).value, pairs.fall(low).value
    ratio = np.where(most <= 0, 0.0, np.inf)
    worst = Worst(ratio, ratio.copy(), low + 1e-6 * np.subtract(high, low, out=np.zeros(len(low)), where=low < high))
    finite = (most > 0) & (least > 0)
    if finite.any():
        part = pairs.take(finite)
        split, slack = _split(part, None)
        value = part.rise(split).value / part.fall(split).value
        worst.value[finite] = value
        worst.bound[finite] = np.minimum(value + slack / least[finite], most[finite] / least[finite])
        worst.split[finite] = split
    return worst


def _split(pairs: Pairs, price: Floats | None) -> tuple[Floats, Floats]:
    """The best split, and how much more than its excess any other split could give. Without a price: the best ratio,
    and the excess at that ratio as the price."""
    low, high = pairs.interval()
    shared = low < high
    split, slack = low.copy(), np.zeros(len(pairs))
    if shared.any():
        search = _concave_split if pairs.ball.order >= 0.5 else global_split
        split[shared], slack[shared] = search(pairs.take(shared), None if price is None else price[shared])
    return split, slack


def _concave_split(pairs: Pairs, price: Floats | None) -> tuple[Floats, Floats]:
    """From order 1/2 on A_s is concave and B_t convex, so excess is concave and ratio quasi-concave in x.

    x = low + (high − low) sin²θ removes the square-root behaviour at both ends; the tangent at the split found bounds
    everything that a better split could still give.
    """
    low, high = pairs.interval()

    def at(theta: Floats) -> Floats:
        return np.asarray(low + (high - low) * np.sin(theta) ** 2)

    def slopes(split: Floats) -> tuple[Floats, Floats, Floats]:
        """dA/dx, dB/dx and the price in force."""
        rise, fall = pairs.rise(split), pairs.fall(split)
        with np.errstate(divide="ignore", invalid="ignore"):
            up = np.nan_to_num(rise.rate * pairs.ball.marginal_reach(split, pairs.s), nan=0.0, posinf=1e300)
            down = np.nan_to_num(fall.rate * pairs.ball.marginal_reach(pairs.rest(split), pairs.t), posinf=1e300)
            return up, down, rise.value / fall.value if price is None else price

    def falling(theta: Floats) -> Floats:
        up, down, cost = slopes(at(theta))
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.log(up) - np.log(cost * down)
        return np.asarray(np.clip(np.nan_to_num(gain, nan=0.0, posinf=FLAT, neginf=-FLAT), -FLAT, FLAT))

    theta = falling_root(falling, np.zeros(len(pairs)), np.full(len(pairs), np.pi / 2))
    split = at(theta)
    up, down, cost = slopes(split)
    rate = up - cost * down
    return split, np.maximum(rate * (high - split), 0.0) + np.maximum(-rate * (split - low), 0.0)
