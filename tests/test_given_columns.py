"""Joints beside given columns: one for each stratum, in every form, and together what the whole table is."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

import discreet as dc
from discreet.attribute import Form
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
