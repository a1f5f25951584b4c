"""Figure 4: the realised privacy parameter ε*, what a mechanism made for P̂ does under P* (section 8.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.notions import LDP
from discreet.papers.draws import observed
from discreet.papers.model import Effort, Measured, Outcome, Panel, Series
from discreet.papers.robust_2.methods import Setting, nr_channel, polyopt

Floats = NDArray[np.float64]
SIZES = ((2, 5), (5, 2))
EPSILONS = (0.075, 0.15, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
METHODS = ("PolyOpt", "NR")
SETS = 10  # of a hundred distributions, for the spread of a quantile


def realised(effort: Effort) -> Outcome:
    """Quartiles of ε* = max over y, s, s' of ln P*(y | s) / P*(y | s'); the paper forgot the logarithm."""
    epsilons = np.unique([EPSILONS[0], *effort.grid(EPSILONS)])
    draws = effort.draws(100, 20)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (c, k) in enumerate(SIZES):
        todo = [(c, k, number, tuple(epsilons)) for number in range(draws)]
        found = np.array(effort.map(_levels, todo))
        marks = [Series("ε* = ε", epsilons, epsilons, role="reference")]
        for m, name in enumerate(METHODS):
            low, middle, high = (_quantile(found[:, m], q) for q in (0.25, 0.5, 0.75))
            marks.append(Series(name, epsilons, middle, low, high, spread="band"))
            worse = (found[:, m] > epsilons).mean()
            values[f"{name} exceeds ε, {c}×{k}, share"] = Measured(float(worse))
        sets = effort.draws(SETS, 3)
        known = np.array(effort.map(_lowest, [(c, k, number) for number in range(100 * sets)])).reshape(sets, 100)
        values[f"75 % quantile of ε* for NR, {c}×{k}, ε=0.075"] = Measured.mean(_quantile(known.T, 0.75))
        panels.append(Panel(f"({'ab'[i]}) |S| = {c}, |U| = {k}", "ε", "realised ε*", tuple(marks)))
    words = (
        "NR, made for P̂ alone, exceeds its ε under P* and at small ε by a multiple; PolyOpt hardly ever does. The "
        "printed quantile is of one set of 100 distributions of a size that the paper does not name; ours are means "
        "over sets."
    )
    return Outcome(values, tuple(panels), words)


def _levels(todo: tuple[int, int, int, tuple[float, ...]]) -> list[list[float]]:
    c, k, number, epsilons = todo
    estimate, truth = observed(number, c, k)
    at = [Setting(estimate, epsilon) for epsilon in epsilons]
    robust = [Channel(polyopt(one).matrix) for one in at]
    known = [nr_channel(one) for one in at]
    return [
        [LDP(one.epsilon).level(q, truth).epsilon for one, q in zip(at, row, strict=True)] for row in (robust, known)
    ]


def _lowest(todo: tuple[int, int, int]) -> float:
    """ε* of NR at the smallest ε."""
    c, k, number = todo
    estimate, truth = observed(number, c, k)
    epsilon = EPSILONS[0]
    return LDP(epsilon).level(nr_channel(Setting(estimate, epsilon)), truth).epsilon


def _quantile(samples: Floats, q: float) -> Floats:
    """An observed value, so that infinities do not turn into nothing."""
    return np.asarray(np.quantile(samples, q, axis=0, method="inverted_cdf"))
