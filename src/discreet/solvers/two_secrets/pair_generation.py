"""Two secrets: the best mechanism under LDP or LIP, for alphabets of thousands of letters (theory 1.2).

With two secrets the cone is a band (`band`), its extreme rows are single letters and pairs, and the best pair for given
prices is found by looking at all of them, a block at a time: pricing is exact. For mutual information the optimum is a
chain (`chain`) and one round of pricing proves it. Other utilities, and whatever the proof does not close, go through a
linear program over pairs that grows by the best pair of every letter until the bound meets the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import spsolve

from discreet.arrays import Floats, Indices, Rows
from discreet.exceptions import ParameterError, ProofError, UnfinishedError
from discreet.solvers.driver import Ending
from discreet.solvers.problem import Effort, Problem, Solution, Status
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.tolerances import BOUND_ROUNDING, SPLITS
from discreet.solvers.two_secrets.chain import best_chain
from discreet.solvers.two_secrets.letter_pairs import INSIDE, LetterPairs, TwoSidedCone, band_of, joined
from discreet.utilities.utility import Separable

DUST = 1e-14
"""A pair that takes less than this share of a letter was left over by rounding."""
SMALLEST_GAIN = 1e-8
"""Pairs that gain less do not move the program, which knows costs to 1e-9."""
COLUMNS_AT_ONCE = 1000
"""Columns go to the program as dense blocks of so many: 80 MB for 10,000 letters."""
NO_SUM = "a utility that is not a sum over the letters"


@dataclass(frozen=True, eq=False)
class _Mix:
    """Pairs with the probability of each, together worth `value`."""

    pairs: LetterPairs
    weights: Floats
    value: float


def refuses_pairs(problem: Problem) -> str | None:
    """Why pairs of letters are not enough for a problem, in words; None if they are."""
    if not isinstance(problem.utility, Separable) or len(np.unique(problem.target)) < len(problem.target):
        return NO_SUM
    try:
        band_of(problem)
    except ParameterError as error:
        return error.what
    return None


def generate_pairs(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """The best split of a problem with one two-sided condition: the chain, improved until a bound meets it.

    Splits on the way are told, not handed out: with thousands of letters to write out the rows takes as long as a
    round.
    """
    utility = problem.utility
    if not isinstance(utility, Separable) or len(np.unique(problem.target)) < len(problem.target):
        raise ParameterError(NO_SUM, where="pairs", remedy='Use method="columns".')
    band = band_of(problem)
    mix, prices = _from_chain(band, utility)
    bound = float(band.values(_alone(len(band.prior)), utility) @ band.prior)
    program: _PairProgram | None = None
    status = Status.TIME_LIMIT
    with (ending := Ending()):
        while priced := band.dearest(prices, utility, effort.late):
            candidates, worth = priced.pairs, priced.worth
            rounding = BOUND_ROUNDING * (1 + float(np.abs(prices) @ band.prior)) + priced.slack
            bound = min(bound, float(prices @ band.prior + worth.max()) + rounding)
            effort.tell(mix.value, bound)
            if bound - mix.value <= effort.gap:
                status = Status.OPTIMAL
                break
            useful = candidates[worth > max(effort.gap / 10, SMALLEST_GAIN)]
            if program is None:
                program = _PairProgram(band, utility, joined(band.singles, mix.pairs, useful))
            elif len(useful):
                program.add(useful)
            else:
                status = Status.STALLED
                break
            found, prices = program.solve()
            mix = max(mix, found, key=lambda each: each.value)
    yield _split(problem, band, mix, bound, ending.status or status)


def _from_chain(band: TwoSidedCone, utility: Separable) -> tuple[_Mix, Floats]:
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


def _alone(n: int) -> LetterPairs:
    """Every letter by itself, permitted or not: no split is worth more than to release X as it is."""
    return LetterPairs(np.arange(n), np.arange(n), np.ones(n), np.zeros(n))


class _PairProgram:
    """maximise Σ_y q_y μ(w_y) subject to Σ_y q_y w_y = p over a growing list of pairs; scaled, so that p reads 1."""

    def __init__(self, band: TwoSidedCone, utility: Separable, pairs: LetterPairs) -> None:
        n = len(band.prior)
        self._band, self._utility, self._pairs = band, utility, pairs
        self._master = RestrictedMaster(np.ones(n))
        self._append(pairs)

    def add(self, pairs: LetterPairs) -> None:
        self._pairs = joined(self._pairs, pairs)
        self._append(pairs)

    def solve(self) -> tuple[_Mix, Floats]:
        """The best weights, and the price of every letter."""
        weighing = self._master.weigh()
        used = weighing.used(DUST)
        pairs = self._pairs[used]
        weights = self._refined(self._columns(pairs), weighing.weights[used]) / len(self._band.prior)
        value = float(weights @ self._band.values(pairs, self._utility))
        return _Mix(pairs, weights, value), weighing.prices / (self._band.prior * len(self._band.prior))

    def _append(self, pairs: LetterPairs) -> None:
        values = self._band.values(pairs, self._utility)
        for start in range(0, len(pairs), COLUMNS_AT_ONCE):
            block = np.arange(start, min(start + COLUMNS_AT_ONCE, len(pairs)))
            self._master.add(self._columns(pairs[block]).toarray().T, values[block])

    def _columns(self, pairs: LetterPairs) -> sparse.csc_array:
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


def _split(problem: Problem, band: TwoSidedCone, mix: _Mix, bound: float, status: Status) -> Solution:
    """The rows v = w / p of the problem, each checked against every condition of the cone."""
    seen = np.flatnonzero(problem.prior > 0)
    conditions = problem.cone.rows[:, seen] / band.prior
    size = mix.pairs.average(np.abs(conditions))
    if np.any(mix.pairs.average(conditions) > INSIDE * size):
        raise ProofError("a pair of letters outside the cone", where="pairs", remedy='Use method="columns".')
    if np.any(np.abs(mix.pairs.used(mix.weights, len(seen)) - band.prior) > SPLITS * band.prior):
        raise UnfinishedError(
            "the pairs do not add up to the prior", where="pairs", remedy="Choose an epsilon well above 1e-12."
        )
    return Solution(
        problem, _rows(problem, band, mix.pairs, seen), mix.weights, mix.value, max(bound, mix.value), status
    )


def _rows(problem: Problem, band: TwoSidedCone, pairs: LetterPairs, seen: Indices) -> Rows:
    """One sparse row per pair; with letters of mass zero in the problem, which every row treats alike, whole rows."""
    letters = np.concatenate([pairs.low, pairs.high])
    entries = np.concatenate([pairs.first, pairs.second]) / band.prior[letters]
    place = np.tile(np.arange(len(pairs)), 2), seen[letters]
    rows = sparse.coo_array((entries, place), shape=(len(pairs), len(problem.prior))).tocsr()
    if len(seen) == len(problem.prior):
        return rows
    filled: Floats = rows.toarray()
    filled[:, problem.prior == 0] = 1.0
    return filled
