"""Rows and weights for accuracy, with a bound that holds for every permitted mechanism: the entrance (theory 6).

*Certificate.* For A ⪰ 0, all λ and η ≥ 0 put δ = max of w̄ᵀAw̄ + ημ − λ·w over permitted rows. Every permitted mechanism
with information at least `least` has tr(A W') ≤ δ − η·least, because Σ q w = 0. By the arithmetic-geometric mean
ψ' + t² tr(A W') ≥ 2t S with S = tr (C^½ A C^½)^½ for every t > 0; the best t gives

    ψ' ≥ S² / (δ − η·least),

and at the optimum S = ψ = δ − η·least. A complete list yields δ; where rows are climbed to, the
moment bound takes over.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import optimize

from discreet.compiling import example
from discreet.exceptions import ParameterError, UnfinishedError
from discreet.solvers.vertices.design_master import DesignWeights, RowList, optimal_weights
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.edge_climb import ClimbedRows
from discreet.solvers.vertices.listed_rows import ListedRows, PricedPosteriors, axis_rows, told_by
from discreet.solvers.vertices.moment_bound import moment_bound
from discreet.solvers.vertices.pivots import Floats
from discreet.solvers.vertices.walk import MOST_VERTICES, RowPolyhedron, list_vertices, polyhedron_of
from discreet.utilities.accuracy import letters_alike

ENOUGH = 1e-5
"""Relative gap at which rows are no longer added."""
USED = 1e-6
"""Weight, as a share of the largest, below which a row is not used."""
LIGHTEST = 0.3
GROWTH = 1.5e-3
"""Thinning: the lightest 30 % of the outputs go, or half as many, while ψ has grown by less than 0.15 %."""
SAME = 11
"""Decimals of a posterior in which two rows must differ to be two."""
FEWEST = 0.5
"""Thinning ends when less than half a row would go."""
WIDER = 5
FAR = 1.2
LITTLE = 0.05
"""Climbing: so many sets of rows in a round, while the best row is so many times ψ, each with so much weight."""
ROUGH = 1e-5
"""Relative gap of the weights while rows are still being climbed to."""
LIGHT = 0.01
EVEN = 0.5
"""Weight that axis rows, and the other first rows, receive together before anything is known of them."""
KEPT_ROWS = 3
"""Rows kept beside those in use, as a multiple of the number of letters."""
MOST_ROUNDS = 300
STALLED = 3e-4
"""Climbing ends when three rounds together gained less than this share."""
PROVING = 0.3
CLIMBING = 0.8
"""Share of the time for the bound by moments, and of what is left then for climbs; the rest is for fewer outputs."""
WALKING = 0.3
MOST_WALKING = 8.0
"""Share of the time that the walk may take, and seconds after which few lists still end."""


class RowSource(Protocol):
    """Where rows come from: a list, or climbing."""

    @property
    def polyhedron(self) -> RowPolyhedron: ...
    def first_rows(self) -> Floats: ...
    def best(self, curvature: Floats, linear: Floats, eta: float) -> PricedPosteriors: ...


@dataclass(frozen=True, eq=False)
class AccurateRows:
    """Rows v with weights q, their ψ (the mean design effect by default), its proven lower bound, and I in nats."""

    rows: Floats
    weights: Floats
    variance: float
    lower_bound: float
    information: float
    listed: bool

    @property
    def gap(self) -> float:
        """How much of ψ is not proven to be necessary."""
        return max(0.0, 1.0 - self.lower_bound / self.variance)


@dataclass(frozen=True, eq=False)
class Rounds:
    """What rounds of pricing ended with."""

    posteriors: Floats
    design: DesignWeights
    lower_bound: float
    most: float = float("inf")


def accurate_rows(
    prior: Floats,
    cone_rows: Floats,
    estimands: Floats | None = None,
    averaging: Floats | None = None,
    *,
    lifted_start: Floats | None = None,
    known: Floats | None = None,
    seconds: float = 60.0,
    most_vertices: int = MOST_VERTICES,
) -> AccurateRows:
    """The most accurate mechanism with rows in {v ≥ 0 : cone_rows·v ≤ 0}.

    `estimands` is C over the targets (default: all letters alike), `averaging` holds P(z | t) for a curator, `known`
    permitted rows to start from. With `lifted_start` the conditions have auxiliary columns (see `lifted_ratios`).
    """
    began = time.monotonic()
    space = space_of(prior, estimands, averaging)
    polyhedron = polyhedron_of(space.prior, cone_rows, lifted_start)
    try:
        vertices = list_vertices(polyhedron, most_vertices, min(WALKING * seconds, MOST_WALKING))
    except UnfinishedError:
        return climbed_rows(space, polyhedron, known, seconds - (time.monotonic() - began))
    source = ListedRows(space, vertices)
    found = rounds(space, source, known, until=began + seconds)
    return settled_rows(space, found, listed=True, until=began + seconds)


@example("accuracy")
def compile_accuracy() -> None:
    """A small list and a few climbs: no time limit pays for compiling them."""
    prior = np.array([0.5, 0.3, 0.2])
    rows = np.array([[-0.1, 0.2, -0.3], [-0.2, -0.1, 0.2]])
    accurate_rows(prior, rows)
    climbed_rows(space_of(prior, None, None), polyhedron_of(prior, rows), None, 1.0)


def space_of(prior: Floats, estimands: Floats | None, averaging: Floats | None) -> DesignSpace:
    """The coordinates of a problem given as plain arrays."""
    if prior.ndim != 1 or len(prior) < 2:
        raise ParameterError("accuracy needs at least two letters", where="prior", remedy="Release another column.")
    mass = prior / prior.sum()
    if estimands is not None:
        return DesignSpace(mass, averaging, estimands)
    return DesignSpace(mass, averaging, letters_alike(DesignSpace(mass, averaging, np.zeros((0, 0))).target_prior))


def climbed_rows(
    space: DesignSpace,
    polyhedron: RowPolyhedron,
    known: Floats | None,
    seconds: float,
    known_weights: Floats | None = None,
) -> AccurateRows:
    """Where the list is too long: a bound by moments first, then climbs that start from its curvature."""
    until = time.monotonic() + seconds
    moments = moment_bound(space, polyhedron, PROVING * seconds)
    source = ClimbedRows(space, polyhedron, CLIMBING * seconds, moments)
    left = until - time.monotonic()
    found = rounds(space, source, known, known_weights, until=until - (1 - CLIMBING) * left)
    better = Rounds(found.posteriors, found.design, max(moments.lower_bound, space.clean))
    return settled_rows(space, better, listed=False, until=until)


def rounds(
    space: DesignSpace,
    source: RowSource,
    known: Floats | None = None,
    known_weights: Floats | None = None,
    *,
    until: float,
    least: float | None = None,
    weight: Floats | None = None,
    enough: float = ENOUGH,
) -> Rounds:
    """Weights, prices, new rows, until the whole list agrees (or climbing finds nothing more, or the time is up)."""
    estimands = space.weight if weight is None else weight
    exact = space.exact_weight if weight is None else weight
    rows, start = first_master(space, source, known, known_weights)
    bound, past, closed = 0.0, [], enough / 10
    best: Rounds | None = None
    for _ in range(MOST_ROUNDS):
        told = None if least is None else told_by(space, rows)
        table = RowList(rows @ space.balance, rows @ space.judged, told)
        try:
            design = optimal_weights(table, estimands, least, start, closed=closed, until=until)
        except UnfinishedError:
            if best is None:
                raise
            break
        curvature = space.judged @ design.curvature @ space.judged.T
        priced = source.best(curvature, space.balance @ design.price, design.information_price)
        closed = enough / 10 if priced.proven else ROUGH
        if priced.proven:
            bound = max(bound, certified(exact, design, priced.most, least))
        else:
            good = row_values(space, design, priced.posteriors) > design.variance * (1 + ENOUGH)
            priced = PricedPosteriors(priced.posteriors[good], priced.most, False)
            priced = widened(space, source, table, design, estimands, priced)
        past.append(design.variance)
        best = Rounds(rows, design, bound, priced.most if priced.proven else float("inf"))
        if 1.0 - bound / design.variance <= enough or time.monotonic() > until or not len(priced.posteriors):
            break
        if not priced.proven and len(past) > 3 and past[-4] - past[-1] < STALLED * past[-1]:
            break
        order = np.argsort(-row_values(space, design, rows))[: KEPT_ROWS * rows.shape[1]]
        keep = np.unique(np.concatenate([np.flatnonzero(design.weights > USED * design.weights.max()), order]))
        start = np.concatenate([design.weights[keep], np.full(len(priced.posteriors), 1e-2 / len(priced.posteriors))])
        rows = np.vstack([rows[keep], priced.posteriors])
        first = np.sort(np.unique(np.round(rows, SAME), axis=0, return_index=True)[1])
        rows, start = rows[first], start[first]
    if best is None:
        raise UnfinishedError("no weights were found", where="accuracy", remedy="Allow more time.")
    return best


def row_values(space: DesignSpace, design: DesignWeights, posteriors: Floats) -> Floats:
    """w̄ᵀAw̄ + ημ − λ·w of every row: above ψ (plus η times the information asked for) it would lower ψ."""
    judged = posteriors @ space.judged
    values = np.einsum("ij,ij->i", judged @ design.curvature, judged) - posteriors @ (space.balance @ design.price)
    if design.information_price and len(posteriors):
        values = values + design.information_price * told_by(space, posteriors)
    return np.asarray(values)


def widened(
    space: DesignSpace,
    source: RowSource,
    table: RowList,
    design: DesignWeights,
    estimands: Floats,
    priced: PricedPosteriors,
) -> PricedPosteriors:
    """More rows before the weights are found again: climbs end in few places, so the curvature is moved as if the rows
    just found had a little weight, and others come to the top."""
    moment = table.judged.T * design.weights @ table.judged
    found = [priced.posteriors]
    latest = priced
    for _ in range(WIDER if priced.most > FAR * design.variance else 1):
        if not len(latest.posteriors):
            break
        judged = latest.posteriors @ space.judged
        moment = (1 - LITTLE) * moment + LITTLE * judged.T @ judged / len(judged)
        inverse = np.linalg.inv(moment)
        curvature = space.judged @ inverse @ estimands @ inverse @ space.judged.T
        latest = source.best(curvature, space.balance @ design.price, design.information_price)
        found.append(latest.posteriors)
    return PricedPosteriors(np.vstack(found), priced.most, priced.proven)


def first_master(
    space: DesignSpace, source: RowSource, known: Floats | None, known_weights: Floats | None
) -> tuple[Floats, Floats]:
    """Rows to begin with, and weights that balance. Axis rows make that possible, whatever the others are; a linear
    program uses them as little as it can. Known rows that come with weights keep most of the weight."""
    axes = axis_rows(space, source.polyhedron)
    others = source.first_rows()
    posteriors = np.zeros((0, len(space.prior)))
    if known is not None:
        posteriors = known * space.prior / (known @ space.prior)[:, None]
        if isinstance(source, ClimbedRows):
            source.towards(posteriors)
    if known_weights is None:
        others, posteriors = np.vstack([others, posteriors]), posteriors[:0]
    balance = np.vstack([axes, others]) @ space.balance
    even = np.concatenate([np.full(len(axes), LIGHT / len(axes)), np.full(len(others), EVEN / len(others))])
    left = -balance.T @ even
    cost = np.concatenate([np.ones(len(axes)), np.full(len(others), LIGHT)])
    found = optimize.linprog(cost, A_eq=balance.T, b_eq=left, method="highs")
    if found.status != 0:
        raise UnfinishedError(
            "the first rows were not balanced", where="accuracy", remedy="Drop letters that hardly occur."
        )
    weights = even + np.maximum(np.asarray(found.x), 0.0)
    weights = weights / weights.sum()
    rows = np.vstack([axes, others])
    if known_weights is None:
        return rows, weights
    share = known_weights / known_weights.sum()
    return np.vstack([rows, posteriors]), np.concatenate([LIGHT * weights, (1 - LIGHT) * share])


def certified(exact: Floats, design: DesignWeights, most: float, least: float | None) -> float:
    """S²/(δ − η·least), the bound on ψ of every permitted mechanism."""
    room = most - (0.0 if least is None else design.information_price * least)
    return geometric(exact, design.curvature) ** 2 / room if room > 0 else 0.0


def geometric(weight: Floats, curvature: Floats) -> float:
    """tr (C^½ A C^½)^½."""
    values, vectors = np.linalg.eigh(weight)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return float(np.sqrt(np.maximum(np.linalg.eigvalsh(root @ curvature @ root), 0.0)).sum())


def settled_rows(
    space: DesignSpace,
    found: Rounds,
    *,
    listed: bool,
    least: float | None = None,
    weight: Floats | None = None,
    growth: float = GROWTH,
    until: float = float("inf"),
) -> AccurateRows:
    """The answer with as few outputs as cost next to nothing."""
    posteriors, design = thinned(space, found, least, space.weight if weight is None else weight, growth, until)
    exact = space.exact_weight if weight is None else weight
    moment = (posteriors @ space.judged).T * design.weights @ (posteriors @ space.judged)
    return AccurateRows(
        posteriors / space.prior,
        design.weights,
        float(np.trace(np.linalg.solve(moment, exact))),
        found.lower_bound,
        float(design.weights @ told_by(space, posteriors)),
        listed,
    )


def thinned(
    space: DesignSpace, found: Rounds, least: float | None, weight: Floats, growth: float, until: float
) -> tuple[Floats, DesignWeights]:
    """Rows that are used; then without those that carry least, weighed again, while ψ grows by less than 0.15 %.

    What a row carries is q w̄ᵀAw̄, its share of ψ: the row of a rare letter is light and carries much.
    """
    limit = found.design.variance * (1 + growth)
    best = found.posteriors, found.design
    keep = np.flatnonzero(found.design.weights > USED * found.design.weights.max())
    share = LIGHTEST
    while True:
        rows = best[0][keep]
        told = None if least is None else told_by(space, rows)
        start = best[1].weights[keep] / best[1].weights[keep].sum()
        try:
            table = RowList(rows @ space.balance, rows @ space.judged, told)
            lighter = optimal_weights(table, weight, least, start, until=until)
        except UnfinishedError:  # too few rows are left to tell all letters apart
            lighter = None
        if lighter is not None and lighter.variance <= limit:
            best = rows, lighter
        else:
            share /= 2
        rows = best[0]
        count = int(np.ceil(share * len(rows)))
        if share * len(rows) < FEWEST or time.monotonic() > until:
            return best
        judged = rows @ space.judged
        carried = best[1].weights * np.einsum("ij,ij->i", judged @ best[1].curvature, judged)
        idle = int((best[1].weights <= USED * best[1].weights.max()).sum())
        keep = np.sort(np.argsort(carried)[max(count, idle) :])
