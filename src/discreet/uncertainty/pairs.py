"""The worst P in F for two secrets at once: they share one budget (theory 1.7).

For rows v_s, v_t of two secrets and a price E = e^ε,

    max over P in F of  P_{U|s}·v_s − E P_{U|t}·v_t   =   max over 0 ≤ x ≤ κ of  A_s(x) − E B_t(κ − x),

where A_s(x), B_s(x) are the largest and smallest mean of v_s over the ball that secret s gets for x of the budget.
Excess and ratio are attained by a split of the budget and proven never to be exceeded. From order 1/2 on the excess is
concave in x, and one search finds the split. Below it is not, and branch and bound does: with t = e^{−r} the mean A_s
is a minimum of affine functions, so concave in t, and the budget reads P̂_s t_s^q + P̂_t t_t^q = constant with
q = (1 − α)/α > 1, an arc that lies above its chords. On a piece of the arc the two tangents at its ends bound A_s and
−B_t, and the chord bounds the arc, so the maximum of a few linear functions on the chord is an upper bound whose error
falls with the square of the piece.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices
from discreet.exceptions import UnfinishedError
from discreet.uncertainty.extremes import Extreme, balance, largest, smallest
from discreet.uncertainty.renyi_ball import RenyiBall

UNSEEN_SHARE = 1e-7
"""The part of the radius given up in a witness, so that a secret without mass can show its conditional."""
CONCAVE = 0.5
"""From this order on the excess is concave in the split."""
RELATIVE, PIECES, ROUNDS = 1e-11, 16, 200
"""Branch and bound: the slack that is left, relative to the values; pieces to begin with; and when to give up."""


@dataclass(frozen=True, eq=False)
class SecretPairs:
    """Many comparisons at once: the i-th asks how far `upper[i]`, the row of secret s[i], can rise above `lower[i]`,
    the row of another secret t[i]; each under a law of its letters, or of groups of them."""

    ball: RenyiBall
    s: Indices
    t: Indices
    upper: Floats
    lower: Floats
    upper_law: Floats
    lower_law: Floats

    @classmethod
    def of(
        cls, ball: RenyiBall, s: Indices, t: Indices, upper: Floats, lower: Floats,
        laws: tuple[Floats, Floats] | None = None,
    ) -> SecretPairs:  # fmt: skip
        """Rows over all letters under the conditional laws of their secrets, or over groups of them with these."""
        return cls(ball, s, t, upper, lower, *(laws or (ball.conditional[s], ball.conditional[t])))

    def __len__(self) -> int:
        return len(self.s)

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> SecretPairs:
        laws = self.upper_law[index], self.lower_law[index]
        return SecretPairs(self.ball, self.s[index], self.t[index], self.upper[index], self.lower[index], *laws)

    def rise(self, split: Floats) -> Extreme:
        """A_s(x)"""
        return largest(self.upper, self.upper_law, self.ball.reach(split, self.s), self.ball.order)

    def fall(self, split: Floats) -> Extreme:
        """B_t(κ − x)"""
        reach = self.ball.reach(self.rest(split), self.t)
        return smallest(self.lower, self.lower_law, reach, self.ball.order)

    def rest(self, split: Floats) -> Floats:
        """κ − x"""
        return (
            np.maximum(self.ball.budget - split, 0.0) if np.isfinite(self.ball.budget) else np.full_like(split, np.inf)
        )

    def interval(self) -> tuple[Floats, Floats]:
        """The splits worth considering: nobody gets more than makes its conditional arbitrary while the other can
        still use it."""
        high = np.minimum(self.ball.budget, self.ball.capacity[self.s])
        if self.ball.budget == np.inf:
            return high, high
        return np.clip(self.ball.budget - self.ball.capacity[self.t], 0.0, high), high


@dataclass(frozen=True, eq=False)
class WorstPairs:
    """`value` is attained at the split x of the budget; `bound` is never exceeded by any P in F."""

    value: Floats
    bound: Floats
    split: Floats


def worst_excess(pairs: SecretPairs, price: float) -> WorstPairs:
    """max over F of P_{U|s}·v_s − price · P_{U|t}·v_t"""
    prices = np.full(len(pairs), float(price))
    split, slack = _split(pairs, prices)
    low, high = pairs.interval()
    value = pairs.rise(split).value - prices * pairs.fall(split).value
    crude = pairs.rise(high).value - prices * pairs.fall(low).value
    return WorstPairs(value, np.minimum(value + slack, np.maximum(crude, value)), split)


def worst_ratio(pairs: SecretPairs) -> WorstPairs:
    """sup over F of (P_{U|s}·v_s) / (P_{U|t}·v_t): 0 where v_s vanishes, infinite where t may exclude what s allows."""
    low, high = pairs.interval()
    most, least = pairs.rise(high).value, pairs.fall(low).value
    ratio = np.where(most <= 0, 0.0, np.inf)
    worst = WorstPairs(
        ratio, ratio.copy(), low + 1e-6 * np.subtract(high, low, out=np.zeros(len(low)), where=low < high)
    )
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


def _split(pairs: SecretPairs, price: Floats | None) -> tuple[Floats, Floats]:
    """The best split, and how much more than its excess any other split could give. Without a price: the best ratio,
    and the excess at that ratio as the price."""
    low, high = pairs.interval()
    shared = low < high
    split, slack = low.copy(), np.zeros(len(pairs))
    if shared.any():
        search = _concave_split if pairs.ball.order >= CONCAVE else global_split
        split[shared], slack[shared] = search(pairs.take(shared), None if price is None else price[shared])
    return split, slack


def _concave_split(pairs: SecretPairs, price: Floats | None) -> tuple[Floats, Floats]:
    """From order 1/2 on A_s is concave and B_t convex, so excess is concave and ratio quasi-concave in x: the split is
    where gain and loss balance, and the tangent there bounds everything that another split could give."""
    low, high = pairs.interval()
    ball, split, slope = pairs.ball, np.empty(len(pairs)), np.empty(len(pairs))
    balance(
        np.array(pairs.upper),
        np.array(pairs.lower),
        np.array(pairs.upper_law),
        np.array(pairs.lower_law),
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


def joint_witness(pairs: SecretPairs, i: int, split: float) -> Floats:
    """A P(s, u) in F whose conditionals for the i-th pair are the worst ones at this split of the budget.

    The weights w ∝ P̂_s e^{β r_s} make the conditionals as cheap as they can be. A conditional that is arbitrary needs
    some mass to show itself; it gets a small one, paid for by shrinking the budget of the rest, since
    D_α(P̂ ‖ (1 − δ)P) = D_α(P̂ ‖ P) − ln(1 − δ).
    """
    ball, s, t = pairs.ball, int(pairs.s[i]), int(pairs.t[i])
    upper, lower = pairs.upper[i], pairs.lower[i]
    if ball.radius == np.inf:
        distribution = np.zeros(ball.estimate.shape)
        distribution[s, upper.argmax()] = distribution[t, lower.argmin()] = 0.5
        return distribution
    parts = {s: min(split, float(ball.capacity[s])), t: min(ball.budget - split, float(ball.capacity[t]))}
    arbitrary = [secret for secret, part in parts.items() if part >= ball.capacity[secret]]
    hidden = -np.expm1(-UNSEEN_SHARE * ball.radius) if arbitrary else 0.0
    poorer = RenyiBall(ball.estimate, ball.order, ball.radius * (1 - UNSEEN_SHARE) if arbitrary else ball.radius)
    payer = next((secret for secret in parts if secret not in arbitrary), s)
    parts[payer] = max(0.0, parts[payer] - max(0.0, sum(parts.values()) - poorer.budget))
    reach = {secret: ball.reach(part, secret) for secret, part in parts.items()}
    weights = ball.mass.copy()
    for secret, part in parts.items():
        weights[secret] += np.sign(ball.beta) * part
    weights /= weights.sum()
    for secret in arbitrary:
        weights *= 1 - hidden / len(arbitrary)
        weights[secret] += hidden / len(arbitrary)
    distribution = weights[:, None] * ball.conditional
    distribution[s] = weights[s] * largest(upper, ball.conditional[s], reach[s], ball.order).attained_at
    distribution[t] = weights[t] * smallest(lower, ball.conditional[t], reach[t], ball.order).attained_at
    return np.asarray(distribution)


# ---- below order 1/2 -------------------------------------------------------------------------------------------------


def global_split(pairs: SecretPairs, price: Floats | None) -> tuple[Floats, Floats]:
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


def _search(pairs: SecretPairs, price: Floats) -> tuple[Floats, Floats]:
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


def _pieces(pairs: SecretPairs, price: Floats, left: Floats, right: Floats) -> tuple[Floats, Floats, Floats]:
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
