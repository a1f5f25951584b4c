"""Rows of one secret under a band (theory 1.8): v = t + d·w, a mean t and a strength d along a shape w of mean zero.

Over the ball of the secret the mean of v moves by d·rise upwards and d·fall downwards, whatever t is. A band asks at
every split x of the budget for

    t + d·rise(x) ≤ ceiling(x),        t − d·fall(κ − x) ≥ floor(x),

so the largest strength of a shape is a minimum of quotients. Shapes 1_T − P̂(T), two levels, are nearly all that is
needed: at order 2 KL(v ‖ P) ≤ ln(1 + χ²(v ‖ P)), with equality exactly for indicators. For every mass m = P̂(T) the
cheapest set T is wanted: subset sums, by dynamic programming over mass buckets.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.uncertainty.extremes import largest, smallest
from discreet.uncertainty.renyi_ball import RenyiBall, least_mass, most_mass

Chosen = NDArray[np.intp] | NDArray[np.bool_]
BUCKETS = 400
"""Masses of sets are kept to a quarter of a percent: gains of two-level rows are flat around the best mass."""
CANDIDATES, KNOTS = 3, 60
"""Sets tried for every mean, and masses at which movements are computed before they are interpolated."""
FLAT = 1e-7
"""Rows that vary less than this are constant."""
GROUPS = 24
"""Above so many letters of a secret they are put together: see `SecretUnderBand`."""
STILL, OUTSIDE = 1e-14, 1e-12
"""A shape that moves less does not move; a mean that is outside its band by less is inside but for rounding."""
LOWEST = 1e-9
"""Logarithms are taken no lower than here: at zero slopes are infinite."""
EDGE = 1e-6
"""Masses of sets are kept this far from zero and one, where they do not move."""


@dataclass(frozen=True, eq=False)
class Band:
    """Ceiling and floor of one secret at the splits of the grid."""

    ceiling: Floats
    floor: Floats


@dataclass(frozen=True, eq=False)
class Shapes:
    """Shapes w, one per row, with their movements at every split of the grid."""

    w: Floats
    rise: Floats
    fall: Floats

    def take(self, index: Chosen) -> Shapes:
        return Shapes(self.w[index], self.rise[index], self.fall[index])

    def joined(self, other: Shapes) -> Shapes:
        return Shapes(
            np.concatenate([self.w, other.w]),
            np.concatenate([self.rise, other.rise]),
            np.concatenate([self.fall, other.fall]),
        )

    def strength(self, level: Floats, band: Band) -> Floats:
        """The largest d for each shape at its mean t; negative where the band has no room for that mean."""
        dip = -self.w.min(axis=1, initial=0.0)
        return largest_strength(level, band, self.rise, self.fall, dip)


def largest_strength(level: Floats, band: Band, rise: Floats, fall: Floats, dip: Floats) -> Floats:
    above = _quotient(band.ceiling[None, :] - level[:, None], rise)
    below = _quotient(level[:, None] - band.floor[None, :], fall)
    until_zero = np.divide(level, dip, out=np.ones_like(dip), where=dip > 0)
    return np.asarray(np.minimum(np.minimum(above, below), until_zero))


def _quotient(room: Floats, need: Floats) -> Floats:
    """The smallest room / need over the splits; −1 where there is no room at all."""
    quotient = np.divide(np.maximum(room, 0.0), need, out=np.full(need.shape, np.inf), where=need > STILL)
    return np.where((room < -OUTSIDE).any(axis=1), -1.0, quotient.min(axis=1))


@dataclass(frozen=True, eq=False)
class OtherSecrets:
    """What the other secrets do while one varies: their part `rest` of t̄, on average, and the average `total` of t̄.

    `left` is how much of the variation they leave in t̄: 0 if gluing makes up for it, 1 if all vary independently.
    """

    rest: Floats
    total: Floats
    left: Floats

    def at(self, kind: NDArray[np.intp] | int) -> OtherSecrets:
        return OtherSecrets(self.rest[kind], self.total[kind], self.left[kind])


@dataclass(frozen=True, eq=False)
class SecretUnderBand:
    """One secret that was seen: its mass P̂_s, its conditional p over groups of the letters seen with it, and its ball.

    Letters never seen with it get the mean of the row: they then change neither its largest nor its smallest mean.
    Up to GROUPS letters are groups of their own; more are put together, into groups of about the same mass. Rows that
    are constant on groups are rows of the ball of the grouped distribution: moving mass inside a group costs and
    changes nothing. And what a two-level row is worth depends on the mass of its set alone, so that little is lost.
    """

    ball: RenyiBall
    index: int
    grid: Floats

    @cached_property
    def mass(self) -> float:
        return float(self.ball.mass[self.index])

    @cached_property
    def letters(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.ball.conditional[self.index] > 0)

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """The group of every letter: the heaviest letters first, each into the group that is lightest so far."""
        masses = self.ball.conditional[self.index, self.letters]
        group, filled = np.arange(len(masses)), np.zeros(min(GROUPS, len(masses)))
        for letter in np.argsort(-masses, kind="stable") if len(masses) > GROUPS else ():
            group[letter] = filled.argmin()
            filled[group[letter]] += masses[letter]
        return np.asarray(group)

    @cached_property
    def p(self) -> Floats:
        return np.asarray(np.bincount(self.group, self.ball.conditional[self.index, self.letters]), dtype=float)

    @cached_property
    def radii(self) -> tuple[Floats, Floats]:
        """What x and what κ − x of the budget buy."""
        same = np.full(len(self.grid), self.index)
        return self.ball.reach(self.grid, same), self.ball.reach(self.ball.budget - self.grid, same)

    def shapes(self, rows: Floats) -> Shapes:
        """Rows as shapes: their means taken off. What is left of a constant row is rounding, not a shape."""
        w = rows - (rows @ self.p)[:, None]
        w[np.ptp(w, axis=1) <= FLAT] = 0.0
        upward, downward = self.radii
        rise = largest(w[:, None, :], self.p, upward, self.ball.order).value
        fall = -smallest(w[:, None, :], self.p, downward, self.ball.order).value
        return Shapes(w, np.maximum(rise, 0.0), np.maximum(fall, 0.0))

    def extremes(self, shapes: Shapes) -> tuple[Floats, Floats]:
        """The conditionals that attain rise and fall of every shape at every split: arrays (shape, split, letter)."""
        upward, downward = self.radii
        w = shapes.w[:, None, :]
        highest = largest(w, self.p, upward, self.ball.order).attained_at
        return highest, smallest(w, self.p, downward, self.ball.order).attained_at

    def worth(self, rows: Floats, others: OtherSecrets) -> Floats:
        """Σ_u p_u v_u ln v_u less what is forgone: what a row tells about u and about s.

        A mechanism keeps Σ_s P̂_s E[Σ_u p v ln v] − E[t̄ ln t̄] with t̄ = Σ_s P̂_s t_s.
        """
        return np.asarray(xlogy(rows, rows) @ self.p - self.forgone(rows @ self.p, others))

    def forgone(self, mean: Floats, others: OtherSecrets) -> Floats:
        """The part of E[t̄ ln t̄] / P̂_s that is due to one row of this mean: its tangent at the average of t̄, and what
        of its curvature the others do not make up for."""
        now = self.mass * mean + others.rest
        tangent = xlogy(others.total, others.total) + (np.log(others.total) + 1) * (now - others.total)
        return np.asarray((tangent + others.left * (xlogy(now, now) - tangent)) / self.mass)

    def slope(self, rows: Floats, others: OtherSecrets) -> Floats:
        """The gradient of `worth`."""
        now = np.log(np.maximum(self.mass * (rows @ self.p) + others.rest, LOWEST))
        total = others.left * now + (1 - others.left) * np.log(others.total)
        return np.asarray(self.p * (np.log(np.maximum(rows, LOWEST)) - total[:, None]))

    @cached_property
    def _buckets(self) -> tuple[Floats, Floats, Floats]:
        """Masses, and how far a set of each mass can move, without saying which set it is (interpolated)."""
        knots = np.clip(np.sin(np.linspace(0, np.pi / 2, KNOTS)) ** 2, EDGE, 1 - EDGE)
        upward, downward = self.radii
        rise = most_mass(knots[:, None], upward, self.ball.order) - knots[:, None]
        fall = knots[:, None] - least_mass(knots[:, None], downward, self.ball.order)
        mass = np.clip(np.arange(BUCKETS + 1) / BUCKETS, EDGE, 1 - EDGE)
        between = [
            np.stack([np.interp(mass, knots, moved) for moved in movement.T], axis=1) for movement in (rise, fall)
        ]
        return mass, *np.maximum(between, 0.0)

    def best_sets(
        self, prices: Floats, constant: float, levels: Floats, band: Band, others: OtherSecrets
    ) -> tuple[Floats, Floats]:
        """Indicators of sets T, and means t, whose two-level rows promise to gain most at these prices of the letters.

        A row gains worth − t α(all) − d (α(T) − m α(all)) − constant, so for every mass m the set with the smallest
        α(T) is wanted: a subset-sum problem.
        """
        cheapest = CheapestSets(self.p, prices)
        possible = np.flatnonzero(np.isfinite(cheapest.price))
        mass, rise, fall = (part[possible] for part in self._buckets)
        total = float(prices.sum())
        sets, kept = [], []
        for level in levels:
            t = np.full(len(possible), level)
            d = largest_strength(t, band, rise, fall, mass)
            high, low = level + d * (1 - mass), np.maximum(level - d * mass, 0.0)
            worth = mass * xlogy(high, high) + (1 - mass) * xlogy(low, low) - self.forgone(level, others)
            gain = worth - t * total - d * (cheapest.price[possible] - mass * total) - constant
            gain[d < 0] = -np.inf
            for i in np.argsort(-gain)[:CANDIDATES]:
                if gain[i] > 0:
                    sets.append(cheapest.members(int(possible[i])))
                    kept.append(level)
        return np.array(sets, dtype=float).reshape(len(sets), len(self.p)), np.array(kept)


class CheapestSets:
    """`price[b]` is the smallest sum of prices of a set whose mass falls into bucket b; infinite if there is none.

    Masses are rounded letter by letter, so a bucket is a suggestion: whoever takes the set weighs it again.
    """

    def __init__(self, p: Floats, prices: Floats) -> None:
        self._steps = np.rint(p * BUCKETS).astype(int)
        self._taken = np.zeros((len(p), BUCKETS + 1), dtype=bool)
        self.price = np.full(BUCKETS + 1, np.inf)
        self.price[0] = 0.0
        for u, step in enumerate(self._steps):
            with_u = np.full(BUCKETS + 1, np.inf)
            with_u[step:] = self.price[: BUCKETS + 1 - step] + prices[u]
            self._taken[u] = with_u < self.price
            self.price = np.minimum(self.price, with_u)

    def members(self, bucket: int) -> NDArray[np.bool_]:
        chosen = np.zeros(len(self._steps), dtype=bool)
        for u in range(len(self._steps) - 1, -1, -1):
            if self._taken[u, bucket]:
                chosen[u] = True
                bucket -= self._steps[u]
        return chosen
