"""RLDP and RLIP over intervals in integers: against linear programs, with planted faults."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

import discreet as dc
from discreet.certify import level_upper_bound, proof, prove
from discreet.certify.interval_proof import extremes, same_limits, worst_informed, worst_pairs
from discreet.exceptions import ChannelError, ProofError
from discreet.uncertainty.confidence import Confidence
from discreet.uncertainty.intervals import Intervals

COUNTS = np.array([[60, 0, 25, 7], [13, 9, 2, 30], [200, 80, 41, 3]])
BITS = 30
SET = dc.Confidence(0.9)


def joint_for(weights: np.ndarray) -> dc.Joint:
    return dc.Joint.from_counts(COUNTS, include_secret=weights.shape[1] == COUNTS.size)


def level(weights: np.ndarray, kind: type, stated: dc.Confidence = SET) -> float:
    return level_upper_bound(weights, BITS, joint_for(weights), kind(1.0, stated))


def some_weights(seed: int, outputs: int, letters: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(outputs, 4.0), letters).T
    cuts = np.rint(np.cumsum(shares, axis=0) * 2**BITS).astype(np.int64)
    cuts[-1] = 2**BITS
    return np.diff(np.vstack([np.zeros((1, letters), np.int64), cuts]), axis=0)


def extreme_by_program(v: np.ndarray, low: np.ndarray, high: np.ndarray, sign: int) -> float:
    bounds = list(zip(low, high, strict=True))
    return sign * linprog(sign * v, A_eq=np.ones((1, len(v))), b_eq=[1], bounds=bounds).fun


@pytest.mark.parametrize("reads_secret", [True, False])
def test_ratios_are_those_of_linear_programs(reads_secret):
    intervals = Confidence(0.9).intervals(COUNTS, masses=True)
    weights = some_weights(3, 5, 12 if reads_secret else 4)
    v = weights.reshape(5, -1, 4) / 2**BITS
    v = np.broadcast_to(v, (5, 3, 4))
    most = np.array(
        [[extreme_by_program(v[y, s], intervals.low[s], intervals.high[s], -1) for s in range(3)] for y in range(5)]
    )
    least = np.array(
        [[extreme_by_program(v[y, s], intervals.low[s], intervals.high[s], 1) for s in range(3)] for y in range(5)]
    )
    plain = SET.intervals(COUNTS)
    narrower = [
        extreme_by_program(v[y, s], plain.low[s], plain.high[s], -1)
        / min(extreme_by_program(v[y, t], plain.low[t], plain.high[t], 1) for t in range(3) if t != s)
        for y in range(5)
        for s in range(3)
    ]
    exact_most, exact_least = extremes(weights, intervals)
    assert (exact_most / 2 ** (BITS + 40)).astype(float) == pytest.approx(most, abs=1e-12)
    assert (exact_least / 2 ** (BITS + 40)).astype(float) == pytest.approx(least, abs=1e-12)
    assert level(weights, dc.RLDP) == pytest.approx(np.log(max(narrower)), abs=2e-9)
    low, high = intervals.masses
    informed = []
    for y in range(5):
        for s in range(3):
            mine = np.arange(3) == s
            informed.append(most[y, s] / extreme_by_program(np.where(mine, most[y], least[y]), low, high, 1))
            informed.append(extreme_by_program(np.where(mine, least[y], most[y]), low, high, -1) / least[y, s])
    assert level(weights, dc.RLIP) == pytest.approx(np.log(np.max(informed)), abs=2e-9)


def test_no_distribution_of_the_set_does_worse():
    rng = np.random.default_rng(0)
    intervals, plain = SET.intervals(COUNTS, masses=True), SET.intervals(COUNTS)
    weights = some_weights(8, 4, 12)
    matrix = weights.reshape(4, 3, 4) / 2**BITS
    rldp, rlip = level(weights, dc.RLDP), level(weights, dc.RLIP)
    reached = 0.0
    for _ in range(3000):
        costs = rng.normal(size=(3, 4)).round(1)
        conditional = np.array(
            [_corner(c, lo, hi) for c, lo, hi in zip(costs, intervals.low, intervals.high, strict=True)]
        )
        masses = _corner(rng.normal(size=3), *intervals.masses)
        given = np.einsum("ysu,su->ys", matrix, conditional)
        least_known = np.array([_corner(c, lo, hi) for c, lo, hi in zip(costs, plain.low, plain.high, strict=True)])
        compared = np.einsum("ysu,su->ys", matrix, least_known)
        ratio = np.log(compared.max(axis=1) / compared.min(axis=1)).max()
        reached = max(reached, ratio)
        assert ratio <= rldp + 1e-12
        assert np.abs(np.log(given / (given @ masses)[:, None])).max() <= rlip + 1e-12
    assert reached > 0.9 * rldp


def _corner(costs: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    filled, left = low.copy(), 1 - low.sum()
    for place in np.argsort(-costs):
        extra = min(left, high[place] - low[place])
        filled[place], left = filled[place] + extra, left - extra
    return filled


@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
def test_a_level_is_proven_where_it_holds_and_not_below(kind):
    weights = some_weights(5, 6, 12)
    notion, found = kind(1.0, SET), level(weights, kind)
    prove(weights, BITS, joint_for(weights), notion, found)
    with pytest.raises(ProofError, match="not proven"):
        prove(weights, BITS, joint_for(weights), notion, found - 2e-9)


@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
def test_what_misses_the_level_by_rounding_is_mended(kind):
    """A violation is told in probabilities: told in other units, mending takes 1e-12 for a broken promise."""
    weights = some_weights(5, 6, 12)
    joint, found = joint_for(weights), level(weights, kind)
    channel = dc.Channel(weights / 2**BITS, joint.letters)
    protocol = dc.Protocol.make(channel, joint, kind(found - 1e-9, SET))
    assert np.abs(protocol.matrix - channel.matrix).max() < 1e-6
    with pytest.raises(ProofError, match="not by rounding alone"):
        dc.Protocol.make(channel, joint, kind(found - 0.1, SET))


def test_a_changed_weight_breaks_the_proof():
    """A few units moved between outputs, at the pair that is worst, with the columns' sums kept."""
    weights = some_weights(5, 6, 12)
    ratios = worst_pairs(weights, SET.intervals(COUNTS))
    y = max(range(6), key=lambda y: ratios[y].numerator / ratios[y].denominator)
    s, found = ratios[y].secret, level(weights, dc.RLDP)
    moved = weights.copy()
    largest = s * 4 + int(weights[y, s * 4 : s * 4 + 4].argmax())
    moved[y, largest] += 50
    moved[(y + 1) % 6, largest] -= 50
    prove(weights, BITS, joint_for(weights), dc.RLDP(1.0, SET), found)
    with pytest.raises(ProofError):
        prove(moved, BITS, joint_for(weights), dc.RLDP(1.0, SET), found)
    broken = weights.copy()
    broken[0, 0] += 1
    with pytest.raises(ChannelError, match="add up"):
        prove(broken, BITS, joint_for(weights), dc.RLDP(1.0, SET), found)


@pytest.mark.parametrize("name", ["lower", "upper", "mass_lower", "mass_upper"])
def test_a_limit_moved_by_one_unit_is_another_set(name):
    counted = Confidence(0.9).intervals(COUNTS, masses=True)
    again = Confidence(0.9).intervals(COUNTS, masses=True)
    assert same_limits(counted, again)
    parts = {part: getattr(counted, part).copy() for part in ("lower", "upper", "mass_lower", "mass_upper")}
    place = (0,) * parts[name].ndim
    parts[name][place] += -1 if name.endswith("lower") else 1
    assert not same_limits(Intervals(counts=COUNTS, **parts), again)


def test_wider_limits_have_no_smaller_level():
    weights = some_weights(11, 6, 4)
    levels = [level(weights, dc.RLDP, dc.Confidence(confidence)) for confidence in (0.5, 0.9, 0.99)]
    assert all(first < second for first, second in pairwise(levels))


def test_what_is_not_a_mechanism_is_refused():
    intervals = SET.intervals(COUNTS)
    with pytest.raises(ChannelError, match="alphabet"):
        worst_pairs(np.ones((2, 5), np.int64), intervals)
    with pytest.raises(ChannelError, match="alphabet"):
        worst_pairs(np.full((2, 12), 0.5), intervals)
    with pytest.raises(ChannelError, match="below zero"):
        worst_pairs(np.array([[2, 2, 2, 2], [-1, -1, -1, -1]]), intervals)
    with pytest.raises(ProofError, match="masses"):
        worst_informed(np.ones((1, 4), np.int64), intervals)
    revealing = np.zeros((2, 12), np.int64)
    revealing[0, :4] = revealing[1, 4:] = 2**BITS
    assert level(revealing, dc.RLDP) == level(revealing, dc.RLIP) == np.inf


@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
@pytest.mark.parametrize("letters", [4, 12])
def test_sparse_weights_a_few_outputs_at_a_time_have_the_same_level(monkeypatch, kind, letters):
    weights = some_weights(7, 9, letters)
    expected = level(weights, kind)
    monkeypatch.setattr(proof, "BLOCK_CELLS", 2 * letters)
    assert level(weights, kind) == expected
    assert level(sparse.csc_array(weights), kind) == expected


def test_an_output_for_every_cell_of_ten_secrets_and_forty_letters_is_proven():
    """Nearly every weight is zero, and what a search for a curator finds has as many outputs as cells."""
    counts = np.random.default_rng(0).integers(50, 500, (10, 40))
    joint = dc.Joint.from_counts(counts, include_secret=True)
    cells = np.arange(400)
    places = np.concatenate([(cells // 40 + s) % 10 * 40 + cells % 40 for s in range(10)]), np.tile(cells, 10)
    weights = sparse.csc_array((np.full(4000, 2**52 // 10), places), shape=(400, 400))
    weights.data[weights.indptr[:-1]] += 2**52 - 10 * (2**52 // 10)
    assert 8 * weights.nnz < weights.shape[0] * weights.shape[1] > 1 << 16
    found = level_upper_bound(weights, 52, joint, dc.RLDP(9.0, SET))
    assert found == level_upper_bound(weights.toarray(), 52, joint, dc.RLDP(9.0, SET))
    prove(weights, 52, joint, dc.RLDP(9.0, SET), found)


def test_outputs_times_letters_that_would_fill_the_memory_are_refused():
    joint = dc.Joint.from_counts(np.ones((2, 5_000), dtype=int))
    weights = sparse.csc_array((np.full(5_000, 2**52), (np.arange(5_000), np.arange(5_000))), shape=(5_000, 5_000))
    with pytest.raises(ProofError, match="5,000 outputs of 5,000 letters"):
        level_upper_bound(weights, 52, joint, dc.RLDP(1.0, SET))
