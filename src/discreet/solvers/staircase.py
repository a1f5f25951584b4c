"""The best ordinary ε-LDP mechanism on one attribute, also where 2^c subsets cannot be listed (theory 1.6).

Every extreme row of ε-LDP on S alone is a staircase: e^ε on a subset T, 1 outside (Kairouz, Oh, Viswanath 2014). With
e = e^ε, unnormalised rows r_T = 1 + (e − 1) 1_T and m = P(T) the problem is a linear program over subsets,

    maximise Σ_T θ_T G(P(T))  subject to  Σ_T θ_T r_T = 1,  θ ≥ 0,     G(m) = e ε m − (1 + (e−1) m) ln(1 + (e−1) m).

For prices α a subset gains G(P(T)) − (e−1) α(T) − Σ_s α_s. G is concave, so this is a knapsack with a concave reward.
If secrets may be taken in part, it is best to take them in the order of α_s / p_s until G' falls below that ratio:
one sort, one closed form, and at most one secret in part. That bounds all subsets; splitting at the secret taken in
part (in or out) makes it exact. The normalised row gains this divided by 1 + (e−1) m ≥ 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.alone import Floats, Relaxed

FREE, OUT, IN = -1, 0, 1
Choice = NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Staircases:
    """The permitted rows of ε-LDP on an attribute of prior p. A node says of every letter: in T, out of T, or free."""

    prior: Floats
    epsilon: float

    @property
    def step(self) -> float:
        return float(np.expm1(self.epsilon))

    def rows(self, subsets: NDArray[np.bool_]) -> Floats:
        """r_T / (1 + (e−1) P(T))"""
        return np.asarray((1 + self.step * subsets) / (1 + self.step * (subsets @ self.prior))[..., None])

    def reward(self, mass: Floats) -> Floats:
        """G(m)"""
        level = 1 + self.step * mass
        return np.asarray((1 + self.step) * self.epsilon * mass - level * np.log(level))

    def mass_at_slope(self, slope: Floats) -> Floats:
        """Where G' equals `slope`: G'(m) = e ε − (e−1)(1 + ln(1 + (e−1) m))."""
        with np.errstate(over="ignore"):
            return np.asarray(np.expm1(((1 + self.step) * self.epsilon - slope) / self.step - 1) / self.step)

    def starts(self) -> Floats:
        """Each letter against the rest, both ways."""
        one = np.eye(len(self.prior), dtype=bool)
        return self.rows(np.vstack([one, ~one]))

    def root(self) -> Choice:
        return np.full(len(self.prior), FREE, dtype=np.int8)

    def relax(self, node: Choice, prices: Floats) -> Relaxed[Choice]:
        taken, free = node == IN, np.flatnonzero(node == FREE)
        ratios = self.step * prices[free] / self.prior[free]
        by_ratio = np.argsort(ratios)
        free, ratios = free[by_ratio], ratios[by_ratio]
        mass = np.cumsum([self.prior[taken].sum(), *self.prior[free]])
        cost = np.cumsum([prices.sum() + self.step * prices[taken].sum(), *(self.step * prices[free])])
        gains = self.reward(mass) - cost
        k = int(gains.argmax())
        subset = taken.copy()
        subset[free[:k]] = True
        turning = self.mass_at_slope(ratios)
        partly = np.flatnonzero((mass[:-1] < turning) & (turning < mass[1:]))
        if not len(partly):
            return Relaxed(float(gains[k]), float(gains[k]), self.rows(subset[None, :]), None)
        j = int(partly[0])
        bound = self.reward(turning[j]) - cost[j] - ratios[j] * (turning[j] - mass[j])
        return Relaxed(float(bound), float(gains[k]), self.rows(subset[None, :]), lambda: _split(node, int(free[j])))


def _split(node: Choice, at: int) -> tuple[Choice, Choice]:
    without, including = node.copy(), node.copy()
    without[at], including[at] = OUT, IN
    return without, including
