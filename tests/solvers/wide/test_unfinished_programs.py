"""A search that ends too early, or whose programs fail, hands out what is proven, no less than plain mechanisms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import discreet as dc
from discreet.exceptions import UnfinishedError
from discreet.linear_program import Program, ProgramSolution
from discreet.mechanisms import CLOSED_FORMS
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.wide import class_mechanism, row_search
from discreet.solvers.wide.class_mechanism import ClassProblem, search_classes
from discreet.solvers.wide.plain_mechanisms import best_plain, coarser_letters
from discreet.solvers.wide.row_search import PosteriorSplit, RowSearch, completed, letter_vertices, permits, weighed

NOTION = dc.LIP(0.5)


def three_columns(seed: int) -> dc.Joint:
    rng = np.random.default_rng(seed)
    cells = rng.dirichlet(np.full(3 * 5 * 4 * 3, 0.7)).reshape(3, 5, 4, 3)
    return dc.Joint.from_counts(1 + rng.multinomial(4000, cells.reshape(-1)).reshape(cells.shape))


def found_split(form: ClassProblem) -> PosteriorSplit:
    bases = letter_vertices(form.conditions, form.classes.size)
    search = RowSearch(form.classes.prior, form.conditions, bases, Effort())
    search.run()
    return weighed(search.rows, form.classes.prior, form.conditions, np.inf)


def short_of_some(split: PosteriorSplit, share: float) -> PosteriorSplit:
    """As a master leaves it that was stopped with artificial columns in use: too much of some letters, too little of
    others."""
    weights = split.weights * np.random.default_rng(0).uniform(1 - share, 1 + share, size=len(split.weights))
    return PosteriorSplit(split.rows, weights, split.losses)


@pytest.mark.parametrize("share", [1e-7, 1e-3, 0.05, 0.5])
@pytest.mark.parametrize("notion", [dc.LIP(0.5), dc.LDP(0.5)])
def test_artificial_columns_in_use_do_not_leave(share: float, notion: dc.LIP | dc.LDP) -> None:
    form = ClassProblem(three_columns(1), notion.at(notion.epsilon * (1 - 1e-8)))
    problem, split = Problem.of(form.joint, form.notion), found_split(form)
    planted = short_of_some(split, share)
    made = completed(planted, form.classes.prior, form.conditions)
    assert made.weights @ made.rows == pytest.approx(form.classes.prior, rel=2e-9)
    assert permits(form.conditions, made.rows).all()
    channel = form.solution(problem, made, np.inf, class_mechanism.Status.GAP).channel
    assert dc.Protocol.make(channel, form.joint, notion).epsilon <= notion.epsilon
    assert form.value(made) <= form.value(split) + 1e-6
    if share >= 0.05:  # the fault itself: divided by their sums such weights break the promise, and not by rounding
        faulty = form.solution(problem, planted, np.inf, class_mechanism.Status.GAP).channel
        with pytest.raises(dc.ProofError):
            dc.Protocol.make(faulty, form.joint, notion)


def test_the_rest_of_rare_letters_is_not_forgotten() -> None:
    """Mass that is nothing beside all of it may be all that a letter has."""
    rng = np.random.default_rng(3)
    table = rng.dirichlet(np.ones(3), size=140) * np.geomspace(1e-11, 1, 140)[:, None]
    joint = dc.Joint((table / table.sum()).T)
    found = dc.design(joint, NOTION, method="wide", time_limit=30, gap=0.05)
    assert found.protocol.epsilon <= 0.5


@pytest.mark.parametrize("fails", [0, 1, 2, 4, 7])
def test_a_program_that_fails_leaves_a_proven_mechanism(fails: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its nth solve on every program of the search fails, as after a deadline on a busy machine."""
    solved, calls = Program.solved, iter(range(10**6))

    class Failing(Program):
        def solved(self) -> ProgramSolution:
            if next(calls) > fails:
                raise UnfinishedError("planted", where="test")
            return solved(self)

    joint = three_columns(2)
    monkeypatch.setattr(row_search, "Program", Failing)
    found = dc.design(joint, NOTION, method="wide", time_limit=60, gap=0.01)
    assert next(calls) > fails
    assert found.protocol.epsilon <= 0.5
    form = ClassProblem(joint, NOTION)
    assert found.utility >= best_plain(form.classes, joint, NOTION, Effort.within(60)).value - 1e-3
    assert found.upper_bound >= found.utility


def test_no_less_than_any_plain_mechanism() -> None:
    """Single columns, two together, groups and closed forms, all designed by themselves."""
    joint = three_columns(4)
    *_, found = search_classes(Problem.of(joint, NOTION), Effort.within(60, gap=0.02))
    form = ClassProblem(joint, NOTION)
    plain = best_plain(form.classes, joint, NOTION, Effort.within(60))
    assert found.value >= plain.value
    tried = dict(coarser_letters(form.classes, joint))
    assert len(tried) == 3 + 3 + 1
    for labels in tried.values():
        groups = np.unique(labels, return_inverse=True)[1]
        masses = np.array([np.bincount(groups, line) for line in joint.table[:, form.classes.letters]])
        alone = dc.design(dc.Joint(masses / masses.sum()), NOTION, method="columns").utility
        assert plain.value >= alone - 2e-4
        assert found.value >= alone - 2e-4
    for name in ("grr", "keep-or-draw"):
        assert CLOSED_FORMS[name].refuses(joint, NOTION) is None
        closed = dc.design(joint, NOTION, method=name).utility
        assert plain.value >= closed - 1e-9


def test_the_plain_mechanism_leaves_where_the_search_kept_less(monkeypatch: pytest.MonkeyPatch) -> None:
    joint = three_columns(5)
    form = ClassProblem(joint, NOTION)
    nothing = PosteriorSplit(
        sparse.csr_array(form.classes.prior[None, :]), np.ones(1), np.ones(form.classes.size)
    )  # the planted fault: a search that tells nothing
    monkeypatch.setattr(class_mechanism, "_searched", lambda *_: nothing)
    found = dc.design(joint, NOTION, method="wide", time_limit=60)
    plain = best_plain(form.classes, joint, NOTION, Effort.within(60))
    assert plain.value > 0.1
    assert found.utility == pytest.approx(plain.value, abs=1e-3)
    assert found.protocol.epsilon <= 0.5


def test_a_curator_keeps_no_less() -> None:
    joint = three_columns(6)
    alone = dc.design(joint, NOTION, method="wide", time_limit=60, gap=0.02)
    curator = dc.design(joint, NOTION, method="wide", sees_secret=True, time_limit=20)
    assert curator.utility >= alone.utility - 0.02
    assert curator.protocol.epsilon <= 0.5
