"""Numbers and edges of bins that are one float are compared exactly: whole numbers beyond 2^53, and long decimals."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records.grouping import Bins

EDGES = ("0", "0.1", "9007199254740993", "9007199254740995")
TEXTS = [
    "9007199254740992", "9007199254740992.5", "9007199254740993", "9007199254740993.0", "9007199254740994",
    "9007199254740995", "+9007199254740995", "-0", "0.1", "0.10", "1e-1", "0.09999999999999999999999", "1e300",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_number_is_in_its_bin(text):
    exact = sum(Fraction(Decimal(edge)) <= Fraction(Decimal(text)) for edge in EDGES)
    bins = Bins(EDGES)
    assert bins.apply(pa.array([text], pa.large_string())).to_pylist() == [bins.names[exact]]


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.decimal128(30, 3), pa.string()])
def test_ids_in_a_table_are_in_their_bins(kind):
    ids = [2**60 + i for i in range(100)]
    cells = pa.array([str(one) if kind == pa.string() else one for one in ids])
    table = pa.table({"s": ["a", "b"] * 50, "x": cells.cast(kind)})
    joint = dc.Joint.from_table(table, secret="s", release="x", group=dc.Grouping(bins={"x": [2**60 + 25]}))
    assert joint.counts is not None
    assert np.asarray(joint.counts).sum(axis=0).tolist() == [25, 75]
