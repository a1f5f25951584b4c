"""Figures 3(a) and 3(b): optimal LDP and LIP on random distributions (section VIII-A). In funnel-1 figures 3 and 4."""

from __future__ import annotations

from functools import partial

import numpy as np

from discreet.arrays import Floats
from discreet.notions import LDP, LIP
from discreet.papers.distributions import uniform
from discreet.papers.experiment import Measured, Panel, Reproduction, Series, Workload, optimum

EPSILONS = (0.5, 1.0, 1.5, 2.0)
DRAWS = 10


def same_level(effort: Workload) -> Reproduction:
    """The best ε-LDP mechanism against the best ε-LIP mechanism. ε-LDP implies ε-LIP, so the ratio is at most one."""
    found = _all(effort, 1.0)
    ratios = found[:, :, 0] / found[:, :, 1]
    words = (
        f"The paper needed 133 s on average for one LDP optimum at ε = 0.5 (a polytope of 20 dimensions) and 0.0206 s "
        f"for LIP. As splitting problems both are alike: here {_mean(found[:, 0, 2])} and {_mean(found[:, 0, 3])}, so "
        f"that LDP is no slower than LIP. LDP keeps {ratios.min():.3f} to {ratios.max():.3f} of the utility of LIP."
    )
    return _outcome(found, ratios, "I under ε-LDP / I under ε-LIP", words)


def half_level(effort: Workload) -> Reproduction:
    """The best ε/2-LIP mechanism, which is ε-LDP too, against the best ε-LDP mechanism."""
    found = _all(effort, 0.5)
    ratios = found[:, :, 1] / found[:, :, 0]
    words = (
        f"ε/2-LIP implies ε-LDP (the journal text has the two the other way round, see the errata). Settling for it "
        f"costs at most {1 - ratios.min():.1%} of the utility here; with an LDP optimum in "
        f"{_mean(found[:, :, 2].ravel())} there is no reason to."
    )
    return _outcome(found, ratios, "I under ε/2-LIP / I under ε-LDP", words)


def _all(effort: Workload, share: float) -> Floats:
    """[draw, ε, (I under LDP, I under LIP at a share of ε, seconds, seconds)]"""
    numbers = range(effort.draws(DRAWS))
    return np.array(effort.map(partial(_two_optima, share), numbers))


def _two_optima(share: float, number: int) -> list[tuple[float, float, float, float]]:
    joint, found = uniform(number, 2, 5), []
    for epsilon in EPSILONS:
        ldp, lip = optimum(joint, LDP(epsilon), gap=1e-7), optimum(joint, LIP(share * epsilon), gap=1e-7)
        found.append((ldp.value, lip.value, ldp.seconds, lip.seconds))
    return found


def _outcome(found: Floats, ratios: Floats, label: str, words: str) -> Reproduction:
    marks = tuple(
        Series(f"ε = {epsilon:g}", np.log10(found[:, i, 3] / found[:, i, 2]), ratios[:, i], shape="points")
        for i, epsilon in enumerate(EPSILONS)
    )
    values = {f"mean ratio at ε={epsilon:g}": Measured.mean(ratios[:, i]) for i, epsilon in enumerate(EPSILONS)}
    values |= {"smallest ratio": Measured(float(ratios.min())), "largest ratio": Measured(float(ratios.max()))}
    values["mean ratio at ε=2 − at ε=0.5"] = Measured(float(np.diff(ratios.mean(axis=0)[[0, -1]])[0]))
    values |= {
        "seconds LDP ε=0.5": Measured.mean(found[:, 0, 2]),
        "seconds LIP ε=0.5": Measured.mean(found[:, 0, 3]),
        "times LDP is slower than LIP": Measured(float(found[:, :, 2].mean() / found[:, :, 3].mean())),
    }
    return Reproduction(values, (Panel("ten random distributions", "log₁₀(LIP time / LDP time)", label, marks),), words)


def _mean(seconds: Floats) -> str:
    return f"{1000 * float(seconds.mean()):.1f} ms"
