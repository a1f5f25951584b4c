"""Letters of equal posterior as one (theory 10.1).

LDP and LIP see a letter x only through P(s | x). Let T be the class of x. Then **I*(X) = I*(T) + H(X | T)**.
*No more is possible:* T is a function of X, so I(X;Y) = I(T;Y) + I(X;Y | T) ≤ I(T;Y) + H(X | T), and the channel from T
to Y that averages over the letters of a class has the same P(y | s). *That much is:* take the best rows over classes,
lay the letters of every class end to end along the outputs that have the class, and cut every output wherever a letter
of one of its classes ends. A part has one letter of each class in the proportions of its row, so the condition of the
row holds for it, and part and class together determine the letter. Every class is cut once less than it has letters, so
there are at most as many parts as rows over classes and letters less classes together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from discreet.arrays import Floats, Indices
from discreet.joint import Joint

DUST = 1e-13
"""A part narrower than this share of its output was left by rounding, and goes to its neighbour."""


@dataclass(frozen=True, eq=False)
class LetterClasses:
    """The class of every letter of positive mass; `letters` says which these are, `masses` what they have."""

    letters: Indices
    masses: Floats
    of_letter: Indices
    posteriors: Floats
    """P(s | class), one row per class."""

    @classmethod
    def of(cls, joint: Joint) -> LetterClasses:
        """By whole numbers where the joint was counted; otherwise letters are alike if their floats are."""
        table = joint.table[joint.seen]
        letters = np.flatnonzero(joint.prior > 0)
        if joint.counts is None:
            keys = table[:, letters] / joint.prior[letters]
        else:
            counts = joint.counts.reshape(len(joint.counts), -1)[np.ix_(joint.seen, letters)]
            keys = counts // np.gcd.reduce(counts, axis=0)
        _, first, of_letter = np.unique(keys, axis=1, return_index=True, return_inverse=True)
        posteriors = (table[:, letters] / joint.prior[letters])[:, first].T
        return cls(letters, joint.prior[letters], of_letter.reshape(-1), posteriors)

    @property
    def size(self) -> int:
        return len(self.posteriors)

    @cached_property
    def prior(self) -> Floats:
        """P(T)"""
        return np.asarray(np.bincount(self.of_letter, self.masses, self.size), dtype=np.float64)

    @cached_property
    def inside(self) -> float:
        """H(X | T)"""
        return float(self.masses @ np.log(self.prior[self.of_letter] / self.masses))

    def unfolded(self, posteriors: sparse.csr_array, weights: Floats) -> tuple[sparse.csr_array, Floats]:
        """Rows over classes (P(T | y), with weights q_y) as rows over letters, with their weights."""
        order = np.lexsort((-self.masses, self.of_letter))
        ends = np.cumsum(self.masses[order])
        starts_of = np.searchsorted(self.of_letter[order], np.arange(self.size))
        laid = np.where(starts_of > 0, ends[starts_of - 1], 0.0)  # where each class has got to
        last = np.append(starts_of[1:], len(order)) - 1
        found: list[tuple[list[int], list[float], float]] = []
        for y, weight in enumerate(weights):
            part = slice(posteriors.indptr[y], posteriors.indptr[y + 1])
            classes, shares = posteriors.indices[part].astype(np.intp), posteriors.data[part]
            found += self._cut(classes, shares, float(weight), laid, ends, last, order)
        entries = np.concatenate([shares for _, shares, _ in found])
        places = np.concatenate([letters for letters, _, _ in found]).astype(np.intp)
        starts = np.concatenate([[0], np.cumsum([len(letters) for letters, _, _ in found])])
        rows = sparse.csr_array((entries / self.masses[places], places, starts), shape=(len(found), len(self.masses)))
        return rows, np.array([weight for _, _, weight in found])

    @staticmethod
    def _cut(
        classes: Indices, shares: Floats, weight: float, laid: Floats, ends: Floats, last: Indices, order: Indices
    ) -> list[tuple[list[int], list[float], float]]:
        """The parts of one output: (letters, posterior of each, weight). `laid` moves on."""
        at = laid[classes]
        goes = at + weight * shares
        here = np.minimum(np.searchsorted(ends, at * (1 + 1e-15), side="right"), last[classes])
        done, parts = 0.0, []
        while True:
            left = np.where(here < last[classes], (ends[here] - at) / (weight * shares), np.inf)
            k = int(left.argmin())
            until = min(1.0, float(left[k]))
            if until - done > DUST:
                parts.append((order[here].tolist(), shares.tolist(), weight * (until - done)))
                done = until
            if left[k] >= 1.0:
                break
            here = here.copy()
            here[k] += 1
        laid[classes] = goes
        return parts
