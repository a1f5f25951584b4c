"""Between information and accuracy: the most of one while enough of the other is kept, on a complete list (theory 6.5).

The master has one more row, Σ q μ ≥ ρ I*, with price η; ψ* is convex in what is kept, and η is its slope. From one
certificate (A, λ, η, δ), both ways round: a mechanism with information I' has ψ' ≥ S²/(δ − ηI'), so one with
ψ' ≤ ψ₀ has

    I' ≤ (δ − S²/ψ₀) / η.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.exceptions import InfeasibleError, ParameterError
from discreet.solvers.vertices.accurate_rows import GROWTH, AccurateRows, Rounds, finished, geometric, rounds
from discreet.solvers.vertices.design_space import DesignSpace
from discreet.solvers.vertices.listed_rows import ListedRows
from discreet.solvers.vertices.pivots import Floats
from discreet.solvers.vertices.walk import VertexList

CLOSE = 1e-4
"""Share of the accuracy asked for within which the search for it ends."""
MOST_TRIES = 30


@dataclass(frozen=True, eq=False)
class KeptBoth:
    """A mechanism on the curve; `most_information` bounds I of every mechanism that is as accurate as was asked for."""

    found: AccurateRows
    most_information: float


@dataclass(frozen=True, eq=False)
class BalanceCurve:
    """The curve of one problem. Its list is walked once and serves every point."""

    space: DesignSpace
    vertices: VertexList

    @cached_property
    def source(self) -> ListedRows:
        return ListedRows(self.space, self.vertices)

    @cached_property
    def informative(self) -> tuple[Floats, Floats, float, float]:
        """The information optimum: rows v, weights, I* and its proven bound."""
        posteriors, weights, value, bound = self.source.informative()
        return posteriors / self.space.prior, weights, value, bound

    def accurate(self, share: float, seconds: float = 60.0) -> AccurateRows:
        """The most accuracy while `share` of the possible information is kept, with a bound for all that keep it."""
        if not 0.0 <= share < 1.0:
            raise ParameterError("a share lies between 0 and 1", where="information kept", remedy="Say 0.99 for 99 %.")
        least = share * self.informative[3]
        return finished(self.space, self._rounds(least, time.monotonic() + seconds), listed=True, least=least)

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
        return KeptBoth(finished(self.space, best, listed=True, least=low, growth=growth), most)

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
