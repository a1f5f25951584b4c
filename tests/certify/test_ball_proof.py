"""Robust proofs: tight where the oracle says so, and never won by a wrong oracle."""

import math
from fractions import Fraction

import fraction_reference as reference
import numpy as np
import pytest

from discreet.certify import ball_proof, level_upper_bound, prove, round_columns
from discreet.certify.ball_terms import exact_ball, terms
from discreet.certify.exact_arithmetic import exp_lower
from discreet.certify.proof import check
from discreet.channel import Channel
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare, Everything, Renyi
from discreet.uncertainty.pairs import WorstPairs
from discreet.uncertainty.sets import ball_around

BITS = 52
SETS = [ChiSquare(0.95), Renyi(2, 0.05), *(Renyi(order, 0.05) for order in (1.4, 6, 1, 0.7, 0.5))]


def case(seed, *, form=1, unseen=False, c=3, k=4, outputs=4):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 60, (c, k))
    counts[:, 0] += 1
    if unseen:
        counts[-1] = 0
    joint = Joint.from_counts(counts, include_secret=form == 1)
    joint = joint.curator() if form == 2 else joint
    matrix = 0.6 * rng.dirichlet(np.ones(outputs), size=len(joint.letters)).T + 0.4 / outputs
    return joint, round_columns(matrix / matrix.sum(axis=0), BITS)


def level(weights, joint, uncertainty):
    return RLDP(1.0, uncertainty).level(Channel(weights / 2.0**BITS, joint.letters), joint).epsilon


@pytest.mark.parametrize("uncertainty", SETS, ids=str)
@pytest.mark.parametrize("form", [0, 1, 2])
def test_what_can_be_proven_is_the_level_of_the_oracle(uncertainty, form):
    joint, weights = case(form, form=form, unseen=form == 2)
    epsilon, notion = level(weights, joint, uncertainty), RLDP(1.0, uncertainty)
    prove(weights, BITS, joint, notion, epsilon * (1 + 1e-11))
    with pytest.raises(ProofError, match="RLDP is not proven"):
        prove(weights, BITS, joint, notion, epsilon * (1 - 1e-11))
    assert epsilon <= level_upper_bound(weights, BITS, joint, notion) <= epsilon + 2e-9


@pytest.mark.parametrize("order", [0.3, 0.45])
def test_below_order_one_half_the_proof_goes_piece_by_piece(order):
    joint, weights = case(5, c=2, k=3)
    uncertainty = Renyi(order, 0.05)
    epsilon = level(weights, joint, uncertainty)
    prove(weights, BITS, joint, RLDP(1.0, uncertainty), epsilon * (1 + 1e-7))
    with pytest.raises(ProofError):
        prove(weights, BITS, joint, RLDP(1.0, uncertainty), epsilon * (1 - 1e-7))


def member_of_chi_square(joint, distribution, confidence):
    """The distribution as fractions, pulled towards P̂ until Σ P̂²/P ≤ 1 + q/n certainly holds."""
    estimate = reference.exact_cells(joint)
    cells = joint.counts.size
    radius = Fraction(float(ChiSquare(confidence).around(joint).radius)) * (1 - Fraction(1, 10**9))
    limit = reference.exp_enclosure(radius)[0]
    for pull in (Fraction(1, 10**12), Fraction(1, 10**9), Fraction(1, 10**7), Fraction(1, 10**5)):
        given = {place: Fraction(float(distribution[place[0], place[1][0]])) for place in estimate}
        total = sum(given.values())
        mixed = {place: (1 - pull) * given[place] / total + pull * p for place, p in estimate.items()}
        if sum(p**2 / mixed[place] for place, p in estimate.items() if p) <= limit:
            return mixed
    raise AssertionError(f"the witness is not in F, {cells} cells")


@pytest.mark.parametrize("seed", range(6))
def test_a_distribution_in_f_that_breaks_epsilon_in_fractions_is_never_overlooked(seed):
    """The witness of the oracle, checked in `Fraction` to lie in F, breaks every level below its own ratio."""
    joint, weights = case(seed)
    notion = RLDP(1.0, ChiSquare(0.9))
    witness = notion.level(Channel(weights / 2.0**BITS, joint.letters), joint).witness
    cells = member_of_chi_square(joint, witness.distribution, 0.9)
    worst = Fraction(0)
    for y in range(len(weights)):
        given = []
        for s in range(3):
            mass = sum(p for (t, _), p in cells.items() if t == s)
            given.append(
                sum(p * reference.entry(weights, BITS, joint, y, t, x) for (t, x), p in cells.items() if t == s) / mass
            )
        worst = max(worst, max(given) / min(given))
    planted = math.log(worst) - 1e-12
    assert reference.exp_enclosure(planted)[1] < worst
    with pytest.raises(ProofError):
        prove(weights, BITS, joint, notion, planted)
    assert planted > 0.999 * level(weights, joint, ChiSquare(0.9))


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_oracle_proves_nothing(seed, monkeypatch):
    """Multipliers and splits at random: the proof may fail, it cannot become false."""
    joint, weights = case(seed)
    uncertainty = SETS[seed]
    epsilon = level(weights, joint, uncertainty)
    rng = np.random.default_rng(seed)

    def anything(value, found, scale, least):
        guess = ball_proof.integers(scale * 10.0 ** rng.uniform(-3, 6, len(scale)), ball_proof.VALUE_BITS)
        return np.maximum(np.where(rng.random(len(scale)) < 0.3, -guess, guess), least)

    monkeypatch.setattr(ball_proof, "_proposed", anything)
    for share in (0.5, 0.9, 0.999, 1 - 1e-9):
        assert not check(weights, BITS, joint, RLDP(1.0, uncertainty), Fraction(epsilon * share)).proven


@pytest.mark.parametrize("claimed", [0.0, -1.0, math.nan])
def test_below_order_one_half_a_wrong_oracle_proves_nothing_either(claimed, monkeypatch):
    joint, weights = case(5, c=2, k=3)
    notion = RLDP(1.0, Renyi(0.3, 0.05))
    epsilon = level(weights, joint, notion.uncertainty)
    monkeypatch.setattr(
        ball_proof, "worst_excess", lambda pairs, price: WorstPairs(*(np.full(len(pairs), claimed) for _ in range(3)))
    )
    assert not check(weights, BITS, joint, notion, Fraction(epsilon * 0.99)).proven


def test_a_multiplier_below_the_largest_entry_would_be_a_false_proof():
    """The planted fault: without ν ≥ max v the bound falls below what F attains, which is why it is enforced."""
    joint, weights = case(1)
    ball = exact_ball(joint, ChiSquare(0.9))
    values = ball_proof.rows_of(weights, BITS, joint).exact[0, 0][None]
    spent = np.array([ball.budget], dtype=object)
    honest = values.max() + (values.max() - values.min())
    mean = int((ball.cells[0] * values[0]).sum()) // int(ball.masses[0])
    above = honest - terms(ball, np.array([0]), honest - values, spent, BITS + ball_proof.VALUE_BITS).low[0]
    assert above > mean
    below = values.min() - terms(ball, np.array([0]), np.maximum(values.min() - values, 0), spent, 96).low[0]
    assert below < mean


def test_the_common_splits_agree_with_the_search_for_every_pair(monkeypatch):
    joint, weights = case(3, c=6, k=3, outputs=12)
    uncertainty = ChiSquare(0.9)
    ball, exact = ball_around(uncertainty, joint), exact_ball(joint, uncertainty)
    epsilon = level(weights, joint, uncertainty)
    for share in (0.7, 0.95, 1 + 1e-11):
        price = exp_lower(Fraction(epsilon * share), 96)
        shared = ball_proof.excess(weights, BITS, joint, exact, ball, price)
        with monkeypatch.context() as patch:
            patch.setattr(ball_proof, "worthwhile", lambda *_: False)
            alone = ball_proof.excess(weights, BITS, joint, exact, ball, price)
        assert ((shared.upper <= 0) == (alone.upper <= 0)).all()
    assert ball_proof.worthwhile(*np.indices((12, 6, 6)).reshape(3, -1), 6)  # type: ignore[call-arg]


@pytest.mark.parametrize("uncertainty", [Renyi(2, 5000.0), Renyi(0.001, 900.0)])
def test_a_set_beyond_all_bounds_counts_as_everything(uncertainty):
    joint, weights = case(2)
    everything = level_upper_bound(weights, BITS, joint, RLDP(1.0, Everything()))
    prove(weights, BITS, joint, RLDP(1.0, uncertainty), everything)
    with pytest.raises(ProofError):
        prove(weights, BITS, joint, RLDP(1.0, uncertainty), everything * 0.99)


def test_an_unseen_secret_may_have_any_distribution():
    joint, weights = case(4, unseen=True)
    seen, _ = case(4)
    everything = level(weights, joint, Everything())
    assert level(weights, seen, ChiSquare(0.95)) < level(weights, joint, ChiSquare(0.95)) <= everything
