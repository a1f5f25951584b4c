"""Column generation: stopping early, proofs that would catch a fault, and the values of the papers' data."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import random_joint, solved

from discreet import datasets
from discreet.exceptions import ParameterError, UnfinishedError
from discreet.joint import Joint
from discreet.linear_program import Program, ProgramSolution
from discreet.mechanisms.randomised_response import calibrated_grr
from discreet.notions import LIP, SRLIP
from discreet.notions.alip import ALIP
from discreet.notions.funnel import Funnel
from discreet.notions.notion import Notion
from discreet.notions.pml import PML
from discreet.notions.shift import Shift
from discreet.solvers.columns import polytope
from discreet.solvers.columns.generation import generate_columns
from discreet.solvers.columns.pricing import BoxSearch, Pricer
from discreet.solvers.enumeration import enumerate_rows
from discreet.solvers.problem import Problem
from discreet.utilities.utility import MutualInformation

HARD = Problem.of(random_joint(0, 2, 3, 3, 4), SRLIP(0.5))


def test_a_time_limit_returns_the_best_so_far_with_a_true_bound() -> None:
    split = solved(generate_columns, HARD, gap=1e-9, time_limit=0.2)
    assert split.status == "time limit"
    assert split.upper_bound > split.value >= 0
    assert not split.is_optimal(1e-9)
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9


@pytest.mark.parametrize("curator", [False, True])
def test_without_any_time_there_is_one_output_a_letter(curator: bool) -> None:
    joint, notion = random_joint(1, 4, 6), LIP(0.4)
    joint = joint.curator() if curator else joint
    problem = Problem.of(joint, notion)
    split = solved(generate_columns, problem, time_limit=0.0)
    assert split.status == "time limit"
    assert len(split.rows) == 6
    simple = random_joint(1, 4, 6)
    assert split.value >= (1 - 1e-6) * MutualInformation.of(simple, calibrated_grr(simple, notion).channel)
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9
    assert max(map(problem.cone.excess, split.rows)) <= 1e-12


@pytest.mark.parametrize("notion", [Shift(0.1), Funnel(0.05), ALIP(1.0, 0.2), PML(0.5)], ids=str)
def test_without_any_time_something_is_kept(notion: Notion) -> None:
    """Also where most conditions are found only as they are broken, and where an average has a limit."""
    joint = random_joint(1, 8, 12)
    problem = Problem.of(joint, notion)
    split = solved(generate_columns, problem, time_limit=0.0)
    assert split.value > 0.001 * joint.entropy
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9
    assert max(map(problem.cone.excess, split.rows)) <= 1e-12
    if problem.average is not None:
        assert split.weights @ problem.average.values(np.asarray(split.rows)) <= problem.average.limit * (1 + 1e-12)


def test_a_program_that_is_told_to_halt_has_a_bound_that_holds_and_no_permitted_row() -> None:
    body = Pricer(HARD).body
    costs = np.random.default_rng(0).normal(size=(2, len(HARD.prior))) * HARD.prior
    assert costs.size * len(body.conditions) < 200_000, "few enough for one thread, where nobody puts the flag back"
    body.dictionaries.halt[0] = True
    halted = body.best(costs)
    body.dictionaries.halt[0] = False
    finished = body.best(costs)
    assert (halted.bounds > finished.bounds + 1e-6).all()
    assert all(body.inside(row) is None for row in halted.rows)
    assert all(body.inside(row) is not None for row in finished.rows)


def test_rows_that_are_surely_inside_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    body = Pricer(HARD).body
    outside = np.eye(len(HARD.prior))[0] / HARD.prior[0]
    rows = np.vstack([np.ones(len(HARD.prior)), outside, 1 + body.strengths(outside[None]) * (outside - 1)])
    assert not body.surely_inside(rows).any()
    monkeypatch.setattr(polytope, "FEW_ENTRIES", 0)
    assert body.surely_inside(rows).tolist() == [True, False, True]
    assert all(body.inside(rows[i]) is not None for i in (0, 2))


def test_ctrl_c_returns_the_best_so_far() -> None:
    def interrupt(value: float, bound: float, seconds: float) -> None:
        raise KeyboardInterrupt

    split = solved(generate_columns, Problem.of(random_joint(0, 5, 8), LIP(0.5)), gap=1e-9, progress=interrupt)
    assert split.status == "interrupted"
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9


def test_a_linear_program_that_fails_stalls_the_search_with_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, calls = Program.solved, []

    def failing(self: Program) -> ProgramSolution:
        calls.append(self)
        if len(calls) > 12:
            raise UnfinishedError("planted")
        return honest(self)

    best = solved(generate_columns, HARD, gap=1e-3)
    monkeypatch.setattr(Program, "solved", failing)
    split = solved(generate_columns, HARD, gap=1e-3)
    assert split.status == "stalled"
    assert np.abs(split.weights @ split.rows - 1).max() < 1e-9
    assert split.value <= best.upper_bound
    assert best.value <= split.upper_bound


def test_progress_reports_a_rising_value_below_a_falling_bound() -> None:
    seen: list[tuple[float, float, float]] = []
    split = solved(generate_columns, HARD, gap=5e-2, progress=lambda *now: seen.append(now))
    values, bounds, seconds = (np.array(part) for part in zip(*seen, strict=True))
    assert (np.diff(values) >= -1e-12).all()
    assert (np.diff(bounds) <= 0).all()
    assert (np.diff(seconds) >= 0).all()
    assert (bounds >= values).all()
    assert split.gap <= 5e-2


def test_a_gap_must_be_positive() -> None:
    with pytest.raises(ParameterError, match="gap"):
        solved(generate_columns, HARD, gap=0.0)


def test_the_bound_holds_at_every_stage() -> None:
    problem = Problem.of(random_joint(8, 4, 8), LIP(0.3))
    optimum = solved(enumerate_rows, problem).value
    bounds: list[float] = []
    solved(generate_columns, problem, gap=1e-7, progress=lambda value, bound, seconds: bounds.append(bound))
    assert len(bounds) > 0
    assert min(bounds) >= optimum - 1e-9


def test_a_planted_bound_that_is_too_low_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison with the reference does notice a relaxation that cheats."""
    problem = Problem.of(random_joint(8, 4, 8), LIP(0.3))
    optimum = solved(enumerate_rows, problem).value
    honest = BoxSearch.run
    monkeypatch.setattr(BoxSearch, "run", lambda self, *given: honest(self, *given) - 0.05)
    bounds: list[float] = []
    solved(
        generate_columns, problem, gap=1e-7, time_limit=5, progress=lambda value, bound, seconds: bounds.append(bound)
    )
    assert min(bounds) < optimum - 1e-9


@pytest.mark.parametrize(
    ("secret", "release", "epsilon", "share"),
    [
        ("occupation", "education", 1.5, 0.941580),
        ("occupation", "education", 0.5, 0.736585),
        ("marital-status", "education", 0.5, 0.858840),
    ],
)
def test_adult(secret: str, release: str, epsilon: float, share: float) -> None:
    joint = Joint.from_table(datasets.adult(), secret=secret, release=[release])
    split = solved(generate_columns, Problem.of(joint, LIP(epsilon)))
    assert split.is_optimal(1e-6)
    assert split.value / joint.entropy == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.461), (0.5, 0.544)])
def test_adult_curator(epsilon: float, share: float) -> None:
    joint = Joint.from_table(datasets.adult(), secret="marital-status", release=["relationship"]).curator()
    split = solved(generate_columns, Problem.of(joint, LIP(epsilon)))
    assert split.is_optimal(1e-6)
    assert split.value / joint.entropy >= share - 5e-4
