"""Every extreme row, then one linear program: the reference that everything else is measured against (theory 1.1, 1.2).

The rows of a mechanism may be taken from the extreme rays of the cone K in a dimensions, not from the extreme points of
the polytope of whole mechanisms in a(a − 1) dimensions that the papers enumerate. The double description method starts
from v ≥ 0, whose extreme rays are the single letters, and takes in one condition at a time: rays on the wrong side go,
and each pair of neighbours on different sides leaves a new ray on the boundary. A new ray mixes two old ones, so the
rays of LDP and LIP stay sparse: at most c letters.

The attributes of a product have a handful of letters and are solved again and again for different budgets: Qhull lists
their rows faster (`best_rows`). It works in floating point, so a row may be off by rounding and nothing is a proof;
whoever uses it measures the level of what it returns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import HalfspaceIntersection

from discreet.arrays import Floats
from discreet.exceptions import InfeasibleError, ParameterError, UnfinishedError
from discreet.notions.notion import Cone
from discreet.solvers.columns.row_master import Master
from discreet.solvers.problem import Effort, Problem, Solution
from discreet.solvers.restricted_master import RestrictedMaster

MOST_RAYS = 60_000
MOST_PAIRS = 400_000_000
"""Lists that a machine of 16 GB still holds, and pairs that it compares within a few minutes."""
ZERO = 1e-10
"""A ray lies on a condition when it misses it by less than this, relative to the size of the terms."""
BLOCK = 4_000_000
"""Entries of a block of the matrix of pairs: 16 MB in single precision."""
SMALLEST = 1e-300
"""Keeps a ray of zeros, which no pair of neighbours leaves, from dividing by zero."""
MOST_LETTERS = 5
"""Up to so many letters Qhull is faster than double description."""
DIGITS = 13
"""Posteriors that agree in so many digits are the same vertex: Qhull's rounding is some 1e-15."""


def vertices(rows: Floats, prior: Floats, effort: Effort | None = None) -> Floats:
    """The extreme points of {v ≥ 0 : rows·v ≤ 0, p·v = 1}, one per line."""
    scale = np.where(prior > 0, prior, 1.0)
    conditions = rows / scale
    conditions = conditions[(conditions > 0).any(axis=1)]
    conditions = conditions / np.abs(conditions).max(axis=1, keepdims=True)
    conditions = np.unique(conditions, axis=0) if len(conditions) else conditions
    rays = _extreme_rays(conditions, effort or Effort())
    mass = rays @ (prior > 0).astype(float)
    if (mass <= ZERO).any():
        raise InfeasibleError(
            "a row may be concentrated on letters that never occur",
            where="cone",
            remedy="Leave these letters out, or use a cone that weighs them.",
        )
    return np.asarray(rays / (mass[:, None] * scale))


def enumerate_rows(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The exact optimum: the best weights on all extreme rows. A lazy cone is listed, cut and listed again.

    The bound compares every listed row with the prices; it is as good as the list. `columns` needs no list. It ends
    when it ends, or says that it is too late; there is nothing to show before that.
    """
    cone = problem.cone
    while True:
        rows = vertices(cone.rows, problem.prior, effort)
        if problem.cone.separate is None:
            break
        cuts = np.vstack([problem.cone.separate(row) for row in rows])
        if not len(cuts):
            break
        cone = Cone(np.vstack([cone.rows, cuts]), problem.cone.separate)
    master = Master(problem)
    master.add(rows)
    used, weights, value = master.split()
    alpha = master.exact_prices
    bound = float(alpha.sum() + (problem.values(rows) - rows @ alpha).max())
    yield Solution(problem, used, weights, value, max(bound, value))


def _extreme_rays(conditions: Floats, effort: Effort) -> Floats:
    """The extreme rays of {x ≥ 0 : conditions·x ≤ 0}, each with largest entry 1."""
    n = conditions.shape[1]
    rays = np.eye(n)
    tight = ~np.eye(n, dtype=bool)
    left = list(range(len(conditions)))
    while left:
        sides = rays @ conditions[left].T
        sides[np.abs(sides) <= ZERO * (rays @ np.abs(conditions[left]).T)] = 0.0
        chosen = int(((sides > 0).sum(axis=0) * (sides < 0).sum(axis=0)).argmin())
        rays, tight = _cut(rays, tight, sides[:, chosen])
        del left[chosen]
        if len(rays) > MOST_RAYS or effort.late():
            what = (
                f"more than {MOST_RAYS} extreme rows" if len(rays) > MOST_RAYS else "too many extreme rows for the time"
            )
            raise UnfinishedError(what, where="vertices", remedy="Use method 'columns'.")
    return rays


def _cut(rays: Floats, tight: NDArray[np.bool_], side: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The extreme rays after one more condition; `tight[i, j]` says that ray i lies on condition j."""
    out, inside = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
    kept = side <= 0
    first, second = _neighbours(tight, out, inside, rays.shape[1])
    new = rays[second] * side[first, None] - rays[first] * side[second, None]
    new = new / np.maximum(new.max(axis=1, keepdims=True), SMALLEST)
    old_tight = np.column_stack([tight[kept], side[kept] == 0])
    new_tight = np.column_stack([tight[first] & tight[second], np.ones(len(first), dtype=bool)])
    new[new_tight[:, : rays.shape[1]]] = 0.0
    return np.vstack([rays[kept], new]), np.vstack([old_tight, new_tight])


def _neighbours(
    tight: NDArray[np.bool_], out: NDArray[np.intp], inside: NDArray[np.intp], dimension: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of rays that span a two-dimensional face: no third ray lies on every condition that both lie on."""
    if len(out) * len(inside) > MOST_PAIRS:
        raise UnfinishedError("too many pairs of extreme rows", where="vertices", remedy="Use method 'columns'.")
    flags = tight.astype(np.float32)
    firsts, seconds = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    block = max(1, BLOCK // max(1, len(inside)))
    for start in range(0, len(out), block):
        part = out[start : start + block]
        common = flags[part] @ flags[inside].T
        i, j = np.nonzero(common >= dimension - 2)
        size = common[i, j]
        for piece in range(0, len(i), max(1, BLOCK // len(tight))):
            here = slice(piece, piece + max(1, BLOCK // len(tight)))
            both = flags[part[i[here]]] * flags[inside[j[here]]]
            alone = (both @ flags.T >= size[here, None] - 0.5).sum(axis=1) == 2
            firsts.append(part[i[here]][alone])
            seconds.append(inside[j[here]][alone])
    return np.concatenate(firsts), np.concatenate(seconds)


def best_rows(problem: Problem) -> tuple[Floats, Floats]:
    """The rows of the best split and their weights."""
    rows = extreme_rows(problem)
    master = RestrictedMaster(np.ones(len(problem.prior)))
    master.add(rows, problem.values(rows))
    weighing = master.weigh()
    used = weighing.used()
    return rows[used], weighing.weights[used]


def extreme_rows(problem: Problem) -> Floats:
    """The vertices of {v ∈ K : p·v = 1} for 3 to 5 letters of positive mass.

    In posteriors w = p v, with the last one left out, around w = p: the constant row is inside every condition.
    """
    p = problem.prior
    if not 3 <= len(p) <= MOST_LETTERS or p.min() <= 0:
        raise ParameterError(f"not 3 to {MOST_LETTERS} letters of positive mass", where="corners")
    conditions = np.vstack([problem.cone.rows / p, -np.eye(len(p))])
    while True:
        scaled = conditions / np.abs(conditions).max(axis=1, keepdims=True)
        faces = np.hstack([scaled[:, :-1] - scaled[:, -1:], scaled[:, -1:]])
        found = HalfspaceIntersection(faces, p[:-1]).intersections
        posteriors = np.maximum(np.hstack([found, 1 - found.sum(axis=1, keepdims=True)]), 0.0)
        rows = np.unique(np.round(posteriors, DIGITS), axis=0) / p
        separate = problem.cone.separate
        cuts = [cut for cut in map(separate, rows) if len(cut)] if separate is not None else []
        if not cuts:
            return np.asarray(rows / (rows @ p)[:, None])
        conditions = np.unique(np.vstack([conditions, *(cut / p for cut in cuts)]), axis=0)
