"""The small linear programs of the exact search: the compiled dual simplex beside HiGHS, warm, one thread each.

Run: python benchmarks/small_programs.py [programs]

A box of the search is one program: maximise c·v over rows of a cone (LIP at ε = 0.5 on a random joint), Σ_x p_x v_x = 1
and a box, which differs from the last one in its cost and in its bounds. Both methods start from where the last
program ended, HiGHS with its basis kept and only what changed passed on. Printed are microseconds of processor per
program, their ratio, and by how much the optima differ at most.
"""

from __future__ import annotations

import platform
import sys
import time
from datetime import date

import highspy
import numpy as np

import discreet as dc
from discreet.arrays import Floats
from discreet.linear_program import FEASIBLE
from discreet.solvers.columns.simplex import OPTIMAL, Dictionaries
from discreet.solvers.problem import Problem

SIZES = ((3, 6), (5, 10), (7, 16), (10, 20))
"""Secrets and letters: between them lie the searches that end with a proof in seconds."""
PROGRAMS = 2_000
TOP = 8.0
"""The largest entry of a row where its box begins."""


def programs(c: int, k: int, number: int) -> tuple[Floats, ...]:
    """The rows, and for every program its cost, the lower and upper bounds of its letters and those of its rows."""
    rng = np.random.default_rng(c * k)
    joint = dc.Joint.from_counts(rng.multinomial(20_000, rng.dirichlet(np.ones(c * k))).reshape(c, k))
    problem = Problem.of(joint, dc.LIP(0.5))
    rows = np.vstack([problem.prior, problem.cone.rows])
    costs = rng.normal(size=(number, k)) * problem.prior
    lower = rng.random((number, k)) * 0.2 * rng.integers(0, 2, (number, k))
    upper = lower + rng.random((number, k)) * TOP
    low, high = -np.abs(rows).sum(axis=1) * (TOP + 1), np.zeros(len(rows))
    low[0] = high[0] = 1.0
    return rows, costs, lower, upper, np.tile(low, (number, 1)), np.tile(high, (number, 1))


def ours(rows: Floats, *given: Floats) -> tuple[float, Floats]:
    costs, form = given[0], Dictionaries(rows)
    nothing = np.full(len(costs), -np.inf)
    form.maximise(*(one[:1] for one in given), nothing[:1])  # compiled, if it was not
    started = time.process_time()
    points, _, statuses, _ = form.maximise(*given, nothing)
    seconds = time.process_time() - started
    return seconds, np.where(statuses == OPTIMAL, (costs * points).sum(axis=1), np.nan)


def warm_highs(rows: Floats, *given: Floats) -> tuple[float, Floats]:
    costs, lower, upper, low, high = given
    (m, k), model = rows.shape, highspy.Highs()
    model.silent()
    for option, value in {
        "presolve": "off", "solver": "simplex", "threads": 1, "primal_feasibility_tolerance": FEASIBLE,
        "dual_feasibility_tolerance": FEASIBLE,
    }.items():  # fmt: skip
        model.setOptionValue(option, value)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize)
    nothing, letters = np.zeros(0), np.arange(k, dtype=np.int32)
    none = np.zeros(0, np.int32)
    model.addCols(k, costs[0], lower[0], upper[0], 0, np.zeros(k, np.int32), none, nothing)
    starts = np.arange(0, m * k, k, dtype=np.int32)
    model.addRows(m, low[0], high[0], m * k, starts, np.tile(letters, m), rows.ravel())
    model.run()
    found = np.full(len(costs), np.nan)
    started = time.process_time()
    for i in range(len(costs)):
        model.changeColsCost(k, letters, costs[i])
        model.changeColsBounds(k, letters, lower[i], upper[i])
        model.run()
        if model.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            found[i] = model.getObjectiveValue()
    return time.process_time() - started, found


def main(number: int) -> None:
    print(f"{date.today()}, Python {platform.python_version()}, {platform.machine()}, {number:,} programs each")
    print(f"{'S × X':>7} {'rows':>5} {'ours, µs':>9} {'HiGHS, µs':>10} {'ratio':>6} {'optimal':>8} {'apart':>9}")
    for c, k in SIZES:
        given = programs(c, k, number)
        (mine, values), (theirs, others) = ours(*given), warm_highs(*given)
        both = np.isfinite(values) & np.isfinite(others)
        apart = np.abs(values[both] - others[both]).max(initial=0.0)
        lone = int((np.isfinite(values) != np.isfinite(others)).sum())
        print(
            f"{c:3} ×{k:3} {len(given[0]):5} {mine / number * 1e6:9.1f} {theirs / number * 1e6:10.1f} "
            f"{theirs / mine:6.1f} {both.mean():8.1%} {apart:9.1e}" + (f"  {lone} solved by one alone" if lone else "")
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else PROGRAMS)
