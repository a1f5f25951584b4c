"""Column generation with exact pricing: the best mechanism and a proof, without listing the vertices (theory 1.3).

A master program weighs the rows found so far and prices the letters; pricing looks for rows that gain at these prices.
Climbing from many starts is cheap and finds most of them; the exact search comes in when climbing no longer helps, and
either finds what climbing missed or proves that nothing is left.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Floats
from discreet.compiling import example
from discreet.exceptions import ParameterError
from discreet.linear_program import INFINITE, Program
from discreet.notions.notion import Cone
from discreet.solvers.columns.pricing import Pricer
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.tolerances import SPLITS, USED

Mixture = tuple[Floats, Floats, float]
"""Rows, their weights, and the value."""

SLACK = 1e-9
"""The elastic master misses nothing if it misses less than HiGHS may leave of an equation."""
WIDER = 4.0
"""How much the box of the prices grows at a time: a few steps lead from one nat to WIDEST."""
WIDEST = 1e6
"""Prices beyond a million nats come from rounding; the box no longer holds them back."""
STALE_ROUNDS = 8
BOXES_PER_ROUND = 8000
"""Climbing stops after STALE_ROUNDS without progress, and one more for so many boxes of the last exact search."""
FIRST_SEARCH = 20_000
"""An exact search that finds nothing is interrupted after so many boxes, then whenever their number has doubled."""
STALE = 1e-5
"""Prices that add up to the same, to this share, have not moved."""
MARGIN = 2e-3
"""An exact search keeps boxes this share of the value below what counts: it may go on where it ended."""
BETWEEN, NEAR, ANYWHERE = 30, 50, 20
LITTLE, NOISE = (-4.0, 0.7), (-2.3, 0.4)
"""Starts of every round; logarithms of how much of an excluded letter, and of how far away in terms of the slopes."""
RAREST = 1e-9
"""Letters of mass zero count as much as this when starts favour single letters."""


def generate_columns(problem: Problem, effort: Effort, known_bound: float = np.inf) -> Iterator[Solution]:
    """Better and better splits with their bounds, until the bound meets the value.

    The bound holds for *any* prices α: a split has Σ_y q_y = 1 and Σ_y q_y v_y = 1, so
    Σ_y q_y μ(v_y) = Σ_z α_z + Σ_y q_y (μ(v_y) − α·v_y) ≤ Σ_z α_z + δ, with δ ≥ μ(v) − α·v for every permitted row v.
    `known_bound` was proven elsewhere.
    """
    if not effort.gap > 0:
        raise ParameterError("the gap is not positive", where="gap", remedy="Try 1e-6.")
    compile_search()
    yield from _Generation(problem, effort, known_bound).solutions()


@example("the exact search")
def compile_search() -> None:
    """A small exact search. No time limit pays for it, or a short one would end before the first row is found."""
    condition = np.array([[0.4, -0.6, 0.1], [-0.5, 0.4, -0.1]])
    problem = Problem.of_rows(np.array([0.5, 0.3, 0.2]), Cone(condition))
    for _ in _Generation(problem, Effort(gap=1e-3), np.inf).solutions():
        pass


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

    def solutions(self) -> Iterator[Solution]:
        self._pricer = Pricer(self._problem)
        self._best = self._one_per_target() or self._best
        yield self._solution(Status.BEGUN)
        self._pricer.tighten(self._late)
        self._bound = min(self._bound, self._pricer.easy_bound)
        yield self._solution(Status.BEGUN)
        starts = self._pricer.body.best_rows(np.diag(np.maximum(self._problem.prior, RAREST)), self._late)
        self._add(starts)
        self._add(self._pricer.climb(starts, np.zeros(len(starts)), self._late))
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

        Rows 1 + λ_t (1_t / p_t − 1) with weights p_t / λ_t add up to a multiple of one, whatever the λ_t are.
        """
        p, body = self._problem.target_prior, self._pricer.body
        seen = np.flatnonzero(p > 0)
        rows = (self._problem.target == seen[:, None]) / p[seen, None]
        strength = body.strengths(rows)
        if not strength.all():
            return None
        weights = (p[seen] / strength) / (p[seen] / strength).sum()
        inside = [body.inside(row) for row in 1 + strength[:, None] * (rows - 1)]
        found = np.array([row for row in inside if row is not None]).reshape(-1, len(self._problem.prior))
        if len(found) < len(seen) or np.abs(weights @ found - 1).max() > SPLITS:
            return None
        return found, weights, float(weights @ self._problem.values(found))

    def _improve(self) -> None:
        found = self._master.split()
        self._best = found if found[2] >= self._best[2] else self._best

    def _solution(self, status: Status = Status.SEARCHING) -> Solution:
        rows, weights, value = self._best
        return Solution(self._problem, rows, weights, value, self._bound, status)

    def _climb(self) -> Floats:
        """New rows by climbing, until the prices settle without being held back by the master: these prices."""
        stale, last = 0, -np.inf
        patience = STALE_ROUNDS + self._last_search // BOXES_PER_ROUND
        while True:
            alpha, held = self._master.prices()
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
        first, second = (used[random.integers(len(used), size=BETWEEN)] for _ in range(2))
        share = random.uniform(0.3, 0.7, size=(BETWEEN, 1))
        little = np.exp(random.uniform(*LITTLE, size=(NEAR, 1)))
        slopes = self._problem.gradients(np.maximum(used[random.integers(len(used), size=NEAR)], little))
        size = np.exp(random.uniform(*NOISE, size=(NEAR, 1))) * np.abs(slopes).sum(axis=1, keepdims=True)
        near = slopes + size * random.normal(size=slopes.shape) * prior
        anywhere = random.normal(size=(ANYWHERE, len(prior))) * random.exponential(2.0, size=(ANYWHERE, 1)) * prior
        rows = self._pricer.body.best_rows(np.vstack([near, anywhere]) - alpha, self._late)
        return np.vstack([share * first + (1 - share) * second, rows])

    def _add(self, rows: Floats) -> None:
        """New rows for the master, once each and inside the cone."""
        _, first = np.unique(np.round(rows * self._pricer.body.scale, 9), axis=0, return_index=True)
        permitted = [row for row in map(self._pricer.body.inside, rows[first]) if row is not None]
        if permitted:
            self._master.add(np.array(permitted))

    def _prove(self, alpha: Floats) -> bool:
        """An exact search at these prices: a bound, and perhaps rows. Whether it found any or left boxes for later.

        A long search is interrupted now and then for climbing, which may find what makes it worthless.
        """
        total, value = float(alpha.sum()), self._best[2]
        before = self._pricer.boxes
        most = max(FIRST_SEARCH, before)
        floor, margin = value + 0.99 * self._gap - total, MARGIN * abs(value)
        priced = self._pricer.price(alpha, floor, len(alpha), self._late, margin, most)
        self._last_search = self._pricer.boxes - before
        self._bound = min(self._bound, total + priced.bound)
        useful = priced.rows[self._pricer.gains(priced.rows, alpha) > self._gap / 10]
        if len(useful):
            self._master.add(useful)
        return len(useful) > 0 or self._last_search > most


class Master:
    """maximise Σ_y q_y μ(v_y) subject to Σ_y q_y v_y = 1, q ≥ 0, over a growing list of rows v_y.

    Every equation is multiplied by p_z, so that its terms are masses.

    Early on, few rows leave the prices α almost free, and wild prices attract useless rows. A second, elastic program
    may miss Σ_y q_y v_y = 1 at a cost of `width` per unit of mass, which is the same as |α_z| ≤ width · p_z (more than
    any row is worth, so missing it does not pay for its own sake). The box grows until it no longer matters.
    """

    def __init__(self, problem: Problem, deadline: float = np.inf) -> None:
        n = len(problem.prior)
        self._problem = problem
        self._rows = np.zeros((0, n))
        self._values = np.zeros(0)
        self._mass = np.where(problem.prior > 0, problem.prior, 1.0)
        free, both = np.full(2 * n, INFINITE), np.hstack([np.eye(n), -np.eye(n)])
        self._exact = RestrictedMaster(self._mass, deadline)
        self._elastic = Program(np.zeros(2 * n), free, both, self._mass, self._mass, primal=True, deadline=deadline)
        self.add(np.ones((1, n)))
        self._last = self._rows, np.ones(1), float(self._values[0])
        self.width = 2.0 * max(1e-3, float(np.abs(problem.disclosures[1]).max()))
        self._charge()

    @property
    def size(self) -> int:
        return len(self._rows)

    def add(self, rows: Floats) -> None:
        values = self._problem.values(rows)
        self._exact.add(rows * self._mass, values)
        self._elastic.add_columns(rows * self._mass, values)
        self._rows = np.vstack([self._rows, rows])
        self._values = np.concatenate([self._values, values])

    def widen(self) -> None:
        """A larger box for the prices."""
        self.width *= WIDER
        self._charge()

    def _charge(self) -> None:
        self._elastic.set_cost(np.concatenate([np.full(2 * len(self._mass), -self.width), self._values]))

    def prices(self) -> tuple[Floats, bool]:
        """α of the elastic program, and whether its box still holds it back. Any α gives a valid bound."""
        solution = self._elastic.solved()
        slack, weights = np.split(solution.point, [2 * len(self._mass)])
        self.used = self._rows[weights > USED]
        held = slack.max() > SLACK and self.width < WIDEST
        return solution.prices * self._mass, bool(held)

    def split(self) -> Mixture:
        """The rows in use, their weights and the value: a permitted mechanism, the last one if none comes out now."""
        weighing = self._exact.weigh()
        self.exact_prices = weighing.prices * self._mass
        used = weighing.used()
        rows, weights = self._rows[used], _sharpened(self._rows[used], weighing.weights[used])
        if np.abs(weights @ rows - 1).max() > SPLITS:
            rows, weights = self._completed(rows, weights)
        value = float(weights @ self._problem.values(rows)) if len(rows) else -np.inf
        if value >= self._last[2]:
            self._last = rows, weights, value
        return self._last

    def _completed(self, rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """A split from weights that miss Σ_y q_y v_y = 1 by r: a share 1 − τ of them, and the row that is left.

        That row is constant but for (1 − τ) r / τ. All conditions that the constant row meets strictly hold for it once
        τ is large enough. No rows if it takes half of everything.
        """
        together = np.maximum(weights, 0.0) @ rows
        share = 10 * max(float(np.abs(together - 1).max()), SPLITS)
        while share < 0.5:
            left = 1 - (1 - share) * together
            weight = float(left @ self._problem.prior)
            if left.min() >= 0 and self._problem.cone.excess(left) <= 0:
                all_rows = np.vstack([rows, left / weight])
                return all_rows, np.append((1 - share) * np.maximum(weights, 0.0), weight)
            share *= 2
        return rows[:0], weights[:0]


def _sharpened(rows: Floats, weights: Floats) -> Floats:
    """Weights that split the prior to the last digit, where the LP's do so to its tolerance only."""
    exact = np.linalg.lstsq(rows.T, np.ones(rows.shape[1]), rcond=None)[0]
    better = exact.min() >= 0 and np.abs(exact @ rows - 1).max() <= np.abs(weights @ rows - 1).max()
    return np.asarray(exact, dtype=np.float64) if better else weights
