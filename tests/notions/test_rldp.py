"""RLDP: levels with their witnesses, cones that agree with them, and sets that share a budget or nothing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.notion import allows
from discreet.notions.polyopt import polyopt_rows
from discreet.notions.rldp import RLDP, largest_excess
from discreet.testing import epsilons, joints, joints_with_channels
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi, Uncertainty, UncertaintySet
from discreet.uncertainty.extremes import Extreme
from discreet.uncertainty.sets import ball_around

EXAMPLE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)


PRINTED = np.array(
    [
        [0.0885, 0.3840, 0.6667, 0.0507],
        [0.0860, 0.3731, 0, 0.3080],
        [0.6162, 0.1813, 0, 0.6159],
        [0.2094, 0.0616, 0.3333, 0.0254],
    ]
)


def sets() -> st.SearchStrategy[object]:
    return st.one_of(
        st.builds(ChiSquare, st.floats(0.5, 0.99)),
        st.builds(Renyi, st.sampled_from([0.3, 0.5, 1.0, 2.0, 5.0]), st.floats(1e-3, 1.0)),
    )


def test_the_matrix_of_example_3_is_private_with_room_to_spare() -> None:
    level = RLDP(np.log(2), ChiSquare(0.95)).level(Channel(PRINTED / PRINTED.sum(axis=0)), EXAMPLE)
    assert level.epsilon < np.log(2) - 0.1
    assert level.witness is not None
    assert level.witness.distribution is not None
    assert ChiSquare(0.95).around(EXAMPLE).contains(level.witness.distribution)


@settings(deadline=None, max_examples=40)
@given(joints_with_channels(), sets())
def test_the_witness_attains_the_level(drawn: tuple[Joint, Channel], uncertainty: object) -> None:
    joint, channel = drawn
    level = RLDP(1.0, uncertainty).level(channel, joint)  # type: ignore[arg-type]
    if level.witness is None or not np.isfinite(level.epsilon):
        return
    worst = level.witness.distribution
    assert worst is not None
    rows = joint.expand(channel.matrix)[channel.outputs.index(level.witness.output)]
    likelihood = (worst * rows).sum(axis=1) / np.where(worst.sum(axis=1) > 0, worst.sum(axis=1), 1)
    s, t = (joint.secret_letters.index(name) for name in (level.witness.secret, level.witness.other))
    assert np.log(likelihood[s] / likelihood[t]) == pytest.approx(level.epsilon, abs=1e-4)


@settings(deadline=None, max_examples=40)
@given(joints_with_channels(include_secret=True), st.sampled_from([0.4, 1.0, 2.0]))
def test_levels_grow_with_the_set(drawn: tuple[Joint, Channel], order: float) -> None:
    joint, channel = drawn
    chain = [Exactly(), Renyi(order, 0.01), Renyi(order, 0.3), Everything()]
    levels = [RLDP(1.0, uncertainty).level(channel, joint).epsilon for uncertainty in chain]
    assert all(small <= large + 1e-9 for small, large in pairwise(levels))
    assert levels[0] == pytest.approx(max(0.0, LDP(1.0).level(channel, joint).epsilon))


@settings(deadline=None, max_examples=60)
@given(joints(include_secret=True), st.integers(0, 10**6))
def test_the_whole_simplex_is_proposition_3(joint: Joint, seed: int) -> None:
    weights = np.random.default_rng(seed).random((3, len(joint.letters)))
    channel = Channel(weights / weights.sum(axis=0))
    rows = joint.expand(channel.matrix)
    worst = max(np.log(v[s].max() / np.delete(v, s, axis=0).min()) for v in rows for s in range(len(v)))
    assert RLDP(1.0, Everything()).level(channel, joint).epsilon == pytest.approx(worst)


@settings(deadline=None, max_examples=60)
@given(
    joints(include_secret=True), epsilons, sets() | st.just(Everything()) | st.just(Exactly()), st.integers(0, 10**6)
)
def test_a_row_is_allowed_exactly_when_its_level_is_small_enough(
    joint: Joint, epsilon: float, uncertainty: object, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    row = rng.random(len(joint.letters)) * 0.9 + 0.01
    notion = RLDP(epsilon, uncertainty)  # type: ignore[arg-type]
    level = _row_level(notion, row, joint)
    if abs(level - epsilon) > 1e-6:
        assert allows(notion, row, joint) == (level < epsilon)


def _row_level(notion: RLDP, row: np.ndarray, joint: Joint) -> float:
    """The level of one row: beside it only rows that treat every letter alike."""
    return _level_of(notion, np.vstack([row, np.zeros_like(row)]), joint)


def _level_of(notion: RLDP, rows: np.ndarray, joint: Joint) -> float:
    from discreet.notions.rldp import _worst_pair

    return float(np.log(_worst_pair(ball_around(notion.uncertainty, joint), joint.expand(rows))[3]))


@settings(deadline=None, max_examples=15)
@given(joints(include_secret=True), epsilons, st.integers(0, 10**6))
def test_cuts_are_valid_for_every_allowed_row(joint: Joint, epsilon: float, seed: int) -> None:
    """A row found for one v must not cut off another v that is allowed."""
    rng = np.random.default_rng(seed)
    notion = RLDP(epsilon, ChiSquare(0.9))
    cuts = notion.cone(joint).separate(rng.random(len(joint.letters)))  # type: ignore[misc]
    for _ in range(5):
        row = 1 + rng.uniform(0, 2) * rng.random(len(joint.letters))
        if allows(notion, row, joint):
            assert (cuts @ row <= 1e-8 * np.abs(cuts * row).sum(axis=1)).all()


def test_mechanisms_that_read_x_only_and_curators_are_levels_of_the_same_kind() -> None:
    counts = [[7, 10, 3], [26, 57, 9]]
    reads_x = Joint.from_counts(counts)
    reads_both, curator = Joint.from_counts(counts, include_secret=True), reads_x.curator()
    matrix = np.array([[0.7, 0.2, 0.4], [0.3, 0.8, 0.6]])
    levels = [
        RLDP(1.0).level(Channel(matrix), reads_x).epsilon,
        RLDP(1.0).level(Channel(np.hstack([matrix, matrix])), reads_both).epsilon,
        RLDP(1.0).level(Channel(np.hstack([matrix, matrix])), curator).epsilon,
    ]
    assert levels == pytest.approx([levels[0]] * 3)


def test_only_different_secrets_are_compared() -> None:
    """A row may be as uneven as it likes within a secret where F allows it no movement between secrets."""
    joint = Joint.from_counts([[50, 50], [50, 50]], include_secret=True)
    row = np.array([0.0, 1.0, 1.0, 0.0])
    assert RLDP(0.1, Exactly()).cone(joint).excess(row) <= 0


@dataclass(frozen=True, eq=False)
class AnyConditional(UncertaintySet):
    """The whole simplex as a set whose secrets share nothing: a mean lies between the smallest and largest entry."""

    estimate: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        return np.asarray(self.estimate.sum(axis=1))

    @property
    def conditional(self) -> np.ndarray:
        return np.full(self.estimate.shape, 1 / self.estimate.shape[1])

    def ranges(self, rows: np.ndarray) -> tuple[Extreme, Extreme]:
        corners = [np.eye(rows.shape[-1])[place] for place in (rows.argmax(axis=-1), rows.argmin(axis=-1))]
        most, least = (Extreme((rows * corner).sum(axis=-1), corner, np.zeros(rows.shape[:-1])) for corner in corners)
        return most, least

    def contains(self, distribution: np.ndarray, tolerance: float = 1e-9) -> np.ndarray:
        return np.asarray((distribution >= -tolerance).all(axis=(-2, -1)))


@dataclass(frozen=True)
class Unknown(Uncertainty):
    def around(self, joint: Joint) -> AnyConditional:
        return AnyConditional(joint.table)


@settings(deadline=None, max_examples=30)
@given(joints_with_channels(include_secret=True), st.integers(0, 10**6))
def test_a_set_without_a_budget_is_treated_secret_by_secret(drawn: tuple[Joint, Channel], seed: int) -> None:
    """Level, witness, cuts and excess agree with those of the same set as a ball."""
    joint, channel = drawn
    free, ball = RLDP(0.7, Unknown()), RLDP(0.7, Everything())
    assert free.uncertainty.around(joint).budget is None
    level, same = free.level(channel, joint), ball.level(channel, joint)
    assert level.epsilon == pytest.approx(same.epsilon)
    if np.isfinite(level.epsilon) and level.witness is not None:
        assert level.witness.distribution is not None
        rows = joint.expand(channel.matrix)[channel.outputs.index(level.witness.output)]
        likelihood = (level.witness.distribution * rows).sum(axis=1) / level.witness.distribution.sum(axis=1)
        s, t = (joint.secret_letters.index(name) for name in (level.witness.secret, level.witness.other))
        assert np.log(likelihood[s] / likelihood[t]) == pytest.approx(level.epsilon)
    row = np.random.default_rng(seed).random(len(joint.letters)) + 0.1
    assert (free.cone(joint).excess(row) <= 1e-12) == (ball.cone(joint).excess(row) <= 1e-12)
    rows = joint.expand(row[None])
    assert largest_excess(free.uncertainty.around(joint), rows, 2.0) == pytest.approx(
        largest_excess(ball.uncertainty.around(joint), rows, 2.0)
    )


def test_what_is_made_for_balls_refuses_other_sets() -> None:
    with pytest.raises(ParameterError, match="Rényi balls"):
        polyopt_rows(EXAMPLE, RLDP(1.0, Unknown()))
