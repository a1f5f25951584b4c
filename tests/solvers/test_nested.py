"""Never worse by asking for less: every pair of nested problems over the catalogue, and where a search is cut short."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from catalogue import catalogue, random_joint

import discreet as dc
from discreet.attribute import Form
from discreet.datasets import adult
from discreet.exceptions import UnfinishedError
from discreet.notions import LDP, LIP, PML, SRLIP, Shift
from discreet.notions.notion import Notion
from discreet.solvers.methods import METHODS
from discreet.solvers.nested import curator_starts, permitted_starts
from discreet.solvers.problem import Effort, Problem, Solution

STATED = {known.name: known.problem for known in catalogue() if known.problem.notion is not None}
GAP = 1e-6


def worth(joint: dc.Joint, notion: Notion, utility: object = dc.MutualInformation, **options: object) -> float:
    return dc.design(joint, notion, utility=utility, **options).utility  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize("name", STATED)
def test_a_curator_keeps_at_least_as_much(name: str) -> None:
    problem = STATED[name]
    joint, notion = problem.asked
    if joint.form is Form.FUNNEL:
        less = worth(joint, notion, problem.utility)
        assert worth(joint, notion, problem.utility, sees_secret=True) >= less - 2 * GAP


@pytest.mark.parametrize("name", STATED)
def test_a_larger_epsilon_keeps_at_least_as_much(name: str) -> None:
    problem = STATED[name]
    joint, notion = problem.asked
    found = [worth(joint, notion.at(factor * notion.epsilon), problem.utility) for factor in (0.5, 1.0, 2.0)]
    assert found == pytest.approx(sorted(found), abs=2 * GAP)


@pytest.mark.parametrize("seed", range(2))
def test_a_weaker_notion_keeps_at_least_as_much(seed: int) -> None:
    joint = random_joint(seed, 3, 2, 2, empty=0.2)
    for stronger, weaker in (
        (dc.RLDP(0.5, dc.Renyi(2, 0.01)), LDP(0.5)),
        (dc.OrdinaryLDP(0.5), LDP(0.5)),
        (LDP(0.5), LIP(0.5)),
        (SRLIP(0.5), LIP(0.5)),
        (LIP(0.5), PML(0.5)),
        (dc.ALIP(0.3, 0.7), LIP(0.7)),
        (PML(0.5), Shift(1 - np.exp(-0.5))),
        (dc.Perfect(), LIP(0.01)),
        (LIP(0.5) & dc.OrdinaryLDP(2), LIP(0.5)),
        (LIP(0.5), LDP(1.0)),
    ):
        assert worth(joint, weaker) >= worth(joint, stronger) - 2 * GAP, (stronger, weaker)


PURPOSES = {"statistics": dc.Accuracy(), "values": dc.Agreement()}
THINNED = 2e-3
"""Accuracy gives up to 0.15 % away for fewer outputs."""
PLAIN = [name for name, problem in STATED.items() if problem.utility is dc.MutualInformation]


def no_worse(more: float, less: float) -> bool:
    return more >= less - 2 * GAP - THINNED * abs(less)


@pytest.mark.parametrize("purpose", PURPOSES)
@pytest.mark.parametrize("name", PLAIN)
def test_for_other_purposes_a_larger_epsilon_and_more_reading_are_no_worse(name: str, purpose: str) -> None:
    joint, notion = STATED[name].asked
    utility = PURPOSES[purpose]
    found = [worth(joint, notion.at(factor * notion.epsilon), utility, time_limit=2) for factor in (0.5, 1.0, 2.0)]
    assert no_worse(found[1], found[0])
    assert no_worse(found[2], found[1])
    if joint.form is Form.FUNNEL:
        assert no_worse(worth(joint, notion, utility, sees_secret=True, time_limit=2), found[1])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_for_other_purposes_a_weaker_notion_or_a_smaller_set_is_no_worse(purpose: str) -> None:
    joint = dc.Joint.from_counts(np.random.default_rng(4).integers(20, 200, (3, 2, 2)))
    utility = PURPOSES[purpose]
    for notions in (
        [dc.OrdinaryLDP(0.5), LDP(0.5), LIP(0.5), PML(0.5)],
        [SRLIP(0.5), LIP(0.5)],
        [LIP(0.5), LDP(1.0)],
        [dc.RLDP(0.8, dc.Everything()), dc.RLDP(0.8, dc.ChiSquare(0.99)), dc.RLDP(0.8, dc.ChiSquare(0.5)), LDP(0.8)],
        [dc.RLDP(0.8, dc.Confidence(0.99)), dc.RLDP(0.8, dc.Confidence(0.5))],
    ):
        found = [worth(joint, notion, utility, time_limit=4) for notion in notions]
        for k, (less, more) in enumerate(pairwise(found)):
            assert no_worse(more, less), (notions[k], notions[k + 1])


@pytest.mark.parametrize("purpose", PURPOSES)
def test_for_other_purposes_more_time_is_no_worse(purpose: str) -> None:
    joint = dc.Joint.from_table(adult(), secret="marital-status", release="education")
    found = [worth(joint, LIP(0.5), PURPOSES[purpose], time_limit=seconds) for seconds in (0.05, 5)]
    assert no_worse(found[1], found[0])


def test_a_smaller_set_keeps_at_least_as_much() -> None:
    joint = dc.Joint.from_counts([[50, 30, 20], [20, 30, 50]])
    for sets in (
        [dc.Everything(), dc.Renyi(2, 0.1), dc.Exactly()],
        [dc.ChiSquare(0.99), dc.ChiSquare(0.5)],
        [dc.Confidence(0.99), dc.Confidence(0.5)],
    ):
        found = [worth(joint, dc.RLDP(0.8, one), time_limit=2, gap=1e-4) for one in sets]
        assert found == pytest.approx(sorted(found), abs=2e-4)


@pytest.mark.parametrize("utility", [dc.MutualInformation, dc.Accuracy(), dc.Agreement()], ids=["I", "A", "V"])
def test_a_curator_who_is_cut_short_has_what_needs_no_search(utility: object) -> None:
    """15 × 16 cells and two seconds: from nothing a search over (S, X) ends below a quarter of what X alone keeps."""
    joint = dc.Joint.from_table(adult(), secret="occupation", release="education")
    less = worth(joint, LIP(0.5), utility, time_limit=2)
    assert worth(joint, LIP(0.5), utility, sees_secret=True, time_limit=2) >= less - GAP


def test_more_time_is_never_worse_where_the_search_is_the_same() -> None:
    joint = dc.Joint.from_table(adult(), secret="occupation", release="education")
    found = [worth(joint, LIP(0.5), time_limit=seconds) for seconds in (0.05, 0.5, 5)]
    assert found == pytest.approx(sorted(found), abs=1e-6)


def test_starts_are_permitted_and_a_planted_one_is_left_out() -> None:
    joint = random_joint(3, 3, 5).curator()
    problem = Problem.of(joint, LIP(0.3))
    starts = curator_starts(problem, Effort(), lambda less, effort: METHODS["columns"].solve(less, effort))
    assert len(starts) == 2
    rows = permitted_starts(problem, starts)
    assert len(rows) == 1 + sum(len(one.rows) for one in starts)
    assert all(problem.cone.excess(row) <= 1e-9 for row in rows)
    planted = Problem.of(joint, LIP(0.1))
    assert len(permitted_starts(planted, starts)) < len(rows)


def test_values_that_keep_their_law_take_no_time_from_reading_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five secrets and 197 letters: a curator with 2.5 s once kept 1.65 nats where 3.54 were found without S."""
    left: list[float] = []

    def hangs(_: object, __: Problem, effort: Effort) -> Solution:
        while not effort.late():
            time.sleep(0.01)
        raise UnfinishedError("not in time", remedy="None.")

    def less(problem: Problem, effort: Effort) -> Solution:
        left.append(effort.left())
        return METHODS["columns"].solve(problem, effort)

    monkeypatch.setattr("discreet.solvers.nested.solve", hangs)
    problem = Problem.of(random_joint(3, 3, 5).curator(), LIP(0.3))
    assert len(curator_starts(problem, Effort.within(4.0, 1e-6), less)) == 1
    assert left[0] > 1.0


def test_a_short_limit_leaves_time_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept free for the proof of a full matrix of 3,000 letters, 7.2 s, was longer than the limit."""
    left: list[float] = []

    def spy(_: Problem, effort: Effort) -> Iterator[Solution]:
        left.append(effort.left())
        raise UnfinishedError("not in time", remedy="None.")

    monkeypatch.setitem(METHODS, "columns", replace(METHODS["columns"], solutions=spy, compiles=lambda _: None))
    joint = random_joint(3, 3, 1000).curator()
    with pytest.raises(UnfinishedError):
        dc.design(joint, LIP(0.5), method="columns", time_limit=7.0)
    assert left[0] > 3.0
