"""The permitted rows {v ∈ K : p·v = 1} as a polytope, with bounds that hold whatever the LP solver says.

Inside, a row is x_z = σ_z v_z with σ_z = p_z (then x is the posterior) or 1 for letters of mass zero, so that
everything is of order one. The polytope is lower ≤ R x ≤ upper, 0 ≤ x ≤ top: the first row is Σ x = 1, then (unless
T = Z) come the target posteriors π_t = Σ_{f(z)=t} x_z, then the conditions of the cone, made few: two-sided where two
of them are each other's mirror, and without those that others imply.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.arrays import Floats
from discreet.exceptions import InfeasibleError
from discreet.linear_program import INFINITE, Program
from discreet.solvers.columns.boxes import ROUNDING, SearchSpace
from discreet.solvers.columns.implications import Implications, implications
from discreet.solvers.columns.simplex import LOW, NOWHERE, THREADS, Dictionaries, Places, never
from discreet.solvers.problem import Problem

INSIDE = 5e-13
"""A condition counts as met when it is violated by no more than this, relative to the size of its terms."""
DUST = 1e-11
"""Smaller posteriors are rounding: left in, they could stand alone in a condition and break it."""
CUT_ROUNDS = 200
"""Rounds of cuts by a lazy cone after which a bound is taken as it is: it holds, and some ten are enough."""
MISSED = 1e-8
"""A lazy condition is learned when a row misses it by more than an LP may leave a known one."""
INSIDE_ROUNDS = 5
"""How often a row is moved inwards for conditions of a lazy cone that it only now meets."""
NORMALISED = 1e-9
"""p·v of a row that can be moved inside is one but for what an LP leaves."""
FURTHEST = 1e-3
"""A row that has to move further than this towards the constant row was outside, not off by rounding."""
DIGITS = 11
"""Conditions that agree in so many digits are mirrors of each other; how far they differ is given back as slack."""
SURELY = 1e-6
"""The least (y·A)_z with which multipliers y prove that letters of mass zero are bounded."""
WIDER = 1 + 1e-9
"""Steps inwards and proven tops are taken a rounding wider."""
COMPARED_ENTRIES = 10_000_000
"""Conditions are compared with each other, to leave out implied ones, while it takes a few hundredths of a second."""
FEW_ENTRIES = 50_000_000  # conditions times letters times rows: fewer are looked at one row after the other
ENTRIES_AT_ONCE = 2_000_000
"""Entries of the dictionaries of all programs that run between two looks at the clock: half a second at the most."""


@dataclass(frozen=True, eq=False)
class Maxima:
    """Linear programs over boxes: proven bounds, the rows that (nearly) attain them, and where their dictionaries are
    kept, if that was wished."""

    bounds: Floats
    rows: Floats
    kept: Places


class RowPolytope:
    """K cut by p·v = 1. Grows when a lazy cone hands out further conditions."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.massive = (problem.prior > 0).astype(float)
        self.scale = np.where(problem.prior > 0, problem.prior, 1.0)
        self.targets = len(problem.target_prior)
        self.top = np.ones(len(problem.prior))
        self.conditions = np.unique(self._scaled(problem.cone.rows), axis=0)
        self._bound_weightless_letters()
        self._places = 0
        self._build()
        self.target_top = np.ones(self.targets)

    def tighten(self, late: Callable[[], bool] = never) -> None:
        """A proven upper bound on every target posterior, by one program each; one where time is up."""
        costs = self._posterior_rows() * self.scale
        box = np.zeros((self.targets, self.targets)), np.ones((self.targets, self.targets))
        self.target_top = np.maximum(np.minimum(self.maximise(costs, *box, late=late).bounds, 1.0), 0.0)

    # ---- linear programs over boxes of target posteriors --------------------------------------------------------

    def maximise(
        self,
        costs: Floats,
        lower: Floats,
        upper: Floats,
        floors: Floats | float = -np.inf,
        starts: Places | None = None,
        late: Callable[[], bool] = never,
    ) -> Maxima:
        """max cost·v for every line of `costs`, with the target posteriors in the line's box [lower, upper].

        Where the maximum is below its floor the bound only says so, and the row means nothing.
        Weak duality: for *every* y, cost·x ≤ Σ_rows max of y_r r over its interval + Σ_z max of (cost − y·R)_z x_z over
        its interval. The multipliers of the LP make it tight; wrong ones would make it loose, never wrong. Programs
        that are not begun because it is `late` have multipliers of zero and the constant row; those under way end where
        they are, with a bound that holds and a row that need not be permitted.
        """
        if len(costs) > self.at_once and starts is None:
            return self._in_turns(costs, lower, upper, floors, late)
        scaled, floors = costs / self.scale, np.broadcast_to(np.asarray(floors, dtype=np.float64), len(costs))
        for _ in range(CUT_ROUNDS):
            matrix = self._matrix
            x_lower, x_upper, row_lower, row_upper = self._bounds(lower, upper)
            bounds = x_lower, x_upper, row_lower, row_upper
            points, y, status, kept = self.dictionaries.maximise(scaled, *bounds, floors, starts, late)
            rows = self.rows(points)
            if late() or not self.cut(rows[status != LOW]):
                break
            starts = None if starts is None else np.full_like(starts, NOWHERE)
        rest = scaled - y @ matrix
        totals = np.maximum(rest * x_lower, rest * x_upper).sum(axis=1)
        totals += np.maximum(y * row_lower, y * row_upper).sum(axis=1) + ROUNDING
        return Maxima(totals, rows, kept)

    @property
    def at_once(self) -> int:
        """How many programs run between two looks at the clock."""
        return int(max(2 * THREADS, ENTRIES_AT_ONCE // self._matrix.size))

    def _in_turns(
        self, costs: Floats, lower: Floats, upper: Floats, floors: Floats | float, late: Callable[[], bool]
    ) -> Maxima:
        """As many programs at once as take no long time, until it is late."""
        at_once = self.at_once
        limits = np.broadcast_to(np.asarray(floors, dtype=np.float64), len(costs))
        parts = []
        for start in range(0, len(costs), at_once):
            here = slice(start, start + at_once)
            if start and late():
                parts.append(self._not_begun(costs[start:], lower[start:], upper[start:]))
                break
            parts.append(self.maximise(costs[here], lower[here], upper[here], limits[here], late=late))
        return Maxima(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("bounds", "rows", "kept")))

    def _not_begun(self, costs: Floats, lower: Floats, upper: Floats) -> Maxima:
        scaled = costs / self.scale
        x_lower, x_upper, _, _ = self._bounds(lower, upper)
        bounds = np.maximum(scaled * x_lower, scaled * x_upper).sum(axis=1) + ROUNDING
        return Maxima(bounds, np.ones_like(costs), np.full(len(costs), NOWHERE, dtype=np.int64))

    def best(self, costs: Floats, starts: Places | None = None, late: Callable[[], bool] = never) -> Maxima:
        """max cost·v over all permitted rows, for every line of `costs`."""
        box = np.zeros((len(costs), self.targets)), np.tile(self.target_top, (len(costs), 1))
        return self.maximise(costs, *box, starts=starts, late=late)

    def best_rows(self, costs: Floats, late: Callable[[], bool] = never) -> Floats:
        """The rows that maximise cost·v, one per line of `costs`."""
        return self.best(costs, late=late).rows

    def _posterior_rows(self) -> Floats:
        """π_t = Σ_z P(t|z) x_z, one line per target letter."""
        if self.problem.shares is not None:
            return np.asarray(self.problem.shares * self.massive)
        rows = np.zeros((self.targets, len(self.scale)))
        rows[self.problem.target, np.arange(len(self.scale))] = self.massive
        return rows

    def area(self, alpha: Floats) -> SearchSpace:
        """What the compiled search has to know, at these prices; one more price than letters is that of the average."""
        problem, n = self.problem, len(self.scale)
        letters = np.where(self.massive > 0, np.arange(n), -1)
        average, nothing = problem.average, np.zeros((0, n))
        judged = average is not None and len(alpha) > n and alpha[n] > 0
        return SearchSpace(
            rows=self._matrix,
            low=np.concatenate([np.zeros(n), self._low]),
            high=np.concatenate([self.top, self._high]),
            place=letters if problem.one_to_one else n + 1 + np.arange(self.targets),
            implied=self._implied,
            target=problem.target.astype(np.int64),
            massive=self.massive,
            mass=problem.target_prior,
            alpha=alpha[:n] / self.scale,
            shares=nothing if problem.shares is None else np.ascontiguousarray(self._posterior_rows()),
            secrets=self.secret_rows if judged else nothing,
            odds=average.masses if average is not None and judged else np.zeros(0),
            price=float(alpha[n]) / average.limit if average is not None and judged else 0.0,
            halt=self.dictionaries.halt,
        )

    @cached_property
    def secret_rows(self) -> Floats:
        """τ_s = Σ_z P(s|z) x_z = P(s|y), one line per secret of the average."""
        average = self.problem.average
        assert average is not None
        return np.ascontiguousarray(average.masses[:, None] * average.forms / self.scale * self.massive)

    def _bounds(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        batch = len(lower)
        row_lower, row_upper = np.tile(self._low, (batch, 1)), np.tile(self._high, (batch, 1))
        if self.problem.one_to_one:
            massive = self.massive > 0
            return np.where(massive, lower, 0.0), np.where(massive, upper, self.top), row_lower, row_upper
        row_lower[:, 1 : 1 + self.targets] = lower
        row_upper[:, 1 : 1 + self.targets] = upper
        return np.zeros((batch, len(self.top))), np.tile(self.top, (batch, 1)), row_lower, row_upper

    def rows(self, points: Floats) -> Floats:
        """Rows v of LP points: rounding dust removed, p·v = 1."""
        x = np.where(points > DUST, points, 0.0)
        mass = x @ self.massive
        return np.asarray(x / (np.where(mass > 0, mass, 1.0)[:, None] * self.scale))

    # ---- membership -----------------------------------------------------------------------------------------------

    def inside(self, row: Floats) -> Floats | None:
        """The row itself, moved towards the constant row if need be until every condition holds; None if it cannot be.

        The constant row lies in every K, so v + τ(1 − v) meets a condition that v misses once τ is large enough.
        """
        if abs(row @ self.problem.prior - 1) > NORMALISED:
            return None
        conditions = self.conditions
        for _ in range(INSIDE_ROUNDS):
            inner = self._moved(row, conditions)
            refused = self._refused(inner) if inner is not None else conditions[:0]
            if not len(refused):
                return inner
            conditions = np.vstack([conditions, refused])
        return None

    def surely_inside(self, rows: Floats) -> NDArray[np.bool_]:
        """Which of very many rows `inside` would return as they are, by products of matrices; of few it knows none."""
        if self.lazy or self.conditions.size * len(rows) <= FEW_ENTRIES:
            return np.zeros(len(rows), dtype=np.bool_)
        terms = rows * self.scale
        room = INSIDE / 2 * _products(np.abs(terms), np.abs(self.conditions))
        normal = np.abs(rows @ self.problem.prior - 1) <= NORMALISED
        return np.asarray(normal & (_products(terms, self.conditions) <= room).all(axis=1))

    def strengths(self, rows: Floats) -> Floats:
        """For each row v the largest λ ≤ 1 for which 1 + λ (v − 1) meets the conditions known so far."""
        excess = _products(rows * self.scale, self.conditions)
        slack = np.maximum(-(self.conditions @ self.scale), 0.0)
        share = np.divide(slack, slack + excess, out=np.ones_like(excess), where=excess > 0)
        return np.asarray(share.min(axis=1, initial=1.0))

    def strength(self, row: Floats, strongest: float) -> float:
        """The largest λ found, at most `strongest`, for which the lazy part of the cone takes 1 + λ (row − 1) as well.

        Each condition that it hands out bounds λ by itself; zero if there is no end of them.
        """
        for _ in range(INSIDE_ROUNDS):
            refused = self._refused(1 + strongest * (row - 1))
            if not len(refused):
                return strongest
            slack, excess = np.maximum(-(refused @ self.scale), 0.0), refused @ (row * self.scale)
            strongest = min(strongest, float((slack / (slack + np.maximum(excess, 0.0))).min()) / WIDER)
        return 0.0

    def _moved(self, row: Floats, conditions: Floats) -> Floats | None:
        terms = conditions * (row * self.scale)
        excess = terms.sum(axis=1)
        wrong = excess > INSIDE * np.abs(terms).sum(axis=1)
        if not wrong.any():
            return row
        slack = -(conditions[wrong] @ self.scale)
        if (slack <= 0).any():
            return None
        step = float((excess[wrong] / (excess[wrong] + slack)).max()) * WIDER
        return None if step > FURTHEST else np.asarray(row + step * (1 - row))

    def _refused(self, row: Floats) -> Floats:
        """What the lazy part of the cone has against a row, scaled."""
        separate = self.problem.cone.separate
        return self._scaled(separate(row)) if separate is not None else self.conditions[:0]

    @property
    def lazy(self) -> bool:
        """Whether the cone hands out conditions only when they are violated."""
        return self.problem.cone.separate is not None

    def cut(self, rows: Floats) -> bool:
        """Whether the lazy part of the cone refuses any of the rows; what it says is learned."""
        separate = self.problem.cone.separate
        if separate is None:
            return False
        violated = np.vstack([self.conditions[:0], *(self._missed(row) for row in rows)])
        if len(violated):
            self.conditions = np.vstack([self.conditions, np.unique(violated, axis=0)])
            self._build()
        return len(violated) > 0

    def _missed(self, row: Floats) -> Floats:
        """Conditions of the lazy part that a row clearly misses: by more than an LP may leave a known one."""
        refused = self._refused(row)
        return refused[refused @ (row * self.scale) > MISSED]

    def _scaled(self, rows: Floats) -> Floats:
        """Conditions over x that x ≥ 0 does not imply, with a largest entry of one."""
        scaled = rows / self.scale
        scaled = scaled[(scaled > 0).any(axis=1)]
        return np.asarray(scaled / np.abs(scaled).max(axis=1, keepdims=True)) if len(scaled) else scaled

    # ---- building -------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        rows = [self.massive[None, :]]
        low, high = [np.ones(1)], [np.ones(1)]
        if not self.problem.one_to_one:
            rows.append(self._posterior_rows())
            low.append(np.zeros(self.targets))
            high.append(np.ones(self.targets))
        merged, merged_low, merged_high = as_intervals(self._needed(), self.massive, self.top)
        self._matrix = np.ascontiguousarray(np.vstack([*rows, merged]))
        self._low, self._high = np.concatenate([*low, merged_low]), np.concatenate([*high, merged_high])
        self._implied = self._implied_rows()
        self.dictionaries = Dictionaries(self._matrix, self._places)
        self._places = self.dictionaries.end

    def _needed(self) -> Floats:
        """The conditions that no other one implies. To leave some out can only loosen bounds; `inside` knows all."""
        if self.lazy or self.conditions.size * len(self.conditions) > COMPARED_ENTRIES:
            return self.conditions
        return self.conditions[not_implied(self.conditions)]

    def _implied_rows(self) -> Implications:
        """What target posteriors have to meet: the conditions if T = Z, and otherwise only that their sum is one."""
        if self.problem.one_to_one and self.massive.all():
            return implications(self._matrix, self._low, self._high)
        return implications(np.ones((1, self.targets)), np.ones(1), np.ones(1))

    def _bound_weightless_letters(self) -> None:
        """Bound the letters of mass zero: y ≥ 0 with (y·A)_z ≥ 1 for each proves Σ x_z ≤ max −(y·A) over the others.

        Such a y exists unless some permitted row lives on letters of mass zero alone.
        """
        weightless = 1.0 - self.massive
        while weightless.any():
            limits = np.zeros(len(self.conditions))
            program = Program(np.zeros(len(self.scale)), weightless, self.conditions, limits - INFINITE, limits)
            program.set_cost(weightless)
            solution = program.solved()
            proof = np.maximum(solution.prices, 0.0) @ self.conditions
            least = proof[weightless > 0].min()
            if least > SURELY:
                self.top[weightless > 0] = max(0.0, float(-(proof[self.massive > 0] / least).min())) * WIDER
                return
            refused = self._refused(solution.point)
            self.conditions = np.vstack([self.conditions, refused])
            if not len(refused):
                raise InfeasibleError(
                    "a row may be concentrated on letters that never occur",
                    where="cone",
                    remedy="Leave these letters out, or use a cone that weighs them.",
                )


# ---- conditions made few ---------------------------------------------------------------------------------------------


def as_intervals(conditions: Floats, massive: Floats, top: Floats) -> tuple[Floats, Floats, Floats]:
    """The conditions as low ≤ b·x ≤ high, for 0 ≤ x ≤ top and Σ x = 1 over the letters that have mass.

    On Σ x = 1 a condition a·x ≤ 0 may be shifted: b = a − m, b·x ≤ −m. With m the mean of a and ±b as one row, the two
    conditions of LIP become one. Rows with zeros keep them (m = 0). Where only one side is known, the other is what
    0 ≤ x ≤ top implies.
    """
    mean = (conditions @ massive) / massive.sum()
    mean[((conditions == 0) & (massive > 0)).any(axis=1)] = 0.0
    shifted = conditions - mean[:, None] * massive
    size = np.abs(shifted).max(axis=1, initial=0.0)
    size[size == 0] = 1.0
    b, limit = shifted / size[:, None], -mean / size
    first = np.abs(b) > 0.5
    sign = np.sign(b[np.arange(len(b)), first.argmax(axis=1)])
    b, limit = b * sign[:, None], limit * sign
    _, which, group = np.unique(np.round(b, DIGITS), axis=0, return_index=True, return_inverse=True)
    rows = b[which]
    low, high = np.minimum(rows, 0.0) @ top, np.maximum(rows, 0.0) @ top
    rounding = np.abs(b - rows[group]) @ top
    np.minimum.at(high, group[sign > 0], (limit + rounding)[sign > 0])
    np.maximum.at(low, group[sign < 0], (limit - rounding)[sign < 0])
    return rows, low, high


def _products(terms: Floats, conditions: Floats) -> Floats:
    """terms · conditionsᵀ; many conditions of few letters, as side channels have, are multiplied as such."""
    if terms.shape[0] * conditions.size > FEW_ENTRIES and 10 * np.count_nonzero(conditions) < conditions.size:
        return np.asarray((sparse.csr_array(conditions) @ terms.T).T)
    return np.asarray(terms @ conditions.T)


def not_implied(conditions: Floats) -> NDArray[np.bool_]:
    """False for conditions a·x ≤ 0 that another one, b·x ≤ 0 with a ≤ t b for some t ≥ 0, implies on x ≥ 0."""
    needed = np.ones(len(conditions), dtype=np.bool_)
    for i, a in enumerate(conditions):
        ratio = np.divide(a, conditions, out=np.zeros_like(conditions), where=conditions != 0)
        least = np.where(conditions > 0, ratio, 0.0).max(axis=1)
        most = np.where(conditions < 0, ratio, np.inf).min(axis=1)
        implies = needed & (least <= most) & ((conditions != 0) | (a <= 0)).all(axis=1)
        implies[i] = False
        needed[i] = not implies.any()
    return needed
