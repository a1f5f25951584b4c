"""Mechanisms over intervals: rows against linear programs, lists against climbing, bounds above, levels proven."""

import time

import numpy as np
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet.solvers.known_joint.refinement import best_report
from discreet.solvers.problem import Effort
from discreet.solvers.robust.intervals.bounding import upper_bound
from discreet.solvers.robust.intervals.cones import interval_cone
from discreet.solvers.robust.intervals.linear import best_row
from discreet.solvers.robust.intervals.lists import Secret, climb_rows
from discreet.solvers.robust.intervals.search import secrets_of
from discreet.solvers.robust.rescaling import largest_miss
from discreet.uncertainty.filling import largest_fill, smallest_fill

COUNTS = np.array([[160, 0, 75, 27, 11], [113, 90, 20, 130, 4], [20, 8, 41, 3, 60]])
JOINT = dc.Joint.from_counts(COUNTS, include_secret=True)
KNOWN = dc.Confidence(0.95).around(JOINT)
INTERVALS = KNOWN.limits
PRIOR = COUNTS / COUNTS.sum()


def best_by_program(c, low, high, top, bottom):
    """The compact linear program: A = min_θ θ(1 − Σl) + l·v + Σ(u−l)(v−θ)⁺, B the other way round."""
    k, left, room = len(c), 1 - low.sum(), high - low
    none, eye, one = np.zeros((k, k)), np.eye(k), np.ones((k, 1))
    conditions = np.vstack(
        [
            np.concatenate([low, [left], room, [0], np.zeros(k)]),
            np.concatenate([-low, [0], np.zeros(k), [-left], room]),
            np.hstack([eye, -one, -eye, 0 * one, none]),
            np.hstack([-eye, 0 * one, none, one, -eye]),
        ]
    )
    limits = np.concatenate([[top, -bottom], np.zeros(2 * k)])
    bounds = [(0, None)] * k + [(None, None)] + [(0, None)] * k + [(None, None)] + [(0, None)] * k
    return -linprog(-np.concatenate([c, np.zeros(2 * k + 2)]), A_ub=conditions, b_ub=limits, bounds=bounds).fun


def test_the_best_row_is_that_of_the_linear_program():
    rng = np.random.default_rng(0)
    row = np.empty(5)
    for _ in range(200):
        s, top = int(rng.integers(3)), float(rng.uniform(1.05, 6))
        bottom = float(rng.uniform(1, 1 + 0.9 * (top - 1)))
        c = (rng.normal(size=5) + rng.choice([-1, 0, 1])) * PRIOR.max()
        low, high = INTERVALS.low[s], INTERVALS.high[s]
        value = best_row(c, low, high, top, bottom, row)
        assert value == pytest.approx(best_by_program(c, low, high, top, bottom), abs=1e-9 * np.abs(c).sum() * top)
        assert value == pytest.approx(c @ row, abs=1e-12)
        assert largest_fill(row, low, high).value <= top * (1 + 1e-9)
        assert smallest_fill(row, low, high).value >= bottom * (1 - 1e-9)


def test_no_climb_finds_more_than_the_list():
    rng = np.random.default_rng(1)
    secrets = secrets_of(KNOWN)
    attained = 0
    for _ in range(60):
        secret: Secret = secrets[int(rng.integers(3))]
        top, bottom, damping = float(rng.uniform(1.3, 5)), 1.0, float(rng.choice([0.0, 0.5, 1.0]))
        alpha = secret.mass * secret.estimate * rng.normal(0.5, 1, 5) + 1e-5 * rng.normal(size=5)
        gain, row = secret.largest_gain(alpha, top, bottom, damping)
        assert row is not None
        assert float(secret.worth(row[None], damping)[0] - row @ alpha) == pytest.approx(gain, abs=1e-10)
        assert largest_fill(row, secret.lower, secret.upper).value <= top * (1 + 1e-9)
        assert smallest_fill(row, secret.lower, secret.upper).value >= bottom * (1 - 1e-9)
        starts = np.exp(rng.normal(0, 3, (200, 5)))
        climbed = climb_rows(
            secret.mass, secret.estimate, secret.lower, secret.upper, alpha, top, bottom, damping, starts
        )
        reached = float((secret.worth(climbed, damping) - climbed @ alpha).max())
        assert reached <= gain + 1e-9
        attained += reached >= gain - 1e-9
    assert attained > 40


def solved(joint, notion, seconds, **known):
    return dc.design(joint, notion, time_limit=seconds, **known)


@pytest.mark.parametrize("epsilon", [0.5, 1.5])
def test_a_small_table_is_solved_with_its_bound_and_its_level(epsilon):
    joint = dc.Joint.from_counts(COUNTS[:2, [0, 2, 3, 4]], include_secret=True)
    found = solved(joint, dc.RLDP(epsilon), 10)
    assert found.method == "intervals"
    assert found.utility <= found.upper_bound <= found.utility * 1.001
    assert 0.999 * epsilon <= found.protocol.epsilon <= epsilon


def test_the_bound_of_the_plan_is_above_what_whole_rows_reach():
    """Two ways to the same optimum: the bound by kinds and lists does not rest on the search by whole rows."""
    about_secret = best_report(JOINT, dc.LDP(0.7), Effort()).upper_bound
    bound = upper_bound(secrets_of(KNOWN), float(np.exp(0.7)), about_secret, Effort.within(4))
    whole = solved(JOINT, dc.RLDP(0.7), 8, method="columns")
    assert whole.utility <= bound <= 1.1 * whole.utility


def test_a_bound_obeys_its_time():
    joint = dc.Joint.from_counts(np.random.default_rng(0).integers(0, 900, (12, 16)), include_secret=True)
    secrets = secrets_of(dc.Confidence().around(joint))
    started = time.process_time()
    bound = upper_bound(secrets, float(np.exp(1.0)), 1.0, Effort.within(1.0))
    assert time.process_time() - started < 5
    assert bound < np.inf


@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
def test_mechanisms_that_read_letters_only(kind):
    found = solved(dc.Joint.from_counts(COUNTS), kind(0.5), 8)
    assert 0.49 < found.protocol.epsilon <= 0.5
    assert found.gap <= 2e-3


def test_robust_lip_keeps_at_least_what_robust_ldp_keeps():
    letters, curator = dc.Joint.from_counts(COUNTS), dc.Joint.from_counts(COUNTS).curator()
    strict, informed, reads_both = (
        solved(joint, notion, 6)
        for joint, notion in ((letters, dc.RLDP(0.5)), (letters, dc.RLIP(0.5)), (curator, dc.RLDP(0.5)))
    )
    assert informed.utility >= strict.utility - 1e-3
    assert strict.utility - 1e-3 <= reads_both.utility <= reads_both.upper_bound


@pytest.mark.parametrize("kind", [dc.RLDP, dc.RLIP])
@pytest.mark.parametrize("reads_secret", [True, False])
def test_a_cone_knows_what_lies_outside(kind, reads_secret):
    rng, joint = np.random.default_rng(4), dc.Joint.from_counts(COUNTS, include_secret=reads_secret)
    notion, found = kind(0.3), 0
    lazy = interval_cone(joint, notion, 0.0)
    for strength in (0.02, 0.1, 0.5, 2.0):
        v = np.exp(strength * rng.normal(size=len(joint.letters)))
        excess, cuts = largest_miss(joint, notion, v[None], float(np.exp(0.3))), lazy.separate(v)
        assert (excess > 0) == (len(cuts) > 0)
        exact = notion.cone(joint).separate(v)
        assert len(exact) == len(cuts)
        if len(cuts):
            found += 1
            assert float((cuts @ v).max()) == pytest.approx(excess, abs=1e-12)
            assert float((exact @ v).max()) == pytest.approx(excess, abs=1e-12)
    assert 0 < found < 4


def test_a_secret_that_nobody_has_is_protected_all_the_same():
    """Its limits are 0 and 1: no output may depend on the letter of a record that has it, and its level is proven."""
    counts = np.vstack([COUNTS, np.zeros((1, 5), int)])
    joint = dc.Joint.from_counts(counts, include_secret=True)
    found = solved(joint, dc.RLDP(1.0), 5)
    shown = found.protocol.matrix.reshape(-1, 4, 5)
    largest, smallest = shown[:, 3].max(axis=1), shown[:, :3].mean(axis=2).min(axis=1)
    assert (largest <= np.exp(1.0) * smallest + 1e-9).all() or found.protocol.epsilon <= 1.0
    assert found.utility > 0
    dropped = solved(dc.Joint.from_counts(COUNTS, include_secret=True), dc.RLDP(1.0), 5)
    assert found.utility <= dropped.upper_bound


def test_ctrl_c_keeps_the_best():
    joint = dc.Joint.from_counts(np.random.default_rng(1).integers(5, 900, (6, 9)), include_secret=True)

    def interrupt(value, bound, seconds):
        raise KeyboardInterrupt

    found = dc.design(joint, dc.RLDP(1.0), time_limit=20, progress=interrupt)
    assert found.status == "interrupted"
    assert found.protocol.epsilon <= 1.0
    assert found.utility > 0
