"""Means, differences, tests of independence, what a release is worth, forecasts and weights."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chi2_contingency

from discreet.attribute import Attribute
from discreet.channel import Channel
from discreet.estimate import (
    difference,
    estimate,
    estimate_by,
    forecast,
    independence,
    posterior,
    smallest_epsilon,
    weighted,
)
from discreet.exceptions import AlphabetError, InfeasibleError, ParameterError
from discreet.joint import Joint
from discreet.mechanisms.randomised_response import grr
from discreet.notions import LIP
from discreet.protocol import Protocol

NOISY = Channel(np.full((3, 3), 0.2) + 0.4 * np.eye(3), inputs=(0, 1, 5), outputs=(0, 1, 5))
TRUTH = np.array([0.6, 0.3, 0.1])


def releases(n: int, count: int, seed: int = 0, truth: np.ndarray = TRUTH) -> np.ndarray:
    return np.asarray(np.random.default_rng(seed).multinomial(n, NOISY.matrix @ truth, size=count))


def test_mean_of_numeric_letters() -> None:
    found = [estimate(counts, NOISY).mean() for counts in releases(300, 400)]
    values = np.array([one.value for one in found])
    truth = float(TRUTH @ [0, 1, 5])
    assert abs(values.mean() - truth) < 5 * values.std() / np.sqrt(len(values))
    assert np.mean([one.standard_error for one in found]) == pytest.approx(values.std(), rel=0.12)
    inside = np.mean([low <= truth <= high for low, high in (one.interval() for one in found)])
    assert 0.91 <= inside <= 0.985
    assert found[0].bounds == (found[0].value, found[0].value)


def test_means_need_a_number_a_letter() -> None:
    named = estimate(np.array([50, 30, 20]), Channel(NOISY.matrix, ("a", "b", "c")))
    with pytest.raises(AlphabetError):
        named.mean()
    with pytest.raises(AlphabetError):
        named.mean({"a": 1.0, "b": 2.0})
    assert named.mean({"a": 1.0, "b": 2.0, "c": 2.0}).value == pytest.approx(2 - named.frequencies[0])
    with pytest.raises(ParameterError):
        named.combination([1.0, 2.0])


def test_differences_cover() -> None:
    other = np.array([0.4, 0.5, 0.1])
    pairs = zip(releases(150, 200, 1), releases(400, 200, 2, other), strict=True)
    inside = []
    for first, second in pairs:
        found = difference(estimate(first, NOISY), estimate(second, NOISY))
        low, high = found.interval().T
        inside.append((low <= TRUTH - other) & (TRUTH - other <= high))
    share = np.mean(inside, axis=0)
    assert share.min() >= 0.90
    assert share.max() <= 0.99
    with pytest.raises(AlphabetError):
        difference(estimate(first, NOISY), estimate(first, Channel(NOISY.matrix)))


def test_clean_records_are_worth_themselves() -> None:
    clean = estimate(np.array([500, 300, 200]), Channel(np.eye(3)))
    assert clean.effective_sample_size == pytest.approx(1000, rel=0.01)
    assert estimate(np.array([500, 300, 200]), NOISY).design_effect > 3


# ---- independence ---------------------------------------------------------------------------------------------------

AXES = (Attribute("a", (0, 1)), Attribute("b", (0, 1, 2)))


def p_values(table: np.ndarray, n: int, count: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """p-values of the test, and of a plain chi-square test that takes the released cells for clean."""
    rng = np.random.default_rng(n)
    joint = Joint(np.full((2, 2, 3), 1 / 12), releases=AXES)
    mixed = 0.6 * np.eye(6) + 0.4 * rng.dirichlet(np.full(6, 0.3), size=6).T
    protocol = Protocol.make(Channel(mixed, joint.letters), joint, LIP(5.0))
    ours, plain, simulated = [], [], False
    for counts in rng.multinomial(n, protocol.matrix @ table.reshape(-1), size=count):
        found = independence(estimate(counts, protocol), "a", "b")
        simulated |= found.simulated
        ours.append(found.p_value)
        plain.append(chi2_contingency(counts.reshape(2, 3) + 0.1).pvalue)
    return np.array(ours), np.array(plain), simulated


@pytest.mark.parametrize(("n", "simulated"), [(200, True), (20_000, False)])
def test_independent_attributes_are_rarely_called_dependent(n: int, simulated: bool) -> None:
    ours, plain, switched = p_values(np.outer([0.7, 0.3], [0.5, 0.3, 0.2]), n, 200)
    assert 0.01 <= (ours < 0.1).mean() <= 0.18
    assert switched == simulated
    if n == 20_000:
        assert (plain < 0.1).mean() > 0.9


def test_dependent_attributes_are_found() -> None:
    ours, _, _ = p_values(np.array([[0.4, 0.2, 0.1], [0.05, 0.1, 0.15]]), 5000, 40)
    assert (ours < 0.01).mean() > 0.9


def test_what_was_not_released_together_cannot_be_tested() -> None:
    first, second = (
        Protocol.make(Channel(np.array([[0.7, 0.3], [0.3, 0.7]]), joint.letters), joint, LIP(1.0))
        for joint in (Joint(np.full((2, 2), 0.25), releases=(Attribute(name, (0, 1)),)) for name in "ab")
    )
    found = estimate([np.array([30, 70]), np.array([60, 40])], [first, second])
    with pytest.raises(ParameterError, match="does not determine"):
        independence(found, "a", "b")


# ---- before a release -----------------------------------------------------------------------------------------------


def test_forecast_is_what_happens() -> None:
    joint = Joint(np.array([TRUTH, TRUTH]) / 2, releases=((0, 1, 5)))
    expected = forecast(NOISY, joint, 500)
    values = np.array([estimate(counts, NOISY).frequencies for counts in releases(500, 2000)])
    np.testing.assert_allclose(expected.standard_errors, values.std(axis=0), rtol=0.08)
    assert expected.effective_sample_size < 500
    assert forecast(Channel(np.eye(3)), joint, 500).effective_sample_size == pytest.approx(500, rel=1e-3)
    merged = Channel(np.array([[1.0, 0.5, 0.5], [0.0, 0.5, 0.5]]))
    assert np.isinf(forecast(merged, joint, 500).standard_errors).tolist() == [False, True, True]


def test_smallest_epsilon() -> None:
    joint = Joint(np.array([TRUTH, TRUTH]) / 2)
    found = smallest_epsilon(lambda e: grr(joint, e), joint, 10_000, half_width=0.02)
    assert found.half_width == forecast(found.channel, joint, 10_000).half_widths().max() <= 0.02
    assert forecast(grr(joint, found.epsilon * 0.98), joint, 10_000).half_widths().max() > 0.02
    with pytest.raises(InfeasibleError, match="clean records"):
        smallest_epsilon(lambda e: grr(joint, e), joint, 10, half_width=0.001)
    with pytest.raises(InfeasibleError, match="not reached"):
        smallest_epsilon(lambda e: grr(joint, e), joint, 10_000, half_width=0.02, between=(0.001, 0.01))
    with pytest.raises(ParameterError):
        smallest_epsilon(lambda e: grr(joint, e), joint, 10_000, half_width=0.0)
    with pytest.raises(ParameterError):
        forecast(NOISY, joint, 0)


def test_a_smaller_epsilon_is_found_where_accuracy_is_not_monotone() -> None:
    """Bisection would stop at 5: in the middle the mechanism is useless, from 0.1 to 0.2 it is not."""
    joint = Joint(np.array([TRUTH, TRUTH]) / 2)

    def channel_at(epsilon: float) -> Channel:
        return Channel(np.full((3, 3), 1 / 3)) if epsilon < 0.1 or 0.2 < epsilon < 5 else Channel(np.eye(3))

    found = smallest_epsilon(channel_at, joint, 10_000, half_width=0.02)
    assert 0.1 <= found.epsilon <= 0.1 * 1.01
    assert {half for epsilon, half in found.tried if epsilon < 0.1} == {np.inf}


def test_the_accuracy_is_that_of_every_attribute_by_itself() -> None:
    joint = Joint(np.full((2, 2, 2), 1 / 8), releases=(Attribute("a", (0, 1)), Attribute("b", (0, 1))))
    first_only = Channel(np.kron(np.eye(2), [[1.0, 1.0]]))
    found = smallest_epsilon(lambda e: first_only, joint, 10_000, half_width=0.01, names=["a"])
    assert found.half_width == pytest.approx(1.96 * 0.5 / 100, rel=1e-3)
    with pytest.raises(InfeasibleError):
        smallest_epsilon(lambda e: first_only, joint, 10_000, half_width=0.01)


# ---- weights --------------------------------------------------------------------------------------------------------


def test_weights_average_to_the_most_likely_distribution() -> None:
    """EM's fixed point: the mean of P(x | y) over the records is the distribution it came from."""
    counts = releases(5000, 1)[0]
    found = estimate(counts, NOISY, method="likelihood")
    table = posterior(NOISY, found)
    np.testing.assert_allclose(table.sum(axis=1), 1)
    np.testing.assert_allclose(counts @ table / counts.sum(), found.frequencies, atol=1e-6)


def test_weights_by_group() -> None:
    rng = np.random.default_rng(0)
    groups = rng.choice(["x", "y"], size=400)
    drawn = [NOISY.outputs[i] for i in rng.choice(3, size=400)]
    table = pa.table({"output": drawn, "class": groups})
    by = estimate_by(table, NOISY, "class")
    weights = weighted(table, NOISY, by, by="class")
    first = posterior(NOISY, by[str(groups[7])])[NOISY.outputs.index(drawn[7])]
    np.testing.assert_allclose(weights[7], first)
    with pytest.raises(AlphabetError):
        weighted(table, NOISY, {"x": by["x"]}, by="class")
    with pytest.raises(ParameterError):
        weighted(table, NOISY, by)
