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


AXES = (dc.Attribute("s", ("a", "rare", "few", "b")), dc.Attribute("k", ("m", "n")), dc.Attribute("x", (0, 1)))
COUNTS = np.array([[[100, 200], [50, 300]], [[5, 9], [25, 21]], [[18, 7], [3, 1]], [[300, 90], [200, 60]]])


def refused(counts: np.ndarray, secrets: tuple[str, ...] = AXES[0].letters) -> str:
    joint = StratifiedJoint.from_counts(counts, (dc.Attribute("s", secrets),), *((axis,) for axis in AXES[1:]))
    with pytest.raises(DistributionError) as found:
        joint.check_sizes()
    return str(found.value)


def test_what_few_records_have_is_not_named() -> None:
    """Once the value of a single record, its stratum, and what it is most like."""
    said = refused(COUNTS)
    assert "--merge s:rare:50" in said
    assert "'" not in said
    small = COUNTS * np.array([1, 0])[None, :, None] + np.array([0, 1])[None, :, None] * (COUNTS > 250)
    said = refused(small)
    assert "1 of 2 strata with fewer than 200 records" in said
    assert "--merge k:rare:200" in said
    assert "'" not in said


def test_a_rare_secret_that_many_have_elsewhere_is_named_with_the_value_it_can_be_merged_with() -> None:
    without_few = COUNTS[[0, 1, 3]] + np.array([0, 0, 1])[:, None, None] * COUNTS[2]
    assert "Merge 'rare' with 'b'" in refused(without_few, ("a", "rare", "b"))
    rest = without_few[[0, 2]] + np.array([0, 1])[:, None, None] * without_few[1]
    secrets = (dc.Attribute("s", ("a", "b")),)
    StratifiedJoint.from_counts(rest, secrets, *((axis,) for axis in AXES[1:])).check_sizes()
