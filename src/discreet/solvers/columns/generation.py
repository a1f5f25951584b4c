"""Column generation with exact pricing: the best mechanism and a proof, without listing the vertices (theory 1.3).

A master program weighs the rows found so far and prices the letters; pricing looks for rows that gain at these prices.
Climbing from many starts is cheap and finds most of them; the exact search comes in when climbing no longer helps, and
either finds what climbing missed or proves that nothing is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import example
from discreet.exceptions import ParameterError
from discreet.notions.notion import Average, Cone
from discreet.solvers.columns.average_pricing import AllowancePricer, PiecePricer, TangentPricer
from discreet.solvers.columns.pricing import Pricer
from discreet.solvers.columns.row_master import Master, Mixture
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.tolerances import SPLITS
from discreet.solvers.two_secrets.funnel_pairs import FunnelPairs, suits_pairs
from discreet.utilities.utility import MutualInformation, PiecewiseLinear

STALE_ROUNDS = 8
BOXES_PER_ROUND = 8000
"""Climbing stops after STALE_ROUNDS without progress, and one more for so many boxes of the last exact search."""
FIRST_SEARCH, WITH_AVERAGE = 20_000, 60_000
"""An exact search that finds nothing is interrupted after so many boxes, then whenever their number has doubled. Where
an average is priced climbing costs more than boxes do."""
STALE = 1e-5
"""Prices that add up to the same, to this share, have not moved."""
MARGIN = 2e-3
"""An exact search keeps boxes this share of the value below what counts: it may go on where it ended."""
BETWEEN, NEAR, ANYWHERE = 30, 50, 20
LITTLE, NOISE = (-4.0, 0.7), (-2.3, 0.4)
"""Starts of every round; logarithms of how much of an excluded letter, and of how far away in terms of the slopes."""
LOOK_AGAIN, LOOK_SOONEST = 0.1, 0.5
"""A climb is split after such a part of the time so far, and so many seconds."""
STRENGTH_STEPS = 20
"""Halvings of the strength of a mechanism to begin with."""
SPARE_SECONDS = 0.5
"""So long rows in hand are still looked at when time is up."""
RAREST = 1e-9
"""Letters of mass zero count as much as this when starts favour single letters."""


def generate_columns(
    problem: Problem, effort: Effort, known_bound: float = np.inf, known_rows: Floats | None = None
) -> Iterator[Solution]:
    """Better and better splits with their bounds, until the bound meets the value.

    The bound holds for *any* prices α: a split has Σ_y q_y = 1 and Σ_y q_y v_y = 1, so
    Σ_y q_y μ(v_y) = Σ_z α_z + Σ_y q_y (μ(v_y) − α·v_y) ≤ Σ_z α_z + δ, with δ ≥ μ(v) − α·v for every permitted row v.
    `known_bound` was proven elsewhere; `known_rows` are permitted rows of other mechanisms to start from.
    """
    if not effort.gap > 0:
        raise ParameterError("the gap is not positive", where="gap", remedy="Try 1e-6.")
    compile_search()
    yield from _Generation(problem, effort, known_bound).solutions(known_rows)


@example("the exact search")
def compile_search() -> None:
    """A small exact search. No time limit pays for it, or a short one would end before the first row is found."""
    condition = np.array([[0.4, -0.6, 0.1], [-0.5, 0.4, -0.1]])
    problem = Problem.of_rows(np.array([0.5, 0.3, 0.2]), Cone(condition))
    for _ in _Generation(problem, Effort(gap=1e-3), np.inf).solutions():
        pass


@example("the search with an average")
def compile_averages() -> None:
    """A small search for a funnel with three secrets, and one with two."""
    counts = np.array([[4.0, 2.0, 1.0, 1.0], [1.0, 5.0, 2.0, 1.0], [2.0, 1.0, 6.0, 1.0]])
    for table in (counts / counts.sum(), counts[:2] / counts[:2].sum()):
        masses = table.sum(axis=1)
        for rows in (np.zeros((0, 4)), np.array([[0.4, -0.6, 0.1, -0.2]])):
            average = Average(table / masses[:, None], masses, MutualInformation, 0.02)
            problem = Problem.of_rows(table.sum(axis=0), Cone(rows))
            given = replace(problem.splitting, average=average)
            for _ in _Generation(replace(problem, given=given), Effort(gap=1e-3), np.inf).solutions():
                pass


def pricer_of(problem: Problem) -> Pricer:
    """The pricer for a problem with or without an average."""
    if problem.average is None:
        return Pricer(problem)
    if isinstance(problem.average.measure, PiecewiseLinear):
        return AllowancePricer(problem)
    if isinstance(problem.measure, PiecewiseLinear):
        return PiecePricer(problem)
    return FunnelPairs(problem) if suits_pairs(problem) else TangentPricer(problem)


class _Generation:
    """One run, which can be asked for its best split at any time."""

    def __init__(self, problem: Problem, effort: Effort, known_bound: float) -> None:
        self._problem, self._effort, self._gap, self._late = problem, effort, effort.gap, effort.late
        self._random = np.random.default_rng(0)
        self._master = Master(problem, effort.deadline)
        self._best = self._master.split()
        masses, worths = problem.disclosures
        self._bound = min(known_bound, float(masses @ worths))
        self._last_search = 0
        self._certificate: tuple[float, float] | None = None
        self._improved = time.monotonic()

    def solutions(self, known_rows: Floats | None = None) -> Iterator[Solution]:
        self._pricer = pricer_of(self._problem)
        self._best = self._one_per_target() or self._best
        yield self._solution(Status.BEGUN)
        if known_rows is not None:
            self._add(known_rows)
            self._improve()
        self._pricer.tighten(self._late)
        self._bound = min(self._bound, self._pricer.easy_bound)
        yield self._solution(Status.BEGUN)
        starts = self._pricer.body.best_rows(np.diag(np.maximum(self._problem.prior, RAREST)), self._late)
        self._add(starts)
        self._add(self._pricer.climb(starts, np.zeros(self._master.lines), self._late))
        while not self._late():
            alpha = self._climb()
            self._improve()
            more = not self._late() and self._prove(alpha)
            if more:
                self._improve()
            closed = self._bound - self._best[2] <= self._gap
            if not closed and not more and not self._late():
                yield self._solution(Status.STALLED)
                return
            yield self._solution()
            if closed:
                return

    def _one_per_target(self) -> Mixture | None:
        """One row per target letter, as strong as the cone permits, better than the constant row and soon there.

        Rows 1 + λ_t (1_t / p_t − 1) with weights p_t / λ_t add up to a multiple of one, whatever the λ_t are. Where an
        average has a limit they have the same λ, the largest that it takes: the average of convex g grows with λ.
        """
        p, body, average = self._problem.target_prior, self._pricer.body, self._problem.average
        if self._problem.shares is not None:
            return None
        seen = np.flatnonzero(p > 0)
        rows = (self._problem.target == seen[:, None]) / p[seen, None]
        strength = body.strengths(rows)
        if body.lazy:
            over, pairs = self._over(), zip(rows, strength, strict=True)
            strength = np.array([0.0 if over() else body.strength(*pair) for pair in pairs])
        if average is not None:
            strength = np.full(len(seen), self._strength(average, rows, p[seen], float(strength.min())))
        if not strength.all():
            return None
        weights = (p[seen] / strength) / (p[seen] / strength).sum()
        found = np.array(self._permitted(1 + strength[:, None] * (rows - 1))).reshape(-1, len(self._problem.prior))
        if len(found) < len(seen) or np.abs(weights @ found - 1).max() > SPLITS:
            return None
        return found, weights, float(weights @ self._problem.values(found))

    def _strength(self, average: Average, rows: Floats, weights: Floats, strongest: float) -> float:
        """The largest λ up to `strongest`, to some digits, with which Σ_t p_t g(1 + λ (v_t − 1)) keeps its limit."""
        low, high = 0.0, strongest
        middle = high
        for _ in range(STRENGTH_STEPS):
            kept = weights @ average.values(1 + middle * (rows - 1)) <= average.limit
            low, high = (middle, high) if kept else (low, middle)
            middle = (low + high) / 2
        return low

    def _improve_now_and_then(self) -> None:
        """A long climb is split on the way: what is found after the deadline is not weighed any more."""
        now, began = time.monotonic(), self._effort.started
        if now - self._improved > LOOK_AGAIN * (now - began) + LOOK_SOONEST:
            self._improve()
            self._improved = time.monotonic()

    def _improve(self) -> None:
        found = self._master.split()
        self._best = found if found[2] >= self._best[2] else self._best

    def _solution(self, status: Status = Status.SEARCHING) -> Solution:
        rows, weights, value = self._best
        return Solution(self._problem, rows, weights, value, self._bound, status, certificate=self._certificate)

    def _climb(self) -> Floats:
        """New rows by climbing, until the prices settle without being held back by the master: these prices."""
        stale, last = 0, -np.inf
        patience = STALE_ROUNDS + self._last_search // BOXES_PER_ROUND
        while True:
            alpha, held = self._master.prices()
            self._improve_now_and_then()
            total = float(alpha.sum())
            stale = stale + 1 if abs(total - last) <= max(self._gap, STALE * abs(total)) else 0
            last = total
            if self._late() or (stale >= patience and not held):
                return alpha
            if stale >= patience:
                self._master.widen()
                stale = 0
            rows = self._pricer.climb(self._starts(alpha), alpha, self._late)
            self._add(rows[self._pricer.gains(rows, alpha) > self._gap / 10])

    def _starts(self, alpha: Floats) -> Floats:
        """Where to climb from: between two rows in use, near one of them, and anywhere.

        Near a row, letters that it excludes are priced as if it had a little of them: the slope at zero would keep them
        out whatever happens to the others.
        """
        random, used, prior = self._random, self._master.used, self._problem.prior
        if self._problem.average is not None:
            return np.vstack([used, self._between(used)])
        first, second = (used[random.integers(len(used), size=BETWEEN)] for _ in range(2))
        share = random.uniform(0.3, 0.7, size=(BETWEEN, 1))
        little = np.exp(random.uniform(*LITTLE, size=(NEAR, 1)))
        slopes = self._problem.gradients(np.maximum(used[random.integers(len(used), size=NEAR)], little))
        size = np.exp(random.uniform(*NOISE, size=(NEAR, 1))) * np.abs(slopes).sum(axis=1, keepdims=True)
        near = slopes + size * random.normal(size=slopes.shape) * prior
        anywhere = random.normal(size=(ANYWHERE, len(prior))) * random.exponential(2.0, size=(ANYWHERE, 1)) * prior
        rows = self._pricer.body.best_rows(np.vstack([near, anywhere]) - alpha, self._late)
        return np.vstack([share * first + (1 - share) * second, rows])

    def _between(self, used: Floats) -> Floats:
        """Mixtures of rows in use, of letters, and of both: where an average has a price the best rows lie inside."""
        random, prior = self._random, self._problem.prior
        seen = np.flatnonzero(prior > 0)
        letters = np.zeros((len(seen), len(prior)))
        letters[np.arange(len(seen)), seen] = 1 / prior[seen]
        ends = self._pricer.body.best_rows(letters * prior, self._late) if len(self._problem.cone.rows) else letters
        known = np.vstack([used, ends])
        shares = random.dirichlet(np.full(3, 0.6), size=BETWEEN + NEAR + ANYWHERE)
        several = np.stack([known[random.integers(len(known), size=len(shares))] for _ in range(3)], axis=1)
        return np.asarray((shares[:, :, None] * several).sum(axis=1))

    def _add(self, rows: Floats) -> None:
        """New rows for the master, once each and inside the cone."""
        _, first = np.unique(np.round(rows * self._pricer.body.scale, 9), axis=0, return_index=True)
        permitted = self._permitted(rows[first])
        if permitted:
            self._master.add(np.array(permitted))

    def _permitted(self, rows: Floats) -> list[Floats]:
        """Those inside the cone, a little moved if need be."""
        body, over, permitted = self._pricer.body, self._over(), []
        for row, sure in zip(rows, body.surely_inside(rows), strict=True):
            inner = row if sure else None if over() else body.inside(row)
            if inner is not None:
                permitted.append(inner)
        return permitted

    def _over(self) -> Callable[[], bool]:
        """Whether time is up, and SPARE_SECONDS from now on have passed as well."""
        spared = time.monotonic() + SPARE_SECONDS
        return lambda: self._late() and time.monotonic() > spared

    def _prove(self, alpha: Floats) -> bool:
        """An exact search at these prices: a bound, and perhaps rows. Whether it found any or left boxes for later.

        A long search is interrupted now and then for climbing, which may find what makes it worthless.
        """
        total, value = float(alpha.sum()), self._best[2]
        before = self._pricer.boxes
        most = max(FIRST_SEARCH if self._problem.average is None else WITH_AVERAGE, before)
        floor, margin = value + 0.99 * self._gap - total, MARGIN * abs(value)
        priced = self._pricer.price(alpha, floor, len(self._problem.prior), self._late, margin, most)
        self._last_search = self._pricer.boxes - before
        if self._problem.average is not None and total + priced.bound < self._bound:
            self._certificate = total + priced.bound - float(alpha[-1]), float(alpha[-1]) / self._problem.average.limit
        self._bound = min(self._bound, total + priced.bound)
        useful = priced.rows[self._pricer.gains(priced.rows, alpha) > self._gap / 10]
        if len(useful):
            self._master.add(useful)
        return len(useful) > 0 or self._last_search > most
