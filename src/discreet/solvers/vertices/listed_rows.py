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
INFORMED = 1e-9
"""Nats by which the information optimum may miss its bound."""
MOST_ROUNDS = 60
ABSOLUTE = 1e-12
"""Added to the largest value on the list, relative to its size: rounding of one product."""


@dataclass(frozen=True, eq=False)
class PricedRows:
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

    def best(self, curvature: Floats, linear: Floats, eta: float) -> PricedRows:
        """yᵀ curvature y − linear·y + η μ for the whole list: its maximum, and good rows."""
        lists = self.vertices.posteriors
        values = quadratic_values(lists.indptr, lists.indices, lists.data, curvature, linear)
        if eta:
            values += eta * self.information
        return self._chosen(values)

    def _chosen(self, values: Floats) -> PricedRows:
        count = min(BEST * len(self.space.prior), len(values))
        top = np.argpartition(-values, count - 1)[:count]
        order = np.lexsort((-values, self._letter))
        starts = np.searchsorted(self._letter[order], np.arange(len(self.space.prior)))
        places = (starts[:, None] + np.arange(PER_LETTER)).ravel()
        places = places[places < len(order)]
        chosen = np.unique(np.concatenate([top, order[places]]))
        most = float(values.max())
        return PricedRows(self._permitted(chosen), most + ABSOLUTE * float(np.abs(values).max()), True)

    def _permitted(self, which: Whole) -> Floats:
        return np.asarray(self.vertices.permitted(which) * self.space.prior)

    def informative(self) -> tuple[Floats, Floats, float, float]:
        """The information optimum by one linear program: posteriors, weights, I and a bound on every mechanism's I."""
        rows = np.vstack([self.first_rows(), axis_rows(self.space, self.polyhedron)])
        lists = self.vertices.posteriors
        bound = np.inf
        for _ in range(MOST_ROUNDS):
            told = told_by(self.space, rows)
            weights, price, value = balanced_program(rows / self.space.prior, told)
            values = self.information - lists @ (price / self.space.prior)
            priced = self._chosen(values)
            bound = min(bound, float(price.sum()) + priced.most)
            if bound - value <= INFORMED:
                break
            known = weights > 0
            rows = np.vstack([rows[known], rows[~known][-len(rows) // 2 :], priced.posteriors])
        used = weights > 0
        return rows[: len(weights)][used], weights[used], value, bound


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
