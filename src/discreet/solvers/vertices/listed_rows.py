"""A complete list of extreme rows as a source of rows: every row is priced, so that it proves (theory 6.3).

The pushed list contains the vertices of a larger polytope: the largest value of a convex function on it bounds that
function over all permitted rows. Rows are handed on as permitted rows of the true cone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from discreet.compiling import compiled
from discreet.exceptions import UnfinishedError
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.pivots import Floats, Whole
from discreet.solvers.vertices.walk import RowPolyhedron, VertexList

PER_LETTER = 2
BEST = 4
"""Rows added in a round: the best two of every letter, and this many times as many as there are letters."""
ABSOLUTE = 1e-12
"""Added to the largest value on the list, relative to its size: rounding of one product."""


@dataclass(frozen=True, eq=False)
class PricedPosteriors:
    """New rows as posteriors, permitted; the largest value met; and whether no permitted row has a larger one."""

    posteriors: Floats
    most: float
    proven: bool


@dataclass(frozen=True, eq=False)
class ListedRows:
    """All extreme rows, priced at once."""

    space: DesignSpace
    vertices: VertexList

    @property
    def polyhedron(self) -> RowPolyhedron:
        return self.vertices.polyhedron

    @cached_property
    def information(self) -> Floats:
        """μ of every listed row."""
        return told_by(self.space, self.vertices.posteriors)

    @cached_property
    def _letter(self) -> Whole:
        """The letter that each row raises most."""
        lists = self.vertices.posteriors
        lift = lists.data / self.space.prior[lists.indices]
        return np.asarray(first_largest(lists.indptr, lists.indices, lift))

    def first_rows(self) -> Floats:
        """Two rows for each letter: those that raise it most."""
        lists = self.vertices.posteriors.tocsc()
        chosen: list[int] = []
        for x in range(lists.shape[1]):
            inside = slice(lists.indptr[x], lists.indptr[x + 1])
            chosen.extend(lists.indices[inside][np.argsort(-lists.data[inside])[:PER_LETTER]])
        return self._permitted(np.unique(chosen))

    def best(self, curvature: Floats, linear: Floats, eta: float) -> PricedPosteriors:
        """yᵀ curvature y − linear·y + η μ for the whole list: its maximum, and good rows."""
        lists = self.vertices.posteriors
        values = quadratic_values(lists.indptr, lists.indices, lists.data, curvature, linear)
        if eta:
            values += eta * self.information
        return self._chosen(values)

    def _chosen(self, values: Floats) -> PricedPosteriors:
        count = min(BEST * len(self.space.prior), len(values))
        top = np.argpartition(-values, count - 1)[:count]
        order = np.lexsort((-values, self._letter))
        starts = np.searchsorted(self._letter[order], np.arange(len(self.space.prior)))
        places = (starts[:, None] + np.arange(PER_LETTER)).ravel()
        places = places[places < len(order)]
        chosen = np.unique(np.concatenate([top, order[places]]))
        most = float(values.max())
        return PricedPosteriors(self._permitted(chosen), most + ABSOLUTE * float(np.abs(values).max()), True)

    def _permitted(self, which: Whole) -> Floats:
        return np.asarray(self.vertices.permitted(which) * self.space.prior)


def balanced_program(rows: Floats, worth: Floats) -> tuple[Floats, Floats, float]:
    """maximise Σ q worth subject to Σ q v = 1: weights, one price per letter, and the value."""
    found = optimize.linprog(-worth, A_eq=rows.T, b_eq=np.ones(rows.shape[1]), method="highs")
    if found.status != 0:
        raise UnfinishedError(
            "a linear program that has an optimum was not solved",
            where="vertices",
            remedy="Drop letters that hardly occur.",
        )
    weights = np.maximum(np.asarray(found.x), 0.0)
    return weights, -np.asarray(found.eqlin.marginals), float(worth @ weights)


def told_by(space: DesignSpace, posteriors: Floats | sparse.csr_array) -> Floats:
    """μ(v̄) = Σ ȳ ln(ȳ/p̄) of every row, in nats."""
    prior = space.target_prior
    if space.averaging is None:
        targets: sparse.csr_array = sparse.csr_array(posteriors)
    else:
        targets = sparse.csr_array(posteriors / space.prior @ (space.averaging * prior))
    terms = targets.copy()
    shares = np.maximum(targets.data, np.finfo(float).tiny)
    terms.data = targets.data * np.log(shares / prior[targets.indices])
    return np.asarray(terms.sum(axis=1), dtype=np.float64).ravel()


def axis_rows(space: DesignSpace, polyhedron: RowPolyhedron) -> Floats:
    """p ± ρ r∘B_k with the largest ρ of each axis: permitted rows that balance and span, whatever the cone."""
    steps = (space.balance * space.prior[:, None]).T
    slopes = np.hstack([-steps / space.prior, steps @ polyhedron.coefficients[1:, : len(space.prior)].T])
    reach = 1.0 / np.concatenate([slopes.max(axis=1), (-slopes).max(axis=1)])
    moved = np.vstack([steps, -steps]) * (1.0 - ABSOLUTE) * reach[:, None]
    return np.asarray(np.maximum(space.prior + moved, 0.0))


@compiled()
def quadratic_values(
    starts: NDArray[np.int32], letters: NDArray[np.int32], sizes: Floats, curvature: Floats, linear: Floats
) -> Floats:
    """yᵀ curvature y − linear·y for every sparse row."""
    values = np.empty(len(starts) - 1)
    for row in range(len(values)):
        total = 0.0
        for i in range(starts[row], starts[row + 1]):
            line = curvature[letters[i]]
            product = 0.5 * line[letters[i]] * sizes[i]
            for j in range(starts[row], i):
                product += line[letters[j]] * sizes[j]
            total += sizes[i] * (2.0 * product - linear[letters[i]])
        values[row] = total
    return values


@compiled()
def first_largest(starts: NDArray[np.int32], letters: NDArray[np.int32], sizes: Floats) -> Whole:
    """The letter of the largest entry of every sparse row."""
    found = np.zeros(len(starts) - 1, np.int64)
    for row in range(len(found)):
        best = starts[row]
        for i in range(starts[row] + 1, starts[row + 1]):
            if sizes[i] > sizes[best]:
                best = i
        found[row] = letters[best]
    return found


# First rows for a curator: one shared draw tells x and nothing about s (theory 1.6, judged by X alone).
#
# Give every letter an interval of length P(x|s) on [0, 1), for each secret s, and draw a point of the interval of the
# true (s, x). The point is uniform whatever s is, so its cell among the intervals of all secrets has level 0. A cell in
# which all secrets have the same letter tells it. First comes what all secrets have in common, min over s of P(x|s), at
# one place; the rest follows in an order that may be chosen, and several orders are several mechanisms to start from.


DUST = 1e-12
"""Cells shorter than this are rounding."""
ORDERS = 6
"""Of the letters, each of which gives rows of its own: as they come, the heaviest first, and shuffled."""


def shared_draws(table: Floats, seed: int = 1) -> tuple[Floats, Floats]:
    """Rows v over all (s, x) of P(S, X), flattened, and weights that balance: several orders of letters, mixed.

    Rows are zero where P(s, x) is; every one has Σ_x P(x|s) v_{s,x} = 1 for every secret of positive mass.
    """
    given = table / table.sum(axis=1, keepdims=True)
    random = np.random.default_rng(seed)
    letters = table.shape[1]
    heavy = np.argsort(-table.sum(axis=0))
    orders = [np.arange(letters), heavy, *(random.permutation(letters) for _ in range(ORDERS - 2))]
    found = [_one_draw(given, order) for order in orders]
    return np.vstack([rows for rows, _ in found]), np.concatenate([weights for _, weights in found]) / len(orders)


def _one_draw(given: Floats, order: Whole) -> tuple[Floats, Floats]:
    common = given.min(axis=0)
    rest = (given - common)[:, order]
    walls = np.concatenate(
        [np.cumsum(common)[None, :].repeat(len(given), 0), common.sum() + np.cumsum(rest, axis=1)], axis=1
    )
    names = np.concatenate([np.arange(given.shape[1]), order])
    cuts = np.unique(np.concatenate([[0.0], np.clip(walls.ravel(), 0.0, 1.0), [1.0]]))
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > DUST])]
    middle, weights = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    rows = np.zeros((len(middle), *given.shape))
    for s, line in enumerate(walls):
        letter = names[np.minimum(np.searchsorted(line, middle), len(names) - 1)]
        rows[np.arange(len(middle)), s, letter] = 1.0
    told = np.divide(rows, given, out=np.zeros_like(rows), where=given > 0)
    return told.reshape(len(middle), -1), weights
