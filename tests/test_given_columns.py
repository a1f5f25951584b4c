"""Joints beside given columns: one for each stratum, in every form, and together what the whole table is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.attribute import Form
from discreet.exceptions import DistributionError
from discreet.given_columns import StratifiedJoint, in_form

TABLE = pa.table({
    "ill": ["yes", "no"] * 40, "town": ["A", "A", "B", "B"] * 20, "year": ["2001"] * 32 + ["2002"] * 48,
})  # fmt: skip


def test_strata_add_up_to_the_table() -> None:
    joint = dc.Joint.from_table(TABLE, secret="ill", release="town", given="year")
    assert isinstance(joint, StratifiedJoint)
    whole = dc.Joint.from_table(TABLE, secret="ill", release="town")
    counts = [one.counts for one in joint.strata.values() if one.counts is not None]
    assert [int(one.sum()) for one in counts] == [32, 48]
    assert np.array_equal(sum(counts), whole.counts)


def test_every_stratum_takes_the_form() -> None:
    joint = dc.Joint.from_table(TABLE, secret="ill", release="town", given="year")
    assert joint.form is Form.FUNNEL
    assert {one.form for one in in_form(joint, Form.CURATOR).strata.values()} == {Form.CURATOR}


def test_a_rare_secret_is_named_with_the_value_that_it_can_be_merged_with() -> None:
    counts = np.array([[[100, 200], [50, 300]], [[5, 9], [5, 11]], [[18, 7], [3, 1]], [[300, 90], [200, 60]]])
    axes = (dc.Attribute("s", ("a", "rare", "few", "b")), dc.Attribute("k", ("m", "n")), dc.Attribute("x", (0, 1)))
    joint = StratifiedJoint.from_counts(counts, *((axis,) for axis in axes))
    with pytest.raises(DistributionError, match="Merge 'rare' with 'a', which is most like it"):
        joint.check_sizes()
    merged = counts[[0, 2, 3]] + np.array([1, 0, 0])[:, None, None] * counts[1]
    axes = (dc.Attribute("s", ("a", "few", "b")), *axes[1:])
    joint = StratifiedJoint.from_counts(merged, *((axis,) for axis in axes))
    with pytest.raises(DistributionError, match="Merge 'few' with 'b'"):
        joint.check_sizes()
    rest = merged[[0, 2]] + np.array([0, 1])[:, None, None] * merged[1]
    axes = (dc.Attribute("s", ("a", "b")), *axes[1:])
    StratifiedJoint.from_counts(rest, *((axis,) for axis in axes)).check_sizes()
