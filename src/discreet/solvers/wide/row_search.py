"""The best rows over classes of letters: a master program that prices letters, and walks that find rows (theory 10.2).

In posteriors w the value of a mechanism is H(T) − Σ_y q_y H(w_y), so rows are paid for by the entropy they leave. The
master takes the rows so far, prices every class by the loss β that a unit of its mass may cost, and walks look for rows
that leave less: β·w − H(w) > 0. Early on prices are kept between two ends by artificial columns; these are shut before
anything leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import lsqr

from discreet.arrays import Floats, Indices, Integers
from discreet.exceptions import UnfinishedError
from discreet.linear_program import INFINITE, Program
from discreet.solvers.problem import Effort
from discreet.solvers.tolerances import USED
from discreet.solvers.wide.vertex_walk import MOST_STEPS, as_system, largest_weights, walk_from, walked_rows

LEAST_LOSS, MOST_LOSS = -8.0, 4.0
"""Losses per unit of mass, in nats, that prices are kept to at first: at optima of census tables most lay between
−1 and 3, those of a few letters that others are in need of far below."""
GAINS = 1e-7
"""A row that gains less moves nothing that is seen."""
SETTLED = 3e-6
"""Rounds that raise the value by less than this share, twice in a row, are the last."""
MOST_ROUNDS = 400
PATIENCE = 3
POSITIVE = 1e-10
"""Above what HiGHS leaves of a bound, a variable of a vertex is basic."""
MISSING = 1e-9
"""Less of an equation than HiGHS may leave anyway."""
WIDER, WIDEST = 3.0, 1e4
"""How much the ends of the prices move at a time, and where they no longer hold anything back."""
INSIDE = 1e-10
"""How far a posterior may break a condition, in likelihood ratios; the retreat from ε is fifty times as much."""
LEFT_OVER = 1e-9
"""A program may leave less than this share of any letter; making a channel divides by the sum, which moves likelihoods
by a fifth of the retreat from ε. A share of all mass would not do: it may be all that a rare letter has."""
ABOVE = 1e-12
"""What rows may have of a letter beyond its mass when the rest becomes an output of its own."""
GIVEN_BACK = (0.0, *np.geomspace(1e-8, 0.5, 9))
"""Shares of all rows that are given back, one after the other, until what is left is permitted."""
STARTS = 600
"""Walks per round, at most: from the rows in use, and from single letters."""


@dataclass(frozen=True, eq=False)
class PosteriorSplit:
    """Rows P(T | y), their weights, and the loss β of every class at the end."""

    rows: sparse.csr_array
    weights: Floats
    losses: Floats

    @property
    def entropy(self) -> float:
        """Σ_y q_y H(w_y)"""
        return float(self.weights @ row_entropies(self.rows))


def row_entropies(rows: sparse.csr_array) -> Floats:
    terms = -rows.data * np.log(rows.data)
    each = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.asarray(np.bincount(each, terms, rows.shape[0]), dtype=np.float64)


class RowSearch:
    """One search over a set of classes: masses `prior`, permitted posteriors conditions·w ≤ 0 (one column each).

    Columns beyond the classes are helping variables, as the lowest chance τ of LDP. The clock is looked at between
    rounds and between portions of starts. `bases` are the vertices where each class is largest.
    """

    def __init__(self, prior: Floats, conditions: Floats, bases: Integers, effort: Effort, seed: int = 0) -> None:
        n = len(prior)
        self._prior, self._effort, self._letters, self._start = prior, effort, n, bases
        self._system, self._conditions = as_system(conditions, n), conditions
        self._random = np.random.default_rng(seed)
        self._rows = sparse.csr_array((0, n))
        self._bases = np.zeros((0, len(self._system)), np.int64)
        self._seen: set[bytes] = set()
        both = sparse.csr_array(sparse.hstack([sparse.eye_array(n), -sparse.eye_array(n)]))
        free, ones = np.full(2 * n, INFINITE), np.ones(n)
        self._elastic = Program(np.zeros(2 * n), free, both, ones, ones, primal=True, deadline=effort.deadline)
        self._width = 1.0
        self._values = np.zeros(0)
        self.losses = ones

    @property
    def rows(self) -> sparse.csr_array:
        """All rows that were found."""
        return self._rows

    def until(self, effort: Effort) -> RowSearch:
        """The same search, which goes on by another clock."""
        self._effort = effort
        self._elastic.until(effort.deadline)
        return self

    # ---- the search ----------------------------------------------------------------------------------------------

    def run(self, losses: Floats | None = None) -> None:
        """Rounds of walks and prices until nothing gains, little changes, or time is up. `losses` to begin with."""
        if losses is not None:
            self.losses = losses
        self._add(*self._walks(self._start))
        last, settled = -np.inf, 0
        for _ in range(MOST_ROUNDS):
            if self._effort.late():
                return
            value, used, held = self._price()
            settled = settled + 1 if abs(value - last) <= SETTLED * max(1.0, abs(value)) else 0
            last = value
            added = self._add(*self._walks(self._starts(used)))
            if added and settled < PATIENCE:
                continue
            if not held or self._width > WIDEST:
                return
            self._width *= WIDER
            settled = 0

    def _starts(self, used: Indices) -> Integers:
        """Bases of rows in use, and of single letters, a part of each if there are many."""
        bases = np.vstack([self._bases[used], self._start])
        if len(bases) > STARTS:
            bases = bases[self._random.choice(len(bases), STARTS, replace=False)]
        return bases

    def _walks(self, starts: Integers) -> tuple[Integers, Floats]:
        found = []
        for begin in range(0, len(starts), 64):
            ends, weights, gains = walk_from(self._system, starts[begin : begin + 64], self.losses, MOST_STEPS)
            good = gains > (GAINS if self._rows.shape[0] else -np.inf)
            found.append((ends[good], weights[good]))
            if self._effort.late():
                break
        return np.vstack([one for one, _ in found]), np.vstack([one for _, one in found])

    def learn(self, rows: Floats) -> int:
        """Vertices that were found elsewhere, and where walks from them lead; how many of them are new.

        A vertex that is degenerate has no basis that its entries tell: it is left out.
        """
        count, variables = self._conditions.shape
        if variables > self._letters:
            rows = np.column_stack([rows, (rows @ self._conditions[: count // 2, : self._letters].T).min(axis=1)])
        every = np.hstack([rows, -(rows @ self._conditions.T)])
        found = [np.flatnonzero(point > POSITIVE) for point in every]
        bases = [basis for basis in found if len(basis) == count + 1]
        if not bases:
            return 0
        starts = np.array(bases, dtype=np.int64)
        still = walk_from(self._system, starts, self.losses, 0)
        return self._add(*still[:2]) + self._add(*walk_from(self._system, starts, self.losses, MOST_STEPS)[:2])

    def _add(self, bases: Integers, weights: Floats) -> int:
        """New rows for the master; how many."""
        fresh = []
        for k, basis in enumerate(bases):
            key = np.sort(basis).tobytes()
            if key not in self._seen:
                self._seen.add(key)
                fresh.append(k)
        if not fresh:
            return 0
        bases, weights = bases[fresh], weights[fresh]
        row, letter, weight = walked_rows(bases, weights, self._letters)
        rows = sparse.csr_array((weight, (row, letter)), shape=(len(fresh), self._letters))
        rows = sparse.csr_array(sparse.diags_array(1 / np.asarray(rows.sum(axis=1))) @ rows)
        kept = np.flatnonzero(permits(self._conditions, rows))  # a walk over a tiny pivot may end beside its vertex
        rows, bases = sparse.csr_array(rows[kept]), bases[kept]
        if not len(kept):
            return 0
        self._rows = sparse.csr_array(sparse.vstack([self._rows, rows]))
        self._bases = np.vstack([self._bases, bases])
        values = -row_entropies(rows)
        self._values = np.concatenate([self._values, values])
        self._elastic.add_columns(self._scaled(rows), values)
        return len(kept)

    def _scaled(self, rows: sparse.csr_array) -> sparse.csr_array:
        """Columns of the master: every equation is Σ q w_x / p_x = 1."""
        return sparse.csr_array(rows @ sparse.diags_array(1 / self._prior))

    def _price(self) -> tuple[float, Indices, bool]:
        """Prices from the rows so far: −Σ q H(w) with what is missing paid for, the rows in use, and whether anything
        is missing."""
        costs = np.concatenate([-MOST_LOSS * self._prior, LEAST_LOSS * self._prior]) * self._width
        self._elastic.set_cost(np.concatenate([costs, self._values]))
        solution = self._elastic.solved()
        self.losses = -solution.prices / self._prior
        missing, weights = np.split(solution.point, [2 * self._letters])
        return float(self._values @ weights + costs @ missing), np.flatnonzero(weights > USED), missing.max() > MISSING


def letter_vertices(conditions: Floats, letters: int) -> Integers:
    """For every letter the basis of the vertex where it is largest."""
    return np.asarray(largest_weights(as_system(conditions, letters), _any_vertex(conditions, letters), letters)[0])


def _any_vertex(conditions: Floats, letters: int) -> Integers:
    """By a linear program; another objective is tried where the vertex is degenerate."""
    random = np.random.default_rng(0)
    count, variables = conditions.shape
    rows = np.vstack([np.arange(variables) < letters, conditions])
    lower, upper = np.full(count + 1, -INFINITE), np.zeros(count + 1)
    lower[0] = upper[0] = 1.0
    program = Program(np.zeros(variables), np.full(variables, INFINITE), rows, lower, upper)
    for _ in range(20):
        program.set_cost(np.asarray(random.normal(size=(variables,))))
        point = program.solved().point
        slack = -(conditions @ point)
        basis = np.concatenate([np.flatnonzero(point > POSITIVE), variables + np.flatnonzero(slack > POSITIVE)])
        if len(basis) == count + 1:
            return basis.astype(np.int64)
    raise UnfinishedError("every vertex that was met is degenerate", where="wide", remedy='Use method="columns".')


def weighed(rows: sparse.csr_array, prior: Floats, conditions: Floats, deadline: float) -> PosteriorSplit:
    """The best weights for these rows, and for one more: what they leave of every letter, if that is permitted too.

        maximise −Σ q H(w) + Σ_x m_x p_x ln p_x   subject to   Σ q w_x / p_x + m_x = 1,   G (p∘m) ≤ 0,   q, m ≥ 0

    With q = 0 what is left is the constant row, so there is always a mechanism, whatever rows were found in time. The
    loss of a letter that is left is that in the constant row; in fewer letters it is less.
    """
    n, (count, variables) = len(prior), conditions.shape
    left = sparse.hstack([sparse.eye_array(n), sparse.csr_array((n, variables - n))])
    permitted = sparse.csr_array(conditions * np.concatenate([prior, np.ones(variables - n)]))
    lower = np.concatenate([np.ones(n), np.full(count, -INFINITE)])
    upper = np.concatenate([np.ones(n), np.zeros(count)])
    body = sparse.csr_array(sparse.vstack([left, permitted]))
    program = Program(
        np.zeros(variables), np.full(variables, INFINITE), body, lower, upper, primal=True, deadline=deadline
    )
    columns = sparse.csr_array(rows @ sparse.diags_array(1 / prior))
    program.add_columns(
        sparse.csr_array((columns.data, columns.indices, columns.indptr), (rows.shape[0], n + count)),
        np.zeros(rows.shape[0]),
    )
    alone = np.concatenate([prior * np.log(prior), np.zeros(variables - n)])
    program.set_cost(np.concatenate([alone, -row_entropies(rows)]))
    solution = program.solved()
    weights = solution.point[variables:]
    used = np.flatnonzero(weights > USED)
    split = PosteriorSplit(sparse.csr_array(rows[used]), weights[used], -solution.prices[:n] / prior)
    if float(np.abs(solution.point[:n]).max()) <= LEFT_OVER:
        split = replace(split, weights=_refined(split.rows, split.weights, prior))
    return completed(split, prior, conditions)


def completed(split: PosteriorSplit, prior: Floats, conditions: Floats) -> PosteriorSplit:
    """A split of all mass from one that misses some, or has too much of a letter: with one more row, what it leaves.

    Where that is not permitted, rows give back a share of their weight, until only the constant row is left; if not
    even this one is permitted, as in a part of the letters, UnfinishedError. Whatever program stopped early, or left
    artificial columns in use, nothing else leaves this room.
    """
    told = np.asarray(split.weights @ split.rows) if len(split.weights) else np.zeros(len(prior))
    if np.abs(told / prior - 1).max() <= LEFT_OVER:
        return split
    for share in GIVEN_BACK:
        remains = prior - (1 - share) * told
        if (remains < -ABOVE * prior).any():
            continue
        remains = np.maximum(remains, 0.0)
        last = sparse.csr_array(remains[None, :] / remains.sum())
        if permits(conditions, last)[0]:
            weights = np.append((1 - share) * split.weights, remains.sum())
            return replace(split, rows=sparse.csr_array(sparse.vstack([split.rows, last])), weights=weights)
    constant = sparse.csr_array(prior[None, :] / prior.sum())
    if permits(conditions, constant)[0]:
        return replace(split, rows=constant, weights=np.array([prior.sum()]))
    raise UnfinishedError("what rows leave is not permitted", where="wide", remedy='Use method="columns".')


def permits(conditions: Floats, posteriors: sparse.csr_array) -> NDArray[np.bool_]:
    """Which posteriors are permitted; a helping variable is the lowest likelihood."""
    n = posteriors.shape[1]
    found = np.asarray(posteriors @ conditions[:, :n].T)
    if conditions.shape[1] > n:
        helping = found[:, : len(conditions) // 2].min(axis=1)
        found = found + helping[:, None] * conditions[:, n]
    return np.asarray(found.max(axis=1) <= INSIDE)


def _refined(rows: sparse.csr_array, weights: Floats, prior: Floats) -> Floats:
    """One step towards Σ q w = p, which the program meets to 1e-9 of every letter."""
    columns = sparse.csc_array((rows @ sparse.diags_array(1 / prior)).T)
    step = lsqr(columns, 1 - columns @ weights, atol=1e-15, btol=1e-15, iter_lim=200)[0]
    refined = weights + step
    better = refined.min() >= 0 and np.abs(1 - columns @ refined).max() <= np.abs(1 - columns @ weights).max()
    return np.asarray(refined if better else weights)
