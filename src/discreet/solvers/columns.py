"""Column generation with exact pricing: the best mechanism and a proof, without listing the vertices (theory 1.3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.master import Master
from discreet.solvers.pricing import Pricer
from discreet.solvers.problem import Split, Splitting

Floats = NDArray[np.float64]
Progress = Callable[[float, float, float], None]


def solve(
    problem: Splitting, *, gap: float = 1e-6, time_limit: float | None = None, progress: Progress | None = None
) -> Split:
    """The optimal split, proven to within `gap`; or the best so far with its bound when time runs out.

    The bound holds for *any* prices α: a split has Σ_y q_y = 1 and Σ_y q_y v_y = 1, so
    Σ_y q_y μ(v_y) = Σ_z α_z + Σ_y q_y (μ(v_y) − α·v_y) ≤ Σ_z α_z + δ, with δ ≥ μ(v) − α·v for every permitted row v.
    """
    started = time.monotonic()
    late = _clock(started, time_limit)
    master = Master(problem)
    pricer = Pricer(problem)
    best = np.inf
    centre: Floats | None = None
    trust = 0.5
    import os
    verbose=os.environ.get('VERB')
    master.add(_starts(problem, pricer))
    while True:
        master.solve()
        alpha = master.alpha if centre is None else trust * centre + (1 - trust) * master.alpha
        floor = master.value + gap - float(alpha.sum())
        n0=pricer.nodes; t0=time.monotonic()
        priced = pricer.price(alpha, floor, enough=len(problem.prior), stop=late)
        bound = float(alpha.sum()) + priced.bound
        if bound < best:
            best, centre = bound, alpha
        if verbose: print(f'{time.monotonic()-started:.2f} value {master.value:.7f} bound {bound:.7f} best {best:.7f} new {len(priced.rows)} nodes {pricer.nodes-n0} t {time.monotonic()-t0:.2f} cols {master.size} trust {trust}')
        if progress is not None:
            progress(master.value, best, time.monotonic() - started)
        if best - master.value <= gap:
            status = "optimal"
            break
        if late():
            status = "time limit"
            break
        useful = [row for row in priced.rows if pricer.gain(row, master.alpha) > gap / 10]
        if useful:
            master.add(np.array(useful))
            trust = 0.5
        elif trust > 0:
            trust = 0.0
        else:
            status = "stalled"
            break
    return Split(master.rows, master.weights, master.value, best, status)


def _starts(problem: Splitting, pricer: Pricer) -> Floats:
    n = len(problem.prior)
    rows = [np.ones(n)]
    for z in range(n):
        direction = np.zeros(n)
        direction[z] = 1.0
        row = pricer.best_row(direction)
        if row is not None:
            rows.append(pricer.climb(row, np.zeros(n))[0])
            rows.append(row)
    return np.array(rows)


def _clock(started: float, limit: float | None) -> Callable[[], bool]:
    return lambda: limit is not None and time.monotonic() - started > limit
