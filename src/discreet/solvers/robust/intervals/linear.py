"""The best row of one secret for a linear price, exactly and in microseconds (theory 5.5).

    maximise c·v  subject to  A(v) ≤ high,  B(v) ≥ low,  v ≥ 0,

A and B the largest and smallest R·v over l ≤ R ≤ u, Σ R = 1. A is the Lovász extension of R⁺ and B that of R⁻, so the
dual has two variables: minimise λ·high − ν·low subject to c(T) ≤ λR⁺(T) − νR⁻(T) for every set T of letters. R⁺ and −R⁻
are each the smaller of two additive functions, so the set that misses its condition most is one of four, each found
letter by letter. Two conditions hold with equality at the end; the row is a mixture of their two sets.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.compiling import compiled

MOST_SETS = 60
TIGHT = 1e-11
"""Sets of letters that become cuts of one dual before it is taken as it stands, and a cut met up to rounding."""


@compiled()
def best_row(c: Floats, lower: Floats, upper: Floats, high: float, low: float, row: Floats) -> float:
    """Fills the row, returns c·row. No more than 60 sets are asked for; the row is permitted whatever happens."""
    k = len(c)
    slack_low, slack_high = 1.0, -1.0
    for u in range(k):
        slack_low -= lower[u]
        slack_high += upper[u]
    size = 0.0
    for u in range(k):
        size += abs(c[u])
    sets = np.empty((MOST_SETS, k), dtype=np.bool_)
    most, least, gain = np.empty(MOST_SETS), np.empty(MOST_SETS), np.empty(MOST_SETS)
    sets[0, :] = True
    most[0] = least[0] = 1.0
    gain[0] = c.sum()
    count, first, second = 1, 0, -1
    # the optimum for the set of all letters alone: ν = 0 or λ = 0
    lam, nu = (gain[0], 0.0) if gain[0] > 0 else (0.0, -gain[0])
    second = -1 if gain[0] > 0 else -2
    chosen = np.empty(k, dtype=np.bool_)
    while count < MOST_SETS:
        worst, which = TIGHT * size, -1
        for option in range(4):
            total = 0.0
            if option in (1, 3):
                total -= lam * slack_low
            if option in (2, 3):
                total -= nu * slack_high
            for u in range(k):
                part = c[u]
                part -= lam * (lower[u] if option in (1, 3) else upper[u])
                part += nu * (upper[u] if option in (2, 3) else lower[u])
                if part > 0:
                    total += part
            if total > worst:
                worst, which = total, option
        if which < 0:
            break
        low_sum = high_sum = gain_sum = 0.0
        empty = True
        for u in range(k):
            part = c[u]
            part -= lam * (lower[u] if which in (1, 3) else upper[u])
            part += nu * (upper[u] if which in (2, 3) else lower[u])
            chosen[u] = part > 0
            if chosen[u]:
                empty = False
                low_sum += lower[u]
                high_sum += upper[u]
                gain_sum += c[u]
        if empty:
            break
        sets[count] = chosen
        most[count] = min(high_sum, slack_low + low_sum)
        least[count] = max(low_sum, high_sum - slack_high)
        gain[count] = gain_sum
        count += 1
        lam, nu, first, second = _on_the_last(most, least, gain, count, high, low, size)
        if first < 0:
            break
    if first < 0:
        row[:] = 0.5 * (high + low)
        return float(gain[0] * 0.5 * (high + low))
    return float(_mixed(c, sets, most, least, first, second, high, low, row))


@compiled()
def _on_the_last(
    most: Floats, least: Floats, gain: Floats, count: int, high: float, low: float, size: float
) -> tuple[float, float, int, int]:
    """The dual optimum lies on the condition that came last: λ R⁺ − ν R⁻ = c(T). A one-dimensional program over ν.

    The second of the pair is another set, −1 for ν ≥ 0, −2 for λ ≥ 0; the first is −1 if nothing is feasible."""
    last = count - 1
    up, down, worth = most[last], least[last], gain[last]
    # λ = (worth + ν down)/up; objective slope in ν: high·down/up − low
    slope = high * down / up - low
    left, left_at = 0.0, -1
    right, right_at = np.inf, -3
    if worth < 0:
        if down <= 0:
            return 0.0, 0.0, -1, -1
        left, left_at = -worth / down, -2
    for i in range(last):
        # (worth + ν down)/up · most_i − ν least_i ≥ gain_i
        a = down / up * most[i] - least[i]
        b = gain[i] - worth / up * most[i]
        if a > 1e-14:
            if b / a > left:
                left, left_at = b / a, i
        elif a < -1e-14:
            if b / a < right:
                right, right_at = b / a, i
        elif b > 1e-9 * size:
            return 0.0, 0.0, -1, -1
    if left > right * (1 + 1e-9) + 1e-12 * size:
        return 0.0, 0.0, -1, -1
    if slope >= 0:
        nu, at = left, left_at
    else:
        nu, at = right, right_at
    if at == -3 or nu == np.inf:
        return 0.0, 0.0, -1, -1
    return (worth + nu * down) / up, nu, last, at


@compiled()
def _mixed(
    c: Floats, sets: NDArray[np.bool_], most: Floats, least: Floats, first: int, second: int, high: float, low: float,
    row: Floats,
) -> float:  # fmt: skip
    """x·1_T + x'·1_T' with A = high and B = low; of a single set, as much as it may have or as little as it must."""
    x, y = 0.0, 0.0
    if second == -1:
        x = high / most[first]
    elif second == -2:
        x = low / least[first]
    else:
        det = most[first] * least[second] - most[second] * least[first]
        x = (high * least[second] - low * most[second]) / det
        y = (low * most[first] - high * least[first]) / det
    value = 0.0
    for u in range(len(c)):
        entry = 0.0
        if sets[first, u]:
            entry += x
        if second >= 0 and sets[second, u]:
            entry += y
        row[u] = max(entry, 0.0)
        value += c[u] * row[u]
    return value
