"""PML, ALIP, Shift and Perfect: the proof against a second computation in `Fraction`, and planted faults."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import fraction_reference as reference
import numpy as np
import pytest

from discreet.certify import PROVERS, level_upper_bound, prove, round_columns
from discreet.certify.posterior_proofs import ShiftProver, shifts
from discreet.certify.proof import check
from discreet.certify.ratio_proofs import by_secret
from discreet.channel import Channel
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions import ALIP, LIP, PML, Perfect, Shift

BITS = 40
CASES = 150


def changes(weights, joint):
    """[(P(s|y), P(s)) for every secret that occurs] for every output that occurs, from the definition."""
    cells, letters = reference.exact_cells(joint), list(np.ndindex(joint.shape))
    found = []
    for y in range(len(weights)):
        together = [
            sum(cells[s, x] * reference.entry(weights, BITS, joint, y, s, x) for x in letters)
            for s in range(len(joint.probabilities))
        ]
        masses = [sum(cells[s, x] for x in letters) for s in range(len(joint.probabilities))]
        if sum(together):
            found.append([(a / sum(together), b) for a, b in zip(together, masses, strict=True) if b])
    return found


def largest_shift(pairs):
    """Over all statements, one by one."""
    every = [chosen for size in range(1, len(pairs) + 1) for chosen in combinations(pairs, size)]
    return max(sum(a for a, _ in chosen) - sum(b for _, b in chosen) for chosen in every)


def random_weights(rng):
    c, a, b = rng.integers(2, 5), rng.integers(2, 5), rng.integers(2, 6)
    counts = rng.integers(0, 30, (c, a))
    counts[:, 0] += 1
    matrix = rng.dirichlet(np.full(b, 0.7), size=a).T
    joint = Joint.from_counts(counts)
    if rng.random() < 0.3:
        joint, matrix = joint.curator(), rng.dirichlet(np.ones(b), size=c * a).T
    return round_columns(matrix, BITS), joint


def test_proven_levels_are_the_definitions():
    rng = np.random.default_rng(0)
    for _ in range(CASES):
        weights, joint = random_weights(rng)
        told = changes(weights, joint)
        rise = max(a / b for pairs in told for a, b in pairs)
        fall = max((b / a if a else reference.INFINITE) for pairs in told for a, b in pairs)
        moved = max(largest_shift(pairs) for pairs in told)
        level = level_upper_bound(weights, BITS, joint, PML(1))
        assert rise <= reference.exp_enclosure(level)[0]
        assert level <= math.log(rise) + 2e-9
        level = level_upper_bound(weights, BITS, joint, Shift(0.5))
        assert moved <= Fraction(level) <= moved + Fraction(2, 10**9)
        for notion in (ALIP(0.3, 0.7), ALIP(0.5, 0.5), ALIP(2.0, 0.1)):
            level, share = level_upper_bound(weights, BITS, joint, notion), notion.low / notion.up
            needed = max(math.log(rise), math.log(fall) / share if fall < reference.INFINITE else math.inf)
            assert needed - 1e-12 <= level <= needed + 2e-9 + 1e-9 / share
            if level < math.inf:
                prove(weights, BITS, joint, notion, level)


def test_a_little_below_the_level_nothing_is_proven():
    rng, tried = np.random.default_rng(1), 0
    for _ in range(CASES):
        weights, joint = random_weights(rng)
        for notion in (PML(1), Shift(0.5), ALIP(0.3, 0.7)):
            level = notion.level(_channel(weights), joint).epsilon
            if 1e-3 < level < 50:
                tried += 1
                with pytest.raises(ProofError):
                    prove(weights, BITS, joint, notion, level * (1 - 1e-10))
    assert tried > 2 * CASES


def _channel(weights):
    return Channel(weights / 2.0**BITS)


def test_perfect_is_one_part_in_a_billion():
    counts = np.array([[10, 20], [30, 60]])
    independent, related = Joint.from_counts(counts), Joint.from_counts(counts + np.array([[0, 1], [0, 0]]))
    weights = round_columns(np.array([[0.9, 0.2], [0.1, 0.8]]), BITS)
    assert prove(weights, BITS, independent, Perfect()).epsilon == 1e-9
    with pytest.raises(ProofError):
        prove(weights, BITS, related, Perfect())
    assert level_upper_bound(weights, BITS, related, Perfect()) == level_upper_bound(weights, BITS, related, LIP(1))


def test_alip_at_its_own_numbers_is_exact():
    """e^−low and e^up are those of the stated floats, not of rounded quotients."""
    joint = Joint.from_counts([[1, 2], [3, 1]])
    weights = round_columns(np.array([[0.6, 0.4], [0.4, 0.6]]), BITS)
    told = [a / b for pairs in changes(weights, joint) for a, b in pairs]
    up, low = math.log(max(told)) + 1e-12, -math.log(min(told)) + 1e-12
    assert check(weights, BITS, joint, ALIP(low, up), Fraction(up)).proven
    assert not check(weights, BITS, joint, ALIP(low - 1e-11, up), Fraction(up)).proven
    assert not check(weights, BITS, joint, ALIP(low, up - 1e-11), Fraction(up - 1e-11)).proven


def test_a_shift_prover_that_forgets_a_secret_is_noticed():
    """The planted fault: the sum runs over all secrets but the last."""
    rng, noticed = np.random.default_rng(2), 0

    def forgetful(names, masses, totals):
        found, right = shifts(names, masses, totals), masses.sum(axis=0)
        part = shifts(names[:-1], masses[:-1], totals[:-1])
        return replace(found, upper=np.where(right > 0, part.upper, found.upper))

    for _ in range(30):
        weights, joint = random_weights(rng)
        wrong = int(by_secret(weights, joint, forgetful).upper.max()) / 2**96
        noticed += wrong < float(max(largest_shift(pairs) for pairs in changes(weights, joint))) - 1e-9
    assert noticed > 10
    assert isinstance(PROVERS[Shift], ShiftProver)
