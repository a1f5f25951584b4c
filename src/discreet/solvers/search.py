"""Exact pricing of separable utilities: which boxes of target posteriors to look at, in which order (theory 1.4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.body import CUT_ROUNDS, Body
from discreet.solvers.boxes import Area, Boxes, explore
from discreet.solvers.dictionary import THREADS, State
from discreet.solvers.scalar import Scalar

Floats = NDArray[np.float64]
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


class Search:
    """Branch and bound that goes on where it ended when the prices change a little.

    At all times every permitted row lies in an open box and gains at most its bound, or lies in a box that cannot be
    cut and gains at most `_stuck`, or was forgotten and gains at most `_forgotten`. New prices α' raise all of these by
    max (α − α')·v over all rows v. So a box of no interest is kept unless its bound is a margin below what would be.
    """

    def __init__(self, body: Body, h: Scalar) -> None:
        self._body, self._h = body, h
        self.boxes = 0
        self._begin()

    def _begin(self) -> None:
        lower, upper = np.zeros((1, self._body.targets)), self._body.target_top[None, :]
        self._open = Open(Boxes(lower, upper, np.full(1, np.inf)))
        self._stuck = self._forgotten = -np.inf
        self._alpha = np.zeros(len(self._body.scale))
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
        self._reprice(alpha, floor)
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
                found.consider(self._look(found.threshold, floor - margin))
        except BaseException:
            self._begin()
            raise
        return max(self._forgotten, self._stuck, self._open.top)

    def _reprice(self, alpha: Floats, floor: float) -> None:
        """Bounds that hold at the new prices; from the beginning if the search would have to look at what it forgot."""
        same = np.array_equal(alpha, self._alpha)
        rise = 0.0 if same else float(self._body.best((self._alpha - alpha)[None, :]).bounds[0])
        self._open.rise(rise)
        self._stuck, self._forgotten = self._stuck + rise, self._forgotten + rise
        if not (np.isfinite(rise) and max(self._stuck, self._forgotten) <= floor):
            self._begin()
        self._alpha = alpha

    def _dive(self, area: Area) -> int:
        """How deep a look goes: deeper later on, unless it would take long or every row has to be checked first."""
        if self._body.lazy:
            return 1
        return max(1, min(self._since // WIDE, DEEPEST, WORK // (BATCH * area.rows.size)))

    def _look(self, threshold: float, forget: float) -> Floats:
        """Look at the most promising boxes, and at some that come out of each: the rows met there."""
        dive = self._dive(self._body.area(self._alpha))
        given = self._open.take(BATCH if dive < DEEPEST else LARGE_BATCH, threshold)
        for _ in range(CUT_ROUNDS):
            area = self._body.area(self._alpha)
            best = len(given.bounds) if self._body.lazy else BEST
            look = partial(_explored, self._h, area, dive, best, threshold, forget)
            threads = THREADS if len(given.bounds) * dive * area.rows.size > WORTH_A_THREAD else 1
            shares = [Boxes(*(part[i::threads].copy() for part in given)) for i in range(threads)]
            states = [self._body.dictionaries.own(i) for i in range(threads)]
            each = self._body.dictionaries.each if threads > 1 else map
            looks = list(each(look, states, shares))
            rows = self._body.rows(np.vstack([points for _, points, _, _ in looks]))
            if not self._body.cut(rows):
                break
        for left, _, stuck, boxes in looks:
            self._open.put(left)
            self._stuck = max(self._stuck, stuck)
            self.boxes += boxes
            self._since += boxes
        return rows


def _explored(
    h: Scalar, area: Area, dive: int, best: int, threshold: float, forget: float, state: State, given: Boxes
) -> tuple[Boxes, Floats, float, int]:
    """The boxes left to look at, the best points met, the largest bound of a box that cannot be cut, how many boxes."""
    size, targets = len(given.bounds), len(area.mass)
    room = size * (dive + 1)
    left = Boxes(np.empty((room, targets)), np.empty((room, targets)), np.empty(room))
    points, gains = np.empty((size * dive, area.rows.shape[1])), np.full(size * dive, -np.inf)
    count, stuck, boxes = explore(h, area, state, given, dive, threshold, forget, left, points, gains)
    met = np.flatnonzero(gains > -np.inf)
    if len(met) > best:
        met = met[(gains[met] > forget) | (gains[met] >= np.partition(gains[met], -best)[-best])]
    return Boxes(*(part[:count] for part in left)), points[met], stuck, boxes


class Open:
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
