"""What an analyst holds: counts of outputs, and for each the channel that made it.

Releases that were made independently are *waves* k = 1, 2, … of one sample. Every wave has its own channel Q_k on the
same letters and n_k records, so its counts are multinomial with probabilities Q_k p. Stacked, with every row scaled by
the wave's share n_k/n, they are one channel whose columns add up to one, and the observed shares of the outputs have
mean `scaled @ p`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ChannelError, TableError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LEAST_RECORDS = 2


@dataclass(frozen=True, eq=False)
class Sample:
    """The waves one under the other: `matrix[row, letter]`, `counts[row]`, and the row each wave `starts` at."""

    matrix: Floats
    counts: Integers
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
    def sizes(self) -> Integers:
        """n_k, the records of every wave."""
        return np.asarray(np.add.reduceat(self.counts, self.starts))

    @cached_property
    def n(self) -> int:
        return int(self.sizes.sum())

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
