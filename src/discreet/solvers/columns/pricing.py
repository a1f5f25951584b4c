"""Exact pricing: the largest gain μ(v) − α·v over the permitted rows, by branch and bound (theory 1.4).

μ is separable and convex, the rows form a polytope. On a box of target posteriors π_t = p_t w_t every h is at most its
chord, so an LP bounds the whole box; cutting boxes where the chord is far from h makes the bound exact in the end.
The LP point is itself a permitted row, and climbing from it (linearise, solve, repeat) gives good rows on the way.

Exact pricing of separable utilities: which boxes of target posteriors to look at, in which order (theory 1.4).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import ParameterError
from discreet.solvers.columns.boxes import ROUNDING, Boxes, SearchSpace, explore
from discreet.solvers.columns.polytope import CUT_ROUNDS, RowPolytope
from discreet.solvers.columns.simplex import NOWHERE, THREADS, Dictionary, never
from discreet.solvers.problem import Problem
from discreet.utilities.utility import PiecewiseLinear, Scalar, Separable, scalar_of

CLIMB_STEPS = 30
CLIMBERS = 8
"""So many of the rows of each batch are climbed from even if they gain too little as they are."""
CLOSED = 1e-8
"""Search stops where the bound is this close to the best row found: closer than any gap anybody asks for."""


@dataclass(frozen=True, eq=False)
class PricedRows:
    """Rows found on the way, and a proven bound on the gain of every permitted row."""

    rows: Floats
    bound: float


class Pricer:
    """The permitted rows of one problem, priced again and again with different α."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.body = RowPolytope(problem)
        self._search: BoxSearch | None = None

    def tighten(self, late: Callable[[], bool] = never) -> None:
        """Bounds on all target posteriors, and a search that begins with them; asked for when first needed."""
        utility = self.problem.measure
        self.body.tighten(late)
        self._search = BoxSearch(self.body, scalar_of(utility)) if isinstance(utility, Separable) else None

    @property
    def boxes(self) -> int:
        """How many boxes were looked at so far."""
        return self._search.boxes if self._search else 0

    def gains(self, rows: Floats, alpha: Floats) -> Floats:
        return np.asarray(self.problem.values(rows) - rows @ alpha)

    @property
    def easy_bound(self) -> float:
        """A bound on every split: w_t is at most its top and one on average, so Σ_y q_y h(w_t) ≤ its chord at 1."""
        utility, p = self.problem.measure, self.problem.target_prior
        if not isinstance(utility, Separable):
            return np.inf
        seen = p > 0
        top = self.body.target_top[seen] / p[seen]
        slopes, offsets = utility.secants(np.zeros_like(top), top)
        return float(p[seen] @ (slopes + offsets)) + ROUNDING

    def climb(self, rows: Floats, alpha: Floats, late: Callable[[], bool] = never) -> Floats:
        """Linearise and solve until nothing improves, or it is late: locally best rows."""
        at_once = self.body.at_once
        if len(rows) > at_once:
            parts = (rows[start : start + at_once] for start in range(0, len(rows), at_once))
            return np.vstack([part if late() else self.climb(part, alpha, late) for part in parts])
        rows, gains = rows.copy(), self.gains(rows, alpha)
        moving, places = np.arange(len(rows)), np.full(len(rows), NOWHERE)
        for _ in range(CLIMB_STEPS):
            answer = self.body.best(self.problem.gradients(rows[moving]) - alpha[: rows.shape[1]], places, late)
            self.body.dictionaries.forget(places)
            reached = self.gains(answer.rows, alpha)
            up = reached > gains[moving] + 1e-12
            self.body.dictionaries.forget(answer.kept[~up])
            moving, places = moving[up], answer.kept[up]
            rows[moving], gains[moving] = answer.rows[up], reached[up]
            if not len(moving) or late():
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
    ) -> PricedRows:
        """Search until no gain above `floor` is left, `enough` rows above it were found, or `stop` says so.

        With a `margin`, a search at prices that are not too different afterwards takes less time. After `most` boxes
        without a row the search is left, and goes on there when it is asked again.
        """
        utility = self.problem.measure
        if self._search is None and isinstance(utility, Separable):
            self.tighten(stop)
        found = RowsMet(self, alpha, floor, stop)
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
        return PricedRows(np.array(found.rows).reshape(-1, len(self.body.scale)), bound)

    def _price_pieces(self, utility: PiecewiseLinear, alpha: Floats, found: RowsMet) -> float:
        """The maximum of a maximum of linear functions: one LP for each."""
        problem, targets = self.problem, self.body.targets
        costs = problem.spread(utility.pieces(problem.target_prior)) - alpha
        box = np.zeros((len(costs), targets)), np.tile(self.body.target_top, (len(costs), 1))
        answer = self.body.maximise(costs, *box)
        found.consider(answer.rows)
        return float(answer.bounds.max())


class RowsMet:
    """Rows above the floor, each climbed to the top, inside the cone, kept once."""

    def __init__(self, pricer: Pricer, alpha: Floats, floor: float, late: Callable[[], bool] = never) -> None:
        self._pricer, self._alpha, self._floor, self._late = pricer, alpha, floor, late
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
            for row in self._pricer.climb(fresh, self._alpha, self._late):
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


# ---- exact pricing of separable utilities: which boxes of target posteriors to look at, in which order ---------------


BATCH, LARGE_BATCH = 128, 512
BEST = 16
"""So many rows of a look of one thread are looked at even if they gain little; all of them with a lazy cone."""
WIDE, DEEPEST = 300, 64
"""At first the most promising boxes come first; for every so many boxes a look goes one deeper, which proves faster."""
WORK = 25_000_000
"""Entries of the dictionaries of all boxes of a look: less than a tenth of a second."""
WORTH_A_THREAD = 100_000
FURTHER = 1.4
PATIENCE = 500
"""With rows in hand the search goes on for FURTHER times what it took to find the first, and a few boxes more."""


class Finds(Protocol):
    """What becomes of the rows that a search meets; only gains above the threshold are worth looking for."""

    @property
    def threshold(self) -> float: ...

    @property
    def rows(self) -> list[Floats]: ...

    def consider(self, rows: Floats) -> None: ...


class BoxSearch:
    """Branch and bound that goes on where it ended when the prices change a little.

    At all times every permitted row lies in an open box and gains at most its bound, or lies in a box that cannot be
    cut and gains at most `_stuck`, or was forgotten and gains at most `_forgotten`. New prices α' raise all of these by
    max (α − α')·v over all rows v. So a box of no interest is kept unless its bound is a margin below what would be.
    """

    def __init__(self, body: RowPolytope, h: Scalar) -> None:
        self._body, self._h = body, h
        self.boxes = 0
        self._begin()

    def _begin(self) -> None:
        lower, upper = np.zeros((1, self._body.targets)), self._body.target_top[None, :]
        average = self._body.problem.average is not None
        anchors = (self._body.massive * self._body.scale)[None, :] if average else np.zeros((1, 0))
        self._open = OpenBoxes(Boxes(lower, upper, np.full(1, np.inf), anchors))
        self._stuck = self._forgotten = -np.inf
        self._alpha = np.zeros(len(self._body.scale) + average)
        self._since = 0

    def run(
        self,
        alpha: Floats,
        floor: float,
        margin: float,
        found: Finds,
        enough: int,
        most: float,
        stop: Callable[[], bool],
    ) -> float:
        """A proven bound on every gain: at most `floor` or what was found, unless it was enough or had to stop.

        It also ends after `most` boxes in which nothing was found: perhaps there is a better use of the time.
        """
        self._reprice(alpha, floor, stop)
        self._forgotten = max(self._forgotten, floor - margin)
        first, patience = self.boxes, PATIENCE
        try:
            while self._open.top > found.threshold and not stop():
                spent = self.boxes - first
                if not found.rows and spent > most:
                    break
                if not found.rows:
                    patience = spent + PATIENCE
                elif len(found.rows) >= enough or spent > FURTHER * patience:
                    break
                found.consider(self._look(found.threshold, floor - margin, stop))
        except BaseException:
            self._begin()
            raise
        return max(self._forgotten, self._stuck, self._open.top)

    def _reprice(self, alpha: Floats, floor: float, late: Callable[[], bool]) -> None:
        """Bounds that hold at the new prices; from the beginning if the search would have to look at what it forgot."""
        same = np.array_equal(alpha, self._alpha)
        rise = 0.0 if same else self._rise(alpha, late)
        self._open.rise(rise)
        self._stuck, self._forgotten = self._stuck + rise, self._forgotten + rise
        if not (np.isfinite(rise) and max(self._stuck, self._forgotten) <= floor):
            self._begin()
        self._alpha = alpha

    def _rise(self, alpha: Floats, late: Callable[[], bool]) -> float:
        """The largest (α − α')·v; with an average, whose g lies between 0 and its largest, also (λ − λ') g."""
        n, average = len(self._body.scale), self._body.problem.average
        change = self._alpha - alpha
        rise = float(self._body.best(change[None, :n], late=late).bounds[0])
        if average is None:
            return rise
        return rise + max(0.0, float(change[n])) / average.limit * float(-np.log(average.masses.min()))

    def _dive(self, area: SearchSpace) -> int:
        """How deep a look goes: deeper later on, unless it would take long or every row has to be checked first."""
        if self._body.lazy:
            return 1
        return max(1, min(self._since // WIDE, DEEPEST, WORK // (BATCH * area.rows.size)))

    def _look(self, threshold: float, forget: float, late: Callable[[], bool]) -> Floats:
        """Look at the most promising boxes, and at some that come out of each: the rows met there."""
        dive = self._dive(self._body.area(self._alpha))
        given = self._open.take(min(BATCH if dive < DEEPEST else LARGE_BATCH, self._body.at_once), threshold)
        for _ in range(CUT_ROUNDS):
            area = self._body.area(self._alpha)
            best = len(given.bounds) if self._body.lazy else BEST
            look = partial(_explored, self._h, area, dive, best, threshold, forget)
            threads = THREADS if len(given.bounds) * dive * area.rows.size > WORTH_A_THREAD else 1
            shares = [Boxes(*(part[i::threads].copy() for part in given)) for i in range(threads)]
            states = [self._body.dictionaries.own(i) for i in range(threads)]
            each = partial(self._body.dictionaries.each, late=late) if threads > 1 else map
            looks = list(each(look, states, shares))
            rows = self._body.rows(np.vstack([points for _, points, _, _ in looks]))
            if late() or not self._body.cut(rows):
                break
        for left, _, stuck, boxes in looks:
            self._open.put(left)
            self._stuck = max(self._stuck, stuck)
            self.boxes += boxes
            self._since += boxes
        return rows


def _explored(
    h: Scalar, area: SearchSpace, dive: int, best: int, threshold: float, forget: float, state: Dictionary, given: Boxes
) -> tuple[Boxes, Floats, float, int]:
    """The boxes left to look at, the best points met, the largest bound of a box that cannot be cut, how many boxes."""
    size, targets = len(given.bounds), len(area.mass)
    room = size * (dive + 1)
    anchored = given.anchors.shape[1]
    left = Boxes(np.empty((room, targets)), np.empty((room, targets)), np.empty(room), np.empty((room, anchored)))
    points, gains = np.empty((size * dive, area.rows.shape[1])), np.full(size * dive, -np.inf)
    count, stuck, boxes = explore(h, area, state, given, dive, threshold, forget, left, points, gains)
    met = np.flatnonzero(gains > -np.inf)
    if len(met) > best:
        met = met[(gains[met] > forget) | (gains[met] >= np.partition(gains[met], -best)[-best])]
    return Boxes(*(part[:count] for part in left)), points[met], stuck, boxes


class OpenBoxes:
    """Boxes not looked at yet: the first `_size` places are taken, some of them by boxes with a bound of −∞."""

    def __init__(self, boxes: Boxes) -> None:
        self._boxes = Boxes(*(part.copy() for part in boxes))
        self._free = np.empty(0, dtype=np.int64)
        self._size = len(boxes.bounds)

    @property
    def top(self) -> float:
        """The largest bound, −∞ without boxes."""
        return float(self._bounds.max(initial=-np.inf))

    @property
    def _bounds(self) -> Floats:
        return self._boxes.bounds[: self._size]

    def rise(self, by: float) -> None:
        self._bounds[:] += by

    def take(self, most: int, above: float) -> Boxes:
        """The boxes with the largest bounds, as far as these are above something."""
        bounds = self._bounds
        places = np.argpartition(-bounds, most)[:most] if len(bounds) > most else np.arange(len(bounds))
        places = np.sort(places[bounds[places] > above])
        taken = Boxes(*(part[places] for part in self._boxes))
        bounds[places] = -np.inf
        self._free = np.concatenate([self._free, places])
        return taken

    def put(self, boxes: Boxes) -> None:
        new = len(boxes.bounds)
        again, self._free = self._free[:new], self._free[new:]
        end = self._size + new - len(again)
        if end > len(self._boxes.bounds):
            self._boxes = Boxes(*(_larger(part, 2 * end) for part in self._boxes))
        places = np.concatenate([again, np.arange(self._size, end)])
        self._size = end
        for part, given in zip(self._boxes, boxes, strict=True):
            part[places] = given


def _larger(part: Floats, size: int) -> Floats:
    larger = np.empty((size, *part.shape[1:]))
    larger[: len(part)] = part
    return larger
