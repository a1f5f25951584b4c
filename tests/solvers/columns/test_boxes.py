"""The compiled search: its bound is never below the best row, also after new prices, and planted faults are caught."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from catalogue import catalogue, random_joint

from discreet.exceptions import ParameterError
from discreet.notions.lip import LIP
from discreet.notions.srlip import SRLIP
from discreet.solvers.columns import boxes, pricing
from discreet.solvers.columns.pricing import OpenBoxes, Pricer
from discreet.solvers.columns.row_master import Master
from discreet.solvers.enumeration import vertices
from discreet.solvers.problem import Problem
from discreet.utilities.utility import ChiSquareInformation, MutualInformation, Separable, scalar_of

SMALL = Problem.of(random_joint(3, 2, 2, 2, 2), SRLIP(0.5))
CURATOR = Problem.of(random_joint(6, 2, 4).curator(), LIP(0.5))
SLOW = Separable("cubes", h=lambda w: w**3 - 1, slope=lambda w: 3 * w**2)


def _prices(problem: Problem, seed: int, scale: float = 1.0) -> np.ndarray:
    """Optimal prices, at which many rows gain the same, and some noise."""
    master = Master(problem)
    master.add(vertices(problem.cone.rows, problem.prior))
    master.split()
    noise = np.random.default_rng(seed).normal(size=len(problem.prior)) * problem.prior
    return np.asarray(master.exact_prices + scale * noise)


def _never() -> bool:
    return False


def _missed(problem: Problem, pricer: Pricer, seeds: range, scale: float = 1.0, margin: float = 0.0) -> float:
    """How far the bound on the best gain is below the truth, at worst, at prices one after the other."""
    rows = vertices(problem.cone.rows, problem.prior)
    worst = -np.inf
    for seed in seeds:
        alpha = _prices(problem, seed, scale)
        best = float(pricer.gains(rows, alpha).max())
        worst = max(worst, best - pricer.price(alpha, best - 1e-6, 10**6, _never, margin).bound)
    return worst


LISTED = [known for known in catalogue() if known.problem.cone.separate is None]


@pytest.mark.parametrize("known", LISTED, ids=lambda known: known.name)
def test_the_bound_is_the_best_gain(known: object) -> None:
    problem = known.problem  # type: ignore[attr-defined]
    rows = vertices(problem.cone.rows, problem.prior)
    for seed in range(3):
        alpha = _prices(problem, seed)
        best = float(Pricer(problem).gains(rows, alpha).max())
        priced = Pricer(problem).price(alpha, best - 1e-6, 10**6, _never)
        assert best - 1e-12 <= priced.bound <= best + 2e-8
        assert Pricer(problem).gains(priced.rows, alpha).max() == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("utility", [MutualInformation, ChiSquareInformation, SLOW], ids=lambda each: each.name)
@pytest.mark.parametrize("problem", [SMALL, CURATOR], ids=["side channels", "curator"])
def test_bounds_hold_whatever_the_utility(problem: Problem, utility: Separable) -> None:
    problem = replace(problem, utility=utility)
    assert _missed(problem, Pricer(problem), range(4)) <= 1e-12


@pytest.mark.parametrize("scale", [1e-3, 1e-2, 0.1])
def test_bounds_hold_when_prices_change(scale: float) -> None:
    """A search that goes on where the last one ended, or begins again where it must."""
    again, fresh = Pricer(SMALL), [Pricer(SMALL) for _ in range(12)]
    assert _missed(SMALL, again, range(12), scale, margin=0.05) <= 1e-12
    for seed, pricer in enumerate(fresh):
        _missed(SMALL, pricer, range(seed, seed + 1), scale, margin=0.05)
    shared = again.boxes / sum(pricer.boxes for pricer in fresh)
    assert shared < 0.5 if scale < 0.01 else shared <= 1


def test_a_search_that_forgets_to_raise_its_bounds_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OpenBoxes, "rise", lambda self, by: None)
    assert _missed(SMALL, Pricer(SMALL), range(12), 0.01, margin=0.05) > 1e-6


def _interpreted(monkeypatch: pytest.MonkeyPatch, **faults: Callable[..., object]) -> None:
    """The compiled functions as plain Python, some of them replaced."""
    for name in ("shrink", "_chords", "_program", "_bound", "_price_out", "_gain", "_widest"):
        monkeypatch.setattr(boxes, name, faults.get(name, getattr(boxes, name).py_func))
    monkeypatch.setattr(pricing, "explore", boxes.explore.py_func)
    monkeypatch.setattr(pricing, "scalar_of", lambda utility: utility.scalar)
    monkeypatch.setattr(pricing, "WORTH_A_THREAD", np.inf)


def _tangents(h: Callable, area: boxes.SearchSpace, lower: np.ndarray, upper: np.ndarray, *lines: np.ndarray) -> float:
    slopes, offsets = lines
    middle = (lower + upper) / 2 / area.mass
    slopes[:] = np.log(middle) + 1
    offsets[:] = -middle
    return float(area.mass @ offsets)


def _no_limits(rows: np.ndarray, cost: np.ndarray, price: np.ndarray, low: np.ndarray, *others: np.ndarray) -> float:
    return float(cost @ low[: len(cost)])


def _greedy(area: boxes.SearchSpace, lower: np.ndarray, upper: np.ndarray, *others: object) -> None:
    upper[:] = (lower + upper) / 2


def _dead(conditions: object, lower: np.ndarray, upper: np.ndarray) -> bool:
    return not lower.any()


@pytest.mark.parametrize(
    "fault",
    [{"_chords": _tangents}, {"_bound": _no_limits}, {"_price_out": _greedy}, {"shrink": _dead}],
    ids=lambda fault: next(iter(fault)),
)
def test_planted_faults_are_caught(monkeypatch: pytest.MonkeyPatch, fault: dict[str, Callable[..., object]]) -> None:
    with monkeypatch.context() as patch:
        _interpreted(patch)
        assert _missed(SMALL, Pricer(SMALL), range(2)) <= 1e-12
    _interpreted(monkeypatch, **fault)
    assert _missed(SMALL, Pricer(SMALL), range(2)) > 5e-7


def test_what_is_not_a_number_rules_nothing_out() -> None:
    def broken(w: np.ndarray) -> np.ndarray:
        if w.shape == (1,) and w[0] > 0.5:
            raise ArithmeticError
        return np.asarray(w * w - 1)

    problem = replace(SMALL, utility=Separable("broken", h=broken, slope=lambda w: 2 * w))
    pricer, alpha = Pricer(problem), _prices(SMALL, 0)
    best = float(pricer.gains(vertices(SMALL.cone.rows, SMALL.prior), alpha).max())
    assert pricer.price(alpha, best - 1e-6, 10**6, _never).bound >= best


def test_a_search_left_after_some_boxes_goes_on_there() -> None:
    alpha = _prices(SMALL, 0)
    best = float(Pricer(SMALL).gains(vertices(SMALL.cone.rows, SMALL.prior), alpha).max())
    whole, parts, bounds = Pricer(SMALL), Pricer(SMALL), [np.inf]
    whole.price(alpha, best + 1e-6, 10**6, _never)
    while bounds[-1] > best + 1e-6 and len(bounds) < 1000:
        bounds.append(parts.price(alpha, best + 1e-6, 10**6, _never, most=0).bound)
    assert 2 < len(bounds) < 1000
    assert (np.diff(bounds) <= 0).all()
    assert parts.boxes <= 1.1 * whole.boxes


def test_an_interrupted_search_begins_again() -> None:
    pricer, alpha, calls = Pricer(SMALL), _prices(SMALL, 0), iter(range(100))

    def interrupt() -> bool:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return False

    best = float(pricer.gains(vertices(SMALL.cone.rows, SMALL.prior), alpha).max())
    with pytest.raises(KeyboardInterrupt):
        pricer.price(alpha, best - 1e-6, 10**6, interrupt)
    assert pricer.price(alpha, best - 1e-6, 10**6, _never).bound >= best


def test_a_scalar_of_another_function_is_refused() -> None:
    with pytest.raises(ParameterError, match="different"):
        scalar_of(replace(ChiSquareInformation, scalar=MutualInformation.scalar))
