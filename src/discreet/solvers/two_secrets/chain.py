"""The best split of a band for mutual information, in closed form: one walk along the sorted letters.

Letters within the band are released as they are. A letter above the upper end must share its output with lower ones, a
letter below the lower end with higher ones. Let a pair (i, j), t_i < t_j, have its average at the upper end U. Per unit
of moment moved across U it takes the masses A = 1/(U − t_i) of i and B = 1/(t_j − U) of j, and loses the entropy

    φ(A, B) = (A + B) ln(A + B) − A ln A − B ln B,      ∂²φ/∂A∂B = 1/(A + B) > 0.

So φ is supermodular, and whatever masses are to be paired at this end, pairing them in the order of t, both upwards,
is best (the north-west corner rule for Monge costs); the same holds at the lower end L. Hence a chain: start with the
lowest letter and the first letter above U, pair at U, move on from whichever is used up, and at one place change over
to pairs at L, so that the last letter below L and the highest letter are used up together. If the low letters are used
up before the high ones, letters inside the band step in, the lowest first; the other way round, the highest first.

The chain yields prices too: every pair gives an equation A β_i + B β_j = φ(A, B) for the losses β, the pair where it
changes over gives two, and a letter inside the band has β = 0. That nothing beats the chain is *not* taken on trust:
with these prices the best of all pairs is found, and that is a proof or a way to improve (`pair_generation`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.solvers.two_secrets.letter_pairs import LetterPairs, TwoSidedCone

SAME = 1e-13
"""Two letters whose determinant is so small beside its terms have one posterior, up to rounding."""


@dataclass(frozen=True, eq=False)
class Links:
    """Pairs at one end, each sharing a letter with the next: `moment` is moved across the end, A and B as above."""

    low: Indices
    high: Indices
    moment: Floats
    a: Floats
    b: Floats

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, which: slice) -> Links:
        return Links(self.low[which], self.high[which], self.moment[which], self.a[which], self.b[which])

    def turned(self) -> Links:
        return Links(self.high, self.low, self.moment, self.b, self.a)

    @property
    def pairs(self) -> LetterPairs:
        return LetterPairs(self.low, self.high, self.a / (self.a + self.b), self.b / (self.a + self.b))

    @property
    def weights(self) -> Floats:
        return self.moment * (self.a + self.b)

    def used(self, size: int) -> Floats:
        """The mass of every letter that the links take."""
        return self.pairs.used(self.weights, size)

    @property
    def losses(self) -> Floats:
        """φ(A, B)"""
        return np.asarray(self.a * np.log1p(self.b / self.a) + self.b * np.log1p(self.a / self.b))


@dataclass(frozen=True, eq=False)
class Chain:
    """Links at the upper end, then links at the lower. If there are both, they meet in one pair."""

    upper: Links
    lower: Links

    def losses(self, size: int) -> Floats:
        """β: the price of every letter in units of lost entropy, 0 where the chain does not need it."""
        beta = np.zeros(size)
        if len(self.upper) and len(self.lower):
            u, v = self.upper[-1:], self.lower[:1]
            beta[u.low[0]], beta[u.high[0]] = _solved(u.a[0], u.b[0], v.a[0], v.b[0], u.losses[0], v.losses[0])
        _propagate(self.upper[::-1], beta)
        _propagate(self.lower.turned(), beta)
        return beta


def best_chain(band: TwoSidedCone) -> Chain:
    if _surplus(band) <= 0:
        return _walked_up(band)
    mirrored = _walked_up(band.mirrored())
    return Chain(mirrored.lower.turned()[::-1], mirrored.upper.turned()[::-1])


def _surplus(band: TwoSidedCone) -> float:
    """What the low letters need at the lower end beyond what the high ones can give."""
    outside = (band.down > 0) | (band.up > 0)
    return fsum(band.prior[outside] * band.down[outside])


def _walked_up(band: TwoSidedCone) -> Chain:
    """The chain that starts at the upper end. Each link there raises the surplus; at zero it changes over."""
    order = np.argsort(band.up - band.down, kind="stable")
    low, high = order[band.down[order] > 0], order[band.up[order] > 0]
    upper = _corner(order[band.up[order] < 0], high, band.prior, -band.up, band.up)
    needed = band.down[upper.low] > 0
    rates = upper.b * -band.down[upper.high] - upper.a * band.down[upper.low]
    reached = _surplus(band) + np.cumsum(upper.moment * rates)[needed]
    if not len(reached) or (reached[-1] < 0 and not needed.all()):
        return Chain(upper, upper[:0])
    at = min(int(np.searchsorted(reached, 0.0)), len(reached) - 1)
    return _changed_over(band, upper[: len(reached)], at, low, high)


def _changed_over(band: TwoSidedCone, upper: Links, at: int, low: Indices, high: Indices) -> Chain:
    """The chain that changes over at the pair (i, j) of link `at`, or near it if rounding misplaced `at`.

    Links at the upper end are walked from below, links at the lower end from above; what both leave of i and j fixes
    how much of the pair is at either end: A x + A' y = left_i, B x + B' y = left_j. Nothing small is found by
    subtracting what is large, so this holds up for any ε.
    """
    n = len(band.prior)
    tried: set[int] = set()
    while True:
        tried.add(at)
        i, j = int(upper.low[at]), int(upper.high[at])
        open_ended = band.prior.copy()
        open_ended[[i, j]] = np.inf
        lows, highs = low[np.flatnonzero(low == i)[0] :], high[np.flatnonzero(high == j)[0] :]
        lower = _corner(lows[::-1], highs[::-1], open_ended, band.down, -band.down)[::-1]
        used = upper[:at].used(n) + lower[1:].used(n)
        left = band.prior - used
        x, y = _solved(upper.a[at], lower.a[0], upper.b[at], lower.b[0], left[i], left[j])
        step = at - 1 if x < 0 else at + 1
        if min(x, y) >= 0 or step in tried or not 0 <= step < len(upper):
            break
        at = step
    if x < 0:
        x, y = 0.0, max(0.0, min(left[i] / lower.a[0], left[j] / lower.b[0]))
    elif y < 0:
        x, y = max(0.0, min(left[i] / upper.a[at], left[j] / upper.b[at])), 0.0
    upper = replace(upper[: at + 1], moment=np.append(upper.moment[:at], x))
    return Chain(upper, replace(lower, moment=np.append(y, lower.moment[1:])))


def _corner(low: Indices, high: Indices, masses: Floats, low_unit: Floats, high_unit: Floats) -> Links:
    """The north-west corner rule: pair the first of each, move on from the one that is used up, until one side is."""
    needs, gives = (masses[low] * low_unit[low]).tolist(), (masses[high] * high_unit[high]).tolist()
    places: list[tuple[int, int]] = []
    moments: list[float] = []
    k = m = 0
    while k < len(needs) and m < len(gives):
        need, give = needs[k], gives[m]
        places.append((k, m))
        moments.append(min(need, give))
        if need <= give:
            k, gives[m] = k + 1, give - need
        else:
            m, needs[k] = m + 1, need - give
    i, j = low[[k for k, _ in places]], high[[m for _, m in places]]
    return Links(i, j, np.array(moments), 1 / low_unit[i], 1 / high_unit[j])


def _solved(a: float, b: float, c: float, d: float, r: float, s: float) -> tuple[float, float]:
    """a x + b y = r, c x + d y = s, refined; with y = 0 if both say the same, as when the two ends are one."""
    determinant = a * d - b * c
    if abs(determinant) <= SAME * abs(a * d):
        return r / a, 0.0
    x = y = 0.0
    for _ in range(3):
        r_left, s_left = r - a * x - b * y, s - c * x - d * y
        x += (r_left * d - b * s_left) / determinant
        y += (a * s_left - r_left * c) / determinant
    return x, y


def _propagate(links: Links, beta: Floats) -> None:
    """Solve A β_low + B β_high = φ link after link, the first low letter being known."""
    known = links.low[0] if len(links) else 0
    for i, j, a, b, loss in zip(links.low, links.high, links.a, links.b, links.losses, strict=True):
        if i == known:
            beta[j] = (loss - a * beta[i]) / b
        else:
            beta[i] = (loss - b * beta[j]) / a
            known = i
