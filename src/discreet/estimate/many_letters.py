"""Estimates for thousands of letters, from a channel of which only what is not zero is held.

Letters and outputs fall into parts that have nothing to do with each other: the connected components of the entries. Of
a part with as many outputs as letters and an invertible channel the unbiased scores are l = w Q⁻¹, whatever the prior
is, and one sparse factorisation gives them for any combination w. A smaller part is treated as every other channel. In
a part that is neither, nothing is determined, and a letter is bounded by P(x) ≤ P(y) / Q[y, x].

Variances are those of the linear estimate, a block of letters at a time; the covariance of letters is as large as their
square and is computed when it is asked for. Limits are normal where many records decide. Where few do, they are the
empirical Bernstein limits (Maurer and Pontil 2009), which hold for every distribution and every number of records:
with range R and variance V of the scores and ℓ = ln(4/β), half a width is √(2Vℓ/n) + 7Rℓ/(3(n − 1)).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph, linalg
from scipy.special import ndtri

from discreet.arrays import Floats, Indices, Integers
from discreet.estimate.fitting import LEAST_RECORDS, RANK, determined, left_inverse
from discreet.estimate.intervals import UNEVEN
from discreet.exceptions import ParameterError, TableError

MANY_ENTRIES = 4_000_000
"""Channels of more entries, of which most are zero, are estimated here: from about 2,000 letters on."""
SMALL_PART = 400
"""Letters of a part that is not square for which everything is written out."""
BLOCK = 256
"""Combinations whose scores are held at once."""
MOST_COVARIANCES = 3_000
"""A covariance matrix of so many letters takes 72 MB."""
NOBODY = (
    "Letters that nobody had when the protocol was made have no column of their own; the others are estimated as if "
    "nobody had them now either."
)


@dataclass(frozen=True, eq=False)
class SparseSample:
    """How often each output occurred, and the channel that made them; `silent` letters have an empty column."""

    channel: sparse.csr_array
    counts: Integers
    prior: Floats
    factor: float = 1.0
    """So many rows are worth one, where several are of one person."""

    def __post_init__(self) -> None:
        if self.counts.shape != (self.channel.shape[0],) or self.counts.sum() < LEAST_RECORDS:
            raise TableError("fewer than two records", where="the release", remedy="Nothing can be estimated.")
        if self.counts[np.diff(self.channel.indptr) == 0].any():
            raise TableError(
                "an output that this protocol never gives", where="the release", remedy="Use the protocol it is from."
            )

    @property
    def n(self) -> int:
        return int(self.counts.sum())

    @property
    def evidence(self) -> float:
        """Independent records that these are worth."""
        return max(self.n / self.factor, float(LEAST_RECORDS))

    @cached_property
    def shares(self) -> Floats:
        return np.asarray(self.counts / self.counts.sum())

    @cached_property
    def cautious(self) -> Floats:
        """The shares with one more record, distributed as the prior has it: no output is impossible."""
        q = np.asarray(self.channel @ self.prior)
        return np.asarray((self.counts + q / max(q.sum(), np.finfo(float).tiny)) / (self.n + 1))

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        return np.asarray(np.bincount(self.channel.indices, minlength=self.channel.shape[1]) == 0)

    @cached_property
    def inverse(self) -> SparseInverse:
        return sparse_inverse(self.channel, self.prior)


@dataclass(frozen=True)
class SparseAnalysis:
    """How the letters of a sample are estimated: by unbiased linear scores, without anything added."""

    sample: SparseSample
    pseudo_records: float = 0.0


@dataclass(frozen=True, eq=False)
class SparseInverse:
    """L with L Q = 1 on the letters that are determined: those of square parts by their factors, others written out."""

    determined: NDArray[np.bool_]
    factors: linalg.SuperLU | None
    letters: Indices
    outputs: Indices
    small: sparse.csr_array

    def scores(self, rows: sparse.csr_array) -> Floats:
        """l = w L for some combinations of determined letters, dense, one column per output."""
        found = np.asarray((rows @ self.small).toarray())
        if self.factors is not None:
            wanted = np.ascontiguousarray(rows[:, self.letters].toarray().T, dtype=float)
            found[:, self.outputs] += np.asarray(self.factors.solve(wanted, "T")).T  # type: ignore[call-overload]
        return found


def sparse_inverse(channel: sparse.csr_array, prior: Floats) -> SparseInverse:
    """Parts are taken for square until a pivot shows that one is not invertible."""
    outputs, letters = channel.shape
    cells = channel.tocoo()
    edges = (np.ones(cells.nnz), (cells.coords[0], outputs + cells.coords[1]))
    graph = sparse.csr_array(edges, shape=(outputs + letters, outputs + letters))
    part = csgraph.connected_components(graph, directed=False)[1].astype(np.intp)
    of_output, of_letter = part[:outputs], part[outputs:]
    size = int(part.max()) + 1
    each, theirs = np.bincount(of_letter, minlength=size), np.bincount(of_output, minlength=size)
    square = each == theirs
    factors, bad = _factors(channel, square, of_output, of_letter)
    while len(bad):
        square[bad] = False
        factors, bad = _factors(channel, square, of_output, of_letter)
    known = square[of_letter]
    entries: list[sparse.coo_array] = []
    for one in np.flatnonzero(~square & (each <= SMALL_PART) & (theirs > 0) & (each > 0)):
        mine, ys = np.flatnonzero(of_letter == one), np.flatnonzero(of_output == one)
        matrix = channel[ys][:, mine].toarray()
        law = prior[mine] + prior[mine].mean() / 100 + np.finfo(float).tiny
        inverse = left_inverse(matrix, law / law.sum())
        good = determined(np.eye(len(mine)), inverse, matrix)
        known[mine] = good
        local = sparse.coo_array(inverse * good[:, None])
        placed = (mine[local.coords[0]], ys[local.coords[1]])
        entries.append(sparse.coo_array((local.data, placed), shape=(letters, outputs)))
    small = sparse.csr_array(sum(entries, start=sparse.coo_array((letters, outputs))))
    places = np.flatnonzero(square[of_letter]), np.flatnonzero(square[of_output])
    return SparseInverse(known, factors, *places, small)


def _factors(
    channel: sparse.csr_array, square: NDArray[np.bool_], of_output: Indices, of_letter: Indices
) -> tuple[linalg.SuperLU | None, Indices]:
    """The factors of all square parts together, or the parts among them that are not invertible."""
    letters, outputs = np.flatnonzero(square[of_letter]), np.flatnonzero(square[of_output])
    if not len(letters):
        return None, letters
    matrix = sparse.csc_array(channel[outputs][:, letters])
    try:
        factors = linalg.splu(matrix)
    except RuntimeError:  # an exact zero on the diagonal; without a place, so every part is tried by itself
        return None, np.array(
            [
                one
                for one in np.unique(of_letter[letters])
                if _singular(matrix, one, of_letter[letters], of_output[outputs])
            ]
        )
    pivots = np.abs(factors.U.diagonal())
    weak = np.flatnonzero(pivots < RANK * np.maximum.reduce(np.abs(matrix.data)))
    columns = letters[np.argsort(factors.perm_c)][weak] if len(weak) else letters[:0]
    return (None if len(weak) else factors), np.unique(of_letter[columns])


def _singular(matrix: sparse.csc_array, part: int, of_letter: Indices, of_output: Indices) -> bool:
    block = sparse.csc_array(matrix[np.flatnonzero(of_output == part)][:, np.flatnonzero(of_letter == part)])
    try:
        pivots = np.abs(linalg.splu(block).U.diagonal())
    except RuntimeError:
        return True
    return bool(pivots.min() < RANK * np.abs(block.data).max())


@dataclass(frozen=True, eq=False)
class SparseFunctionals:
    """Combinations of letters, one sparse row each: values, errors and limits, block by block."""

    sample: SparseSample
    rows: sparse.csr_array

    @cached_property
    def determined(self) -> NDArray[np.bool_]:
        """All letters of the combination are."""
        unknown = (~self.sample.inverse.determined).astype(float)
        return np.asarray(abs(self.rows) @ unknown == 0)

    def _blocks(self) -> Iterator[tuple[Indices, Floats]]:
        places = np.flatnonzero(self.determined)
        for start in range(0, len(places), BLOCK):
            mine = places[start : start + BLOCK]
            yield mine, self.sample.inverse.scores(self.rows[mine])

    @property
    def _unbiased(self) -> float:
        return self.sample.n / (self.sample.n - 1)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats, NDArray[np.bool_]]:
        """Value, variance of one record's score, range of the scores, and where the normal approximation fails."""
        size, n = self.rows.shape[0], self.sample.evidence
        values, variances, ranges = (np.full(size, np.nan) for _ in range(3))
        uneven = np.zeros(size, dtype=bool)
        f, cautious = self.sample.shares, self.sample.cautious
        for mine, scores in self._blocks():
            values[mine] = scores @ f
            variances[mine] = (scores**2 @ f - values[mine] ** 2) * self._unbiased
            ranges[mine] = np.ptp(scores, axis=1)
            centred = np.abs(scores - (scores @ cautious)[:, None])
            second, third = n * (centred**2 @ cautious), n * (centred**3 @ cautious)
            uneven[mine] = third > UNEVEN * second**1.5
        return values, np.maximum(variances, 0.0, where=~np.isnan(variances), out=variances), ranges, uneven

    @property
    def values(self) -> Floats:
        return self._moments[0]

    @cached_property
    def standard_errors(self) -> Floats:
        return np.sqrt(self._moments[1] / self.sample.evidence)

    @property
    def switched(self) -> NDArray[np.bool_]:
        return self._moments[3]

    @cached_property
    def covariance(self) -> Floats:
        """Every two of the combinations; refused where that would fill the memory."""
        size = self.rows.shape[0]
        if size > MOST_COVARIANCES:
            raise ParameterError(
                f"the covariance of {size:,} frequencies",
                where="covariance",
                remedy="Use standard_errors, `covariance_of` for some letters, or combination(weights) for a sum.",
            )
        found = np.full((size, size), np.nan)
        known = np.flatnonzero(self.determined)
        scores = self.sample.inverse.scores(self.rows[known])
        centred = scores - (scores @ self.sample.shares)[:, None]
        found[np.ix_(known, known)] = (centred * self.sample.shares) @ centred.T * self._unbiased / self.sample.evidence
        return found

    @cached_property
    def _ceilings(self) -> tuple[Floats, Floats, Floats]:
        """For what is not determined, of scores that are never below it: mean, variance and range of one record."""
        channel, q = self.sample.channel.tocoo(), np.asarray(self.sample.channel @ self.sample.prior)
        row, column = channel.coords
        order = np.lexsort((q[row] / channel.data, column))
        first = np.unique(column[order], return_index=True)[1]
        best = order[first]
        letters, places, entries = column[best], row[best], channel.data[best]
        ceiling = sparse.coo_array((1 / entries, (letters, places)), shape=self.sample.channel.shape[::-1]).tocsr()
        wanted = sparse.csr_array(self.rows[np.flatnonzero(~self.determined)].maximum(0) @ ceiling)
        f = self.sample.shares
        mean = np.asarray(wanted @ f)
        largest = wanted.max(axis=1).toarray().ravel() if wanted.shape[0] else np.zeros(0)
        return mean, np.maximum(wanted.power(2) @ f - mean**2, 0.0), largest

    @cached_property
    def bounds(self) -> Floats:
        """The estimate itself where it is determined; else from the least to the most that the outputs allow."""
        bounds = np.repeat(self.values[:, None], 2, axis=1)
        silent = np.asarray(abs(self.rows) @ self.sample.silent.astype(float) > 0)
        unknown = ~self.determined
        low, high = self._range
        positive = (low[unknown] >= 0) & ~silent[unknown]
        bounds[unknown, 0] = low[unknown]
        bounds[unknown, 1] = np.where(positive, np.minimum(self._ceilings[0], high[unknown]), high[unknown])
        return bounds

    @cached_property
    def _range(self) -> tuple[Floats, Floats]:
        """Smallest and largest value on all distributions."""
        low, high = self.rows.min(axis=1).toarray(), self.rows.max(axis=1).toarray()
        return low.ravel(), high.ravel()

    def limits(self, level: float) -> Floats:
        if not 0 < level < 1:
            raise ParameterError("a level outside (0, 1)", where="interval", remedy="Use 0.95 for 95 %.")
        values, variances, ranges, uneven = self._moments
        half = float(ndtri((1 + level) / 2)) * self.standard_errors
        half = np.where(uneven, bernstein(variances, ranges, self.sample.evidence, level), half)
        limits = np.column_stack([values - half, values + half])
        unknown = ~self.determined
        if unknown.any():
            mean, variance, largest = self._ceilings
            low, most = (side[unknown] for side in self._range)
            high = np.minimum(mean + bernstein(variance, largest, self.sample.evidence, level), most)
            limits[unknown] = np.column_stack([low, np.maximum(high, self.bounds[unknown, 1])])
        return limits


def bernstein(variances: Floats, ranges: Floats, n: float, level: float) -> Floats:
    """Half the width of the empirical Bernstein limits for the mean of n bounded scores, both sides together."""
    log = np.log(4 / (1 - level))
    return np.asarray(np.sqrt(2 * variances * log / n) + 7 * ranges * log / (3 * (n - 1)))


def sparse_margins(sizes: tuple[int, ...], axes: tuple[int, ...]) -> sparse.csr_array:
    """Rows that sum letters in C order to the letters of some attributes."""
    codes = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    cells = np.ravel_multi_index([codes[axis] for axis in axes], [sizes[axis] for axis in axes])
    shape = (int(np.prod([sizes[axis] for axis in axes])), len(cells))
    return sparse.csr_array((np.ones(len(cells)), (cells, np.arange(len(cells)))), shape=shape)
