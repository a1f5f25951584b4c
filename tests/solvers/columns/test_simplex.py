"""The compiled dual simplex method against SciPy, and the proofs that do not trust it."""

from __future__ import annotations

import time
from threading import Event

import numpy as np
import pytest
from catalogue import random_joint
from scipy.optimize import linprog

from discreet.exceptions import InfeasibleError
from discreet.notions.lip import LIP
from discreet.notions.notion import Cone
from discreet.notions.srlip import SRLIP
from discreet.solvers.columns import polytope
from discreet.solvers.columns.implications import implications, shrink
from discreet.solvers.columns.polytope import RowPolytope, not_implied
from discreet.solvers.columns.simplex import INFEASIBLE, LOW, NOWHERE, OPTIMAL, THREADS, Dictionaries
from discreet.solvers.problem import Problem


@pytest.mark.parametrize("seed", range(6))
def test_programs_agree_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n, batch = 7, 12, 40
    rows = np.vstack([np.ones(n), rng.normal(size=(m - 1, n))])
    costs, upper = rng.normal(size=(batch, n)), rng.random((batch, n)) * 0.5 + 0.05
    lower = upper * rng.choice([0.0, 0.0, 0.3], size=(batch, n))
    low = np.tile(np.r_[1.0, np.full(m - 1, -0.2)], (batch, 1))
    high = np.tile(np.r_[1.0, np.full(m - 1, 0.1)], (batch, 1))
    everything = np.full(batch, -np.inf)
    points, prices, statuses, _ = Dictionaries(rows).maximise(costs, lower, upper, low, high, everything)
    assert {OPTIMAL, INFEASIBLE} >= set(statuses.tolist())
    for i in range(batch):
        limits = np.r_[high[i], -low[i]]
        peer = linprog(-costs[i], A_ub=np.vstack([rows, -rows]), b_ub=limits, bounds=np.c_[lower[i], upper[i]])
        rest = costs[i] - prices[i] @ rows
        bound = np.maximum(rest * lower[i], rest * upper[i]).sum()
        bound += np.maximum(prices[i] * low[i], prices[i] * high[i]).sum()
        if peer.status == 2:
            assert statuses[i] == INFEASIBLE
            assert bound < -100
        else:
            assert costs[i] @ points[i] == pytest.approx(-peer.fun, abs=1e-8)
            assert bound == pytest.approx(-peer.fun, abs=1e-8)


def test_a_bound_is_valid_for_any_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong multipliers make bounds loose, never wrong."""
    problem = Problem.of(random_joint(1, 3, 6), LIP(0.5))
    polytope = RowPolytope(problem)
    rng = np.random.default_rng(0)
    costs = rng.normal(size=(50, 6)) * problem.prior
    polytope.tighten()
    box = np.zeros((50, 6)), np.tile(polytope.target_top, (50, 1))
    true = polytope.maximise(costs, *box)
    attained = (costs * true.rows).sum(axis=1)
    assert np.allclose(true.bounds, attained, atol=1e-9)
    solve = Dictionaries.maximise

    def disturbed(self: Dictionaries, *given: np.ndarray) -> tuple[np.ndarray, ...]:
        points, prices, *others = solve(self, *given)
        return points, prices + rng.normal(size=prices.shape), *others

    monkeypatch.setattr(Dictionaries, "maximise", disturbed)
    assert (polytope.maximise(costs, *box).bounds >= attained - 1e-12).all()


def test_shrinking_keeps_every_row_of_the_box() -> None:
    rng = np.random.default_rng(2)
    problem = Problem.of(random_joint(1, 3, 6), LIP(0.5))
    polytope = RowPolytope(problem)
    rows = polytope.best_rows(rng.normal(size=(200, 6)) * problem.prior)
    inside = rng.dirichlet(np.ones(200), size=100) @ rows * problem.prior
    width = np.where(rng.random(inside.shape) < 0.3, 0.3, 0.005)
    lower, upper = np.maximum(0, inside - rng.random(inside.shape) * width), inside + rng.random(inside.shape) * width
    smaller_lower, smaller_upper = lower.copy(), upper.copy()
    conditions = polytope.area(np.zeros(6)).implied
    assert all(shrink(conditions, *box) for box in zip(smaller_lower, smaller_upper, strict=True))
    assert (smaller_lower <= inside + 1e-9).all()
    assert (inside <= smaller_upper + 1e-9).all()
    assert (smaller_upper - smaller_lower).sum() < 0.9 * (upper - lower).sum()


def test_conditions_left_out_are_implied_by_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.of(random_joint(3, 2, 2, 3), SRLIP(0.5))
    costs = np.random.default_rng(0).normal(size=(300, 6)) * problem.prior
    right, needed = RowPolytope(problem), not_implied
    assert len(right._matrix) - 1 < 0.75 * len(right.conditions)
    assert (right.best_rows(costs) * problem.prior @ right.conditions.T).max() < 1e-11
    monkeypatch.setattr(polytope, "not_implied", lambda rows: needed(rows) & (np.arange(len(rows)) != 0))
    assert needed(right.conditions)[0]
    assert (RowPolytope(problem).best_rows(costs) * problem.prior @ right.conditions.T).max() > 1e-3


def test_an_empty_box_is_recognised() -> None:
    sum_is_one = implications(np.ones((1, 2)), np.ones(1), np.ones(1))
    assert not shrink(sum_is_one, np.zeros(2), np.full(2, 0.4))
    assert shrink(sum_is_one, np.zeros(2), np.full(2, 0.6))


def test_a_cone_that_permits_rows_without_mass_is_refused() -> None:
    cone = Cone(np.array([[1.0, -2.0, -1.0]]))
    with pytest.raises(InfeasibleError, match="never occur"):
        RowPolytope(Problem.of_rows(np.array([0.5, 0.5, 0.0]), cone))


def _programs(seed: int, batch: int) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    rng = np.random.default_rng(seed)
    rows = np.vstack([np.ones(40), rng.normal(size=(60, 40))])
    low, high = np.r_[1.0, np.full(60, -0.4)], np.r_[1.0, np.full(60, 0.4)]
    box = np.zeros((batch, 40)), np.full((batch, 40), 0.5), np.tile(low, (batch, 1)), np.tile(high, (batch, 1))
    return rows, (rng.normal(size=(batch, 40)), *box)


def test_kept_dictionaries_and_threads_do_not_change_the_answers() -> None:
    rows, given = _programs(0, 200)
    everything, nowhere = np.full(200, -np.inf), np.full(200, NOWHERE)
    fresh = np.array(
        [Dictionaries(rows).maximise(*(part[i : i + 1] for part in given), everything[:1])[0][0] for i in range(200)]  # type: ignore[call-arg]
    )
    kept = Dictionaries(rows)
    first = kept.maximise(*given, everything, nowhere)  # type: ignore[call-arg]
    again = kept.maximise(*given, everything, first[3])  # type: ignore[call-arg]
    best = (given[0] * fresh).sum(axis=1)
    for points, *_ in (first, again):
        assert (given[0] * points).sum(axis=1) == pytest.approx(best, abs=1e-9)
    assert len(set(first[3].tolist()) | set(again[3].tolist())) == 400


def test_places_of_other_rows_are_not_used() -> None:
    rows, given = _programs(1, 50)
    everything, nowhere = np.full(50, -np.inf), np.full(50, NOWHERE)
    old = Dictionaries(rows)
    places = old.maximise(*given, everything, nowhere)[3]  # type: ignore[call-arg]
    new = Dictionaries(-rows, old.end)
    turned = given[0], given[1], given[2], -given[4], -given[3]
    points = new.maximise(*turned, everything, places)[0]
    assert (given[0] * points).sum(axis=1) == pytest.approx(
        (given[0] * old.maximise(*given, everything)[0]).sum(axis=1)  # type: ignore[call-arg]
    )
    new.forget(places)
    assert len(set(new.maximise(*turned, everything, nowhere)[3].tolist()) & set(places.tolist())) == 0


def test_a_program_is_left_only_below_its_floor() -> None:
    rows, given = _programs(2, 100)
    points, _, statuses, _ = Dictionaries(rows).maximise(*given, np.full(100, -np.inf))  # type: ignore[call-arg]
    best = (given[0] * points).sum(axis=1)
    floors = best + np.where(np.arange(100) % 2, 0.01, -0.01)
    assert (statuses == OPTIMAL).all()
    assert ((Dictionaries(rows).maximise(*given, floors)[2] == LOW) == (floors > best)).all()  # type: ignore[call-arg]


def test_nobody_works_on_a_dictionary_after_a_break() -> None:
    """Another thread is waited for, or it would write into a dictionary that is already used for something else."""
    slow = Event()

    def work(thread: int) -> None:
        if thread == 0:
            raise KeyboardInterrupt
        time.sleep(0.2)
        slow.set()

    with pytest.raises(KeyboardInterrupt):
        Dictionaries(np.ones((1, 2))).each(work, range(THREADS))
    assert slow.is_set() or THREADS == 1
