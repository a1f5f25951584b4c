"""The robust optimum: certified where it is small, never below anything simpler, and ordered as the theory says."""

import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest
from catalogue import solved

import discreet as dc
from discreet.solvers.methods import METHODS
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.robust.optimum import coarse_cone, search_optimum
from discreet.solvers.robust.rescaling import robust_bound

EXAMPLE_3 = dc.Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
SIMPLER = ("grr", "srr", "ir", "robust-cr", "polyopt", "coupling")
GAP = 1e-3


def drawn(c, k, seed=0, n=32_561):
    rng = np.random.default_rng(seed)
    return dc.Joint.from_counts(
        rng.multinomial(n, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k), include_secret=True
    )


def certified(joint, notion):
    bound = robust_bound(joint, notion, Effort())
    return solved(search_optimum, Problem.of(joint, notion), time_limit=60.0, gap=GAP, known_bound=bound)


def test_example_3_is_certified():
    notion = dc.RLDP(math.log(2), dc.ChiSquare(0.95))
    found = solved(
        search_optimum,
        Problem.of(EXAMPLE_3, notion),
        time_limit=60.0,
        gap=GAP,
        known_bound=robust_bound(EXAMPLE_3, notion, Effort()),
    )
    assert found.status == "optimal"
    assert found.value == pytest.approx(0.5936, abs=0.0005)
    assert found.gap <= GAP
    assert dc.Protocol.make(found.channel, EXAMPLE_3, notion).epsilon <= notion.epsilon


@pytest.mark.parametrize(
    ("c", "k", "epsilon", "known"), [(2, 5, 0.5, 0.6942), (2, 5, 1.5, 0.7743), (5, 2, 0.5, 0.2521)]
)
def test_draws_of_the_papers_sizes(c, k, epsilon, known):
    joint, notion = drawn(c, k), dc.RLDP(epsilon, dc.ChiSquare(0.9))
    found = solved(
        search_optimum,
        Problem.of(joint, notion),
        time_limit=60.0,
        gap=GAP,
        known_bound=robust_bound(joint, notion, Effort()),
    )
    assert found.value / joint.entropy >= known
    assert found.gap <= 0.01 * found.value
    assert notion.level(found.channel, joint).epsilon <= epsilon


@pytest.mark.parametrize("seed", range(4))
def test_auto_is_never_less_than_anything_simpler(seed):
    rng = np.random.default_rng(seed)
    c, k = [(2, 2), (2, 3), (3, 2), (3, 3)][seed]
    joint = drawn(c, k, seed, n=int(10 ** rng.uniform(2, 4.5)))
    for epsilon in (0.1, 1.0, 8.0):
        notion = dc.RLDP(epsilon, dc.ChiSquare(0.9))
        best = dc.design(joint, notion, time_limit=6.0)
        for name in SIMPLER:  # each with less time than its share within all of them
            other = METHODS[name].solve(Problem.of(joint, notion), Effort.within(0.5, GAP)).channel
            assert best.utility >= dc.MutualInformation.of(joint, other) - 1e-9, (name, epsilon)


def test_the_mixture_is_at_least_as_good_as_what_it_began_with():
    """Without any time to search: the rows of two mechanisms are mixed, and the better of the two is a mixture."""
    joint, notion = drawn(2, 3), dc.RLDP(1.0, dc.ChiSquare(0.9))
    channels = [METHODS[name].solve(Problem.of(joint, notion), Effort()).channel for name in ("grr", "robust-cr")]
    found = solved(search_optimum, Problem.of(joint, notion), gap=GAP, time_limit=1e-3, begin_with=channels)
    assert found.value >= max(dc.MutualInformation.of(joint, channel) for channel in channels) * (1 - 1e-8)
    assert found.status == "time limit"


def test_time_that_runs_out_anywhere_still_gives_what_it_began_with():
    """Letters never seen are bounded by cuts only: a cone that is no longer cut looks unbounded."""
    joint = dc.Joint.from_counts([[0, 0, 7], [2, 2, 7], [8, 3, 1]], include_secret=True)
    notion = dc.RLDP(1.0, dc.ChiSquare(0.9))
    channel = METHODS["grr"].solve(Problem.of(joint, notion), Effort()).channel
    for seconds in (1e-9, 0.003, 0.01, 0.02, 0.04, 0.08):
        found = solved(search_optimum, Problem.of(joint, notion), gap=GAP, time_limit=seconds, begin_with=[channel])
        assert found.value >= dc.MutualInformation.of(joint, channel) * (1 - 1e-8)
        assert notion.level(found.channel, joint).epsilon <= 1.0


def test_letters_never_seen_are_not_forgotten_where_a_cone_has_lost_its_time(monkeypatch):
    """A cone that is no longer cut mentions no letter; the rows to climb from are those of all letters that matter."""
    joint = dc.Joint.from_counts([[0, 0, 0], [40, 30, 9], [9, 8, 70]], include_secret=True)
    notion = dc.RLDP(1.0)
    channel = METHODS["grr"].solve(Problem.of(joint, notion), Effort()).channel

    monkeypatch.setattr(Effort, "share", lambda effort, _: replace(effort, deadline=time.monotonic()))
    found = solved(search_optimum, Problem.of(joint, notion), gap=GAP, time_limit=5.0, begin_with=[channel])
    assert found.value >= dc.MutualInformation.of(joint, channel) * (1 - 1e-8)
    assert notion.level(found.channel, joint).epsilon <= 1.0


def value(joint, notion):
    """What is kept, and what nobody can exceed: monotonicity is certain up to the gap."""
    found = solved(
        search_optimum,
        Problem.of(joint, notion),
        time_limit=60.0,
        gap=GAP,
        known_bound=robust_bound(joint, notion, Effort()),
    )
    assert found.status == "optimal"
    return found.value, found.upper_bound


@pytest.mark.parametrize(
    "notions",
    [
        [dc.RLDP(epsilon, dc.ChiSquare(0.95)) for epsilon in (0.3, 0.7, 1.5, 3.0)],
        [dc.RLDP(0.7, dc.ChiSquare(confidence)) for confidence in (0.999, 0.95, 0.6, 0.1)],
        [dc.RLDP(0.7, dc.Renyi(order, radius)) for order, radius in ((2, 0.1), (2, 0.01), (2, 1e-4))],
        [dc.RLDP(0.7, dc.Renyi(order, 0.02)) for order in (0.6, 1.0, 5.0)],
    ],
    ids=["epsilon", "confidence", "radius", "order"],
)
def test_value_grows_with_epsilon_and_as_the_set_shrinks(notions):
    """Rényi divergence grows with its order, so a set of one radius shrinks with it."""
    found = [value(EXAMPLE_3, notion) for notion in notions]
    assert all(low[0] <= high[1] for low, high in itertools.pairwise(found))
    assert all(high[0] >= low[0] + 5 * GAP for low, high in itertools.pairwise(found))


def test_value_grows_with_the_number_of_records():
    found = [
        value(
            dc.Joint.from_counts(np.array([[7, 10], [26, 57]]) * times, include_secret=True),
            dc.RLDP(math.log(2), dc.ChiSquare()),
        )
        for times in (1, 4, 30)
    ]
    assert all(high[0] >= low[0] + 5 * GAP for low, high in itertools.pairwise(found))


def test_a_single_point_is_the_known_distribution_and_everything_is_at_least_srr():
    joint = drawn(2, 3)
    known = dc.design(joint, dc.LDP(0.8)).utility
    assert dc.design(joint, dc.RLDP(0.8, dc.Exactly())).utility == pytest.approx(known, abs=1e-9)
    assert value(joint, dc.RLDP(0.8, dc.Renyi(2, 1e-12)))[0] == pytest.approx(known, abs=2 * GAP)
    everything = dc.RLDP(0.8, dc.Everything())
    assert dc.design(joint, everything).utility >= dc.design(joint, everything, method="srr").utility - 1e-9


@pytest.mark.parametrize("order", [0.3, 0.6, 1.0, 2.0, 5.0])
def test_cuts_agree_with_the_oracle_of_the_notion(order):
    """At every row the compiled cuts refuse what the notion refuses, by rows that are as violated."""
    joint = dc.Joint.from_counts([[40, 0, 3], [7, 20, 9], [0, 0, 0]], include_secret=True)
    notion = dc.RLDP(0.5, dc.Renyi(order, 0.02))
    reference, fast = notion.cone(joint), coarse_cone(joint, notion, 1e-9)
    for row in np.random.default_rng(0).exponential(size=(60, 9)) ** 2:
        theirs, ours = reference.separate(row), fast.separate(row)
        assert len(theirs) == len(ours)
        np.testing.assert_allclose(np.sort(theirs @ row), np.sort(ours @ row), rtol=1e-6)


def test_a_coarse_cone_accepts_what_is_missed_by_little_only():
    joint, notion = drawn(2, 3), dc.RLDP(0.5, dc.ChiSquare(0.9))
    coarse = coarse_cone(joint, notion, 0.05)
    rows = np.random.default_rng(1).uniform(0.5, 2.0, size=(200, 6))
    refused = [(row, notion.cone(joint).separate(row)) for row in rows]
    shares = np.array([max([0.0, *(cuts @ row / (np.abs(cuts) @ row))]) for row, cuts in refused])
    assert 0 < (shares > 0.05).sum() < (shares > 0).sum()
    assert [len(coarse.separate(row)) > 0 for row in rows] == list(shares > 0.05)
