"""Excess and ratio of two secrets over F, attained by a split of the budget and proven never to be exceeded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.uncertainty.pair import Pairs
from discreet.uncertainty.search import global_split
from discreet.uncertainty.split_kernel import balance

Floats = NDArray[np.float64]


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
        with np.errstate(over="ignore"):
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
    """From order 1/2 on A_s is concave and B_t convex, so excess is concave and ratio quasi-concave in x: the split is
    where gain and loss balance, and the tangent there bounds everything that another split could give."""
    low, high = pairs.interval()
    ball, split, slope = pairs.ball, np.empty(len(pairs)), np.empty(len(pairs))
    balance(
        np.array(pairs.upper),
        np.array(pairs.lower),
        ball.conditional[pairs.s],
        ball.conditional[pairs.t],
        np.stack([ball.mass[pairs.s], ball.mass[pairs.t]], axis=1),
        np.stack([low, high], axis=1),
        np.zeros(len(pairs)) if price is None else price,
        ball.order,
        ball.budget,
        split,
        slope,
    )
    slope = np.nan_to_num(slope, nan=np.inf, posinf=np.inf, neginf=-np.inf)
    with np.errstate(invalid="ignore"):
        ahead, behind = np.nan_to_num(slope * (high - split)), np.nan_to_num(slope * (low - split))
    return split, np.maximum(np.maximum(ahead, behind), 0.0)
