"""Every extreme row, then one linear program: the reference that everything else is measured against (theory 1.1, 1.2).

The rows of a mechanism may be taken from the extreme rays of the cone K in a dimensions, not from the extreme points of
the polytope of whole mechanisms in a(a − 1) dimensions that the papers enumerate. The double description method starts
from v ≥ 0, whose extreme rays are the single letters, and takes in one condition at a time: rays on the wrong side go,
and each pair of neighbours on different sides leaves a new ray on the boundary. A new ray mixes two old ones, so the
rays of LDP and LIP stay sparse: at most c letters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import InfeasibleError, UnfinishedError
from discreet.notions.cone import Cone
from discreet.solvers.master import Master
from discreet.solvers.problem import Split, Splitting

Floats = NDArray[np.float64]
MOST_RAYS = 60_000
MOST_PAIRS = 400_000_000
ZERO = 1e-10
"""A ray lies on a condition when it misses it by less than this, relative to the size of the terms."""
BLOCK = 4_000_000
CLOSED = 1e-9


def vertices(rows: Floats, prior: Floats) -> Floats:
    """The extreme points of {v ≥ 0 : rows·v ≤ 0, p·v = 1}, one a line."""
    scale = np.where(prior > 0, prior, 1.0)
    conditions = rows / scale
    conditions = conditions[(conditions > 0).any(axis=1)]
    conditions = conditions / np.abs(conditions).max(axis=1, keepdims=True)
    conditions = np.unique(conditions, axis=0) if len(conditions) else conditions
    rays = _extreme_rays(conditions)
    mass = rays @ (prior > 0).astype(float)
    if (mass <= ZERO).any():
        raise InfeasibleError(
            "a row may be concentrated on letters that never occur",
            where="cone",
            remedy="Leave these letters out, or use a cone that weighs them.",
        )
    return np.asarray(rays / (mass[:, None] * scale))


def solve(problem: Splitting) -> Split:
    """The exact optimum: the best weights on all extreme rows. A lazy cone is listed, cut and listed again.

    The bound compares every listed row with the prices; it is as good as the list. `columns` needs no list.
    """
    cone = problem.cone
    while True:
        rows = vertices(cone.rows, problem.prior)
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
    return Split(used, weights, value, max(bound, value), "optimal" if bound - value <= CLOSED else "stalled")


def _extreme_rays(conditions: Floats) -> Floats:
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
        if len(rays) > MOST_RAYS:
            raise UnfinishedError(
                f"more than {MOST_RAYS} extreme rows", where="vertices", remedy="Use method 'columns'."
            )
    return rays


def _cut(rays: Floats, tight: NDArray[np.bool_], side: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The extreme rays after one more condition; `tight[i, j]` says that ray i lies on condition j."""
    out, inside = np.flatnonzero(side > 0), np.flatnonzero(side < 0)
    kept = side <= 0
    first, second = _neighbours(tight, out, inside, rays.shape[1])
    new = rays[second] * side[first, None] - rays[first] * side[second, None]
    new = new / np.maximum(new.max(axis=1, keepdims=True), 1e-300)
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
