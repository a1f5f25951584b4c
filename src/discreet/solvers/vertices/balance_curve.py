"""Between information and accuracy: the most of one while enough of the other is kept (theory 6.5).

The master has one more row, Σ q μ ≥ ρ I*, with price η; ψ* is convex in what is kept, and η is its slope. From one
certificate (A, λ, η, δ), both ways round: a mechanism with information I' has ψ' ≥ S²/(δ − ηI'), so one with
ψ' ≤ ψ₀ has

    I' ≤ (δ − S²/ψ₀) / η.

Where rows come from a complete list all of this is proven. Where they come from climbing, the possible information is
the most that was found, and nothing is proven here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.exceptions import InfeasibleError, ParameterError
from discreet.solvers.vertices.accurate_rows import (
    GROWTH,
    AccurateRows,
    Rounds,
    RowSource,
    geometric,
    rounds,
    settled_rows,
)
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.listed_rows import ListedRows, axis_rows, balanced_program, told_by
from discreet.solvers.vertices.pivots import Floats

CLOSE = 1e-4
"""Share of the accuracy asked for within which the search for it ends."""
MOST_TRIES = 30
INFORMED = 1e-6
"""Nats by which the information optimum may miss its bound: a list is pushed outwards by 1e-7, so it always does."""
MOST_ROUNDS = 60
"""Between the master and its prices; what is not proven by then keeps the bound it has."""


@dataclass(frozen=True, eq=False)
class KeptBoth:
    """A mechanism on the curve; `most_information` bounds I of every mechanism that is as accurate as was asked for."""

    found: AccurateRows
    most_information: float


@dataclass(frozen=True, eq=False)
class BalanceCurve:
    """The curve of one problem. Its rows serve every point."""

    space: DesignSpace
    source: RowSource

    @property
    def listed(self) -> bool:
        return isinstance(self.source, ListedRows)

    @cached_property
    def informative(self) -> tuple[Floats, Floats, float, float]:
        """The information optimum: rows v, weights, I* and its proven bound, infinite where rows were climbed to."""
        posteriors, weights, value, bound = most_informative(self.space, self.source)
        return posteriors / self.space.prior, weights, value, bound

    @property
    def possible(self) -> float:
        """The most information: its proven bound, or the most that climbing found."""
        _, _, value, bound = self.informative
        return bound if self.listed else value

    def accurate(self, share: float, seconds: float = 60.0) -> AccurateRows:
        """The most accuracy while `share` of the possible information is kept, with a bound for all that keep it."""
        if not 0.0 <= share < 1.0:
            raise ParameterError("a share lies between 0 and 1", where="information kept", remedy="Say 0.99 for 99 %.")
        least = share * self.possible
        return settled_rows(
            self.space, self._rounds(least, time.monotonic() + seconds), listed=self.listed, least=least
        )

    def informed(self, most_variance: float, seconds: float = 60.0) -> KeptBoth:
        """The most information while ψ is at most `most_variance`, with a bound for all that are as accurate.

        ψ* is convex in the information kept: a chord of the curve ends on the permitted side, a tangent on the other.
        """
        until = time.monotonic() + seconds
        rows, weights, value, bound = self.informative
        if self.space.variance(weights, rows * self.space.prior) <= most_variance:
            accuracy = self.space.variance(weights, rows * self.space.prior)
            return KeptBoth(AccurateRows(rows, weights, accuracy, self.space.clean, value, True), bound)
        inside = self._rounds(0.0, until)
        if inside.lower_bound > most_variance:
            raise InfeasibleError(
                "no permitted mechanism is that accurate", where="accuracy", remedy="Ask for less, or a larger epsilon."
            )
        if inside.design.variance > most_variance:
            raise InfeasibleError("nothing that accurate was found", where="accuracy", remedy="Ask for a little less.")
        low, best, most = 0.0, inside, bound
        high, above = value * (1.0 - 1e-6), None
        for step in range(MOST_TRIES):
            if best.design.variance >= most_variance * (1 - CLOSE) or time.monotonic() > until:
                break
            least = self._next(low, best, high, above, most_variance, step)
            there = self._rounds(least, until)
            most = min(most, self._information_bound(there, most_variance))
            if there.design.variance <= most_variance:
                low, best = least, there
            else:
                high, above = least, there
        growth = min(GROWTH, most_variance / best.design.variance - 1.0)
        return KeptBoth(settled_rows(self.space, best, listed=self.listed, least=low, growth=growth), most)

    def _next(
        self, low: float, best: Rounds, high: float, above: Rounds | None, most_variance: float, step: int
    ) -> float:
        if above is None:
            return (low + high) / 2 if step else 0.9 * high
        chord = low + (high - low) * (most_variance - best.design.variance) / (
            above.design.variance - best.design.variance
        )
        slope = above.design.information_price
        touch = high - (above.design.variance - most_variance) / slope if slope > 0 else low
        if step % 2:
            return float(np.clip(chord, low, high))
        return float(touch) if low < touch < high else (low + high) / 2

    def _rounds(self, least: float, until: float) -> Rounds:
        """The accuracy optimum with at least so much information, the informative rows among those to start from."""
        asked = least if least > 0 else None
        return rounds(self.space, self.source, *self.informative[:2], until=until, least=asked)

    def _information_bound(self, there: Rounds, most_variance: float) -> float:
        eta = there.design.information_price
        if eta <= 0 or not np.isfinite(there.most):
            return float("inf")
        return (there.most - geometric(self.space.exact_weight, there.design.curvature) ** 2 / most_variance) / eta


def most_informative(space: DesignSpace, source: RowSource) -> tuple[Floats, Floats, float, float]:
    """Posteriors, weights and I of the information optimum over these rows, and what bounds every mechanism's I."""
    rows = np.vstack([source.first_rows(), axis_rows(space, source.polyhedron)])
    straight, bound = np.zeros((rows.shape[1], rows.shape[1])), np.inf
    for _ in range(MOST_ROUNDS):
        weights, price, value = balanced_program(rows / space.prior, told_by(space, rows))
        priced = source.best(straight, price / space.prior, 1.0)
        if priced.proven:
            bound = min(bound, float(price.sum()) + priced.most)
        known = weights > 0
        weighed = rows[known], weights[known], value
        if float(price.sum()) + priced.most - value <= INFORMED:
            break
        rows = np.vstack([rows[known], rows[~known][-len(rows) // 2 :], priced.posteriors])
    return *weighed, bound
