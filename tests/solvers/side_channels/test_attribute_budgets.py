"""Products of attribute mechanisms: the papers' theorem fails, the safe one holds, and every level is what it is said
to be."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import solved
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms import products
from discreet.mechanisms.products import Product, attribute_prior, paper_condition, safe_condition
from discreet.notions import LIP, SRLIP, srlip
from discreet.solvers import enumeration
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.side_channels.attribute_budgets import (
    _Attributes,
    audited_product,
    product_first,
    safe_product,
    search_budgets,
)
from discreet.solvers.two_secrets.pair_generation import generate_pairs
from discreet.testing import joints

COUNTEREXAMPLE = Joint.from_counts(
    [[[1202, 142063, 200964], [10626, 495, 1104]], [[15782, 236553, 35375], [344512, 9195, 2129]]]
)


def searched(joint, epsilon, condition=paper_condition, *, proven=False, **limits):
    """The product behind a solution, with its budgets and its level, and how the search ended."""
    level = (lambda product: product.safe_level(joint)) if proven else (lambda product: product.level(joint))
    return search_budgets(joint, epsilon, condition, level, Effort.within(limits.pop("time_limit", None), **limits))


def safe(joint, epsilon, **limits):
    return searched(joint, epsilon, safe_condition, proven=True, **limits)


@st.composite
def joints_with_factors(draw: st.DrawFn):
    joint = draw(joints(max_secrets=3, max_letters=3, attributes=draw(st.integers(1, 3))))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    spread = draw(st.sampled_from([0.5, 5.0, 50.0]))
    return joint, Product(
        tuple(Channel(rng.dirichlet(np.full(rng.integers(1, 4), spread), size).T) for size in joint.shape)
    )


@given(joints_with_factors())
@settings(max_examples=150, deadline=None)
def test_level_and_information_from_the_factors(drawn):
    joint, product = drawn
    channel = product.channel(joint)
    assert product.level(joint) == pytest.approx(SRLIP(1.0).level(channel, joint).epsilon, abs=1e-9)
    assert product.mutual_information(joint) == pytest.approx(utility(joint, channel), abs=1e-10)


@given(joints_with_factors())
@settings(max_examples=300, deadline=None)
def test_the_safe_bound_is_never_below_the_level(drawn):
    """The corrected composition theorem, on any product of any channels, with empty cells and unseen secrets."""
    joint, product = drawn
    assert product.level(joint) <= product.safe_level(joint) + 1e-10


@given(joints_with_factors(), st.floats(0.1, 3.0))
@settings(max_examples=100, deadline=None)
def test_the_conditions_are_what_they_say(drawn, epsilon):
    """Membership in the cones, row by row, against the definitions."""
    joint, product = drawn
    for j, factor in enumerate(product.factors):
        axes = [1 + i for i in range(len(joint.shape)) if i != j]
        moved = np.moveaxis(joint.probabilities, 1 + j, -1).reshape(len(joint.probabilities), -1, joint.shape[j])
        for row in factor.matrix:
            likelihoods = [
                (moved[s] @ row)[moved[s].sum(-1) > 0] / moved[s].sum(-1)[moved[s].sum(-1) > 0] for s in joint.seen
            ]
            worst = max(
                (a.max() / b.min() for s, a in enumerate(likelihoods) for o, b in enumerate(likelihoods) if s != o),
                default=1.0,
            )
            if abs(worst / np.exp(epsilon) - 1) > 1e-9:
                assert (safe_condition(joint, j)(epsilon).excess(row) <= 1e-13) == (worst < np.exp(epsilon))
            worst = 0.0
            for kept in range(2 ** len(axes)):
                summed = tuple(axis for k, axis in enumerate(axes) if not kept >> k & 1)
                cells = np.moveaxis(joint.probabilities.sum(axis=summed, keepdims=True), 1 + j, -1)
                cells = cells.reshape(len(cells), -1, joint.shape[j])
                with np.errstate(divide="ignore", invalid="ignore"):
                    given_secret, given = (cells @ row) / cells.sum(-1), (cells.sum(0) @ row) / cells.sum((0, 2))
                    worst = max(worst, np.nanmax(np.abs(np.log(given_secret / given))))
            if abs(worst - epsilon) > 1e-9:
                assert (paper_condition(joint, j)(epsilon).excess(row) <= 1e-13) == (worst < epsilon)


def test_the_papers_composition_theorem_is_false():
    """theory 3.1: each factor meets the hypothesis of funnel-2, Theorem 4 with ε/2, and the product has level 1.228."""
    product = _Attributes(COUNTEREXAMPLE, paper_condition, Effort(gap=1e-9)).product(np.array([0.5, 0.5]))
    for j, factor in enumerate(product.factors):
        cone = paper_condition(COUNTEREXAMPLE, j)(0.5)
        assert max(cone.excess(row) for row in factor.matrix) <= 1e-9
    assert LIP(1.0).level(product.channel(COUNTEREXAMPLE), COUNTEREXAMPLE).epsilon == pytest.approx(1.228, abs=5e-4)
    assert product.level(COUNTEREXAMPLE) > 1.2


@pytest.mark.parametrize(("search", "method"), [(searched, audited_product), (safe, safe_product)])
def test_the_counterexample_calibrated(search, method):
    found, status = search(COUNTEREXAMPLE, 1.0)
    assert status == "searched"
    written = solved(method, Problem.of(COUNTEREXAMPLE, SRLIP(1.0)))
    assert (written.status, written.value) == (status, pytest.approx(found.value, abs=1e-9))
    level = SRLIP(1.0).level(found.product.channel(COUNTEREXAMPLE), COUNTEREXAMPLE).epsilon
    assert level <= found.level + 1e-9 <= 1.0 + 1e-9
    assert found.value == pytest.approx(utility(COUNTEREXAMPLE, found.product.channel(COUNTEREXAMPLE)), abs=1e-9)


@given(joints(max_secrets=3, max_letters=3, attributes=2), st.sampled_from([0.3, 1.0, 2.5]))
@settings(max_examples=15, deadline=None)
def test_products_keep_epsilon(joint, epsilon):
    tried = (safe(joint, epsilon), searched(joint, epsilon, safe_condition), searched(joint, epsilon))
    for found, _ in tried:
        channel = found.product.channel(joint)
        assert SRLIP(epsilon).level(channel, joint).epsilon <= epsilon + 1e-9
        assert found.value == pytest.approx(utility(joint, channel), abs=1e-9)


def test_calibration_beats_the_sum_of_the_budgets():
    """Σ ε_j = ε is far too careful for the papers' condition: the audit finds out."""
    cells = np.random.default_rng(0).random((2, 3, 3, 4))
    joint = Joint(cells / cells.sum())
    plain = _Attributes(joint, paper_condition, Effort()).product(np.full(3, 1 / 3))
    found, _ = searched(joint, 1.0)
    assert found.value > 2 * plain.mutual_information(joint)
    assert found.budgets.sum() > 2.0
    assert found.level <= 1.0


def test_ten_attributes_without_an_audit(monkeypatch):
    monkeypatch.setattr(Product, "level", None)
    cells = np.random.default_rng(1).random((2,) + (2,) * 10)
    joint = Joint(cells / cells.sum())
    found, _ = safe(joint, 1.0, time_limit=3.0)
    assert found.value > 0.05
    assert found.level <= 1.0


def test_one_attribute_is_lip():
    joint = Joint.from_counts([[20, 35, 9], [30, 2, 60]])
    best = solved(generate_pairs, Problem.of(joint, LIP(0.5))).value
    assert solved(audited_product, Problem.of(joint, SRLIP(0.5))).value == pytest.approx(best, abs=1e-6)


def test_corners_agree_with_the_chain():
    joint = Joint.from_counts([[20, 35, 9, 14], [30, 2, 60, 14]])
    problem = Problem.of(joint, LIP(0.4))
    rows, weights = enumeration.best_rows(problem)
    assert weights @ problem.values(rows) == pytest.approx(solved(generate_pairs, problem).value, abs=1e-8)
    with pytest.raises(ParameterError, match="letters"):
        enumeration.best_rows(Problem.of(Joint.from_counts([[1, 2], [3, 4]]), LIP(0.4)))


def test_priors():
    assert np.allclose(attribute_prior(COUNTEREXAMPLE, 1), COUNTEREXAMPLE.probabilities.sum(axis=(0, 1)))


def test_out_of_time_and_wrong_forms():
    found, status = searched(COUNTEREXAMPLE, 1.0, time_limit=0.0)
    assert (status, found.value, found.level) == ("time limit", 0.0, 0.0)
    assert found.product.level(COUNTEREXAMPLE) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ParameterError, match="reads the secret"):
        safe(COUNTEREXAMPLE.curator(), 1.0)
    with pytest.raises(ParameterError, match="SRLIP on X"):
        solved(safe_product, Problem.of(COUNTEREXAMPLE.curator(), SRLIP(1.0)))


def test_a_product_too_large_is_not_audited_in_part(monkeypatch):
    monkeypatch.setattr(products, "AUDITED_ENTRIES", 10)
    with pytest.raises(ParameterError, match="too large to audit"):
        searched(COUNTEREXAMPLE, 1.0)


# ---- planted faults -----------------------------------------------------------------------------------------------


def test_a_condition_that_forgets_the_side_channels_is_caught(monkeypatch):
    """With LIP alone on each factor the sum of the budgets means nothing; the audit must not believe it."""

    def lip_alone(joint, j):
        alone = Joint(
            np.moveaxis(joint.probabilities, 1 + j, 1).reshape(len(joint.probabilities), joint.shape[j], -1).sum(-1)
        )
        return lambda epsilon: LIP(epsilon).cone(alone)

    counts = np.zeros((2, 2, 2), dtype=int)
    counts[0, 0, 0] = counts[0, 1, 1] = counts[1, 0, 1] = counts[1, 1, 0] = 40
    joint = Joint.from_counts(counts + 1)
    plain = _Attributes(joint, lip_alone, Effort()).product(np.array([0.5, 0.5]))
    assert plain.level(joint) > 1.0
    found, _ = searched(joint, 1.0, lip_alone)
    assert SRLIP(1.0).level(found.product.channel(joint), joint).epsilon <= 1.0 + 1e-9


def test_a_safe_bound_that_forgets_a_secret_is_caught(monkeypatch):
    """The negative control of the theorem's test: laws of one secret only, and the bound falls below the level."""
    joint = Joint(np.array([np.outer([0.1, 0.4], [0.3, 0.7]), np.outer([0.3, 0.2], [0.6, 0.4])]))
    product = Product((Channel([[0.8, 0.3], [0.2, 0.7]]), Channel([[0.6, 0.1], [0.4, 0.9]])))
    assert product.safe_level(joint) >= product.level(joint)
    laws = products.laws_by_secret
    monkeypatch.setattr(products, "laws_by_secret", lambda joint, j: [laws(joint, j)[0]] * 2)
    assert product.safe_level(joint) < product.level(joint)


def test_ctrl_c_returns_what_is_there():
    def stop(*report: float) -> None:
        raise KeyboardInterrupt

    found, status = searched(COUNTEREXAMPLE, 1.0, progress=stop)
    assert status == "interrupted"
    assert found.product.level(COUNTEREXAMPLE) <= 1.0


def test_a_search_with_too_many_side_channels_to_list_begins_with_a_product(monkeypatch):
    monkeypatch.setattr(srlip, "LISTED_ENTRIES", 0)
    problem = Problem.of(COUNTEREXAMPLE, SRLIP(1.0))
    first = next(product_first(problem, Effort.within(None)))
    assert first.status == "begun"
    assert first.value > 0
    assert SRLIP(1.0).level(first.channel, COUNTEREXAMPLE).epsilon <= 1.0 + 1e-9
