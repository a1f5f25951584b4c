"""Two secrets: the best mechanism under LDP or LIP, for alphabets of thousands of letters (theory 1.2).

With two secrets the cone is a band (`band`), its extreme rows are single letters and pairs, and the best pair for given
prices is found by looking at all of them, a block at a time: pricing is exact. For mutual information the optimum is a
chain (`chain`) and one round of pricing proves it. Other utilities, and whatever the proof does not close, go through a
linear program over pairs that grows by the best pair of every letter until the bound meets the value.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from discreet.exceptions import ParameterError, ProofError, UnfinishedError
from discreet.solvers.band import INSIDE, Band, Floats, Pairs, band_of, joined
from discreet.solvers.chain import best_chain
from discreet.solvers.lp import Program
from discreet.solvers.problem import Split, Splitting
from discreet.utilities import Separable

Progress = Callable[[float, float, float], None]
DUST = 1e-14
ROUNDING = 1e-13
SPLITS = 1e-9
SMALLEST_GAIN = 1e-8
COLUMNS_AT_ONCE = 1000


@dataclass(frozen=True, eq=False)
class _Mix:
    """Pairs with the probability of each, together worth `value`."""

    pairs: Pairs
    weights: Floats
    value: float


def solve(
    problem: Splitting, *, gap: float = 1e-6, time_limit: float | None = None, progress: Progress | None = None
) -> Split:
    """The best split of a problem with one two-sided condition, or the best so far when time is up."""
    utility = problem.utility
    if not isinstance(utility, Separable) or len(np.unique(problem.target)) < len(problem.target):
        raise ParameterError(
            "a utility that is not a sum over the letters", where="binary", remedy='Use method="columns".'
        )
    started = time.monotonic()

    def late() -> bool:
        return time_limit is not None and time.monotonic() - started > time_limit

    band = band_of(problem)
    mix, prices = _from_chain(band, utility)
    bound = float(band.values(_alone(len(band.prior)), utility) @ band.prior)
    program: _PairProgram | None = None
    status = "time limit"
    try:
        while not late():
            priced = band.dearest(prices, utility, late)
            if priced is None:
                break
            candidates, worth = priced
            rounding = ROUNDING * (1 + float(np.abs(prices) @ band.prior))
            bound = min(bound, float(prices @ band.prior + worth.max()) + rounding)
            if progress is not None:
                progress(mix.value, bound, time.monotonic() - started)
            if bound - mix.value <= gap:
                status = "optimal"
                break
            useful = candidates[worth > max(gap / 10, SMALLEST_GAIN)]
            if program is None:
                program = _PairProgram(band, utility, joined(band.singles, mix.pairs, useful))
            elif len(useful):
                program.add(useful)
            else:
                status = "stalled"
                break
            found, prices = program.solve()
            mix = max(mix, found, key=lambda each: each.value)
    except KeyboardInterrupt:
        status = "interrupted"
    return _split(problem, band, mix, bound, status)


def _from_chain(band: Band, utility: Separable) -> tuple[_Mix, Floats]:
    """The chain as a split, and its prices: the price of a letter is what it is worth alone less its loss β."""
    n = len(band.prior)
    chain = best_chain(band)
    pairs = joined(chain.upper.pairs, chain.lower.pairs)
    weights = np.concatenate([chain.upper.weights, chain.lower.weights])
    left = np.maximum(band.prior - pairs.used(weights, n), 0.0)[band.inside]
    pairs, weights = joined(band.singles, pairs), np.concatenate([left, weights])
    kept = weights > DUST * np.minimum(band.prior[pairs.low], band.prior[pairs.high])
    pairs, weights = pairs[kept], weights[kept]
    prices = band.values(_alone(n), utility) - chain.losses(n)
    return _Mix(pairs, weights, float(weights @ band.values(pairs, utility))), prices


def _alone(n: int) -> Pairs:
    """Every letter by itself, permitted or not: no split is worth more than to release X as it is."""
    return Pairs(np.arange(n), np.arange(n), np.ones(n), np.zeros(n))


class _PairProgram:
    """maximise Σ_y q_y μ(w_y) subject to Σ_y q_y w_y = p over a growing list of pairs; scaled, so that p reads 1."""

    def __init__(self, band: Band, utility: Separable, pairs: Pairs) -> None:
        n = len(band.prior)
        self._band, self._utility, self._pairs = band, utility, pairs
        empty = np.zeros(0)
        self._program = Program(empty, empty, np.zeros((n, 0)), np.ones(n), np.ones(n), primal=True)
        self._append(pairs)

    def add(self, pairs: Pairs) -> None:
        self._pairs = joined(self._pairs, pairs)
        self._append(pairs)

    def solve(self) -> tuple[_Mix, Floats]:
        """The best weights, and the price of every letter."""
        solution = self._program.solved()
        used = np.flatnonzero(solution.point > DUST)
        pairs = self._pairs[used]
        weights = self._refined(self._columns(pairs), solution.point[used]) / len(self._band.prior)
        value = float(weights @ self._band.values(pairs, self._utility))
        return _Mix(pairs, weights, value), solution.prices / (self._band.prior * len(self._band.prior))

    def _append(self, pairs: Pairs) -> None:
        values = self._band.values(pairs, self._utility)
        for start in range(0, len(pairs), COLUMNS_AT_ONCE):
            block = np.arange(start, min(start + COLUMNS_AT_ONCE, len(pairs)))
            self._program.add_columns(self._columns(pairs[block]).toarray().T, values[block])

    def _columns(self, pairs: Pairs) -> sparse.csc_array:
        n, k = len(self._band.prior), len(pairs)
        letters = np.concatenate([pairs.low, pairs.high])
        entries = np.concatenate([pairs.first, pairs.second]) / (self._band.prior[letters] * n)
        return sparse.csc_array((entries, (letters, np.tile(np.arange(k), 2))), shape=(n, k))

    @staticmethod
    def _refined(columns: sparse.csc_array, weights: Floats) -> Floats:
        """One step of refinement: the LP meets Σ q w = p to 1e-9 only, which for a rare letter is a lot."""
        missing = 1 - columns @ weights
        step = spsolve((columns.T @ columns).tocsc(), columns.T @ missing)
        better = weights + step
        return better if np.all(better >= 0) else weights


def _split(problem: Splitting, band: Band, mix: _Mix, bound: float, status: str) -> Split:
    """The rows v = w / p of the problem, each checked against every condition of the cone."""
    seen = np.flatnonzero(problem.prior > 0)
    conditions = problem.cone.rows[:, seen] / band.prior
    size = mix.pairs.average(np.abs(conditions))
    if np.any(mix.pairs.average(conditions) > INSIDE * size):
        raise ProofError("a pair of letters outside the cone", where="binary", remedy='Use method="columns".')
    if np.any(np.abs(mix.pairs.used(mix.weights, len(seen)) - band.prior) > SPLITS * band.prior):
        raise UnfinishedError(
            "the pairs do not add up to the prior", where="binary", remedy="Choose an epsilon well above 1e-12."
        )
    each = np.arange(len(mix.pairs))
    rows = np.zeros((len(mix.pairs), len(problem.prior)))
    rows[each, seen[mix.pairs.low]] = mix.pairs.first / band.prior[mix.pairs.low]
    rows[each, seen[mix.pairs.high]] += mix.pairs.second / band.prior[mix.pairs.high]
    if len(seen) < len(problem.prior):
        rows[:, problem.prior == 0] = 1.0
    return Split(rows, mix.weights, mix.value, max(bound, mix.value), status)
