"""Every number that the papers print comes out within its tolerance, or differs as recorded; and the test can fail.

The items that need minutes are left to `discreet papers run`, which makes the same comparison.
"""

from __future__ import annotations

import math
from functools import cache
from importlib import import_module

import numpy as np
import pytest

from discreet.exceptions import ParameterError
from discreet.papers import ITEMS, Effort, Outcome, find
from discreet.papers.draws import observed
from discreet.papers.expected import Printed, compare, half_unit, printed_numbers
from discreet.papers.funnel_2 import synthetic
from discreet.papers.model import Measured
from discreet.papers.robust_2 import table
from discreet.papers.robust_2.methods import Setting

SLOW = {
    "funnel-1/figure-5",
    "funnel-2/figure-4",
    "funnel-2/figure-5",
    "funnel-2/figure-6",
    "robust-1/figure-2",
    "robust-2/figure-2",
    "robust-2/figure-3",
    "robust-2/figure-4",
    "robust-2/figure-5",
    "robust-2/table-2",
}
QUICK = [item.name for item in ITEMS if item.name not in SLOW]


@cache
def outcome(name: str) -> Outcome:
    (item,) = find(name)
    return item.make(Effort(quick=True))


def broken(name: str, found: Outcome) -> list[str]:
    """The printed numbers that are not as recorded."""
    return [entry.sentence(measured) for entry, measured in compare(name, found) if not entry.holds(measured)]


@pytest.mark.parametrize("name", QUICK)
def test_printed_numbers(name: str) -> None:
    assert broken(name, outcome(name)) == []


@pytest.mark.parametrize(
    ("name", "module", "formula", "factor"),
    [
        ("robust-2/example-2", "discreet.papers.robust_2.examples", "lower_bounds", 1.001),
        ("robust-2/example-2", "discreet.papers.robust_2.examples", "l1_radius", 1.001),
        ("robust-2/example-4", "discreet.papers.robust_2.examples", "utility", 1.01),
        ("robust-2/example-5", "discreet.papers.robust_2.examples", "distance", 1.001),
        ("robust-1/figure-3", "discreet.papers.robust_1", "cr_information", 2.0),
    ],
)
def test_a_perturbed_formula_is_caught(
    name: str, module: str, formula: str, factor: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = getattr(import_module(module), formula)
    monkeypatch.setattr(f"{module}.{formula}", lambda *args, **kwargs: factor * original(*args, **kwargs))
    (item,) = find(name)
    assert broken(name, item.make(Effort(quick=True)))


def closed_part_of_table_2() -> list[str]:
    """The rows of Table 2 that need no search, and which of their numbers are not as recorded."""
    values: dict[str, Measured] = {}
    for (c, k), draws in zip(table.SIZES, (60, 60, 12, 6), strict=True):
        joints = [observed(number, c, k)[0] for number in range(draws)]
        settings = [[Setting(joint, table.EPSILON, 1 - beta) for beta in table.BETAS] for joint in joints]
        values |= table.measured(c, k, [table.closed_forms(at) for at in settings])
    entries = [entry for entry in printed_numbers("robust-2")["table-2"] if entry.name in values]
    assert len(entries) == 36
    return [entry.name for entry in entries if not entry.holds(values[entry.name])]


def test_closed_forms_of_table_2() -> None:
    assert closed_part_of_table_2() == []


@pytest.mark.parametrize(
    ("formula", "factor", "row"),
    [
        ("radius_bounds", 2.0, "IR, single u"),
        ("farthest", 0.5, "IR "),
        ("srr_nmi", 1.05, "SRR"),
        ("ir_information", 1.1, "IR "),
    ],
)
def test_a_fault_in_table_2_is_caught(formula: str, factor: float, row: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original = getattr(table, formula)
    monkeypatch.setattr(table, formula, lambda *args: factor * original(*args))
    assert any(name.startswith(row) for name in closed_part_of_table_2())


def test_a_wrong_calibration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the strength of GRR off by one on half of the distributions it no longer explains the utility."""
    original = synthetic._differences

    def off(epsilon: float, number: int) -> tuple[float, float]:
        strength, utility = original(epsilon, number)
        return strength + (number % 2), utility

    monkeypatch.setattr(synthetic, "_differences", off)
    (item,) = find("funnel-2/figure-7")
    assert broken("funnel-2/figure-7", item.make(Effort(quick=True)))


# ---- the rule itself ------------------------------------------------------------------------------------------------


def test_every_entry_names_an_item() -> None:
    parts = {(item.paper, item.part) for item in ITEMS}
    for paper in {item.paper for item in ITEMS}:
        assert {(paper, part) for part in printed_numbers(paper)} <= parts


def test_errata_are_not_met() -> None:
    found = [(e, m) for name in QUICK for e, m in compare(name, outcome(name)) if e.erratum]
    assert found
    assert not any(entry.agrees(measured) for entry, measured in found)


def test_rounding() -> None:
    entry = Printed("x", "here", printed="0.0900")
    assert half_unit("0.0900") == pytest.approx(5e-5)
    assert entry.agrees(Measured(0.09004))
    assert not entry.agrees(Measured(0.09006))
    assert half_unit("3") == pytest.approx(0.5)


def test_tolerance_follows_the_number_of_draws() -> None:
    entry = Printed("x", "here", printed="0.500", draws=100, spread=0.1)
    assert entry.tolerance(100) == pytest.approx(3 * 0.1 * math.sqrt(2 / 100) + 5e-4, rel=1e-6)
    assert entry.tolerance(10) > entry.tolerance(1_000)
    assert not entry.agrees(Measured(0.6, draws=100))


def test_an_erratum_needs_the_recorded_number() -> None:
    entry = Printed("x", "here", printed="0.3782", here="0.40673", erratum="a reason")
    few = Printed("x", "here", printed="0.40", here="0.42", draws=100, spread=0.1, erratum="a reason")
    assert entry.holds(Measured(0.406733))
    assert not entry.holds(Measured(0.3782))
    assert not entry.holds(Measured(0.41))
    assert few.holds(Measured(0.41, draws=4))
    assert not few.holds(Measured(0.40, draws=10**9))


def test_names() -> None:
    assert [item.name for item in find("funnel-2/figure-3")] == ["funnel-2/figure-3a", "funnel-2/figure-3b"]
    assert find("all") == list(ITEMS)
    assert {item.paper for item in find("robust-2")} == {"robust-2"}
    assert len({item.name for item in ITEMS}) == len(ITEMS)
    with pytest.raises(ParameterError):
        find("figure-99")


def test_draws_are_repeatable() -> None:
    first, second = observed(3, 2, 5), observed(3, 2, 5)
    np.testing.assert_array_equal(first[0].counts, second[0].counts)
    assert not np.array_equal(first[0].counts, observed(4, 2, 5)[0].counts)
