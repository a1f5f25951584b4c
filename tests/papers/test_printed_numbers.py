"""Every number that the papers print comes out within its tolerance, or differs as recorded; and the test can fail.

The items that need minutes are left to `discreet papers run`, which makes the same comparison.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.exceptions import ParameterError
from discreet.notions.notion import Cone
from discreet.notions.polyopt import polyopt_rows
from discreet.papers import ITEMS, PAPERS, Reproduction, Workload, find, robust_1
from discreet.papers.distributions import observed
from discreet.papers.experiment import Measured, optimum_in, scaled
from discreet.papers.figures import apart
from discreet.papers.funnel_2 import figures_5_8, figures_6_7
from discreet.papers.printed_numbers import Printed, compare, half_unit, printed_numbers
from discreet.papers.robust_2 import examples, realised_level, robust_methods, table_2
from discreet.papers.robust_2.robust_methods import RobustCase

SLOW = {
    "funnel-1/figure-5",
    "funnel-2/figure-4",
    "funnel-2/figure-5",
    "funnel-2/figure-6",
    "neighbours/leakages",
    "robust-1/figure-2",
    "robust-2/figure-2",
    "robust-2/figure-3",
    "robust-2/figure-4",
    "robust-2/figure-5",
    "robust-2/table-2",
}
QUICK = [item.name for item in ITEMS if item.name not in SLOW]
EXAMPLES = "discreet.papers.robust_2.examples"


@pytest.fixture(autouse=True)
def paper_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The papers' own methods only: what discreet adds to the figures is tested elsewhere, and takes longer."""
    original = robust_methods.draw_plan

    def closed(*args: Any, **kwargs: Any) -> robust_methods.DrawPlan:
        found = original(*args, **kwargs)
        kept = {name: draws for name, draws in found.draws.items() if name in robust_methods.PAPER}
        return robust_methods.DrawPlan({**kept, "NR": 1}, found.seconds)

    monkeypatch.setattr(robust_1, "draw_plan", closed)


@cache
def outcome(name: str) -> Reproduction:
    (item,) = find(name)
    return item.make(Workload(quick=True))


def broken(name: str, found: Reproduction) -> list[str]:
    """The printed numbers that are not as recorded."""
    return [entry.sentence(measured) for entry, measured in compare(name, found) if not entry.holds(measured)]


def as_recorded(item: str, values: dict[str, Measured]) -> list[str]:
    """Those of a part of an item that are not as recorded."""
    paper, part = item.split("/")
    entries = [entry for entry in printed_numbers(paper)[part] if entry.name in values]
    assert entries
    return [entry.name for entry in entries if not entry.holds(values[entry.name])]


@pytest.mark.parametrize("name", QUICK)
def test_printed_numbers(name: str) -> None:
    assert broken(name, outcome(name)) == []


@pytest.mark.parametrize(
    ("name", "formula", "factor"),
    [
        ("robust-2/example-2", f"{EXAMPLES}.lower_bounds", 1.001),
        ("robust-2/example-2", f"{EXAMPLES}.upper_bounds", 1.0001),
        ("robust-2/example-2", f"{EXAMPLES}.l1_radius", 1.001),
        ("robust-2/example-4", f"{EXAMPLES}.utility", 1.01),
        ("robust-2/example-5", f"{EXAMPLES}.distance", 1.001),
        ("robust-1/figure-3", "discreet.papers.robust_2.robust_methods.cr_information", 2.0),
        ("robust-1/figure-3", "discreet.papers.robust_2.robust_methods.radius_bounds", 3.0),
        ("funnel-2/figure-3a", "discreet.papers.funnel_2.figure_3.LDP", None),
        ("funnel-2/figure-8", "discreet.papers.funnel_2.figures_5_8.cr", None),
    ],
)
def test_a_perturbed_formula_is_caught(
    name: str, formula: str, factor: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, function = formula.rpartition(".")
    original = getattr(import_module(module), function)
    faults = {
        "LDP": lambda epsilon: original(2 * epsilon),
        "cr": lambda joint, alpha: original(joint, alpha / 10),
    }
    fault = faults[function] if factor is None else lambda *args, **kwargs: factor * original(*args, **kwargs)
    monkeypatch.setattr(formula, fault)
    (item,) = find(name)
    assert broken(name, item.make(Workload(quick=True)))


@pytest.mark.parametrize("fault", [None, "lower bounds", "order"])
def test_vertices_of_example_3(fault: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The 96 numbers of (47) need no search; with the bounds that Example 2 prints they do not come out."""
    bounds = {"lower bounds": np.array([[0.1620, 0.2829], [0.1923, 0.5337]])}.get(fault)
    if bounds is not None:
        monkeypatch.setattr("discreet.notions.polyopt.lower_bounds", lambda ball: bounds)
    epsilon = examples.EPSILON * (1.001 if fault == "order" else 1.0)
    notion = RobustCase(examples.ESTIMATE, epsilon).notion
    cone = Cone(polyopt_rows(examples.ESTIMATE, notion, same_secret=True))
    found = examples.listed(cone.rows, optimum_in(examples.ESTIMATE, cone, gap=1e-9, time_limit=None).matrix)
    assert len(found) == 97
    assert bool(as_recorded("robust-2/example-3", found)) == (fault is not None)


def rows_of_table_2(draws: tuple[int, int, int, int], names: tuple[str, ...] = ()) -> list[str]:
    """Rows of Table 2 from so many draws of each size; without names those that need no search."""
    values: dict[str, Measured] = {}
    for (c, k), count in zip(table_2.SIZES, draws, strict=True):
        joints = [observed(number, c, k)[0] for number in range(count)]
        settings = [[RobustCase(joint, table_2.EPSILON, 1 - beta) for beta in table_2.BETAS] for joint in joints]
        rows = [robust_methods.curves(at, names, 20.0) if names else table_2.closed_forms(at) for at in settings]
        values |= table_2.measured(c, k, robust_methods.gathered(rows)) if rows else {}
    return as_recorded("robust-2/table-2", values)


def test_closed_forms_of_table_2() -> None:
    assert rows_of_table_2((60, 60, 12, 6)) == []


def test_polyopt_of_table_2() -> None:
    assert rows_of_table_2((6, 4, 0, 0), ("PolyOpt",)) == []


@pytest.mark.parametrize(
    ("formula", "factor", "row"),
    [
        ("discreet.papers.robust_2.table_2.radius_bounds", 2.0, "IR, single u"),
        ("discreet.papers.robust_2.table_2.farthest", 0.5, "IR "),
        ("discreet.papers.robust_2.robust_methods.srr", None, "SRR"),
        ("discreet.papers.robust_2.table_2.ir_information", 1.1, "IR "),
        ("discreet.papers.robust_2.robust_methods.polyopt_rows", None, "PolyOpt"),
    ],
)
def test_a_fault_in_table_2_is_caught(
    formula: str, factor: float | None, row: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, function = formula.rpartition(".")
    original = getattr(import_module(module), function)
    faults = {
        "srr": lambda joint, epsilon: original(joint, 1.05 * epsilon),
        "polyopt_rows": lambda joint, notion, same_secret: original(joint, replace(notion, epsilon=0.5), same_secret),
    }
    monkeypatch.setattr(formula, faults[function] if factor is None else lambda *args: factor * original(*args))
    found = rows_of_table_2((6, 4, 0, 0), ("PolyOpt",)) if row == "PolyOpt" else rows_of_table_2((60, 60, 12, 6))
    assert any(name.startswith(row) for name in found)


def test_realised_privacy() -> None:
    """The printed quantile 0.3897 of figure 4 comes out, and would not without the logarithm that the paper forgot."""
    levels = {
        size: np.array([realised_level._lowest((*size, number)) for number in range(100)])
        for size in realised_level.SIZES
    }
    name = "75 % quantile of ε* for NR, {}×{}, ε=0.075"
    found = {name.format(*size): Measured(float(np.quantile(level, 0.75))) for size, level in levels.items()}
    wrong = {name: Measured(math.exp(measured.value)) for name, measured in found.items()}
    assert as_recorded("robust-2/figure-4", found) == []
    assert len(as_recorded("robust-2/figure-4", wrong)) == 2


def test_half_of_the_entropy_is_the_limit_of_oue() -> None:
    names = {f"OUE limit {s} → {x}": Measured(figures_5_8._oue_limit(s, x)) for s, x in figures_5_8.PAIRS}
    assert as_recorded("funnel-2/figure-5", names) == []


def test_a_wrong_calibration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the strength of GRR off by one on half of the distributions it no longer explains the utility."""
    original = figures_6_7._differences

    def off(epsilon: float, number: int) -> tuple[float, float]:
        strength, utility = original(epsilon, number)
        return strength + (number % 2), utility

    monkeypatch.setattr(figures_6_7, "_differences", off)
    (item,) = find("funnel-2/figure-7")
    assert broken("funnel-2/figure-7", item.make(Workload(quick=True)))


# ---- the rule itself ------------------------------------------------------------------------------------------------


def test_every_entry_names_an_item() -> None:
    parts = {(item.paper, item.part) for item in ITEMS}
    for paper in {item.paper for item in ITEMS}:
        assert {(paper, part) for part in printed_numbers(paper)} <= parts


def test_errata_are_not_met() -> None:
    found = [(e, m) for name in QUICK for e, m in compare(name, outcome(name)) if e.erratum]
    assert found
    assert not any(entry.agrees(measured) for entry, measured in found)


def test_a_row_of_a_table_is_many_entries() -> None:
    matrix = [entry for entry in printed_numbers("robust-2")["example-3"] if entry.name.startswith("V[")]
    assert len(matrix) == 64
    assert (matrix[0].name, matrix[0].printed) == ("V[1|s1,u1]", "0.0744")
    assert all(
        "{}" not in entry.name for items in map(printed_numbers, PAPERS) for part in items.values() for entry in part
    )


def test_few_draws_are_scaled_by_another_method() -> None:
    few, all_draws = np.array([[0.2], [0.4]]), np.array([[0.4], [0.8], [1.2]])
    np.testing.assert_allclose(scaled(few, all_draws).mean(axis=0), [0.5 * 0.8])


def test_names_beside_lines_stay_apart() -> None:
    placed = apart(np.array([0.97, 0.2, 0.98, 0.96]), 0.05)
    np.testing.assert_allclose(placed, [0.95, 0.2, 1.0, 0.9])


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


def test_every_erratum_stands_on_its_page() -> None:
    """With the number that is printed and the one that comes out here, to the printed digits."""
    page = (Path(__file__).parents[2] / "docs" / "errata.md").read_text(encoding="utf-8")
    errata = [e for paper in PAPERS for part in printed_numbers(paper).values() for e in part if e.erratum and e.here]
    assert len(errata) > 20
    for entry in errata:
        digits = len(entry.printed.partition(".")[2])
        nearest = [f"{float(entry.here) + side * half_unit(entry.here):.{digits}f}" for side in (-1, 1)]
        assert entry.printed in page, entry.name
        assert any(here in page for here in nearest), entry.name
