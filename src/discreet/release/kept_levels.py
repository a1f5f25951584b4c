"""What kept columns tell about the secret, from counts: the two levels, their lower limits, and what chance would show.

    by themselves    max |ln P(s|k)/P(s)|       Clopper and Pearson's limits of P(s|k)
    beside X         max |ln P(s|y,k)/P(s|k)|   Bernstein's inequality for the means of Q[y, X] (theory 7.4)

Cells of fewer than 50 records are not judged: they are one cell together, which counts among all records only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri

from discreet.arrays import Floats, Integers

ENOUGH = 50
"""Records of a secret in a kept cell, at least, for the cell to be judged."""
DOUBT = 0.05
"""A lower limit is wrong for one table in twenty."""


@dataclass(frozen=True)
class KeptLevels:
    """max |ln P(s|k)/P(s)| and max |ln P(s|y,k)/P(s|k)|, each with its lower limit; and the latter, X shuffled. K are
    these columns: all that were judged, or those of them that tell most for certain."""

    alone: float
    alone_limit: float
    beside: float
    beside_limit: float
    shuffled: float
    columns: tuple[str, ...] = ()

    @property
    def limit(self) -> float:
        return max(self.alone_limit, self.beside_limit)


def kept_levels(
    counts: Integers, matrices: Sequence[Floats], columns: tuple[str, ...] = (), doubt: float = DOUBT
) -> KeptLevels:
    """From rows (stratum, kept cell, secret, letter, records) and the mechanism of every stratum; X is not shuffled."""
    alone, beside = (0.0, 0.0), (0.0, 0.0)
    tables = list(_tables(counts, matrices))
    each = doubt / (len(tables) + (len(tables) > 1))
    for table, matrix in tables:
        alone = _larger(alone, _alone(table.sum(axis=2), each))
        beside = _larger(beside, _beside(table, matrix, each))
    if len(tables) > 1:
        alone = _larger(alone, _pooled(counts, each))
    return KeptLevels(*alone, *beside, 0.0, columns)


def level_shuffled(counts: Integers, matrices: Sequence[Floats]) -> float:
    """max |ln P(s|y,k)/P(s|k)| after shuffling X among people of equal secret."""
    draws = np.random.default_rng(0)
    every = (_beside(_shuffled(table, draws), matrix, DOUBT)[0] for table, matrix in _tables(counts, matrices))
    return max(every, default=0.0)


def _tables(counts: Integers, matrices: Sequence[Floats]) -> Iterator[tuple[Floats, Floats]]:
    """For every stratum the records of each (kept cell, secret, letter), and its mechanism; cells of fewer records than
    are judged are the last one together."""
    for stratum in np.unique(counts[:, 0]):
        mine, matrix = counts[counts[:, 0] == stratum][:, 1:], matrices[int(stratum)]
        _, k = np.unique(mine[:, 0], return_inverse=True)
        common = np.bincount(k, mine[:, 3]) >= ENOUGH
        cell = np.where(common, np.cumsum(common) - 1, np.count_nonzero(common))[k]
        table = np.zeros((np.count_nonzero(common) + 1, int(mine[:, 1].max()) + 1, matrix.shape[1]))
        np.add.at(table, (cell, mine[:, 1], mine[:, 2]), mine[:, 3])
        yield table, matrix


def _alone(table: Floats, doubt: float) -> tuple[float, float]:
    """The largest |ln P(s|k)/P(s)| over cells with enough records, and its lower limit."""
    cells, sizes = table[:-1], table[:-1].sum(axis=1)
    return _told(cells, sizes[:, None] * (table.sum(axis=0) / table.sum()), doubt)


def _pooled(counts: Integers, doubt: float) -> tuple[float, float]:
    """The largest |ln| of records with s among those with k, over Σ n(k, stratum) P(s|stratum): a mean of what k tells
    in the strata, and so at most the largest, where a stratum has too few records of k."""
    strata, g = np.unique(counts[:, 0], return_inverse=True)
    cells, k = np.unique(counts[:, 1], return_inverse=True)
    s, n = counts[:, 2], counts[:, 4]
    law, sizes = np.zeros((len(strata), int(s.max()) + 1)), np.zeros((len(cells), len(strata)))
    found = np.zeros((len(cells), law.shape[1]))
    np.add.at(law, (g, s), n)
    np.add.at(sizes, (k, g), n)
    np.add.at(found, (k, s), n)
    expected = sizes @ (law / law.sum(axis=1, keepdims=True))
    common = sizes.sum(axis=1) >= ENOUGH
    return _told(found[common], expected[common], doubt)


def _told(found: Floats, expected: Floats, doubt: float) -> tuple[float, float]:
    """The largest |ln| of a share of records over the one expected, and its lower limit by Clopper and Pearson."""
    k, s = np.nonzero(expected > 0)
    if not len(k):
        return 0.0, 0.0
    n, m, tail = found.sum(axis=1)[k], found[k, s], doubt / (2 * len(k))
    before = expected[k, s] / n
    low = np.where(m > 0, betaincinv(np.maximum(m, 1), n - m + 1, tail), 0.0)
    high = np.where(m < n, betaincinv(m + 1, np.maximum(n - m, 1), 1 - tail), 1.0)
    return _moves(m / n, before), _least(low, high, before, before)


def _beside(table: Floats, matrix: Floats, doubt: float) -> tuple[float, float]:
    """The largest |ln P(y|s,k)/P(y|k)| over (k, s) with enough records, and its lower limit by Bernstein's inequality
    for the means of Q[y, X] over the records of (k, s) and of k."""
    sizes = table.sum(axis=2)
    k, s = np.nonzero(sizes[:-1] >= ENOUGH)
    if not len(k):
        return 0.0, 0.0
    z = float(-ndtri(doubt / (4 * len(k) * len(matrix))))

    def means(weights: Floats, n: Floats) -> tuple[Floats, Floats]:
        mean = weights @ matrix.T / n[:, None]
        spread = np.sqrt(np.maximum(weights @ (matrix**2).T / n[:, None] - mean**2, 0.0) / n[:, None])
        return mean, z * spread + z**2 * matrix.max(axis=1) / (3 * n[:, None])

    mine, wide = means(table[k, s], sizes[k, s])
    whole, slack = means(table[k].sum(axis=1), sizes[k].sum(axis=1))
    occurs = whole > 0
    limits = _least(
        np.maximum(mine - wide, 0.0)[occurs], (mine + wide)[occurs], np.maximum(whole - slack, 0)[occurs],
        (whole + slack)[occurs],
    )  # fmt: skip
    return _moves(mine[occurs], whole[occurs]), limits


def _moves(found: Floats, before: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(np.abs(np.log(found) - np.log(before)).max(initial=0.0))


def _least(low: Floats, high: Floats, whole_low: Floats, whole_high: Floats) -> float:
    """The largest move that is certain: intervals that meet are no move."""
    with np.errstate(divide="ignore"):
        raised = np.log(low) - np.log(whole_high)
        lowered = np.log(whole_low) - np.log(high)
    return float(max(raised.max(initial=0.0), lowered.max(initial=0.0), 0.0))


def _larger(first: tuple[float, float], second: tuple[float, float]) -> tuple[float, float]:
    return max(first[0], second[0]), max(first[1], second[1])


def _shuffled(table: Floats, draws: np.random.Generator) -> Floats:
    """The counts after shuffling X among people of equal secret: (k, s) and (s, x) stay as they are."""
    found = np.zeros_like(table)
    for s in range(table.shape[1]):
        letters = table[:, s].sum(axis=0).astype(np.int64)
        for k, n in enumerate(table[:, s].sum(axis=1).astype(np.int64)):
            found[k, s] = draws.multivariate_hypergeometric(letters, int(n)) if n else 0
            letters = letters - found[k, s].astype(np.int64)
    return found
