"""Exact pricing: the largest gain μ(v) − α·v over the permitted rows, by branch and bound (theory 1.4).

μ is separable and convex, the rows form a polytope. On a box of target posteriors π_t = p_t w_t every h is at most its
chord, so an LP bounds the whole box; cutting boxes where the chord is far from h makes the bound exact in the end.
The LP point is itself a permitted row, and climbing from it (linearise, solve, repeat) gives good rows on the way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ParameterError
from discreet.solvers.body import ROUNDING, Body, Bounded
from discreet.solvers.dictionary import NOWHERE, Places
from discreet.solvers.problem import Splitting
from discreet.utilities import PiecewiseLinear, Separable

Floats = NDArray[np.float64]
CLIMB_STEPS = 30
BATCH = 128
CLIMBERS = 8
"""So many of the rows of each batch are climbed from even if they gain too little as they are."""
PATIENCE = 500
"""With rows in hand the search goes on for as long as it took to find the first, and this many boxes more."""
CLOSED = 1e-8
"""Search stops where the bound is this close to the best row found: closer than any gap anybody asks for."""
TOUCHING = 1e-13
FLOOR = 1e-9
"""A box is left once its bound is this far below what is worth looking for."""


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
        self.boxes = 0

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

    def price(self, alpha: Floats, floor: float, enough: int, stop: Callable[[], bool]) -> Priced:
        """Search until no gain above `floor` is left, `enough` rows above it were found, or `stop` says so."""
        utility = self.problem.utility
        found = Found(self, alpha, floor)
        if isinstance(utility, PiecewiseLinear):
            bound = self._price_pieces(utility, alpha, found)
        elif isinstance(utility, Separable):
            bound = Search(self, utility, alpha, found).run(enough, stop)
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


class Search:
    """Best-first branch and bound over boxes of target posteriors, many boxes at a time."""

    def __init__(self, pricer: Pricer, utility: Separable, alpha: Floats, found: Found) -> None:
        self._pricer, self._utility, self._alpha, self._found = pricer, utility, alpha, found
        self._body, self._problem = pricer.body, pricer.problem
        self._p = pricer.problem.target_prior
        self._per_mass = np.divide(1.0, self._p, out=np.zeros_like(self._p), where=self._p > 0)
        self._heap: list[tuple[float, int]] = []
        self._boxes: dict[int, tuple[Floats, Floats, Floats, int]] = {}
        self._ids = 0
        self._dropped = -np.inf

    def run(self, enough: int, stop: Callable[[], bool]) -> float:
        """A proven bound on every gain, at most the threshold of `found` unless stopped before."""
        lower, upper = np.zeros((1, self._body.targets)), self._body.target_top[None, :].copy()
        self._body.dictionaries.forget_all()
        self._explore(lower, upper, np.full(1, np.inf), np.full(1, NOWHERE))
        patience, first = PATIENCE, self._pricer.boxes
        while self._heap and -self._heap[0][0] > self._found.threshold and not stop():
            spent = self._pricer.boxes - first
            if not self._found.rows:
                patience = spent + PATIENCE
            elif len(self._found.rows) >= enough or spent > 2 * patience:
                break
            self._branch()
        return max([self._found.threshold, self._dropped, *(-entry[0] for entry in self._heap[:1])])

    def _branch(self) -> None:
        """Cut the most promising boxes in two: the wide intervals whose chord is far from h at the LP point come first.

        The cut halfway between the LP point and the middle of the interval measured best: at the LP point alone one
        half stays almost as large as the whole, in the middle alone the LP point is not cut off.
        """
        taken: list[tuple[float, int]] = []
        while self._heap and len(taken) < BATCH and -self._heap[0][0] > self._found.threshold:
            taken.append(heapq.heappop(self._heap))
        taken.sort(key=lambda entry: entry[1])
        bounds = [-entry[0] for entry in taken]
        boxes = [self._boxes.pop(entry[1]) for entry in taken]
        lower, upper, posterior, places = (np.array(part) for part in zip(*boxes, strict=True))
        misses = self._misses(lower, upper, posterior)
        closed = misses.max(axis=1) <= TOUCHING
        posterior[closed] = (lower[closed] + upper[closed]) / 2
        misses[closed] = self._misses(lower[closed], upper[closed], posterior[closed])
        done = misses.max(axis=1) <= TOUCHING
        self._dropped = max(self._dropped, float(np.array(bounds)[done].max(initial=-np.inf)))
        lower, upper, posterior, misses = lower[~done], upper[~done], posterior[~done], misses[~done]
        at, lines = (misses * (upper - lower)).argmax(axis=1), np.arange(len(misses))
        left, right = upper.copy(), lower.copy()
        middle = (lower[lines, at] + upper[lines, at]) / 2
        left[lines, at] = right[lines, at] = (posterior[lines, at] + middle) / 2
        both = np.repeat(np.array(bounds)[~done], 2)
        starts = np.repeat(places[~done], 2)
        self._explore(_interleave(lower, right), _interleave(left, upper), both, starts)
        self._body.dictionaries.forget(places)

    def _explore(self, lower: Floats, upper: Floats, inherited: Floats, starts: Places) -> None:
        """Bound boxes, look at their LP points, and put away those that may still hide a better row."""
        alive = self._body.shrink(lower, upper)
        lower, upper, inherited, starts = lower[alive], upper[alive], inherited[alive], starts[alive]
        if not len(lower):
            return
        self._pricer.boxes += len(lower)
        slopes, offsets = self._chords(lower, upper)
        costs, rest = self._problem.prior * slopes[:, self._problem.target] - self._alpha, offsets @ self._p
        answer = self._body.maximise(costs, lower, upper, self._found.threshold - rest - FLOOR, starts)
        bounds = np.minimum(answer.bounds + rest, inherited)
        self._found.consider(answer.rows[bounds > self._found.threshold])
        threshold = self._found.threshold
        self._price_out(lower, upper, answer, bounds - threshold)
        posterior = np.clip(self._p * self._problem.marginals(answer.rows), lower, upper)
        for i in np.flatnonzero(bounds > threshold):
            heapq.heappush(self._heap, (-float(bounds[i]), self._ids))
            self._boxes[self._ids] = lower[i], upper[i], posterior[i], int(answer.kept[i])
            self._ids += 1
        self._body.dictionaries.forget(answer.kept[bounds <= threshold])

    def _chords(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        return self._utility.secants(lower * self._per_mass, upper * self._per_mass)

    def _misses(self, lower: Floats, upper: Floats, posterior: Floats) -> Floats:
        slopes, offsets = self._chords(lower, upper)
        h = self._utility.h(posterior * self._per_mass)
        return np.asarray(slopes * posterior + self._p * (offsets - h))

    def _price_out(self, lower: Floats, upper: Floats, answer: Bounded, slack: Floats) -> None:
        """Take from the boxes, in place, the part where reduced costs alone bring the bound below the threshold.

        A row whose entry is Δ away from the end of its interval that the reduced cost ρ prefers gains at most
        bound − |ρ| Δ.
        """
        room = np.maximum(slack, 0.0)[:, None]
        price = answer.rest if self._problem.one_to_one else answer.eta
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = room / np.abs(price) + 1e-12
            up = np.where(price < 0, lower + reach, np.inf)
            down = np.where(price > 0, upper - reach, -np.inf)
            if not self._problem.one_to_one:
                cheapest = np.full(lower.shape, -np.inf)
                np.maximum.at(cheapest.T, self._problem.target, answer.rest.T)
                up = np.minimum(up, np.where(cheapest < 0, room / -cheapest + 1e-12, np.inf))
        np.minimum(upper, np.maximum(up, lower), out=upper)
        np.maximum(lower, np.minimum(down, upper), out=lower)


def _interleave(first: Floats, second: Floats) -> Floats:
    both = np.empty((2 * len(first), first.shape[1]))
    both[0::2], both[1::2] = first, second
    return both
