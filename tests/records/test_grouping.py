"""Grouping: bins are half open, merges and the rare rest as written, and nothing rare is written down."""

import numpy as np
import pyarrow as pa
import pytest

from discreet.exceptions import ParameterError
from discreet.records.grouping import Bins, ColumnGrouping, Grouping, Merged, Rest


def applied(grouping: ColumnGrouping | Bins | Rest | Merged, *values: str | None) -> list[str | None]:
    return grouping.apply(pa.array(values, pa.large_string())).to_pylist()


def test_bins_are_half_open() -> None:
    bins = Bins(("0", "18", "30"))
    values = ["-1", "-0.001", "0", "17.999", "18", "29", "30", "1e3", "+18", ".5", "5."]
    assert applied(bins, *values) == [
        *("under 0", "under 0", "0 to under 18", "0 to under 18", "18 to under 30", "18 to under 30"),
        *("30 and over", "30 and over", "18 to under 30", "0 to under 18", "0 to under 18"),
    ]


def test_what_is_no_number_is_missing() -> None:
    assert applied(Bins(("0",)), "?", "", None, "nan", "inf", "1e999", "12a", "0x10", "1,5") == [None] * 9


@pytest.mark.parametrize("edges", [(), ("3", "1"), ("1", "1.0"), ("a",), ("nan",), ("inf",)])
def test_edges_that_do_not_rise_are_refused(edges: tuple[str, ...]) -> None:
    with pytest.raises(ParameterError):
        Bins(edges)


def test_merges_then_the_rest() -> None:
    grouping = Grouping(merge={"x": {"C": ["A", "B"]}}, rare=10)
    fitted = grouping.fitted("x", pa.array(["A", "B", "D", "E", "F", ""]), np.array([6, 6, 50, 3, 2, 9]))
    assert fitted is not None
    assert applied(fitted, "A", "B", "D", "E", "F", "never seen", "", None) == [
        *("C", "C", "D", "other", "other", "other", "", None)
    ]
    assert "E" not in repr(fitted)
    assert "F" not in repr(fitted)


def test_one_rare_value_alone_is_not_renamed_and_other_may_be_taken() -> None:
    assert Grouping(rare=10).fitted("x", pa.array(["A", "B"]), np.array([50, 2])) is None
    fitted = Grouping(rare=10).fitted("x", pa.array(["other", "B", "C"]), np.array([50, 2, 3]))
    assert applied(fitted, "other", "B") == ["other", "(other)"]


def test_quantiles_cut_records_into_equal_parts() -> None:
    numbers = np.arange(1000)
    fitted = Grouping(bins={"x": "quantiles:4"}).fitted("x", pa.array(map(str, numbers)), np.ones(1000, np.int64))
    assert fitted == ColumnGrouping((Bins(("250", "500", "750")),))
    heavy = Grouping(bins={"x": "quantiles:3"}).fitted("x", pa.array(["1", "2", "3"]), np.array([50, 10, 40]))
    assert heavy == ColumnGrouping((Bins(("3",)),))
    with pytest.raises(ParameterError, match="one number"):
        Grouping(bins={"x": "quantiles:3"}).fitted("x", pa.array(["1"]), np.array([90]))
    with pytest.raises(ParameterError, match="no numbers"):
        Grouping(bins={"x": "quantiles:3"}).fitted("x", pa.array(["a"]), np.array([90]))


def test_bins_come_in_their_order() -> None:
    grouping = ColumnGrouping((Bins(("5", "10")),))
    assert grouping.ordered(["10 and over", "5 to under 10", "under 5"]) == ("under 5", "5 to under 10", "10 and over")


def test_words_of_a_command_line() -> None:
    found = Grouping.parse(
        ["age=0,18, 30", "wage=quantiles:6"], ["rare:50", "relationship: A, B -> C", "city: rare: 7"]
    )
    assert found.bins == {"age": ["0", "18", "30"], "wage": "quantiles:6"}
    assert found.merge == {"relationship": {"C": ["A", "B"]}}
    assert (found.records_of("city"), found.records_of("age")) == (7, 50)
    assert found.columns == {"age", "wage", "relationship", "city"}
    assert found.learns("wage")
    assert not Grouping.parse(["age=0,18"]).learns("age")
    for bins, merges in (["age"], []), (["=1,2"], []), ([], ["A -> B"]), ([], ["rare"]):
        with pytest.raises(ParameterError):
            Grouping.parse(bins, merges)


def test_no_edge_is_the_value_of_one_record() -> None:
    """Quantiles of numbers that nobody shares: an edge that is one of them would be somebody's, written into files."""
    rng = np.random.default_rng(0)
    for scale in (1e-3, 1.0, 1e6):
        numbers = np.unique(rng.lognormal(0, 1, 3000) * scale)
        texts = pa.array([repr(float(number)) for number in numbers])
        fitted = Grouping(bins={"x": "quantiles:6"}).fitted("x", texts, np.ones(len(numbers), np.int64))
        assert fitted is not None
        (bins,) = fitted.steps
        assert isinstance(bins, Bins)
        assert not {float(edge) for edge in bins.edges} & set(numbers.tolist())
        assert max(len(edge.strip("0.")) for edge in bins.edges) <= 3
        shares = np.diff(np.searchsorted(numbers, [-np.inf, *map(float, bins.edges), np.inf]) / len(numbers))
        assert len(shares) == 6
        assert 0.12 < shares.min() <= shares.max() < 0.21
