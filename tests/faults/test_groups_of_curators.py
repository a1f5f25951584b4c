"""What is assumed of a whole table is not assumed of its groups, nor of several releases at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.estimate import estimate, estimate_by
from discreet.exceptions import ParameterError


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """G and H tell of the secret, and hardly anything else."""
    rng, n = np.random.default_rng(5), 4000
    secret = rng.random(n) < 0.5
    value = np.where(rng.random(n) < np.where(secret, 0.7, 0.3), "a", "b")
    group = np.where(rng.random(n) < np.where(secret, 0.6, 0.4), "G", "H")
    return pa.table({"s": np.where(secret, "u", "v"), "x": value, "g": group})


def test_nothing_is_assumed_of_groups_of_a_curators_release(table: pa.Table) -> None:
    joint = dc.Joint.from_table(table, secret="s", release="x")
    protocol = dc.design(joint, dc.LIP(0.3), sees_secret=True).protocol
    released = protocol.sanitise(table, keep=["g"], one_row_per_person=True)
    truth = {"G": 0.6 * 0.7 + 0.4 * 0.3, "H": 0.4 * 0.7 + 0.6 * 0.3}
    for name, found in estimate_by(released, protocol, "g").items():
        shown = found.attribute("x")
        low, high = shown.interval()[list(shown.letters).index("a")]
        assert low <= truth[str(name)] <= high
        assert any("Nothing is assumed" in note for note in found.notes)
    with pytest.raises(ParameterError, match="the mean over the secret only"):
        estimate_by(released, protocol.public(), "g")
    asked = estimate_by(released, protocol.public(), "g", assume="P(s|x)")
    assert all(found.determined.all() for found in asked.values())
    whole = estimate(released, protocol)
    assert any("Assumed: P(s|x)" in note for note in whole.notes)  # the control: the table of which it was counted


def test_values_of_several_protocols_are_not_counted_together() -> None:
    joint = dc.Joint.from_counts([[300, 100, 200], [100, 250, 50]])
    protocol = dc.design(joint, dc.LIP(0.3), utility=dc.Agreement()).protocol
    counts = np.array([400, 350, 250])
    assert estimate(counts, protocol, assume="counted").standard_errors.max() > 0.0165
    for released in ([counts, counts], pa.table({"x": ["0"]})):
        with pytest.raises(ParameterError, match="several protocols"):
            estimate(released, [protocol, protocol], assume="counted")
