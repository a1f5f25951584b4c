"""Random designs through rounding and proof, judged by the second implementation.

The full ten thousand run with `python benchmarks/certify.py designs`.
"""

import math
from fractions import Fraction

import fraction_reference as reference
import numpy as np
import pytest
from random_designs import NAMES, notion, random_case, random_joint
from scipy import sparse

from discreet.certify import level_upper_bound, prove
from discreet.exceptions import ProofError
from discreet.protocol.rounding import rounded

DESIGNS = 1000


def judged(rng):
    """One design: accepted and right, or refused; then a violation of relative size 1e-12 planted and refused."""
    case = random_case(rng)
    try:
        exact = rounded(case.channel, case.joint, case.notion)
    except ProofError:
        return "refused"
    worst = reference.worst_ratio(case.name, exact.weights.toarray(), exact.bits, case.joint)
    assert worst <= reference.exp_enclosure(case.notion.epsilon)[0]
    level = level_upper_bound(exact.weights.toarray(), exact.bits, case.joint, case.notion)
    assert worst <= reference.exp_enclosure(level)[0]
    assert level <= max(case.notion.epsilon, math.log(max(worst, 1))) + 2e-9
    if worst <= 1 + Fraction(1, 10**6):
        return "accepted"
    planted = math.log(worst) - 1e-12
    assert reference.exp_enclosure(planted)[1] < worst
    with pytest.raises(ProofError):
        prove(exact.weights.toarray(), exact.bits, case.joint, case.notion, planted)
    return "accepted and planted"


def test_nothing_is_accepted_that_violates_its_notion():
    rng = np.random.default_rng(0)
    outcomes = [judged(rng) for _ in range(DESIGNS)]
    assert outcomes.count("accepted and planted") > 0.7 * DESIGNS
    assert outcomes.count("refused") < 0.1 * DESIGNS


def test_the_reference_would_notice_a_wrong_proof():
    """The planted fault: weights proven for one joint, judged at another."""
    rng, noticed = np.random.default_rng(1), 0
    for _ in range(30):
        case = random_case(rng)
        other = random_case(rng)
        if case.name == "OrdinaryLDP" or other.joint.letters != case.joint.letters:
            continue
        try:
            exact = rounded(case.channel, case.joint, case.notion)
        except ProofError:
            continue
        noticed += reference.violates(case.name, exact.weights.toarray(), exact.bits, other.joint, case.notion.epsilon)
    assert noticed > 0


def weights_with_zeros(rng, joint):
    """Outputs that some letters never have, or all those of some secrets."""
    outputs, size, bits = 3, len(joint.letters), 16
    never = rng.random((outputs, size)) < rng.choice([0, 0.4])
    if joint.reads_secret:
        never |= np.repeat(
            rng.random((outputs, len(joint.probabilities))) < 0.4, size // len(joint.probabilities), axis=1
        )
    shares = (rng.random((outputs, size)) + 0.1) * ~never
    shares[-1] += shares.sum(axis=0) == 0
    weights = np.floor(shares / shares.sum(axis=0) * 2**bits).astype(np.int64)
    weights[weights.argmax(axis=0), np.arange(size)] += 2**bits - weights.sum(axis=0)
    return weights, bits


def test_levels_are_right_where_outputs_are_impossible():
    """All channels above have finite levels; these mostly have infinite ones, which nothing may hide."""
    rng, infinite = np.random.default_rng(7), 0
    for turn in range(400):
        joint, name = random_joint(rng), NAMES[turn % len(NAMES)]
        weights, bits = weights_with_zeros(rng, joint)
        given = weights if rng.random() < 0.5 else sparse.csc_array(weights)
        worst = reference.worst_ratio(name, weights, bits, joint)
        level = level_upper_bound(given, bits, joint, notion(name, 1.0))
        infinite += worst >= reference.INFINITE
        assert np.isinf(level) if worst >= reference.INFINITE else worst <= reference.exp_enclosure(level)[1]
        assert worst >= reference.INFINITE or level <= math.log(max(worst, 1)) + 2e-9
    assert 100 < infinite < 400
