"""Designs for what people do with a release, through `design`: accuracy, balance, agreement."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.datasets import adult
from discreet.exceptions import ParameterError


def adult_joint(secret: str) -> dc.Joint:
    return dc.Joint.from_table(adult(), secret=secret, release="education")


def small_joint() -> dc.Joint:
    counts = np.random.default_rng(3).integers(20, 200, (3, 2, 3))
    return dc.Joint.from_counts(
        counts, ("a", "b", "c"), (dc.Attribute("sex", ("f", "m")), dc.Attribute("age", (1, 2, 3)))
    )


def mean_effect(joint: dc.Joint, matrix: np.ndarray) -> float:
    """From the matrix alone: Q[y, x] averaged over the secret, M = Qᵀ diag(1/q) Q, in the definition's own words."""
    p = joint.target_prior
    masses = np.zeros((len(matrix), len(p)))
    np.add.at(masses.T, joint.target_of, (matrix * joint.prior).T)
    given = masses / p
    inverse = np.linalg.inv(given.T / masses.sum(axis=1) @ given)
    return float(np.mean((np.diag(inverse) - p**2) / (p - p**2)))


@pytest.mark.parametrize(("secret", "epsilon", "most"), [("marital-status", 0.5, 2.445), ("occupation", 1.5, 1.522)])
def test_adult_is_as_accurate_as_proven_possible(secret: str, epsilon: float, most: float) -> None:
    joint = adult_joint(secret)
    found = dc.design(joint, dc.LIP(epsilon), utility=dc.Accuracy())
    assert mean_effect(joint, found.protocol.matrix) == pytest.approx(1 / found.utility, rel=1e-6)
    assert 1 / found.utility <= most
    assert found.gap <= 0.005 * found.upper_bound
    informative = dc.design(joint, dc.LIP(epsilon), gap=1e-3)
    assert mean_effect(joint, informative.protocol.matrix) > 3 * most  # the negative control


def test_a_balance_keeps_what_it_says() -> None:
    joint = adult_joint("marital-status")
    most = dc.design(joint, dc.LIP(0.5), gap=1e-4).upper_bound
    found = dc.design(joint, dc.LIP(0.5), utility=dc.Balance(information=0.99))
    assert found.protocol.utility >= 0.99 * most - 1e-4
    assert 1 / found.utility <= 3.49
    other = dc.design(joint, dc.LIP(0.5), utility=dc.Balance(accuracy=0.9))
    best = dc.design(joint, dc.LIP(0.5), utility=dc.Accuracy())
    assert dc.Accuracy().of(joint, other.protocol.channel) >= 0.9 * best.utility * (1 - 1e-3)
    assert other.gap <= 1e-3


@pytest.mark.parametrize("notion", [dc.LIP(0.4), dc.LDP(0.4), dc.SRLIP(0.4), dc.OrdinaryLDP(1.0), dc.RLDP(1.0)])
@pytest.mark.parametrize("sees", [False, True])
def test_every_notion_and_form(notion: dc.LIP, sees: bool) -> None:
    joint = small_joint()
    accurate = dc.design(joint, notion, utility=dc.Accuracy(), sees_secret=sees, time_limit=4)
    form = accurate.protocol.joint
    assert accurate.protocol.epsilon <= notion.epsilon
    assert mean_effect(form, accurate.protocol.matrix) == pytest.approx(1 / accurate.utility, rel=1e-6)
    assert accurate.utility <= accurate.upper_bound <= 1
    values = dc.design(joint, notion, utility=dc.Agreement(), sees_secret=sees, time_limit=4)
    assert values.protocol.outputs == form.release_letters
    assert np.abs(values.protocol.matrix @ form.prior - form.target_prior).max() <= 2.0**-40
    assert values.utility <= values.upper_bound + 1e-9


def test_a_curator_is_never_less_accurate_than_one_who_reads_less() -> None:
    joint = small_joint()
    for epsilon in (0.05, 0.5):
        less = dc.design(joint, dc.LIP(epsilon), utility=dc.Accuracy())
        more = dc.design(joint, dc.LIP(epsilon), utility=dc.Accuracy(), sees_secret=True, time_limit=4)
        assert more.utility >= less.utility * (1 - 1e-9)


def test_the_largest_effect_is_smaller_when_asked_for() -> None:
    joint = small_joint()
    mean = dc.design(joint, dc.LIP(0.2), utility=dc.Accuracy())
    worst = dc.design(joint, dc.LIP(0.2), utility=dc.Accuracy(worst=True))
    of_mean = dc.Accuracy(worst=True).of(joint, mean.protocol.channel)
    assert of_mean < worst.utility <= worst.upper_bound


@pytest.mark.parametrize(
    "asked",
    [
        dc.Accuracy(["sex", "age"]),
        dc.Accuracy([("age", "sex")]),
        dc.Accuracy(means=("age",)),
        dc.Accuracy(weights=[1, 1, 1, 5, 1, 1]),
        dc.Accuracy(np.array([[1, 0, 0, -1, 0, 0], [0, 1, 0, 0, 0, 0]])),
    ],
)
def test_what_is_asked_for_is_estimated_better(asked: dc.Accuracy) -> None:
    joint = small_joint()
    found = dc.design(joint, dc.LIP(0.2), utility=asked)
    plain = dc.design(joint, dc.LIP(0.2), utility=dc.Accuracy())
    assert found.utility >= asked.of(joint, plain.protocol.channel) * (1 - 2e-3)
    assert found.upper_bound >= found.utility
    assert found.gap <= 0.02 * found.upper_bound


def test_effects_by_hand() -> None:
    """A table of columns against the sum over the other column; a margin of a mean; what is not determined."""
    joint = small_joint()
    everything = dc.Channel(np.eye(6))
    for asked in (dc.Accuracy(), dc.Accuracy(["sex"]), dc.Accuracy(means=("age",)), dc.Accuracy(worst=True)):
        assert asked.of(joint, everything) == pytest.approx(1)
    only_sex = dc.Channel(np.repeat(np.eye(2), 3, axis=1))
    assert dc.Accuracy(["sex"]).of(joint, only_sex) == pytest.approx(1)
    assert dc.Accuracy(["age"]).of(joint, only_sex) == 0
    assert dc.Accuracy().of(joint, only_sex) == 0


@pytest.mark.parametrize(
    "wrong",
    [dc.Accuracy(["nose"]), dc.Accuracy(np.ones((1, 6))), dc.Accuracy(weights=[1.0]), dc.Accuracy(means=("sex",))],
)
def test_wrong_estimands_are_refused(wrong: dc.Accuracy) -> None:
    with pytest.raises(ParameterError):
        dc.design(small_joint(), dc.LIP(0.5), utility=wrong)
    with pytest.raises(ParameterError):
        dc.design(small_joint(), dc.LIP(0.5), utility=dc.Accuracy(), method="columns")
    with pytest.raises(ParameterError):
        dc.Balance(information=0.9, accuracy=0.9)


@pytest.mark.parametrize("distance", ["order", "numbers", lambda a, b: 0.0 if a == b else 1.0, 1 - np.eye(3)])
def test_distances(distance: object) -> None:
    counts = np.random.default_rng(3).integers(20, 200, (3, 3))
    joint = dc.Joint.from_counts(counts, ("a", "b", "c"), (dc.Attribute("age", (10, 20, 40)),))
    found = dc.design(joint, dc.LIP(0.2), utility=dc.Agreement(distance))
    plain = dc.design(joint, dc.LIP(0.2), utility=dc.Agreement())
    measured = dc.Agreement(distance)
    assert found.utility >= measured.of(joint, plain.protocol.channel) - 1e-9
    assert found.utility <= 0
    if not isinstance(distance, str):
        assert found.utility == pytest.approx(plain.utility - 1, abs=1e-8)


@pytest.mark.parametrize(("secret", "notion"), [("marital-status", dc.LIP(0.5)), ("sex", dc.LDP(0.3))])
def test_the_walk_proves_information_independently(secret: str, notion: dc.LIP) -> None:
    joint = adult_joint(secret)
    walk = dc.design(joint, notion, method="walk")
    columns = dc.design(joint, notion, method="columns", gap=1e-6)
    assert walk.utility == pytest.approx(columns.utility, abs=2e-6)
    assert walk.gap <= 1e-6


def test_the_largest_effect_is_about_letters() -> None:
    """Its search bounds the effects of letters; of other estimands it would promise too little."""
    for options in ({"estimands": ["sex"]}, {"means": ("age",)}, {"weights": [1.0, 2.0]}):
        with pytest.raises(dc.ParameterError):
            dc.Accuracy(worst=True, **options)  # type: ignore[arg-type]
