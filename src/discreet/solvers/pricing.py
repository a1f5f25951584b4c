"""Exact pricing: the largest gain μ(v) − α·v over the permitted rows, by branch and bound (theory 1.4).

μ is separable and convex, the rows form a polytope. On a box of target posteriors π_t = p_t w_t every h is at most its
chord, so an LP bounds the whole box; cutting boxes where the chord is far from h makes the bound exact in the end.
The LP point is itself a permitted row, and climbing from it (linearise, solve, repeat) gives good rows on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError
from discreet.solvers.body import Body
from discreet.solvers.boxes import ROUNDING
from discreet.solvers.dictionary import NOWHERE
from discreet.solvers.problem import Splitting
from discreet.solvers.scalar import scalar_of
from discreet.solvers.search import Search
from discreet.utilities import PiecewiseLinear, Separable

Floats = NDArray[np.float64]
CLIMB_STEPS = 30
CLIMBERS = 8
"""So many of the rows of each batch are climbed from even if they gain too little as they are."""
CLOSED = 1e-8
"""Search stops where the bound is this close to the best row found: closer than any gap anybody asks for."""


@dataclass(frozen=True, eq=False)
class Priced:
    """Rows found on the way, and a proven bound on the gain of every permitted row."""

    rows: Floats
    bound: float


class Pricer:
    """The permitted rows of one problem, priced again and again with different α."""

    def __init__(self, problem: Splitting) -> None:
        self.problem = problem
        self.body = Body(problem)
        utility = problem.utility
        self._search = Search(self.body, scalar_of(utility)) if isinstance(utility, Separable) else None

    @property
    def boxes(self) -> int:
        """How many boxes were looked at so far."""
        return self._search.boxes if self._search else 0

    def gains(self, rows: Floats, alpha: Floats) -> Floats:
        return np.asarray(self.problem.values(rows) - rows @ alpha)

    @property
    def easy_bound(self) -> float:
        """A bound on every split: w_t is at most its top and one on average, so Σ_y q_y h(w_t) ≤ its chord at 1."""
        utility, p = self.problem.utility, self.problem.target_prior
        if not isinstance(utility, Separable):
            return np.inf
        seen = p > 0
        top = self.body.target_top[seen] / p[seen]
        slopes, offsets = utility.secants(np.zeros_like(top), top)
        return float(p[seen] @ (slopes + offsets)) + ROUNDING

    def climb(self, rows: Floats, alpha: Floats) -> Floats:
        """Linearise and solve until nothing improves: locally best rows."""
        rows, gains = rows.copy(), self.gains(rows, alpha)
        moving, places = np.arange(len(rows)), np.full(len(rows), NOWHERE)
        for _ in range(CLIMB_STEPS):
            answer = self.body.best(self.problem.gradients(rows[moving]) - alpha, places)
            self.body.dictionaries.forget(places)
            reached = self.gains(answer.rows, alpha)
            up = reached > gains[moving] + 1e-12
            self.body.dictionaries.forget(answer.kept[~up])
            moving, places = moving[up], answer.kept[up]
            rows[moving], gains[moving] = answer.rows[up], reached[up]
            if not len(moving):
                break
        self.body.dictionaries.forget(places)
        return rows

    def price(
        self,
        alpha: Floats,
        floor: float,
        enough: int,
        stop: Callable[[], bool],
        margin: float = 0.0,
        most: float = np.inf,
    ) -> Priced:
        """Search until no gain above `floor` is left, `enough` rows above it were found, or `stop` says so.

        With a `margin`, a search at prices that are not too different afterwards takes less time. After `most` boxes
        without a row the search is left, and goes on there when it is asked again.
        """
        utility = self.problem.utility
        found = Found(self, alpha, floor)
        if isinstance(utility, PiecewiseLinear):
            bound = self._price_pieces(utility, alpha, found)
        elif self._search is not None:
            bound = self._search.run(alpha, floor, margin, found, enough, most, stop)
        else:
            raise ParameterError(
                "a utility that is neither separable nor piecewise linear",
                where="utility",
                remedy="Use one of the two.",
            )
        return Priced(np.array(found.rows).reshape(-1, len(alpha)), bound)

    def _price_pieces(self, utility: PiecewiseLinear, alpha: Floats, found: Found) -> float:
        """The maximum of a maximum of linear functions: one LP for each."""
        problem, targets = self.problem, self.body.targets
        pieces = utility.pieces(problem.target_prior)
        costs = pieces[:, problem.target] * problem.given_target - alpha
        box = np.zeros((len(costs), targets)), np.tile(self.body.target_top, (len(costs), 1))
        answer = self.body.maximise(costs, *box)
        found.consider(answer.rows)
        return float(answer.bounds.max())


class Found:
    """Rows above the floor, each climbed to the top, inside the cone, kept once."""

    def __init__(self, pricer: Pricer, alpha: Floats, floor: float) -> None:
        self._pricer, self._alpha, self._floor = pricer, alpha, floor
        self._visited: set[bytes] = set()
        self._kept: set[bytes] = set()
        self.rows: list[Floats] = []
        self.best = -np.inf

    @property
    def threshold(self) -> float:
        """Only more than this is worth looking for."""
        return max(self._floor, self.best + CLOSED)

    def consider(self, rows: Floats) -> None:
        if not len(rows):
            return
        gains = self._pricer.gains(rows, self._alpha)
        good = (gains > self._floor) | (gains >= np.sort(gains)[-CLIMBERS:][0])
        fresh = np.array([row for row in rows[good] if self._new(row, self._visited)])
        if len(fresh):
            for row in self._pricer.climb(fresh, self._alpha):
                self._keep(row)

    def _keep(self, row: Floats) -> None:
        permitted = self._pricer.body.inside(row) if self._new(row, self._kept) else None
        if permitted is not None:
            gain = float(self._pricer.gains(permitted[None, :], self._alpha)[0])
            if gain > self._floor:
                self.rows.append(permitted)
                self.best = max(self.best, gain)

    def _new(self, row: Floats, seen: set[bytes]) -> bool:
        key = np.round(row * self._pricer.body.scale, 9).tobytes()
        fresh = key not in seen
        seen.add(key)
        return fresh
