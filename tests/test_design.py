"""`design`: every method by name, relations between optima, honest answers."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.solvers.methods import METHODS
from discreet.testing import joints

EXAMPLE_3 = dc.Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
ROBUST = dc.RLDP(math.log(2), dc.ChiSquare(0.95))
FUNNEL = dc.Joint.from_counts([[30, 5, 11, 2], [4, 20, 9, 9], [8, 8, 1, 30]])
PAIRS_OF_ATTRIBUTES = dc.Joint.from_counts(np.arange(1, 13).reshape(2, 2, 3))


def best(joint, notion, **keywords):
    found = dc.design(joint, notion, **keywords)
    assert found.utility <= found.upper_bound + 1e-12
    assert notion.level(found.protocol.channel, found.protocol.joint).epsilon <= notion.epsilon + 1e-9
    return found


@pytest.mark.parametrize(("method", "printed"), [("polyopt-paper", 0.42278), ("polyopt", 0.56305)])
def test_example_3(method, printed):
    assert best(EXAMPLE_3, ROBUST, method=method).utility == pytest.approx(printed, abs=1e-5)


def test_example_3_matrix_and_its_utility_under_the_truth():
    """The printed matrix comes out; its utility under P* is 0.3702, not the printed 0.2804 (errata 4)."""
    found = best(EXAMPLE_3, ROBUST, method="polyopt-paper").protocol
    printed = np.array(
        [
            [0.0885, 0.3840, 0.6667, 0.0507],
            [0.0860, 0.3731, 0, 0.3080],
            [0.6162, 0.1813, 0, 0.6159],
            [0.2094, 0.0616, 0.3333, 0.0254],
        ]
    )
    order = [int(np.abs(found.matrix - row).max(axis=1).argmin()) for row in printed]
    assert sorted(order) == [0, 1, 2, 3]
    np.testing.assert_allclose(found.matrix[order], printed, atol=6e-5)
    truth = dc.Joint([[0.1, 0.1], [0.2, 0.6]], include_secret=True)
    assert dc.MutualInformation.of(truth, found.channel) == pytest.approx(0.3702, abs=5e-5)


def test_example_3_with_a_known_distribution():
    found = best(EXAMPLE_3, dc.LDP(math.log(2)))
    assert found.method == "nr"
    assert found.utility == pytest.approx(0.66340, abs=1e-5)
    assert best(EXAMPLE_3, dc.LDP(math.log(2)), method="columns").utility == pytest.approx(found.utility, abs=2e-6)


@pytest.mark.parametrize("method", ["vertices", "columns", "grr", "oue"])
@pytest.mark.parametrize("notion", [dc.LDP, dc.LIP])
def test_methods_for_the_funnel(method, notion):
    found = best(FUNNEL, notion(0.7), method=method)
    assert found.method == method
    assert found.utility <= best(FUNNEL, notion(0.7)).upper_bound + 1e-9


@pytest.mark.parametrize("method", ["product", "product-safe", "columns"])
def test_methods_for_side_channels(method):
    assert best(PAIRS_OF_ATTRIBUTES, dc.SRLIP(0.5), method=method).utility > 0


@pytest.mark.parametrize("method", ["cr", "columns"])
def test_methods_for_the_curator(method):
    found = best(FUNNEL, dc.LIP(0.5), method=method, sees_secret=True)
    assert found.protocol.joint.sees_secret
    assert found.protocol.matrix.shape[1] == 12


@pytest.mark.parametrize("method", ["grr", "srr", "ir", "cr", "robust-cr"])
def test_closed_forms_under_robust_ldp(method):
    assert best(EXAMPLE_3, ROBUST, method=method).utility < 0.56


@settings(max_examples=12)
@given(joints(max_secrets=3, max_letters=4), st.floats(0.1, 2.0))
def test_relations_between_optima(joint, epsilon):
    """LIP(ε/2) ≤ LDP(ε) ≤ LIP(ε) ≤ LIP(2ε), and a curator does at least as well."""
    values = [
        best(joint, dc.LIP(epsilon / 2)).utility,
        best(joint, dc.LDP(epsilon)).utility,
        best(joint, dc.LIP(epsilon)).utility,
        best(joint, dc.LIP(2 * epsilon)).utility,
    ]
    assert all(low <= high + 2e-6 for low, high in itertools.pairwise(values))
    assert best(joint, dc.LIP(epsilon), sees_secret=True).utility >= values[2] - 2e-6


@settings(max_examples=6)
@given(joints(max_secrets=2, max_letters=3, attributes=2), st.floats(0.2, 2.0))
def test_direct_srlip_is_at_least_the_product_and_at_most_lip(joint, epsilon):
    direct = best(joint, dc.SRLIP(epsilon)).utility
    assert best(joint, dc.SRLIP(epsilon), method="product").utility <= direct + 2e-6
    assert best(joint, dc.SRLIP(epsilon), method="product-safe").utility <= direct + 2e-6
    assert direct <= best(joint, dc.LIP(epsilon)).utility + 2e-6


@pytest.mark.parametrize("utility", [dc.ChiSquareInformation, dc.CorrectGuess])
def test_other_utilities_have_their_own_optimum(utility):
    own = best(FUNNEL, dc.LIP(0.4), utility=utility)
    other = best(FUNNEL, dc.LIP(0.4))
    assert own.gap <= 1e-5
    assert own.utility >= utility.of(FUNNEL, other.protocol.channel) - 1e-6


def test_at_most_one_output_a_letter_and_names_to_read():
    found = best(FUNNEL, dc.LIP(0.3)).protocol
    assert len(found.outputs) <= len(FUNNEL.letters)
    assert all(isinstance(name, str) for name in found.outputs)
    assert found.posterior(found.outputs[0]).sum() == pytest.approx(1)


def test_large_epsilon_tells_everything_and_small_epsilon_next_to_nothing():
    assert best(FUNNEL, dc.LIP(20.0)).utility == pytest.approx(FUNNEL.entropy, abs=1e-6)
    assert best(FUNNEL, dc.LIP(1e-6)).utility < 1e-3 or len(FUNNEL.seen) < len(FUNNEL.letters)


def test_the_ladder_can_be_asked():
    assert dc.plan(FUNNEL, dc.LIP(1)).method == "columns"
    assert dc.plan(dc.Joint.from_counts([[1, 2], [3, 4]]), dc.LIP(1)).method == "pairs"
    assert dc.plan(EXAMPLE_3, dc.LDP(1)).method == "nr"
    assert all(dc.plan(FUNNEL, notion).why for notion in (dc.LIP(1), dc.LDP(1), dc.SRLIP(1)))
    assert dc.plan(FUNNEL, dc.LIP(1)).method in METHODS


def test_a_time_limit_gives_the_best_so_far_with_its_gap():
    rng = np.random.default_rng(1)
    joint = dc.Joint(rng.dirichlet(np.full(8 * 40, 0.5)).reshape(8, 40))
    found = best(joint, dc.LIP(0.3), time_limit=1.0)
    assert found.status in {"time limit", "optimal"}
    assert found.upper_bound <= joint.entropy + 1e-12


@pytest.mark.parametrize(
    ("keywords", "says"),
    [({"method": "magic"}, "nobody knows"), ({"gap": -1}, "gap"), ({"time_limit": 0}, "time limit")],
)
def test_bad_requests_are_refused(keywords, says):
    with pytest.raises(dc.ParameterError, match=says):
        dc.design(FUNNEL, dc.LIP(1), **keywords)
