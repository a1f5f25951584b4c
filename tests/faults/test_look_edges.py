"""No number that fewer than k records have is an edge of what a look shows or proposes."""

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.look import column_kinds, proposals
from discreet.records.grouping import Bins, Grouping, unlike_rare
from discreet.report.look_page import look_page


def looked(numbers: np.ndarray, k: int) -> dc.Look:
    secret = np.where(np.random.default_rng(1).random(len(numbers)) < 0.5, "a", "b")
    return dc.look(pa.table({"s": secret.tolist(), "x": numbers.tolist()}), secret="s", release="x", k=k)


def edges_of(found: dc.Look) -> set[float]:
    column = next(one for one in found.columns if one.name == "x")
    ends = [bar.high for bar in column.histogram if bar.high is not None]
    return {*ends, *(float(edge) for edge in (column.grouping.bins if column.grouping else ()))}


def rare(numbers: np.ndarray, k: int) -> set[float]:
    values, counts = np.unique(numbers, return_counts=True)
    return set(values[counts < k].tolist())


def lumps(rng: np.random.Generator) -> np.ndarray:
    values = np.round(rng.normal(1e5, 2e4, int(rng.integers(20, 60))), 3)
    return rng.choice(values, int(rng.integers(100, 3000)), p=rng.dirichlet(np.ones(len(values))))


def mostly_zero(rng: np.random.Generator) -> np.ndarray:
    values = np.round(rng.lognormal(8, 1, 100), 3)
    size = int(rng.integers(300, 3000))
    return np.where(rng.random(size) < 0.6, 0, rng.choice(values, size))


def whole(rng: np.random.Generator) -> np.ndarray:
    return np.asarray(rng.integers(18, 80, int(rng.integers(200, 3000))), float)


def tight(rng: np.random.Generator) -> np.ndarray:
    return np.round(123456.7 + rng.integers(0, 60, int(rng.integers(200, 2000))) * 0.001, 3)


KINDS: list[Callable[[np.random.Generator], np.ndarray]] = [lumps, mostly_zero, whole, tight]


def shown(kind: Callable[[np.random.Generator], np.ndarray], k: int) -> tuple[int, int]:
    """How many edges were shown for twenty tables, and how many of them are rare values."""
    found = [(numbers := kind(np.random.default_rng(seed)), looked(numbers, k)) for seed in range(20)]
    edges = [(edges_of(look), rare(numbers, k)) for numbers, look in found]
    return sum(len(one) for one, _ in edges), sum(len(one & few) for one, few in edges)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [5, 50])
def test_no_edge_is_a_rare_value(kind: Callable[[np.random.Generator], np.ndarray], k: int) -> None:
    edges, leaks = shown(kind, k)
    assert edges > 20
    assert leaks == 0


def test_rare_edges_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The negative control."""
    for module in (column_kinds, proposals):
        monkeypatch.setattr(module, "unlike_rare", lambda edges, *_: tuple(sorted(edges)))
    assert shown(whole, 50)[1] > 0
    assert shown(tight, 50)[1] > 0


def test_a_lump_around_a_quantile_is_not_shown() -> None:
    """One value is all that is near the median; 30 of 204 records have it."""
    rng = np.random.default_rng(3)
    lump = 31337.777
    numbers = np.concatenate([rng.uniform(1e4, 3e4, 87), [lump] * 30, rng.uniform(3.3e4, 6e4, 87)]).round(3)
    found = looked(numbers, 50)
    for text in (str(found.facts()), found.command, look_page(found)):
        assert "31337" not in text
    assert len(edges_of(found)) > 2


def test_quantile_edges_are_round_where_one_value_is_all_that_is_near() -> None:
    numbers = [*(float(i) / 7 for i in range(100)), *[31337.777] * 300, *(40000 + i / 7 for i in range(100))]
    values, counts = np.unique(numbers, return_counts=True)
    fitted = Grouping(bins={"x": "quantiles:4"}).fitted("x", pa.array([repr(float(one)) for one in values]), counts)
    assert fitted is not None
    (bins,) = fitted.steps
    assert isinstance(bins, Bins)
    assert "31337.777" not in bins.edges
    assert any(values[99] < float(edge) <= 31337.777 for edge in bins.edges), "and the bins are the same"


def test_moved_edges_make_the_same_bins() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        numbers = np.unique(rng.integers(0, 60, 30) / float(rng.choice([1, 10, 7])))
        records = rng.integers(1, 9, len(numbers))
        edges = sorted({Decimal(repr(float(one))) for one in rng.choice(numbers[1:], 4)})
        moved = unlike_rare(edges, numbers, records, 6)
        assert all(low < high for low, high in pairwise(moved))
        assert np.array_equal(
            np.searchsorted([float(one) for one in edges], numbers, side="right"),
            np.searchsorted([float(one) for one in moved], numbers, side="right"),
        )
        assert unlike_rare(edges, numbers, records, 1) == tuple(edges)


def test_neighbours_that_nothing_lies_between_make_no_edge() -> None:
    numbers = np.array([1.0, np.nextafter(1.0, 2.0), 3.0])
    edges = [Decimal(repr(float(one))) for one in numbers]
    assert unlike_rare(edges, numbers, np.array([1, 1, 9]), 5) == (edges[2],)
