"""What a missing value is: a letter like any other where missing values were counted, else outside the alphabet."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc

WITH = [("u", "a")] * 300 + [("u", None)] * 200 + [("v", "a")] * 200 + [("v", "b")] * 200 + [("v", None)] * 100
WITHOUT = [(secret, value) for secret, value in WITH if value is not None]


def designed(rows: list[tuple[str, str | None]]) -> dc.Protocol:
    secrets, values = zip(*rows, strict=True)
    joint = dc.Joint.from_table(pa.table({"s": secrets, "x": values}), secret="s", release="x")
    return dc.design(joint, dc.LIP(0.5), utility=dc.Agreement()).protocol


def shares(protocol: dc.Protocol, outputs: list[str | None]) -> np.ndarray:
    """Of what is released for 20,000 missing values."""
    table = pa.table({"x": pa.nulls(20_000, pa.string())})
    told = protocol.sanitise(table, testing=True, unknown_anyway=True, law_anyway=True)["x"].to_pylist()
    return np.array([told.count("missing" if output is None else output) for output in outputs]) / len(told)


@pytest.mark.filterwarnings("ignore")
def test_a_missing_value_that_was_counted_is_a_letter_like_any_other() -> None:
    protocol = designed(WITH)
    place = list(protocol.inputs).index(None)
    assert None in protocol.outputs
    assert abs(protocol.matrix[:, place] - protocol.marginal / 2**protocol.bits).max() > 0.1
    assert dc.audit(protocol).lip <= 0.5
    np.testing.assert_allclose(shares(protocol, list(protocol.outputs)), protocol.matrix[:, place], atol=0.03)


@pytest.mark.filterwarnings("ignore")
def test_a_missing_value_that_was_not_counted_is_a_draw_of_the_outputs() -> None:
    protocol = designed(WITHOUT)
    assert None not in protocol.inputs
    expected = protocol.marginal / 2**protocol.bits
    np.testing.assert_allclose(shares(protocol, list(protocol.outputs)), expected, atol=0.03)
