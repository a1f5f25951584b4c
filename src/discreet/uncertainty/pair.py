"""The worst P in F for two secrets at once: they share one budget (theory 1.7).

For rows v_s, v_t of two secrets and a price E = e^ε,

    max over P in F of  P_{U|s}·v_s − E P_{U|t}·v_t   =   max over 0 ≤ x ≤ κ of  A_s(x) − E B_t(κ − x),

where A_s(x), B_s(x) are the largest and smallest mean of v_s over the ball that secret s gets for x of the budget.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.uncertainty.ball import Ball
from discreet.uncertainty.support import Extreme, largest, smallest

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
UNSEEN_SHARE = 1e-7


@dataclass(frozen=True, eq=False)
class Pairs:
    """Many comparisons at once: the i-th asks how far `upper[i]`, the row of secret s[i], can rise above `lower[i]`,
    the row of another secret t[i]."""

    ball: Ball
    s: Indices
    t: Indices
    upper: Floats
    lower: Floats

    def __len__(self) -> int:
        return len(self.s)

    def take(self, index: NDArray[np.intp] | NDArray[np.bool_]) -> Pairs:
        return Pairs(self.ball, self.s[index], self.t[index], self.upper[index], self.lower[index])

    def rise(self, split: Floats) -> Extreme:
        """A_s(x)"""
        return largest(self.upper, self.ball.conditional[self.s], self.ball.reach(split, self.s), self.ball.order)

    def fall(self, split: Floats) -> Extreme:
        """B_t(κ − x)"""
        reach = self.ball.reach(self.rest(split), self.t)
        return smallest(self.lower, self.ball.conditional[self.t], reach, self.ball.order)

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


def joint_witness(pairs: Pairs, i: int, split: float) -> Floats:
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
    poorer = Ball(ball.estimate, ball.order, ball.radius * (1 - UNSEEN_SHARE) if arbitrary else ball.radius)
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
