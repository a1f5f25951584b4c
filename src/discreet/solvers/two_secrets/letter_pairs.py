"""Cones of one condition with two ends: what LDP and LIP are when there are two secrets (theory 1.2).

With posteriors w_x = p_x v_x the conditions of the cone are averages of one function t of the letter, t = P(s = 1 | x),
and say that the average lies between two ends. Extreme rows are single letters within the ends, and pairs of letters
whose average hits an end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices
from discreet.exceptions import ParameterError
from discreet.solvers.problem import Problem
from discreet.solvers.two_secrets.best_partners import best_partners
from discreet.utilities.utility import MutualInformation, Separable

PARALLEL = 1e-10
INSIDE = 1e-12
BLOCK_ENTRIES = 2_000_000
FEW_LETTERS = 2_000
"""Up to so many, looking at all pairs takes less than a tenth of a second and asks nothing of their order."""


@dataclass(frozen=True, eq=False)
class LetterPairs:
    """Rows of at most two letters: posterior `first` on `low`, `second` on `high` (both kept: 1 − x would lose digits).

    A single letter is a pair with itself and second = 0.
    """

    low: Indices
    high: Indices
    first: Floats
    second: Floats

    def __len__(self) -> int:
        return len(self.low)

    def __getitem__(self, which: NDArray[np.bool_] | Indices) -> LetterPairs:
        return LetterPairs(self.low[which], self.high[which], self.first[which], self.second[which])

    def average(self, of_letter: Floats) -> Floats:
        """Σ_x w_x of_letter_x for every pair (…, letters) → (…, pairs)"""
        return np.asarray(self.first * of_letter[..., self.low] + self.second * of_letter[..., self.high])

    def used(self, weights: Floats, size: int) -> Floats:
        """The mass of every letter that the pairs take."""
        by_low = np.bincount(self.low, weights * self.first, size)
        return np.asarray(by_low + np.bincount(self.high, weights * self.second, size), dtype=float)


def joined(*parts: LetterPairs) -> LetterPairs:
    return LetterPairs(
        *(np.concatenate([getattr(p, name) for p in parts]) for name in ("low", "high", "first", "second"))
    )


@dataclass(frozen=True, eq=False)
class TwoSidedCone:
    """Posteriors w with up·w ≤ 0 and down·w ≤ 0, where up and −down grow with the same t.

    `up[x]` is how far letter x lies above the upper end, in units of that condition, `down[x]` how far below the lower.
    """

    prior: Floats
    up: Floats
    down: Floats

    @property
    def inside(self) -> Indices:
        """The letters that may be released as they are."""
        return np.flatnonzero((self.up <= 0) & (self.down <= 0))

    @property
    def singles(self) -> LetterPairs:
        ones = np.ones(len(self.inside))
        return LetterPairs(self.inside, self.inside, ones, 0 * ones)

    def mirrored(self) -> TwoSidedCone:
        """The same band seen from above: t with its sign changed."""
        return TwoSidedCone(self.prior, self.down, self.up)

    def pairs(self, end: Floats, within: Indices, beyond: Indices) -> LetterPairs:
        """The pairs of a letter within an end and one beyond it whose average is at the end."""
        span = end[beyond] - end[within]
        return LetterPairs(within, beyond, end[beyond] / span, -end[within] / span)

    def values(self, pairs: LetterPairs, utility: Separable) -> Floats:
        """μ(w) = h(0) + Σ_x p_x (h(w_x / p_x) − h(0))"""
        nothing = utility.h(np.zeros(1))[0]
        p_low, p_high = self.prior[pairs.low], self.prior[pairs.high]
        gain = p_low * (utility.h(pairs.first / p_low) - nothing) + p_high * (
            utility.h(pairs.second / p_high) - nothing
        )
        return np.asarray(gain + nothing)

    def dearest(
        self, prices: Floats, utility: Separable, expired: Callable[[], bool] = lambda: False
    ) -> PricedPairs | None:
        """The single letters, and for every letter and each end its best pair, by μ(w) − prices·w; None if time is up.

        The best of them is the best extreme row, so Σ_x p_x prices_x + its value bounds every split (theory 1.3).
        """
        found, slack = [self.singles], 0.0
        for end in (self.up, self.down):
            within, beyond = np.flatnonzero(end < 0), np.flatnonzero(end > 0)
            if not len(within) or not len(beyond):
                continue
            if utility is MutualInformation and len(self.prior) > FEW_LETTERS:
                best, lost = self._ordered_pairs(end, within, beyond, prices)
                slack = max(slack, lost)
            elif (scanned := self._best_pairs(end, within, beyond, prices, utility, expired)) is not None:
                best = scanned
            else:
                return None
            found.append(best)
        pairs = joined(*found)
        return PricedPairs(pairs, self.values(pairs, utility) - pairs.average(prices), slack)

    def _ordered_pairs(
        self, end: Floats, within: Indices, beyond: Indices, prices: Floats
    ) -> tuple[LetterPairs, float]:
        """For every letter off this end the best partner across it, found along the order of the letters."""
        gains = -np.log(self.prior) - prices
        partner, other, _, slack = best_partners(-1 / end[within], 1 / end[beyond], gains[within], gains[beyond])
        low, high = np.concatenate([within, within[other]]), np.concatenate([beyond[partner], beyond])
        return self.pairs(end, low, high), slack

    def _best_pairs(
        self,
        end: Floats,
        within: Indices,
        beyond: Indices,
        prices: Floats,
        utility: Separable,
        expired: Callable[[], bool],
    ) -> LetterPairs | None:
        """The same for any utility, by looking at all pairs, a block of their matrix at a time."""
        highest, partner = np.full(len(within), -np.inf), np.zeros(len(within), dtype=np.intp)
        other = np.zeros(len(beyond), dtype=np.intp)
        block = max(1, BLOCK_ENTRIES // len(within))
        for start in range(0, len(beyond), block):
            if expired():
                return None
            columns = beyond[start : start + block]
            pairs = self.pairs(end, within[:, None], columns[None, :])
            worth = self.values(pairs, utility) - pairs.average(prices)
            other[start : start + block] = worth.argmax(axis=0)
            best = worth.argmax(axis=1)
            values = worth[np.arange(len(within)), best]
            better = values > highest
            highest[better], partner[better] = values[better], best[better] + start
        return self.pairs(end, np.concatenate([within, within[other]]), np.concatenate([beyond[partner], beyond]))


@dataclass(frozen=True, eq=False)
class PricedPairs:
    """Pairs with what each is worth at some prices; no pair at all is worth more than the largest and `slack`."""

    pairs: LetterPairs
    worth: Floats
    slack: float


def band_of(problem: Problem) -> TwoSidedCone:
    """The band of a cone whose conditions are all averages of one function of the letter.

    The two ends are rows of the cone itself, so a bound over the band holds for the cone too; that nothing outside
    the cone is built is checked row by row at the end. Letters of mass zero must not occur in any condition; a
    condition that no letter violates alone is none.
    """
    seen = problem.prior > 0
    if not problem.cone.complete or np.any(problem.cone.rows[:, ~seen] != 0):
        raise ParameterError(
            "a cone with conditions beyond one average of the letters", where="pairs", remedy='Use method="columns".'
        )
    p = problem.prior[seen]
    terms = problem.cone.rows[:, seen] / p
    means = problem.cone.rows[:, seen].sum(axis=1)
    around = terms - means[:, None]
    spread = np.sqrt((p * around**2).sum(axis=1))
    varying = np.flatnonzero((terms > 0).any(axis=1))
    never = np.full(len(p), -1.0)
    if not len(varying):
        return TwoSidedCone(p, never, never)
    directions = around[varying] / spread[varying, None]
    slopes = (p * directions * directions[0]).sum(axis=1)
    if np.any(np.abs(np.abs(slopes) - 1) > PARALLEL):
        raise ParameterError(
            "a cone with conditions on more than one average of the letters",
            where="pairs",
            remedy='Two secrets, or two that were seen, make such a cone; otherwise use method="columns".',
        )
    tightness = means[varying] / spread[varying]
    ends = [never, never]
    for side, sign in enumerate((1, -1)):
        facing = np.flatnonzero(slopes * sign > 0)
        if len(facing):
            k = varying[facing[tightness[facing].argmax()]]
            ends[side] = terms[k] / spread[k]
    return TwoSidedCone(p, *ends)
