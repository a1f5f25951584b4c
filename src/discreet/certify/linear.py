"""The notions with finitely many conditions: LDP, LIP, SRLIP, ordinary LDP, and RLDP over everything or one point.

Each is "some ratio is at most e^ε" for every output. A ratio of two integers is bounded above by an integer over 2^96,
rounded up; the proof is one comparison with e^ε rounded down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.certify.exponential import ceil_div
from discreet.certify.integers import Integers, exact_prior, secret_weights
from discreet.joint import Joint
from discreet.notions.level import Witness

RATIO_BITS = 96
Weights = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Ratios:
    """For every output y the worst ratio high/low: `upper[y]` is at least 2^96 times it, infinite if low is zero.

    `high` and `low` are floats, good enough to choose a repair; no proof rests on them.
    """

    upper: Integers
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    witness: Callable[[int], Witness]


def ldp(weights: Weights, joint: Joint) -> Ratios:
    """P(y | s) ≤ e^ε P(y | s') for all seen secrets."""
    names, masses, totals = _by_secret(weights, joint)
    first, second = _extremes(masses, totals)
    outputs = np.arange(len(weights))
    return _ratios(
        masses[first, outputs],
        totals[first],
        masses[second, outputs],
        totals[second],
        lambda y: Witness(y, names[first[y]], names[second[y]]),
    )


def lip(weights: Weights, joint: Joint) -> Ratios:
    """e^−ε P(y) ≤ P(y | s) ≤ e^ε P(y) for all seen secrets."""
    names, masses, totals = _by_secret(weights, joint)
    first, second = _extremes(masses, totals)
    outputs, whole, n = np.arange(len(weights)), masses.sum(axis=0), np.full(len(weights), totals.sum(), dtype=object)
    raised = _ratios(masses[first, outputs], totals[first], whole, n, lambda y: Witness(y, names[first[y]]))
    lowered = _ratios(whole, n, masses[second, outputs], totals[second], lambda y: Witness(y, names[second[y]]))
    return worse([raised, lowered])


def srlip(weights: Weights, joint: Joint) -> Ratios:
    """The LIP ratios under P( · | x_J), for every set J of released attributes and every x_J that occurs."""
    prior = exact_prior(joint)
    return worse([_known(weights, joint, prior, known) for known in _side_channels(joint)])


def ordinary(weights: Weights, joint: Joint) -> Ratios:
    """Q[y, z] ≤ e^ε Q[y, z'] for all letters."""
    first, second = weights.argmax(axis=1), weights.argmin(axis=1)
    outputs, one = np.arange(len(weights)), np.ones(len(weights), dtype=object)

    def witness(y: int) -> Witness:
        return Witness(y, joint.letters[first[y]], joint.letters[second[y]])

    return _ratios(weights[outputs, first].astype(object), one, weights[outputs, second].astype(object), one, witness)


def everything(weights: Weights, joint: Joint) -> Ratios:
    """max_u Q[y, s, u] ≤ e^ε min_u Q[y, s', u] for s ≠ s': RLDP when nothing is known (robust-2 section 6)."""
    c, k = joint.table.shape
    cells = weights.reshape(-1, c, k) if joint.reads_secret else np.broadcast_to(weights[:, None], (len(weights), c, k))
    highest, lowest = cells.max(axis=2), cells.min(axis=2)
    outputs, one = np.arange(len(weights)), np.ones(len(weights), dtype=object)
    found = []
    for s in range(c):
        others = np.delete(np.arange(c), s)
        t = others[lowest[:, others].argmin(axis=1)]

        def witness(y: int, s: int = s, t: NDArray[np.intp] = t) -> Witness:
            return Witness(y, joint.secret_letters[s], joint.secret_letters[t[y]])

        found.append(_ratios(highest[:, s].astype(object), one, lowest[outputs, t].astype(object), one, witness))
    return worse(found)


def worse(several: Sequence[Ratios]) -> Ratios:
    """For every output the worst of several ratios."""
    outputs = np.arange(len(several[0].upper))
    which = np.stack([ratios.upper for ratios in several]).argmax(axis=0)

    def pick(name: str) -> NDArray[np.float64]:
        return np.asarray(np.stack([getattr(ratios, name) for ratios in several])[which, outputs])

    upper = np.stack([ratios.upper for ratios in several])[which, outputs]
    return Ratios(upper, pick("high"), pick("low"), lambda y: several[which[y]].witness(y))


def _by_secret(weights: Weights, joint: Joint) -> tuple[list[Hashable], Integers, Integers]:
    """For the seen secrets: their names, P(s, y) and P(s) up to a common factor each."""
    prior = exact_prior(joint)
    totals = prior.reshape(len(prior), -1).sum(axis=1)
    seen = np.flatnonzero(totals > 0)
    return [joint.secret_letters[s] for s in seen], secret_weights(weights, joint, prior)[seen], totals[seen]


def _extremes(masses: Integers, totals: Integers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Per output the secrets with the largest and the smallest masses[s, y] / totals[s], exactly.

    Two different fractions with denominators below 2^k differ by more than 2^−2k, so rounding down after 2k binary
    places keeps their order.
    """
    places = 2 * int(totals.max()).bit_length()
    scaled = (masses << places) // totals[:, None]
    return scaled.argmax(axis=0), scaled.argmin(axis=0)


def _ratios(
    high: Integers, high_total: Integers, low: Integers, low_total: Integers, witness: Callable[[int], Witness]
) -> Ratios:
    """(high / high_total) / (low / low_total), with 0/0 = 1: an output that never occurs tells nothing."""
    upper = _uppers(high * low_total, high_total * low)
    return Ratios(upper, (high / high_total).astype(float), (low / low_total).astype(float), witness)


def _upper(numerator: int, denominator: int) -> int | float:
    if numerator == 0:
        return 1 << RATIO_BITS if denominator == 0 else 0
    return ceil_div(numerator << RATIO_BITS, denominator) if denominator else math.inf


def _uppers(numerators: Integers, denominators: Integers) -> Integers:
    return np.asarray(np.frompyfunc(_upper, 2, 1)(numerators, denominators), dtype=object)


def _known(weights: Weights, joint: Joint, prior: Integers, known: tuple[int, ...]) -> Ratios:
    """The worst LIP ratio of every output when the attributes J = known are told, over s and x_J."""
    letters = weights.reshape(len(weights), *(prior.shape if joint.reads_secret else (1, *prior.shape[1:])))
    summed = tuple(1 + j for j in range(len(joint.shape)) if j not in known)
    totals = _summed(prior, summed)
    found = [_worst_move(_summed(row.astype(object) * prior, summed), totals) for row in letters]

    def witness(y: int) -> Witness:
        s, *values = (int(i) for i in np.unravel_index(found[y][3], totals.shape))
        attributes = [joint.releases[j] for j in known]
        told = tuple((a.name, a.letters[i]) for a, i in zip(attributes, values, strict=True))
        return Witness(y, joint.secret_letters[s], side_channel=told)

    high, low = (np.array([item[i] for item in found], dtype=float) for i in (1, 2))
    return Ratios(np.array([item[0] for item in found], dtype=object), high, low, witness)


def _side_channels(joint: Joint) -> Iterator[tuple[int, ...]]:
    """The sets J that say something: of attributes with several letters, and all of them only if the secret is read."""
    several = [j for j, size in enumerate(joint.shape) if size > 1]
    for size in range(max(1, len(several) + joint.reads_secret)):
        yield from combinations(several, size)


def _summed(cells: Integers, axes: tuple[int, ...]) -> Integers:
    return np.asarray(cells.sum(axis=axes)) if axes else cells


def _worst_move(masses: Integers, totals: Integers) -> tuple[int | float, float, float, int]:
    """The largest of (m/t)/(M/T) and its inverse over the cells (s, x_J) that occur, M and T being sums over s:
    an upper bound, the two sides of the ratio, and where."""
    whole = np.broadcast_to(masses.sum(axis=0), masses.shape)
    n = np.broadcast_to(totals.sum(axis=0), masses.shape)
    up, down = _uppers(masses * n, totals * whole), _uppers(totals * whole, masses * n)
    moves = np.where(totals > 0, np.maximum(up, down), 0)
    place = int(moves.argmax())
    sides = masses.flat[place] / max(1, totals.flat[place]), whole.flat[place] / max(1, n.flat[place])
    high, low = sides if up.flat[place] >= down.flat[place] else sides[::-1]
    return moves.flat[place], high, low, place
