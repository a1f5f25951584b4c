"""Weights, certificates, mixtures and moments: against other solvers, random mechanisms and planted faults."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import optimize

from discreet.datasets import adult
from discreet.exceptions import DistributionError, InfeasibleError, ParameterError, UnfinishedError
from discreet.solvers.vertices.accurate_rows import accurate_rows, certified, climbed_rows, rounds, space_of
from discreet.solvers.vertices.balance_curve import BalanceCurve, most_informative
from discreet.solvers.vertices.design_master import RowList, optimal_weights
from discreet.solvers.vertices.design_space import complement, design_effects
from discreet.solvers.vertices.largest_effect import smallest_largest
from discreet.solvers.vertices.listed_rows import ListedRows, shared_draws, told_by
from discreet.solvers.vertices.moment_bound import _Moments, moment_bound
from discreet.solvers.vertices.walk import lifted_ratios, list_vertices, polyhedron_of
from discreet.utilities.accuracy import weighted_squares

sys.path.insert(0, str(Path(__file__).parent))
from small_cones import Floats, curator, every_vertex, ldp, lip, table_of


def adult_table(secret: str, release: str) -> Floats:
    frame = adult().select([secret, release]).to_pandas()
    return np.asarray(frame.groupby([secret, release]).size().unstack(fill_value=0), dtype=float)


def slow_optimum(prior: Floats, rows: Floats) -> float:
    """The mean design effect by a general solver over every vertex."""
    vertices = every_vertex(prior, rows)

    def mean(weights: Floats) -> float:
        moment = vertices.T * np.maximum(weights, 0) @ vertices + 1e-12 * np.diag(1 / prior)
        return float(((np.diag(np.linalg.inv(moment)) - prior**2) / (prior - prior**2)).mean())

    start = optimize.linprog(
        np.random.default_rng(0).uniform(size=len(vertices)), A_eq=vertices.T, b_eq=np.ones(len(prior))
    ).x
    best = np.inf
    for push in (0.3, 0.05):
        spread = optimize.linprog(
            np.zeros(len(vertices)),
            A_eq=vertices.T,
            b_eq=np.ones(len(prior)),
            bounds=(push / len(vertices) / 5, None),
        )
        first = spread.x if spread.status == 0 else start
        found = optimize.minimize(
            mean,
            first,
            method="SLSQP",
            bounds=[(0, None)] * len(vertices),
            constraints={"type": "eq", "fun": lambda q: vertices.T @ q - 1},
            options={"maxiter": 2000, "ftol": 1e-12},
        )
        best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_of_a_general_solver(seed: int) -> None:
    prior, rows = lip(table_of(seed, 2, 4), 0.7)
    found = accurate_rows(prior, rows)
    assert found.listed
    assert found.lower_bound <= slow_optimum(prior, rows) * (1 + 1e-6)
    assert found.variance <= slow_optimum(prior, rows) * 1.002
    assert found.gap < 2e-3


def test_the_variance_is_what_the_matrix_alone_says() -> None:
    prior, rows = lip(table_of(5, 4, 8), 0.5)
    found = accurate_rows(prior, rows)
    assert found.variance == pytest.approx(design_effects(found.weights, found.rows, prior).mean(), rel=1e-9)
    assert np.abs(found.weights @ found.rows - 1).max() < 1e-9
    assert (rows @ found.rows.T).max() < 1e-14


def random_mechanism(seed: int, prior: Floats, vertices: Floats) -> tuple[Floats, Floats]:
    cost = np.random.default_rng(seed).normal(size=len(vertices))
    low = np.random.default_rng(seed).uniform(0, 0.5) / len(vertices) / vertices.max()
    found = optimize.linprog(cost, A_eq=vertices.T, b_eq=np.ones(len(prior)), bounds=(low, None))
    return vertices[found.x > 0], found.x[found.x > 0]


def test_no_mechanism_beats_the_certificate_of_any_prices() -> None:
    """The certificate holds at prices that are far from the optimum; without λ's condition it would not."""
    prior, rows = lip(table_of(2, 3, 5), 0.5)
    space = space_of(prior, None, None)
    source = ListedRows(space, list_vertices(polyhedron_of(prior, rows)))
    vertices = every_vertex(prior, rows)
    posteriors = source.first_rows()
    mechanisms = [random_mechanism(seed, prior, vertices) for seed in range(20)]
    worths = [space.variance(q, v * prior) for v, q in mechanisms]
    for v, q in mechanisms[:8]:
        table = RowList(v * prior @ space.balance, v * prior @ space.judged)
        design = optimal_weights(table, space.weight, start=q)
        most = source.best(space.judged @ design.curvature @ space.judged.T, space.balance @ design.price, 0.0).most
        bound = certified(space.exact_weight, design, most, None)
        assert bound <= min(worths) * (1 + 1e-9)
        unproven = certified(space.exact_weight, design, float(design.variance), None)
        assert unproven == pytest.approx(design.variance)  # what a price that saw only its own rows would claim
    assert len(posteriors)


def test_a_list_with_a_vertex_missing_proves_too_much() -> None:
    """Planted fault: the certificate is as good as the list; leave out what the optimum uses and it breaks."""
    prior, rows = lip(table_of(4, 3, 5), 0.5)
    space = space_of(prior, None, None)
    vertices = every_vertex(prior, rows)
    best = accurate_rows(prior, rows)
    claimed = []
    for used in best.rows:
        fewer = vertices[np.abs(vertices - used).max(axis=1) > 1e-5]
        assert len(fewer) == len(vertices) - 1
        design = optimal_weights(RowList(fewer * prior @ space.balance, fewer * prior @ space.judged), space.weight)
        judged, balance = fewer * prior @ space.judged, fewer * prior @ space.balance
        most = float((np.einsum("ij,ij->i", judged @ design.curvature, judged) - balance @ design.price).max())
        claimed.append(certified(space.exact_weight, design, most, None))
    assert max(claimed) > best.variance * 1.001


def test_clean_data_has_design_effect_one() -> None:
    prior, rows = lip(table_of(1, 2, 5), 9.0)
    found = accurate_rows(prior, rows)
    assert found.variance == pytest.approx(1.0, rel=2e-3)
    assert found.lower_bound == pytest.approx(1.0, rel=1e-4)


def test_ldp_is_lip_and_less() -> None:
    table = table_of(7, 3, 6)
    prior, _ = ldp(table, 0.5)
    lifted, start = lifted_ratios(table / table.sum(axis=1, keepdims=True), 0.5)
    about = accurate_rows(prior, lifted, lifted_start=start)
    assert (ldp(table, 0.5)[1] @ about.rows.T).max() < 1e-14
    assert about.lower_bound >= accurate_rows(*lip(table, 0.5)).lower_bound


def test_one_mean_is_estimated_better_when_asked_for() -> None:
    """A numeric label as the only estimand: C of rank one."""
    prior, rows = lip(table_of(3, 3, 6), 0.5)
    wanted = weighted_squares(np.arange(6.0)[None, :], prior)
    all_letters, mean = accurate_rows(prior, rows), accurate_rows(prior, rows, wanted)

    def effect(rows: Floats, weights: Floats) -> float:
        inverse = np.linalg.inv(rows.T * weights @ rows)
        return float(np.trace(wanted @ (inverse - np.outer(prior, prior))))

    assert mean.variance == pytest.approx(effect(mean.rows, mean.weights), rel=1e-6)
    assert mean.variance < effect(all_letters.rows, all_letters.weights) * 0.99
    assert mean.lower_bound <= mean.variance
    assert mean.gap < 0.03
    with pytest.raises(ParameterError):
        weighted_squares(np.ones((1, 6)), prior)
    with pytest.raises(ParameterError):
        accurate_rows(prior, rows, -np.eye(6))


def test_information_by_the_list_is_the_linear_program_over_every_vertex() -> None:
    prior, rows = lip(table_of(6, 3, 5), 0.5)
    space = space_of(prior, None, None)
    vertices = every_vertex(prior, rows)
    exact = -optimize.linprog(-told_by(space, vertices * prior), A_eq=vertices.T, b_eq=np.ones(5)).fun
    posteriors, weights, value, bound = most_informative(
        space, ListedRows(space, list_vertices(polyhedron_of(prior, rows)))
    )
    assert value == pytest.approx(exact, abs=1e-6)
    assert exact <= bound + 1e-9
    assert bound - value < 1e-5
    assert weights @ told_by(space, posteriors) == pytest.approx(value, abs=1e-9)


def test_both_ways_round_meet_on_one_curve() -> None:
    prior, rows = lip(table_of(8, 4, 7), 0.4)
    space = space_of(prior, None, None)
    balance = BalanceCurve(space, ListedRows(space, list_vertices(polyhedron_of(prior, rows))))
    possible = balance.informative[3]
    points = [balance.accurate(share) for share in (0.5, 0.9, 0.99)]
    for share, point in zip((0.5, 0.9, 0.99), points, strict=True):
        assert point.information >= share * possible - 1e-9
        assert point.gap < 5e-3
        back = balance.informed(point.variance)
        assert back.found.variance <= point.variance * (1 + 1e-9)
        assert point.information <= back.most_information + 1e-9
        assert back.most_information - back.found.information < 5e-3 * possible
    assert points[0].variance <= points[1].variance * 1.002 <= points[2].variance * 1.004
    with pytest.raises(InfeasibleError):
        balance.informed(points[0].lower_bound * 0.9)
    with pytest.raises(ParameterError):
        balance.accurate(1.2)


def test_the_largest_effect_is_smaller_than_under_the_mean() -> None:
    prior, rows = lip(table_of(9, 4, 7), 0.4)
    space = space_of(prior, None, None)
    source = ListedRows(space, list_vertices(polyhedron_of(prior, rows)))
    found = smallest_largest(space, source)
    effects = design_effects(found.weights, found.rows, prior)
    assert effects.max() == pytest.approx(found.effects.max(), rel=1e-8)
    assert found.gap < 0.02
    mean = accurate_rows(prior, rows)
    assert effects.max() < design_effects(mean.weights, mean.rows, prior).max()
    assert found.lower_bound <= design_effects(mean.weights, mean.rows, prior).max()


@pytest.mark.parametrize("seed", range(4))
def test_the_moment_bound_is_below_the_optimum_for_any_pairs(seed: int) -> None:
    prior, rows = lip(table_of(seed, 3, 6), 0.5)
    space, polyhedron = space_of(prior, None, None), polyhedron_of(prior, rows)
    best = accurate_rows(prior, rows)
    bound = moment_bound(space, polyhedron, 5.0).lower_bound
    assert 0.8 * best.variance < bound <= best.variance
    problem = _Moments(space, polyhedron)
    random = np.random.default_rng(seed)
    tried = [problem.bound(random.exponential(size=(len(problem.forms),) * 2) ** 3) for _ in range(20)]
    assert max(tried) <= best.variance
    assert max(tried) > 0


def test_the_moment_bound_of_a_lifted_cone() -> None:
    table = table_of(7, 3, 6)
    given = table / table.sum(axis=1, keepdims=True)
    lifted, start = lifted_ratios(given, 0.5)
    prior = table.sum(axis=0)
    best = accurate_rows(prior, lifted, lifted_start=start)
    bound = moment_bound(space_of(prior, None, None), polyhedron_of(prior, lifted, start), 5.0).lower_bound
    assert 0.7 * best.variance < bound <= best.variance
    assert bound > 2 * space_of(prior, None, None).clean


def test_climbing_comes_close_to_the_list() -> None:
    prior, rows = lip(table_of(11, 4, 9), 0.5)
    space, polyhedron = space_of(prior, None, None), polyhedron_of(prior, rows)
    listed = accurate_rows(prior, rows)
    climbed = climbed_rows(space, polyhedron, None, 60.0)
    assert not climbed.listed
    assert listed.lower_bound <= climbed.variance * (1 + 1e-9)
    assert climbed.variance <= listed.variance * 1.02
    assert climbed.lower_bound <= listed.variance
    assert (rows @ climbed.rows.T).max() < 1e-14


def test_a_curator_does_no_worse_than_who_reads_less() -> None:
    table = table_of(12, 3, 5)
    prior, rows = lip(table, 0.3)
    reads_less = accurate_rows(prior, rows)
    flat, conditions, averaging = curator(table, 0.3)
    draws, weights = shared_draws(table)
    assert np.abs(weights @ draws - 1).max() < 1e-9
    assert (conditions @ draws.T).max() < 0
    known = np.vstack([draws, np.tile(reads_less.rows, (1, len(table)))])
    found = accurate_rows(flat, conditions, averaging=averaging, known=known, seconds=20.0, most_vertices=50)
    assert not found.listed
    assert (conditions @ found.rows.T).max() < 1e-14
    assert found.variance == pytest.approx(
        design_effects(found.weights, found.rows @ averaging, prior).mean(), rel=1e-8
    )
    assert found.variance <= reads_less.variance * 1.002
    assert 1.0 <= found.lower_bound <= found.variance
    with pytest.raises(DistributionError):
        accurate_rows(flat, conditions, averaging=averaging * 2)


def test_rows_that_cannot_balance_are_an_error() -> None:
    with pytest.raises(UnfinishedError):
        optimal_weights(RowList(np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [2.0], [3.0]])), np.eye(1))


def test_the_time_limit_holds() -> None:
    accurate_rows(*lip(table_of(1, 3, 6), 0.5), most_vertices=2)  # compiled before the clock starts
    table = table_of(13, 5, 60)
    began = time.process_time()
    found = accurate_rows(*lip(table, 0.5), seconds=4.0, most_vertices=100)
    assert time.process_time() - began < 8.0
    assert found.lower_bound <= found.variance


def test_the_frame_is_orthonormal() -> None:
    prior = np.array([0.7, 0.2, 0.1 - 1e-9, 1e-9])
    frame = complement(prior)
    assert np.abs(frame.T @ frame - np.eye(3)).max() < 1e-14
    assert np.abs(np.sqrt(prior) @ frame).max() < 1e-14


@pytest.mark.parametrize(
    ("secret", "epsilon", "mean", "kept"),
    [("marital-status", 0.5, 2.445, 3.49), ("occupation", 0.5, 5.12, 8.92), ("occupation", 1.5, 1.522, 1.562)],
)
def test_adult(secret: str, epsilon: float, mean: float, kept: float) -> None:
    table = adult_table(secret, "education")
    prior, rows = lip(table / table.sum(), epsilon)
    found = accurate_rows(prior, rows)
    assert design_effects(found.weights, found.rows, prior).mean() <= mean
    assert found.gap < 5e-3
    space = space_of(prior, None, None)
    balance = BalanceCurve(space, ListedRows(space, list_vertices(polyhedron_of(prior, rows))))
    both = balance.accurate(0.99)
    assert design_effects(both.weights, both.rows, prior).mean() <= kept
    assert both.gap < 5e-3


def test_rounds_end_at_once_when_the_time_is_up() -> None:
    prior, rows = lip(table_of(1, 3, 6), 0.5)
    space = space_of(prior, None, None)
    source = ListedRows(space, list_vertices(polyhedron_of(prior, rows)))
    hasty = rounds(space, source, until=time.monotonic() - 1.0)
    assert hasty.lower_bound <= accurate_rows(prior, rows).variance <= hasty.design.variance * 1.002
