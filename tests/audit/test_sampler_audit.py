"""Empirical audits: never above the truth, close below it, and the known faults are caught.

The thousand runs at a million draws are `python benchmarks/certify.py empirical`.
"""

import math

import numpy as np
import pytest
from scipy.special import chdtrc
from scipy.stats import binom, binomtest, multinomial

from discreet.audit import audit, audit_sampler, fit, lower_bound
from discreet.audit.sampler_audit import _frequencies, _steps, clopper_pearson_high, clopper_pearson_low
from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint
from discreet.notions import LDP
from discreet.protocol import Protocol

DRAWS = 40_000


def grr(size, epsilon=1.0):
    matrix = np.ones((size, size)) + np.expm1(epsilon) * np.eye(size)
    return Channel(matrix / matrix.sum(axis=0))


def halves(rng, channel, draws):
    return [rng.multinomial(draws // 2, channel.matrix.T) for _ in range(2)]


def sampler_of(channel, seed=0):
    """An honest sampler for letters 0, 1, …"""
    rng = np.random.default_rng(seed)
    edges = np.cumsum(channel.matrix, axis=0)

    def sampler(records):
        u = rng.random(len(records))
        return (u > edges[:, np.asarray(records)]).sum(axis=0)

    return sampler


def test_clopper_pearson_agrees_with_scipy():
    for hits, draws in ((0, 10), (3, 10), (10, 10), (400, 1000)):
        interval = binomtest(hits, draws).proportion_ci(0.98, "exact")
        assert clopper_pearson_low(np.array(hits), np.array(draws), 0.01) == pytest.approx(interval.low)
        assert clopper_pearson_high(np.array(hits), np.array(draws), 0.01) == pytest.approx(interval.high)


@pytest.mark.parametrize("size", [2, 10, 100])
def test_the_bound_is_below_epsilon_and_close(size):
    rng = np.random.default_rng(size)
    for _ in range(20):
        bound = lower_bound(*halves(rng, grr(size), 1_000_000))
        assert 0.9 <= bound.epsilon <= 1.0
        assert bound.first == bound.outputs[0]


def test_noise_scaled_by_1175_is_caught():
    rng = np.random.default_rng(0)
    assert lower_bound(*halves(rng, grr(10, 1.175), 1_000_000)).epsilon > 1.0
    assert fit(sampler_of(grr(10, 1.175)), grr(10), draws=DRAWS).rejected


def test_outputs_too_rare_one_by_one_are_judged_together():
    """Each output is seen a handful of times; only a set chosen on one half shows the difference."""
    many = 20_000
    matrix = np.vstack([np.repeat([[2.0, 1.0], [1.0, 2.0]], many // 2, axis=0)]) / (1.5 * many)
    rng = np.random.default_rng(0)
    bound = lower_bound(*halves(rng, Channel(matrix), 200_000))
    assert len(bound.outputs) > 100
    assert 0.2 < bound.epsilon <= math.log(2)


def test_choosing_and_bounding_on_the_same_draws_would_be_wrong():
    """The planted fault: no difference at all, yet a set chosen on the draws it is judged by seems to show one."""
    rng = np.random.default_rng(0)
    flat = Channel(np.full((3000, 2), 1 / 3000))
    wrong = right = 0
    for _ in range(20):
        first, second = halves(rng, flat, 20_000)
        wrong += lower_bound(first, first).epsilon > 0
        right += lower_bound(first, second).epsilon > 0
    assert (wrong, right) == (20, 0)


def test_an_honest_sampler_passes():
    for size in (2, 7):
        for seed in range(10):
            found = fit(sampler_of(grr(size), seed), grr(size), draws=5000)
            assert not found.rejected
            assert found.p_value > 1e-4


def distances(counts, column):
    """χ² of one run, as it is usually tested: its p-value of two outputs."""
    wanted = column * counts.sum()
    return chdtrc(1, float(((counts - wanted) ** 2 / wanted).sum()))


@pytest.mark.parametrize(
    ("draws", "column"), [(20, [0.5, 0.5]), (30, [0.9, 0.1]), (13, [0.2, 0.3, 0.5]), (2, [0.5, 0.5]), (11, [1.0, 0.0])]
)
def test_frequencies_of_a_correct_sampler_are_off_as_rarely_as_said(draws, column):
    """Every result of two runs, with its probability. Small tables were once "too regular" once in thirty times."""
    column = np.array(column)
    results = [k for k in np.ndindex(*[draws + 1] * len(column)) if sum(k) == draws]
    chances = multinomial.pmf(results, draws, column)
    seen = [(p, _steps(np.array(k), column)) for p, k in zip(chances, results, strict=True) if p > 0]
    found = [(p * q, min(1.0, 3 * min(_frequencies([one, two])))) for p, one in seen for q, two in seen]
    assert sum(p for p, _ in found) == pytest.approx(1)
    for limit in (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3):
        assert sum(p for p, value in found if value <= limit) <= limit * (1 + 1e-9)


@pytest.mark.parametrize("expected", [5.01, 6.0, 9.5, 40.0, 1.0])
def test_a_rare_output_is_not_off_more_often_than_said(expected):
    """χ² is: what it says happens once in a hundred million times happens ten times as often."""
    draws = 100_000
    column = np.array([1 - expected / draws, expected / draws])
    usual = exact = 0.0
    for n in range(400):
        counts, chance = np.array([draws - n, n]), binom.pmf(n, draws, column[1])
        usual += chance * (distances(counts, column) < 1e-8)
        exact += chance * (3 * min(_frequencies([_steps(counts, column)])) < 1e-8)
    assert exact <= 1e-8
    assert usual > 1e-7


def test_reused_randomness_is_caught():
    channel = grr(4)
    edges = np.cumsum(channel.matrix, axis=0)

    def seeded(records):
        u = np.random.default_rng(7).random(len(records))
        return (u > edges[:, np.asarray(records)]).sum(axis=0)

    def twice(records, rng=np.random.default_rng(7)):  # noqa: B008
        u = np.repeat(rng.random(len(records) // 2 + 1), 2)[: len(records)]
        return (u > edges[:, np.asarray(records)]).sum(axis=0)

    def cycled(records, pool=np.random.default_rng(7).random(256)):  # noqa: B008
        return (np.resize(pool, len(records)) > edges[:, np.asarray(records)]).sum(axis=0)

    assert fit(seeded, channel, draws=DRAWS).tests["repeats"] == 0.0
    assert fit(twice, channel, draws=DRAWS).tests["neighbours"] < 1e-9
    assert all(fit(sampler, channel, draws=DRAWS).rejected for sampler in (seeded, twice, cycled))


def test_an_alphabet_that_is_off_by_one_is_caught():
    honest = sampler_of(grr(5))
    shifted = fit(lambda records: honest([(z + 1) % 5 for z in records]), grr(5), draws=DRAWS)
    assert shifted.rejected
    outside = fit(lambda records: honest(records) + 1, grr(5), draws=DRAWS)
    assert outside.tests["frequencies"] == 0.0


def test_a_sampler_that_is_too_regular_is_caught():
    matrix = Channel(np.full((4, 3), 0.25))
    assert fit(lambda records: np.arange(len(records)) % 4, matrix, draws=DRAWS).rejected


def test_a_sampler_is_audited_with_respect_to_the_secret():
    joint = Joint.from_counts([[40, 5], [5, 40]], secrets=["yes", "no"])
    channel = grr(2, 1.5)
    protocol = Protocol.make(Channel(channel.matrix, joint.letters), joint, LDP(1.5))
    found = audit_sampler(sampler_of(protocol.channel), joint, draws=200_000, seed=1, channel=protocol.channel)
    assert 0.9 * protocol.epsilon < found.epsilon <= protocol.epsilon
    assert found.epsilon < audit_sampler(sampler_of(channel), joint.letters, draws=200_000).epsilon <= 1.5
    assert "as likely after" in found.words
    assert found.fit is not None
    assert not found.fit.rejected


def test_a_callable_can_be_audited():
    joint = Joint.from_counts([[40, 5], [5, 40]])
    found = audit(sampler_of(grr(2)), joint)
    assert 0.5 < found.epsilon < 1.0
    assert audit(lambda records: ["same"] * len(records), joint).epsilon == 0.0


def test_misuse_is_refused():
    counts = np.array([[5, 5], [5, 5]])
    with pytest.raises(ParameterError, match="confidence"):
        lower_bound(counts, counts, 1.0)
    with pytest.raises(ParameterError, match="without draws"):
        lower_bound(counts, np.array([[0, 0], [5, 5]]))
    with pytest.raises(ParameterError, match="two inputs"):
        lower_bound(counts[:1], counts[:1])
    with pytest.raises(ChannelError, match="100 records in, 99 out"):
        fit(lambda records: records[1:], grr(2), draws=100)
    with pytest.raises(ParameterError, match="draws"):
        audit_sampler(lambda records: records, [0, 1], draws=1)
