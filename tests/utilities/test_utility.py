"""Utilities: convex, with true gradients and chords, and the same value for a row, a split and a channel."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.utilities.utility import ChiSquareInformation, CorrectGuess, MutualInformation, Separable, Utility

ALL: list[Utility] = [MutualInformation, ChiSquareInformation, CorrectGuess]
JOINT = Joint(np.array([[0.1, 0.2, 0.0], [0.3, 0.1, 0.3]]))
CHANNEL = Channel(np.array([[0.9, 0.2, 0.1], [0.1, 0.5, 0.2], [0.0, 0.3, 0.7]]))


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.name)
def test_subgradients_support_a_convex_function(each: Utility) -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(5))
    rows = rng.exponential(size=(40, 5))
    values, slopes = each.values(rows, p), each.gradient(rows, p)
    tangents = values[:, None] + slopes @ rows.T - (slopes * rows).sum(axis=1)[:, None]
    assert (tangents <= values[None, :] + 1e-12).all()


@pytest.mark.parametrize("each", [MutualInformation, ChiSquareInformation], ids=lambda each: each.name)
def test_chords_lie_above_and_touch_at_both_ends(each: Separable) -> None:
    lower, upper = np.array([0.0, 0.3, 2.0, 1.0]), np.array([1.0, 0.9, 2.0, 7.0])
    slopes, offsets = each.secants(lower, upper)
    for share in np.linspace(0, 1, 11):
        w = lower + share * (upper - lower)
        assert (slopes * w + offsets >= each.h(w) - 1e-12).all()
    assert np.allclose(slopes * lower + offsets, each.h(lower))
    assert np.allclose(slopes * upper + offsets, each.h(upper))


def test_mutual_information_of_a_channel() -> None:
    assert MutualInformation.of(JOINT, CHANNEL) == pytest.approx(utility(JOINT, CHANNEL), abs=1e-14)


def test_chi_square_of_a_channel() -> None:
    cells = JOINT.prior[:, None] * CHANNEL.matrix.T
    independent = np.outer(JOINT.prior, cells.sum(axis=0))
    assert ChiSquareInformation.of(JOINT, CHANNEL) == pytest.approx(((cells - independent) ** 2 / independent).sum())


def test_correct_guess_of_a_channel() -> None:
    cells = JOINT.prior[:, None] * CHANNEL.matrix.T
    assert CorrectGuess.of(JOINT, CHANNEL) == pytest.approx(cells.max(axis=0).sum())


def test_targets_of_mass_zero_do_not_matter() -> None:
    joint = Joint(np.array([[0.1, 0.0, 0.4], [0.3, 0.0, 0.2]]))
    for each in ALL:
        assert np.isfinite(each.of(joint, CHANNEL))
