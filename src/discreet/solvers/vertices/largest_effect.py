"""The largest design effect instead of the mean: letters are weighed until it falls no further (theory 6.6).

For every weighting λ of the letters, max_x D_x ≥ Σ λ_x D_x ≥ the certified bound of the weighted mean: each weighting
tried is a proof. ψ*_λ is concave in λ, with gradient D: letters above the weighted mean gain weight,
those below lose it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from discreet.exceptions import UnfinishedError
from discreet.solvers.vertices.accurate_rows import RowSource, certified
from discreet.solvers.vertices.design_master import DesignWeights, RowList, optimal_weights
from discreet.solvers.vertices.design_space import DesignSpace, complement
from discreet.solvers.vertices.listed_rows import axis_rows
from discreet.solvers.vertices.pivots import Floats

PROVEN = 0.01
"""Relative gap at which the search ends."""
LEAST_WEIGHT = 1e-7
"""No letter's weight falls below this, so that it stays estimable."""
MOST_WEIGHTINGS = 400
USED = 1e-6
KEPT = 4
"""Rows kept in the master, as a multiple of the number of letters."""
GROWTH = 3e-3
LIGHTEST = 0.07
"""What the largest design effect may grow by for fewer outputs; the share of rows, the lightest, that one try drops."""


@dataclass(frozen=True, eq=False)
class LargestEffect:
    """Rows and weights, the design effect of every letter, and a bound on the largest for every mechanism."""

    rows: Floats
    weights: Floats
    effects: Floats
    lower_bound: float
    letter_weights: Floats

    @property
    def gap(self) -> float:
        return max(0.0, 1.0 - self.lower_bound / float(self.effects.max()))


def smallest_largest(
    space: DesignSpace, source: RowSource, seconds: float = 30.0, proven: float = PROVEN
) -> LargestEffect:
    """The mechanism whose largest design effect over the targets is smallest."""
    until = time.monotonic() + seconds
    letters = _Letters(space)
    weighting = np.full(len(space.target_prior), 1.0 / len(space.target_prior))
    rows = np.vstack([axis_rows(space, source.polyhedron), source.first_rows()])
    start: Floats | None = None
    best: tuple[float, Floats, DesignWeights, Floats] | None = None
    bound, power = 0.0, 1.0
    for _ in range(MOST_WEIGHTINGS):
        weight = letters.weight(weighting)
        design = optimal_weights(RowList(rows @ space.balance, rows @ space.judged), weight, start=start, closed=1e-6)
        effects = letters.effects(rows, design.weights)
        largest = float(effects.max())
        if best is None or largest < best[0]:
            best = largest, rows, design, weighting
        priced = source.best(
            space.judged @ design.curvature @ space.judged.T, space.balance @ design.price, design.information_price
        )
        if priced.proven:
            bound = max(bound, certified(weight, design, priced.most, None))
        if 1.0 - bound / best[0] <= proven or time.monotonic() > until:
            break
        settled = priced.most <= design.variance * (1 + proven)
        if settled:
            weighting = np.maximum(weighting * (effects / (weighting @ effects)) ** power, LEAST_WEIGHT)
            weighting = weighting / weighting.sum()
        values = np.einsum("ij,ij->i", rows @ space.judged @ design.curvature, rows @ space.judged)
        values = values - rows @ (space.balance @ design.price)
        order = np.argsort(-values)[: KEPT * rows.shape[1]]
        keep = np.unique(np.concatenate([np.flatnonzero(design.weights > USED * design.weights.max()), order]))
        new = priced.posteriors if not settled else priced.posteriors[:0]
        start = np.concatenate([design.weights[keep], np.full(len(new), 1e-2 / max(1, len(new)))])
        rows = np.vstack([rows[keep], new])
        first = np.sort(np.unique(np.round(rows, 11), axis=0, return_index=True)[1])
        rows, start = rows[first], start[first]
    if best is None:
        raise UnfinishedError("no weighting was tried", where="largest effect", remedy="Allow more time.")
    _, rows, design, weighting = best
    posteriors, weights = _thinned(space, letters, rows, design, weighting)
    effects = letters.effects(posteriors, weights)
    return LargestEffect(posteriors / space.prior, weights, effects, bound, weighting)


@dataclass(frozen=True, eq=False)
class _Letters:
    space: DesignSpace

    def weight(self, weighting: Floats) -> Floats:
        """C_w of Σ λ_x D_x."""
        p = self.space.target_prior
        frame = complement(p)
        return np.asarray(frame.T * (weighting / (1.0 - p)) @ frame)

    def effects(self, posteriors: Floats, weights: Floats) -> Floats:
        """D_x = (B W⁻¹ Bᵀ)_xx / (1 − p_x)."""
        p = self.space.target_prior
        judged = posteriors @ self.space.judged
        frame = complement(p)
        inverse = np.linalg.inv(judged.T * weights @ judged)
        return np.asarray(np.einsum("ij,ij->i", frame @ inverse, frame) / (1.0 - p))


def _thinned(
    space: DesignSpace, letters: _Letters, rows: Floats, design: DesignWeights, weighting: Floats
) -> tuple[Floats, Floats]:
    """Fewer outputs at the last weighting, while the largest design effect grows by less than 0.3 %."""
    limit = float(letters.effects(rows, design.weights).max()) * (1 + GROWTH)
    weights = design.weights
    keep = np.flatnonzero(weights > USED * weights.max())
    weight = letters.weight(weighting)
    while True:
        fewer = rows[keep]
        try:
            lighter = optimal_weights(
                RowList(fewer @ space.balance, fewer @ space.judged), weight, start=weights[keep] / weights[keep].sum()
            )
        except UnfinishedError:
            return rows, weights
        if float(letters.effects(fewer, lighter.weights).max()) > limit:
            return rows, weights
        rows, weights = fewer, lighter.weights
        judged = rows @ space.judged
        carried = weights * np.einsum("ij,ij->i", judged @ lighter.curvature, judged)
        keep = np.sort(np.argsort(carried)[max(1, int(LIGHTEST * len(rows))) :])
