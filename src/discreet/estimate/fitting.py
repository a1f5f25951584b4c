"""What an analyst holds: counts of outputs, and for each the channel that made it.

Releases that were made independently are *waves* k = 1, 2, … of one sample. Every wave has its own channel Q_k on the
same letters and n_k records, so its counts are multinomial with probabilities Q_k p. Stacked, with every row scaled by
the wave's share n_k/n, they are one channel whose columns add up to one, and the observed shares of the outputs have
mean `scaled @ p`.

Unbiased linear estimates: l · (observed shares), with scores l that do not depend on the data.

For a channel Q (columns add up to one) and any positive output probabilities q, generalised least squares gives
L = (Qᵀ W Q)⁺ Qᵀ W with W = diag(1/q). For every combination w in the row space of Q the scores l = w L satisfy l Q = w,
so the estimate of w·p is exactly unbiased *whatever* q is; if q = Q p it has the smallest variance among all unbiased
linear estimates, and that variance is the inverse Fisher information. Therefore q is fixed beforehand, from the prior
that the protocol states: weights taken from the release itself would bias the estimate.

Maximum likelihood: maximise Σ_y f_y ln (Q p)_y over the simplex, f the observed shares of the outputs.

The problem is concave. EM multiplies p_x by g_x = Σ_y f_y Q[y, x] / (Q p)_y and never decreases the likelihood; SQUAREM
(Varadhan and Roland 2008) extrapolates two EM steps and keeps the result only where the likelihood did not fall.
Where EM crawls, an interior point method finishes.

The certificate: by concavity no distribution has a log-likelihood above that of p by more than n (max_x g_x − 1).

Where a channel says little, as randomised response with a small epsilon, everything that matters is a small difference
of large sums. Columns of Q add up to one, so g_x − 1 = Σ_y Q[y, x] (f_y / (Q p)_y − 1), and gains of the likelihood are
Σ_y f_y ln(1 + (Q δ)_y / (Q p)_y): neither subtracts numbers that are nearly equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Integers
from discreet.exceptions import ChannelError, TableError, UnfinishedError

LEAST_RECORDS = 2
"""From a single record no variance can be estimated."""


@dataclass(frozen=True, eq=False)
class Sample:
    """The waves one under the other: `matrix[row, letter]`, `counts[row]`, and the row each wave `starts` at."""

    matrix: Floats
    counts: Integers | Floats
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, waves: Sequence[tuple[Floats, Integers]]) -> Sample:
        """One (channel matrix, counts of its outputs) a wave. Outputs that cannot occur are left out."""
        matrices, counts = [], []
        for number, (matrix, wave) in enumerate(waves):
            where = f"release {number + 1}" if len(waves) > 1 else "the release"
            if wave.shape != (len(matrix),):
                raise ChannelError(f"{wave.shape} counts for {len(matrix)} outputs", where=where)
            possible = matrix.any(axis=1)
            if wave[~possible].any():
                raise TableError(
                    "an output that this protocol never gives", where=where, remedy="Use the protocol it was made with."
                )
            if wave.sum() < LEAST_RECORDS:
                raise TableError("fewer than two records", where=where, remedy="Nothing can be estimated from these.")
            matrices.append(matrix[possible])
            counts.append(wave[possible])
        sizes = [len(matrix) for matrix in matrices]
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        return cls(np.concatenate(matrices), np.concatenate(counts), starts)

    @cached_property
    def sizes(self) -> Integers | Floats:
        """n_k, the records of every wave."""
        return np.asarray(np.add.reduceat(self.counts, self.starts))

    @cached_property
    def n(self) -> int:
        """All records; not a whole number where they are `thinned`."""
        total: int = self.sizes.sum().item()
        return total

    def thinned(self, factor: float) -> Sample:
        """The same shares from fewer records: as many as are worth these where rows of one person are alike."""
        least = float(self.sizes.min()) / LEAST_RECORDS
        return Sample(self.matrix, self.counts / min(factor, max(least, 1.0)), self.starts)

    @cached_property
    def wave(self) -> NDArray[np.intp]:
        """The wave of every row."""
        return np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(self.counts)]))

    @cached_property
    def scaled(self) -> Floats:
        """The stacked channel: Q_k times n_k/n."""
        return self.matrix * (self.sizes / self.n)[self.wave, None]

    @cached_property
    def shares(self) -> Floats:
        """The observed shares of the outputs among all records."""
        return self.counts / self.n

    def covariance(self, scores: Floats, probabilities: Floats) -> Floats:
        """The covariance of Σ_i scores[·, row of record i] / n when the rows of each wave have these probabilities.

        `probabilities` add up to one within a wave; (1/n²) Σ_k n_k l_k (diag π_k − π_k π_kᵀ) l_kᵀ.
        """
        means = np.add.reduceat(scores * probabilities, self.starts, axis=1)
        centred = scores - means[:, self.wave]
        return np.asarray((centred * (probabilities * self.sizes[self.wave])) @ centred.T / self.n**2)

    @cached_property
    def empirical(self) -> Floats:
        """The shares of the outputs within their wave."""
        return self.counts / self.sizes[self.wave]


# ---- unbiased linear estimates: l · (observed shares), with scores l that do not depend on the data ------------------


RANK = 1e-9
"""A singular value below this part of the largest one is taken for zero: the letters' columns are then dependent."""


def left_inverse(matrix: Floats, frequencies: Floats) -> Floats:
    """L for q = Q · frequencies; where Q has dependent columns, L Q projects on its row space."""
    q = matrix @ frequencies
    if not (q > 0).all():
        raise ChannelError("an output without probability", where="left_inverse", remedy="Give every letter some.")
    root = 1 / np.sqrt(q)
    return np.asarray(np.linalg.pinv(matrix * root[:, None], rcond=RANK) * root)


def determined(rows: Floats, inverse: Floats, matrix: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which combinations (rows over letters) lie in the row space of the channel."""
    reached = rows @ inverse @ matrix
    return np.asarray(np.abs(reached - rows).max(axis=1) <= 1e-6 * np.abs(rows).max(axis=1))


def on_simplex(values: Floats) -> Floats:
    """The nearest distribution in Euclidean distance: max(v − τ, 0), with τ such that it adds up to one."""
    ordered = np.sort(values)[::-1]
    surplus = (np.cumsum(ordered) - 1) / np.arange(1, len(values) + 1)
    tau = surplus[np.flatnonzero(ordered > surplus)[-1]]
    return np.asarray(np.maximum(values - tau, 0))


# ---- maximum likelihood: maximise Σ_y f_y ln (Q p)_y over the simplex, f the observed shares of the ------------------


EM_STEPS = 60
NEWTON_STEPS = 100
EXACT = 1e-13
"""The gap a record at which the search stops: the rounding errors of the sums are of this size."""
MOST_NATS = 1e-3
"""The largest gap of the log-likelihood that is still called its maximum; 0.5 would be one standard error."""


@dataclass(frozen=True, eq=False)
class MostLikely:
    """A distribution of the letters whose log-likelihood is at most `gap` nats below the largest one.

    `history` holds the mean log-likelihood a record after every accepted step.
    """

    frequencies: Floats
    gap: float
    history: tuple[float, ...]

    def finished(self) -> MostLikely:
        """This fit, if it is the maximum for every practical purpose."""
        if self.gap > MOST_NATS:
            raise UnfinishedError(
                f"the likelihood may still rise by {self.gap:.1g} nats",
                where="likelihood",
                remedy="Use method='linear'.",
            )
        return self


def most_likely(matrix: Floats, counts: Floats, start: Floats) -> MostLikely:
    """The maximum, from a start that gives every letter some probability; the matrix's columns have one sum."""
    n = float(counts.sum())
    problem = _Mixture(matrix / matrix.sum(axis=0).mean(), counts / n)
    p, history = _squarem(problem, start / start.sum())
    if problem.gap(p) > EXACT:
        finished = _interior(problem, p)
        history.append(history[-1] + problem.gain(p, finished))
        p = finished
    return MostLikely(p, n * problem.gap(p), tuple(history))


@dataclass(frozen=True, eq=False)
class _Mixture:
    matrix: Floats
    shares: Floats

    def value(self, p: Floats) -> float:
        """The mean log-likelihood a record."""
        seen = self.shares > 0
        with np.errstate(divide="ignore"):
            return float(self.shares[seen] @ np.log((self.matrix @ p)[seen]))

    def gain(self, p: Floats, moved: Floats) -> float:
        """value(moved) − value(p), accurate also where it is tiny."""
        seen = self.shares > 0
        change = (self.matrix @ (moved - p))[seen] / (self.matrix @ p)[seen]
        with np.errstate(divide="ignore"):
            return float(self.shares[seen] @ np.log1p(np.maximum(change, -1)))

    def slope(self, p: Floats) -> Floats:
        """g − 1"""
        q = self.matrix @ p
        return np.asarray(self.matrix.T @ (np.divide(self.shares, q, out=np.zeros_like(q), where=q > 0) - 1))

    def gap(self, p: Floats) -> float:
        return max(0.0, float(self.slope(p).max()))

    def step(self, p: Floats) -> Floats:
        moved = p * np.maximum(1 + self.slope(p), 0)
        return np.asarray(moved / moved.sum())


def _squarem(problem: _Mixture, p: Floats) -> tuple[Floats, list[float]]:
    history = [problem.value(p)]
    for _ in range(EM_STEPS // 3):
        first = problem.step(p)
        second = problem.step(first)
        change, bend = first - p, second - 2 * first + p
        if not bend.any():
            break
        length = max(1.0, float(np.linalg.norm(change) / np.linalg.norm(bend)))
        leap = p + 2 * length * change + length**2 * bend
        leap = np.where(leap > 0, leap, 0.1 * second)
        leap = problem.step(leap / leap.sum())
        moved = leap if problem.gain(second, leap) >= 0 else second
        gain = problem.gain(p, moved)
        if gain <= 0:
            break
        p = moved
        history.append(history[-1] + gain)
        if problem.gap(p) <= EXACT:
            break
    return p, history


def _interior(problem: _Mixture, p: Floats) -> Floats:
    """The primal-dual interior point method for g_x − 1 + z_x = 0, p_x z_x = 0, p, z ≥ 0 (Wright 1997).

    Newton's step for p_x z_x = μ, with a μ that shrinks; p and z stay positive. Near the end rounding decides, so the
    point with the smallest gap is kept.
    """
    best, least = p, problem.gap(p)
    p = 0.99 * p + 0.01 / len(p)
    slope = problem.slope(p)
    z = np.maximum(-slope, 0.1 * np.abs(slope).max() + EXACT)
    for _ in range(NEWTON_STEPS):
        centre = 0.1 * float(p @ z) / len(p)
        q = problem.matrix @ p
        rows = problem.matrix * (np.sqrt(problem.shares) / q)[:, None]
        change: Floats = np.linalg.solve(rows.T @ rows + np.diag(z / p), slope + centre / p).astype(float)
        dual = (centre - z * change) / p - z
        p = p + _inside(p, change) * change
        z = z + _inside(z, dual) * dual
        slope = problem.slope(p)
        gap = problem.gap(p / p.sum())
        if gap < least:
            best, least = p / p.sum(), gap
        if gap <= EXACT:
            break
    return best


def _inside(values: Floats, change: Floats) -> float:
    """The longest step up to 1 that stays positive, and a little less."""
    shrinking = change < 0
    return min(1.0, 0.995 * float((-values[shrinking] / change[shrinking]).min(initial=np.inf)))
