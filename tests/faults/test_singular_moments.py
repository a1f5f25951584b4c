"""Rows that cannot tell all letters apart end in our own words, and end no design."""

import numpy as np
import pytest

import discreet as dc
from discreet.exceptions import UnfinishedError
from discreet.solvers.vertices.design_master import RowList, optimal_weights


@pytest.mark.parametrize("worst", [False, True])
def test_a_design_whose_rows_are_thinned_too_far(worst: bool) -> None:
    joint = dc.Joint.from_counts([[32, 16, 11], [8, 25, 3]])
    found = dc.design(joint, dc.PML(0.6), utility=dc.Accuracy(worst=worst))
    assert found.protocol.epsilon <= 0.6
    assert np.isfinite(found.utility)


@pytest.mark.parametrize("start", [None, np.array([0.5, 0.5])])
def test_rows_of_a_plane_have_no_weights(start) -> None:
    rows = RowList(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 0.0]]))
    with pytest.raises(UnfinishedError):
        optimal_weights(rows, np.eye(2), start=start)


def test_many_tables_designed_for_the_worst_letter() -> None:
    rng = np.random.default_rng(1)
    for _ in range(12):
        joint = dc.Joint.from_counts(rng.integers(3, 40, size=(2, 3)))
        assert np.isfinite(dc.design(joint, dc.PML(0.6), utility=dc.Accuracy(worst=True)).utility)
