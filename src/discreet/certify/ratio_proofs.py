"""The notions with finitely many conditions: LDP, LIP, SRLIP, ordinary LDP, and RLDP over everything or one point.

Each is "some ratio is at most e^ε" for every output. A ratio of two integers is bounded above by an integer over 2^96,
rounded up; the proof is one comparison with e^ε rounded down. A notion of this kind needs no more than a function that
gives its ratios: `PROVERS[Notion] = RatioProver(ratios)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Indices, Integers, Weights
from discreet.certify.exact_arithmetic import ExactIntegers, ceil_div, exact_prior, exp_lower, secret_weights
from discreet.certify.proof import PROVERS, STEP, ProofAttempt, dense
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions import LDP, LIP, RLDP, SRLIP, OrdinaryLDP
from discreet.notions.notion import Notion, Witness
from discreet.uncertainty.sets import Everything, Exactly

if TYPE_CHECKING:
    from scipy.sparse import csc_array

RATIO_BITS = 96
"""Ratios are rounded by less than 1e-28, far below the step in which levels are stated."""
LARGEST_LEVEL = 10**6
LARGEST_POWER = 500.0
"""e^500 stands for every larger factor where only the size of a repair depends on it."""
MOST_PAIRS = 1 << 22
"""Secrets times outputs, at most: 2,000 of each. Their exact masses take about 300 bytes each."""
PAIRS_AT_ONCE = 1 << 15
"""Secrets times outputs whose exact masses are held at once."""
MOST_SUMS = 1 << 28
"""Terms that the sums over all side channels of SRLIP have, at most: about half a minute."""


@dataclass(frozen=True, eq=False)
class Ratios:
    """For every output y the worst ratio high/low: `upper[y]` is at least 2^96 times it, infinite if low is zero.

    `high` and `low` are floats, good enough to choose a repair; no proof rests on them.
    """

    upper: ExactIntegers
    high: NDArray[np.float64]
    low: NDArray[np.float64]
    witness: Callable[[int], Witness]

    def within(self, epsilon: Fraction, bits: int) -> ProofAttempt:
        """That none is above e^ε."""
        holds = np.asarray(self.upper <= exp_lower(epsilon, RATIO_BITS), dtype=bool)
        scale = 2.0**bits
        short = (self.high - np.exp(min(float(epsilon), LARGEST_POWER)) * self.low) / scale
        return ProofAttempt(holds, np.where(holds, 0.0, np.maximum(short, 1 / scale)), self.witness)

    @property
    def level(self) -> float:
        """The smallest multiple of 1e-9 that none is above."""
        worst = self.upper.max()
        if worst == math.inf or worst > exp_lower(Fraction(LARGEST_LEVEL), RATIO_BITS):
            return math.inf
        steps = max(0, math.ceil((math.log(max(int(worst), 1)) - RATIO_BITS * math.log(2)) * STEP))
        while exp_lower(Fraction(steps / STEP), RATIO_BITS) < worst:
            steps += 1
        return steps / STEP


@dataclass(frozen=True)
class RatioProver:
    """The proof of a notion whose conditions are ratios. `ignores_silent`: none looks at letters that nobody has."""

    ratios: Callable[[Weights, Joint], Ratios]
    ignores_silent: bool = False

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        return self.ratios(weights, joint).within(epsilon, bits)

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        return self.ratios(weights, joint).level


def ldp(weights: Weights, joint: Joint) -> Ratios:
    """P(y | s) ≤ e^ε P(y | s') for all seen secrets."""
    return by_secret(weights, joint, _ldp)


def _ldp(names: list[Hashable], masses: ExactIntegers, totals: ExactIntegers) -> Ratios:
    first, second = extreme_secrets(masses, totals)
    outputs = np.arange(masses.shape[1])
    return bounded_ratios(
        masses[first, outputs],
        totals[first],
        masses[second, outputs],
        totals[second],
        lambda y: Witness(y, names[first[y]], names[second[y]]),
    )


def lip(weights: Weights, joint: Joint) -> Ratios:
    """e^−ε P(y) ≤ P(y | s) ≤ e^ε P(y) for all seen secrets."""
    return by_secret(weights, joint, two_sided)


def two_sided(names: list[Hashable], masses: ExactIntegers, totals: ExactIntegers) -> Ratios:
    """The larger of P(y | s) / P(y) and its inverse."""
    return worse([raised_most(names, masses, totals), lowered_most(names, masses, totals)])


def raised_most(names: list[Hashable], masses: ExactIntegers, totals: ExactIntegers) -> Ratios:
    """The largest P(y | s) / P(y)."""
    first, size = extreme_secrets(masses, totals)[0], masses.shape[1]
    outputs, whole, n = np.arange(size), masses.sum(axis=0), np.full(size, totals.sum(), dtype=object)
    return bounded_ratios(masses[first, outputs], totals[first], whole, n, lambda y: Witness(y, names[first[y]]))


def lowered_most(names: list[Hashable], masses: ExactIntegers, totals: ExactIntegers) -> Ratios:
    """The largest P(y) / P(y | s)."""
    second, size = extreme_secrets(masses, totals)[1], masses.shape[1]
    outputs, whole, n = np.arange(size), masses.sum(axis=0), np.full(size, totals.sum(), dtype=object)
    return bounded_ratios(whole, n, masses[second, outputs], totals[second], lambda y: Witness(y, names[second[y]]))


def srlip(weights: Weights, joint: Joint) -> Ratios:
    """The LIP ratios under P( · | x_J), for every set J of released attributes and every x_J that occurs."""
    if not joint.reads_secret and len(_several(joint)) < 2:
        return lip(weights, joint)  # nothing but J = ∅ says anything
    outputs = weights.shape[0]
    sums = 2 ** len(_several(joint)) * joint.probabilities.size * outputs
    if sums > MOST_SUMS:
        raise ProofError(
            f"{2 ** len(_several(joint)):,} side channels of {joint.probabilities.size:,} cells and {outputs:,} "
            "outputs are too many to prove one by one",
            where="SRLIP",
            remedy="Release fewer columns, merge rare letters, or choose LIP, which needs one side channel only.",
        )
    prior, weights = exact_prior(joint), dense(weights)
    return worse([_known(weights, joint, prior, known) for known in _side_channels(joint)])


def ordinary(weights: Weights, joint: Joint) -> Ratios:
    """Q[y, z] ≤ e^ε Q[y, z'] for all letters."""
    if isinstance(weights, np.ndarray):
        first, second, outputs = weights.argmax(axis=1), weights.argmin(axis=1), np.arange(len(weights))
        most, least = weights[outputs, first], weights[outputs, second]
    else:
        first, second, most, least = _extreme_letters(weights)
    one = np.ones(len(most), dtype=object)

    def witness(y: int) -> Witness:
        return Witness(y, joint.letters[first[y]], joint.letters[second[y]])

    return bounded_ratios(most.astype(object), one, least.astype(object), one, witness)


def _extreme_letters(weights: csc_array) -> tuple[Indices, Indices, Integers, Integers]:
    """For every output the first letter of largest and of smallest weight, and these: zero where one is missing."""
    rows = weights.tocsr()
    outputs, letters = rows.shape
    sizes, row = np.diff(rows.indptr), np.repeat(np.arange(outputs), np.diff(rows.indptr))
    places = np.zeros((2, outputs), np.intp)
    values = np.zeros((2, outputs), np.int64)
    for k, sign in enumerate((-1, 1)):
        order = np.lexsort((rows.indices, sign * rows.data, row))
        firsts = order[np.minimum(rows.indptr[:-1], len(order) - 1)]
        places[k], values[k] = rows.indices[firsts], rows.data[firsts]
    misplaced = np.flatnonzero(rows.indices != np.arange(len(row)) - rows.indptr[row])
    first_wrong = row[misplaced]
    gap = sizes.copy()
    gap[first_wrong[::-1]] = misplaced[::-1] - rows.indptr[first_wrong[::-1]]
    short = sizes < letters
    places[1], values[1] = np.where(short, gap, places[1]), np.where(short, 0, values[1])
    places[0], values[0] = np.where(sizes == 0, 0, places[0]), np.where(sizes == 0, 0, values[0])
    return places[0], places[1], values[0], values[1]


def everything(weights: Weights, joint: Joint) -> Ratios:
    """max_u Q[y, s, u] ≤ e^ε min_u Q[y, s', u] for s ≠ s': RLDP when nothing is known (robust-2 section 6)."""
    c, k = joint.table.shape
    check_pairs(weights, joint)
    weights = dense(weights)
    cells = weights.reshape(-1, c, k) if joint.reads_secret else np.broadcast_to(weights[:, None], (len(weights), c, k))
    highest, lowest = cells.max(axis=2), cells.min(axis=2)
    outputs, one = np.arange(len(weights)), np.ones(len(weights), dtype=object)
    found = []
    for s in range(c):
        others = np.delete(np.arange(c), s)
        t = others[lowest[:, others].argmin(axis=1)]

        def witness(y: int, s: int = s, t: NDArray[np.intp] = t) -> Witness:
            return Witness(y, joint.secret_letters[s], joint.secret_letters[t[y]])

        found.append(bounded_ratios(highest[:, s].astype(object), one, lowest[outputs, t].astype(object), one, witness))
    return worse(found)


def worse(several: Sequence[Ratios]) -> Ratios:
    """For every output the worst of several ratios."""
    outputs = np.arange(len(several[0].upper))
    which = np.stack([ratios.upper for ratios in several]).argmax(axis=0)

    def pick(name: str) -> NDArray[np.float64]:
        return np.asarray(np.stack([getattr(ratios, name) for ratios in several])[which, outputs])

    upper = np.stack([ratios.upper for ratios in several])[which, outputs]
    return Ratios(upper, pick("high"), pick("low"), lambda y: several[which[y]].witness(y))


def check_pairs(weights: Weights, joint: Joint) -> None:
    outputs = weights.shape[0]
    if len(joint.probabilities) * outputs > MOST_PAIRS:
        raise ProofError(
            f"{len(joint.probabilities):,} secrets and {outputs:,} outputs are too many to prove",
            remedy="Merge rare secrets or outputs.",
        )


Judge = Callable[[list[Hashable], ExactIntegers, ExactIntegers], Ratios]
"""The ratios from the names of the seen secrets, P(s, y) and P(s) up to a common factor."""


def by_secret(weights: Weights, joint: Joint, judge: Judge) -> Ratios:
    return all_by_secret(weights, joint, judge)[0]


def all_by_secret(weights: Weights, joint: Joint, *judges: Judge) -> list[Ratios]:
    """What every judge says of the same masses, which are computed once, a block of outputs at a time."""
    check_pairs(weights, joint)
    prior = exact_prior(joint)
    totals = prior.reshape(len(prior), -1).sum(axis=1)
    seen = np.flatnonzero(totals > 0)
    names = [joint.secret_letters[s] for s in seen]
    size = max(1, PAIRS_AT_ONCE // len(prior))

    def judged(block: Weights) -> list[Ratios]:
        masses = secret_weights(block, joint, prior)[seen]
        return [judge(names, masses, totals[seen]) for judge in judges]

    if isinstance(weights, np.ndarray) or weights.shape[0] <= size:
        return judged(weights)
    rows = weights.tocsr()
    found = [judged(rows[start : start + size].tocsc()) for start in range(0, rows.shape[0], size)]
    return [_one_after_another(blocks, size) for blocks in zip(*found, strict=True)]


def _one_after_another(blocks: Sequence[Ratios], size: int) -> Ratios:
    upper, high, low = (np.concatenate([getattr(one, part) for one in blocks]) for part in ("upper", "high", "low"))
    return Ratios(upper, high, low, lambda y: replace(blocks[y // size].witness(y % size), output=y))


def extreme_secrets(masses: ExactIntegers, totals: ExactIntegers) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Per output the secrets with the largest and the smallest masses[s, y] / totals[s], exactly.

    Two different fractions with denominators below 2^k differ by more than 2^−2k, so rounding down after 2k binary
    places keeps their order.
    """
    places = 2 * int(totals.max()).bit_length()
    scaled = (masses << places) // totals[:, None]
    return scaled.argmax(axis=0), scaled.argmin(axis=0)


def bounded_ratios(
    high: ExactIntegers,
    high_total: ExactIntegers,
    low: ExactIntegers,
    low_total: ExactIntegers,
    witness: Callable[[int], Witness],
) -> Ratios:
    """(high / high_total) / (low / low_total), with 0/0 = 1: an output that never occurs tells nothing."""
    upper = _uppers(high * low_total, high_total * low)
    return Ratios(upper, _quotients(high, high_total), _quotients(low, low_total), witness)


def _quotients(numerators: ExactIntegers, denominators: ExactIntegers) -> NDArray[np.float64]:
    """As floats; infinite where no float is as large, as for many rows together."""
    try:
        return np.asarray((numerators / denominators).astype(float))
    except OverflowError:
        return np.asarray(np.frompyfunc(_quotient, 2, 1)(numerators, denominators), dtype=float)


def _quotient(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf


def _upper(numerator: int, denominator: int) -> int | float:
    if numerator == 0:
        return 1 << RATIO_BITS if denominator == 0 else 0
    return ceil_div(numerator << RATIO_BITS, denominator) if denominator else math.inf


def _uppers(numerators: ExactIntegers, denominators: ExactIntegers) -> ExactIntegers:
    return np.asarray(np.frompyfunc(_upper, 2, 1)(numerators, denominators), dtype=object)


def _known(weights: Integers, joint: Joint, prior: ExactIntegers, known: tuple[int, ...]) -> Ratios:
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
    several = _several(joint)
    for size in range(max(1, len(several) + joint.reads_secret)):
        yield from combinations(several, size)


def _several(joint: Joint) -> list[int]:
    return [j for j, size in enumerate(joint.shape) if size > 1]


def _summed(cells: ExactIntegers, axes: tuple[int, ...]) -> ExactIntegers:
    return np.asarray(cells.sum(axis=axes)) if axes else cells


def _worst_move(masses: ExactIntegers, totals: ExactIntegers) -> tuple[int | float, float, float, int]:
    """The largest of (m/t)/(M/T) and its inverse over the cells (s, x_J) that occur, M and T being sums over s:
    an upper bound, the two sides of the ratio, and where."""
    whole, n = (np.broadcast_to(np.asarray(one.sum(axis=0), dtype=object), one.shape) for one in (masses, totals))
    up, down = _uppers(masses * n, totals * whole), _uppers(totals * whole, masses * n)
    moves = np.where(totals > 0, np.maximum(up, down), 0)
    place = int(moves.argmax())
    sides = masses.flat[place] / max(1, totals.flat[place]), whole.flat[place] / max(1, n.flat[place])
    high, low = sides if up.flat[place] >= down.flat[place] else sides[::-1]
    return moves.flat[place], high, low, place


PROVERS.update(
    {
        LDP: RatioProver(ldp, ignores_silent=True),
        LIP: RatioProver(lip, ignores_silent=True),
        SRLIP: RatioProver(srlip, ignores_silent=True),
        OrdinaryLDP: RatioProver(ordinary),
        (RLDP, Exactly): RatioProver(ldp, ignores_silent=True),
        (RLDP, Everything): RatioProver(everything),
    }
)
