"""Pricing where the mechanism must satisfy an average as well: the largest μ(v) − λ g(v) − α·v (theory 8.2).

Prices have one entry more than there are letters: λ times the limit of the average, so that all of them together are
what a mechanism can be worth but for δ. Two kinds of averages have an exact search. Where g is the largest of few
linear functions G_i·v, a row is given one letter more, of no mass: γ with G_i·v ≤ limit·γ for all i, and everything is
as without an average. Where g is a sum of convex functions of the forms t_s = p(z|s)·v, as for the funnel, the search
over boxes uses its tangents; and where μ is the largest of few linear functions, each of these is searched by itself,
as a part of the prices: what is left to gain is concave.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.notions.notion import Average, Cone
from discreet.solvers.columns.ascent import ascend
from discreet.solvers.columns.pricing import BoxSearch, PricedRows, Pricer, RowsMet
from discreet.solvers.columns.simplex import never
from discreet.solvers.problem import Problem
from discreet.solvers.splitting import Splitting
from discreet.utilities.utility import PiecewiseLinear, Separable, scalar_of

NOTHING = Separable("nothing", h=np.zeros_like, slope=np.zeros_like, scalar=lambda _: 0.0)
"""The utility of a search whose gains are all in the prices."""
STEPS = 300
"""Pairwise steps of a climb, at most; near the top a few are enough."""


def _average_of(problem: Problem) -> Average:
    assert problem.average is not None
    return problem.average


class AveragePricer(Pricer):
    """A pricer at prices (α, λ·limit)."""

    def gains(self, rows: Floats, alpha: Floats) -> Floats:
        n, average = rows.shape[1], _average_of(self.problem)
        own = self.problem.values(rows) - rows @ alpha[:n]
        return np.asarray(own - alpha[n] / average.limit * average.values(rows) if alpha[n] > 0 else own)


class TangentPricer(AveragePricer):
    """For a g that is a sum over forms."""

    def climb(self, rows: Floats, alpha: Floats, late: Callable[[], bool] = never) -> Floats:
        """Pairwise steps from every row; where the average costs nothing, as without it."""
        measure = self.problem.measure
        if not isinstance(measure, Separable) or not len(rows) or not alpha[-1] > 0:
            return super().climb(rows, alpha, late)
        return self._ascended(rows, measure, alpha, late)

    def _ascended(self, rows: Floats, measure: Separable, alpha: Floats, late: Callable[[], bool]) -> Floats:
        area, at_once = self.body.area(alpha), self.body.at_once
        points = np.ascontiguousarray(rows * self.body.scale)
        for start in range(0, len(points), at_once):
            if start and late():
                break
            ascend(scalar_of(measure), area, self.body.dictionaries.own(0), points[start : start + at_once], STEPS)
        return self.body.rows(points)


class PiecePricer(TangentPricer):
    """For such a g, and a μ that is the largest of few linear functions."""

    def tighten(self, late: Callable[[], bool] = never) -> None:
        self.body.tighten(late)
        self._searches = [BoxSearch(self.body, scalar_of(NOTHING)) for _ in self._pieces]

    @cached_property
    def _pieces(self) -> Floats:
        """The linear functions that μ is the largest of, over rows."""
        measure = self.problem.measure
        assert isinstance(measure, PiecewiseLinear)
        return np.asarray(self.problem.spread(measure.pieces(self.problem.target_prior)))

    def _prices(self, alpha: Floats, piece: int) -> Floats:
        return np.asarray(alpha - np.append(self._pieces[piece], 0.0))

    @property
    def boxes(self) -> int:
        return sum(search.boxes for search in self._searches)

    def climb(self, rows: Floats, alpha: Floats, late: Callable[[], bool] = never) -> Floats:
        """Pairwise steps from every row, on the function that is the largest there."""
        if not len(rows) or not alpha[-1] > 0:
            return super().climb(rows, alpha, late)
        largest = (rows @ self._pieces.T).argmax(axis=1)
        climbed = rows.copy()
        for piece in np.unique(largest):
            here = largest == piece
            climbed[here] = self._ascended(rows[here], NOTHING, self._prices(alpha, piece), late)
        return climbed

    def price(
        self,
        alpha: Floats,
        floor: float,
        enough: int,
        stop: Callable[[], bool],
        margin: float = 0.0,
        most: float = np.inf,
    ) -> PricedRows:
        found = RowsMet(self, alpha, floor, stop)
        bounds = [
            search.run(self._prices(alpha, piece), floor, margin, found, enough, most, stop)
            for piece, search in enumerate(self._searches)
        ]
        return PricedRows(np.array(found.rows).reshape(-1, len(self.body.scale)), max(bounds))


class AllowancePricer(AveragePricer):
    """For a g that is the largest of few linear functions: one letter more says how much of the limit a row uses."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self._inner = Pricer(_with_allowance(problem))

    def tighten(self, late: Callable[[], bool] = never) -> None:
        self._inner.tighten(late)

    @property
    def boxes(self) -> int:
        return self._inner.boxes

    @property
    def easy_bound(self) -> float:
        return self._inner.easy_bound

    def climb(self, rows: Floats, alpha: Floats, late: Callable[[], bool] = never) -> Floats:
        average = _average_of(self.problem)
        used = np.hstack([rows, (average.values(rows) / average.limit)[:, None]])
        return self._inner.climb(used, alpha, late)[:, :-1]

    def price(
        self,
        alpha: Floats,
        floor: float,
        enough: int,
        stop: Callable[[], bool],
        margin: float = 0.0,
        most: float = np.inf,
    ) -> PricedRows:
        found = self._inner.price(alpha, floor, enough, stop, margin, most)
        return PricedRows(found.rows[:, :-1], found.bound)


def _with_allowance(problem: Problem) -> Problem:
    """The same with one letter more, of no mass: γ with G_i·v ≤ limit·γ, and no more than any row can use."""
    given, average = problem.splitting, _average_of(problem)
    assert isinstance(average.measure, PiecewiseLinear)
    pieces = average.measure.pieces(average.masses) @ average.forms
    seen = given.prior > 0
    most = float((pieces[:, seen] / given.prior[seen]).max())
    uses = np.hstack([pieces, np.full((len(pieces), 1), -average.limit)])
    all_of_it = np.append(-most * given.prior, average.limit)
    rows = np.vstack([np.hstack([given.cone.rows, np.zeros((len(given.cone.rows), 1))]), uses, all_of_it])
    separate = given.cone.separate

    def refused(row: Floats) -> Floats:
        assert separate is not None
        found = separate(row[:-1])
        return np.hstack([found, np.zeros((len(found), 1))])

    splitting = Splitting(
        np.append(given.prior, 0.0),
        np.append(given.target, given.target.max() + 1),
        Cone(rows, None if separate is None else refused),
        np.append(given.letters, given.size),
        given.size + 1,
        shares=None if given.shares is None else np.hstack([given.shares, np.zeros((len(given.shares), 1))]),
    )
    return Problem(utility=problem.measure, given=splitting)
