"""Independent attributes are rarely called dependent, whatever the release adds to the noise of its outputs.

Every control is the same test without what was added, or with attributes that are dependent.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2_contingency

import discreet as dc
from discreet.estimate import Estimate, estimate, independence
from discreet.estimate.functionals import Analysis
from discreet.estimate.independence import _Products
from discreet.protocol.statement import Statement
from discreet.records.persons import Rule, WhoseRows

TABLE = np.outer([0.5, 0.3, 0.2], [0.4, 0.4, 0.2])
TIED = 0.5 * TABLE + 0.5 * np.diag([0.4, 0.4, 0.2])


def axes(*sizes: int) -> list[dc.Attribute]:
    return [dc.Attribute(name, tuple(range(size))) for name, size in zip("ab", sizes, strict=False)]


def stated(matrix: np.ndarray, *sizes: int) -> dc.Protocol:
    joint = dc.Joint(np.full((2, *sizes), 0.5 / np.prod(sizes)), releases=axes(*sizes))
    outputs = [f"y{number}" for number in range(len(matrix))]
    return dc.Protocol.make(dc.Channel(matrix, joint.letters, outputs), joint, dc.LIP(9), source="public")


def randomised(size: int, epsilon: float) -> np.ndarray:
    return (np.ones((size, size)) + (np.exp(epsilon) - 1) * np.eye(size)) / (np.exp(epsilon) + size - 1)


def drawn(protocol: dc.Protocol, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Counts of the outputs, those of values in the order of the letters."""
    channel = np.asarray(protocol.matrix) / np.asarray(protocol.matrix).sum(axis=0)
    counts = np.sum([rng.multinomial(n, channel[:, z]) for z, n in enumerate(values)], axis=0)
    place = {letter: number for number, letter in enumerate(protocol.joint.target_letters)}
    if set(protocol.outputs) != set(place):
        return np.asarray(counts)
    moved = np.zeros_like(counts)
    moved[[place[output] for output in protocol.outputs]] = counts
    return moved


def rejected(found: list[Estimate], level: float = 0.1) -> float:
    return float(np.mean([independence(one, *one.names).p_value < level for one in found]))


@pytest.fixture(scope="module")
def shares() -> np.ndarray:
    return np.random.default_rng(1).uniform(0.05, 0.95, (3, 3))


@pytest.mark.parametrize("n", [300, 5000])
def test_values_counted_as_they_are(shares: np.ndarray, n: int) -> None:
    rng, found = np.random.default_rng(n), []
    for _ in range(100):
        counts = rng.multinomial(n, np.stack([shares, 1 - shares]).ravel() / 9).reshape(2, 3, 3)
        protocol = dc.design(dc.Joint.from_counts(counts), dc.LIP(0.02), utility=dc.Agreement()).protocol
        found.append(estimate(drawn(protocol, counts.sum(axis=0).ravel(), rng), protocol))
    assert all(isinstance(one.analysis, Analysis) and one.analysis.excess is not None for one in found)
    assert 0.02 <= rejected(found) <= 0.17
    bare = [replace(one, analysis=replace(one.analysis, excess=None)) for one in found]
    assert rejected(bare) >= 0.2


@pytest.mark.parametrize("rule", [Rule.tied, Rule.independent])
@pytest.mark.parametrize("persons", [50, 2000])
def test_rows_of_one_person(rule: Rule, persons: int) -> None:
    rng, rows, plain = np.random.default_rng(persons), 4, stated(randomised(9, 5.0), 3, 3)
    epsilon = plain.rows_level(rows) if rule is Rule.independent else None
    whose = WhoseRows("person", "pid", rule, persons, rows * persons, rows, epsilon)
    protocol, released = plain.stating(Statement.about(whose), "public"), []
    for _ in range(100):
        values = rng.multinomial(persons, TABLE.ravel())
        released.append(rows * drawn(plain, values, rng) if rule is Rule.tied else drawn(plain, rows * values, rng))
    assert rejected([estimate(counts, protocol) for counts in released]) <= 0.15
    assert rejected([estimate(counts, plain) for counts in released]) >= 0.3


def values_protocol(shares: np.ndarray, epsilon: float) -> dc.Protocol:
    law = np.stack([shares, 1 - shares]) / 9
    counts = np.random.default_rng(1).multinomial(5000, law.ravel()).reshape(law.shape)
    return dc.design(dc.Joint.from_counts(counts), dc.LIP(epsilon), utility=dc.Agreement()).protocol.with_source(
        "public"
    )


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_other_records_through_a_values_mechanism(shares: np.ndarray, epsilon: float) -> None:
    """At 0.05 the standard errors are half of the margins in one direction, and small in the others."""
    rng, protocol = np.random.default_rng(1), values_protocol(shares, epsilon)
    even, tied = np.full(9, 1 / 9), 0.5 / 9 + np.eye(3).ravel() / 6
    free = [estimate(drawn(protocol, rng.multinomial(5000, even), rng), protocol) for _ in range(100)]
    bound = [estimate(drawn(protocol, rng.multinomial(5000, tied), rng), protocol) for _ in range(10)]
    assert (np.max(free[0].standard_errors) > 0.1) == (epsilon < 1)
    assert rejected(free) <= 0.17
    assert rejected(free, 0.01) <= 0.04
    assert rejected(bound, 0.01) == 1


def test_where_noise_hides_everything_the_test_says_so() -> None:
    rng, words = np.random.default_rng(0), []
    for epsilon in (0.05, 4.0):
        protocol = stated(randomised(9, epsilon), 3, 3)
        found = independence(estimate(drawn(protocol, rng.multinomial(1000, TIED.ravel()), rng), protocol), "a", "b")
        assert (found.p_value == 1) == bool(found.reason)
        assert found.p_value == 1 or found.p_value < 0.001
        words.append(found.reason)
    assert words[0].startswith("The release cannot tell")
    assert not words[1]


def test_a_column_that_is_hidden_beside_one_that_is_not() -> None:
    """Errors of some cells are 10^10 times those of their sums: rounding decides nothing."""
    joints = [dc.Joint(np.full((2, 3), 1 / 6), releases=[one]) for one in axes(3, 3)]
    channels = np.eye(3), randomised(3, 1e-8)
    protocols = [
        dc.Protocol.make(
            dc.Channel(matrix, joint.letters, [f"y{i}" for i in range(3)]), joint, dc.LIP(9), source="public"
        )
        for matrix, joint in zip(channels, joints, strict=True)
    ]
    names = [[f"y{i}" for i in np.random.default_rng(seed).integers(0, 3, 500)] for seed in (1, 2)]
    table = {one.joint.released[0].name: column for one, column in zip(protocols, names, strict=True)}
    found = independence(estimate(pd.DataFrame(table), protocols), "a", "b")
    assert found.p_value == 1
    assert found.reason


def test_a_column_of_one_letter() -> None:
    found = independence(estimate(np.array([60, 40, 20]), stated(np.eye(3), 1, 3)), "a", "b")
    assert (found.p_value, found.degrees) == (1.0, 0)
    assert "one letter" in found.reason


def test_the_distance_is_the_least_of_all_products() -> None:
    rng = np.random.default_rng(2)
    for scale in (0.01, 0.3):
        noise = rng.normal(size=(6, 6)) * scale
        noise -= noise.mean(axis=0)
        products, table = _Products.of(noise @ noise.T, TABLE[:2] / TABLE[:2].sum()), rng.dirichlet(np.ones(6))
        inverse = np.linalg.pinv(noise @ noise.T, rcond=1e-9)

        def distance(left: np.ndarray, right: np.ndarray) -> float:
            gap = table - np.outer(left, right).ravel()  # noqa: B023
            return float(gap @ inverse @ gap)  # noqa: B023

        def of(sides: np.ndarray) -> float:
            return distance(np.append(sides[:1], 1 - sides[0]), np.append(sides[1:], 1 - sides[1:].sum()))

        least, left, right = products.nearest(table)
        assert least == pytest.approx(distance(left, right), rel=1e-6)
        assert left.sum() == pytest.approx(1)
        assert right.sum() == pytest.approx(1)
        tried = [minimize(of, np.append(left[:1], right[:2]) + start).fun for start in rng.normal(size=(40, 3)) * 0.5]
        assert least == pytest.approx(min(tried), rel=1e-4)
        assert (products.distances(rng.dirichlet(np.ones(6), size=5)) > 0).all()


def test_clean_cells_give_the_statistic_of_everybody() -> None:
    counts = np.random.default_rng(3).multinomial(50_000, TABLE.ravel())
    found = independence(estimate(counts, stated(np.eye(9), 3, 3)), "a", "b")
    assert found.statistic == pytest.approx(chi2_contingency(counts.reshape(3, 3)).statistic, rel=0.01)
    assert not found.simulated
