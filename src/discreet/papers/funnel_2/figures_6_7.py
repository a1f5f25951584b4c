"""Figures 6 and 7: GRR against Conditional Reporting on distributions from the Jeffreys prior (sections VIII-D, E)."""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.stats import pearsonr, spearmanr

from discreet.arrays import Floats
from discreet.information import entropy, utility
from discreet.joint import Joint
from discreet.mechanisms.calibration import calibrate
from discreet.mechanisms.conditional_reporting import cr
from discreet.mechanisms.randomised_response import grr
from discreet.notions import LIP
from discreet.papers.distributions import jeffreys
from discreet.papers.experiment import (
    Measured,
    Panel,
    Reproduction,
    Role,
    Series,
    Workload,
    mean_curve,
    optimum,
    place,
    scaled,
)

SIZES = ((5, 2), (2, 5), (5, 5), (3, 5), (5, 7), (7, 5))  # (a, c), panels (a) to (f)
EPSILONS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0)
CURATORS = 25  # draws for the curve that costs most; what it misses of H(X) is scaled by what Opt-LIP misses
REPLICATES = 20
PROPERTIES = ("I(X;S)", "max p(x,s)", "max p(x)", "max p(s)")
ROLES: dict[str, Role] = {"Opt-LIP": "new", "GRR": "paper", "CR": "paper", "curator": "new"}


def six_sizes(effort: Workload) -> Reproduction:
    """Mean and standard deviation of I(X;Y)/H(X) for a given LIP level, over 100 distributions of each size."""
    epsilons, draws, curators = effort.grid(EPSILONS), effort.draws(100), effort.draws(CURATORS, 5)
    todo = [(a, c, number, tuple(epsilons), number < curators) for a, c in SIZES for number in range(draws)]
    found = effort.map(_utilities, todo)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    gains = []
    for i, (a, c) in enumerate(SIZES):
        part = found[i * draws : (i + 1) * draws]
        curves = {name: np.array([one[name] for one in part if name in one]) for name in part[0]}
        curves["curator"] = 1 - scaled(1 - curves["curator"], 1 - curves["Opt-LIP"])
        marks = tuple(mean_curve(name, epsilons, samples, ROLES[name]) for name, samples in curves.items())
        panels.append(Panel(f"({'abcdef'[i]}) a = {a}, c = {c}", "LIP level ε", "I(X;Y) / H(X)", marks))
        for name, samples in curves.items():
            values[f"{name} a={a} c={c} ε=1.5"] = Measured.mean(samples[:, place(epsilons, 1.5)])
        gain = Measured.mean((curves["CR"] - curves["GRR"]).mean(axis=1))
        values[f"CR − GRR a={a} c={c}"] = gain
        both = np.array([curves["GRR"], curves["CR"]])
        spreads = both.mean(axis=0).std(axis=0).mean(), both.mean(axis=1).std(axis=0).mean()
        values[f"spread over distributions / over methods, a={a} c={c}"] = Measured(float(spreads[0] / spreads[1]))
        gains.append(gain.value)
    ratios = np.array([a / c for a, c in SIZES])
    values["rank correlation of a/c with CR − GRR"] = Measured(float(spearmanr(ratios, gains).statistic))
    words = (
        f"The paper finds that CR gains on GRR as a grows against c, and that distributions differ more than the two "
        f"methods do. Here CR − GRR, averaged over ε, goes from {gains[ratios.argmin()]:+.3f} at a/c = "
        f"{ratios.min():.2g} to {gains[ratios.argmax()]:+.3f} at a/c = {ratios.max():.2g}. New: the optimum (Opt-LIP) "
        f"at every size, and the best mechanism that may read the secret, as CR does (curator, from {curators} "
        f"of the {draws} draws)."
    )
    return Reproduction(values, tuple(panels), words)


def strength_differences(effort: Workload) -> Reproduction:
    """α_GRR − α_CR against I_GRR − I_CR for 100 distributions with a = c = 5, and their correlation.

    Also the correlations of I_GRR − I_CR with four properties of the distribution, "without presenting details" in the
    paper, which finds no impact. The spread of a correlation over 100 distributions is found by doing it again.
    """
    replicates = effort.draws(REPLICATES, 5)
    properties = [_properties(jeffreys(number, 5, 5)) for number in range(100 * replicates)]
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, epsilon in enumerate((1.0, 1.5, 2.0)):
        found = np.array(effort.map(partial(_differences, epsilon), range(100 * replicates)))
        groups = found.reshape(replicates, 100, 2)
        correlations = np.array([_correlation(group) for group in groups])
        values[f"correlation at ε={epsilon:g}"] = Measured.mean(correlations)
        for name in PROPERTIES:
            sets = np.array([one[name] for one in properties]).reshape(replicates, 100)
            together = [_correlation(np.column_stack(pair)) for pair in zip(sets, groups[:, :, 1], strict=True)]
            values[f"correlation of {name} with I(GRR) − I(CR), ε={epsilon:g}"] = Measured.mean(together)
        cloud = Series(f"ε = {epsilon:g}", groups[0][:, 0], groups[0][:, 1], shape="points")
        range_ = f"{correlations.min():.4f} to {correlations.max():.4f} over {replicates} sets"
        title = f"({'abc'[i]}) ε = {epsilon:g}: ρ = {correlations[0]:.4f}, {range_}"
        panels.append(Panel(title, "α(GRR) − α(CR)", "I(GRR) − I(CR), nats", (cloud,)))
    words = (
        f"A difference in utility between GRR and CR is mostly a difference in their strength α. Each correlation is a "
        f"mean over {replicates} sets of 100 distributions; the printed ones are of one set."
    )
    return Reproduction(values, tuple(panels), words)


def _utilities(todo: tuple[int, int, int, tuple[float, ...], bool]) -> dict[str, list[float]]:
    a, c, number, epsilons, with_curator = todo
    joint = jeffreys(number, c, a)
    curator = joint.curator()
    found: dict[str, list[float]] = {"Opt-LIP": [], "GRR": [], "CR": []}
    for epsilon in epsilons:
        notion = LIP(epsilon)
        found["Opt-LIP"].append(optimum(joint, notion).value / joint.entropy)
        found["GRR"].append(utility(joint, calibrate(grr, joint, notion).channel) / joint.entropy)
        found["CR"].append(utility(curator, calibrate(cr, curator, notion).channel) / joint.entropy)
    if with_curator:
        found["curator"] = [optimum(curator, LIP(e), gap=1e-3, time_limit=10).share(joint) for e in epsilons]
    return found


def _differences(epsilon: float, number: int) -> tuple[float, float]:
    joint, notion = jeffreys(number, 5, 5), LIP(epsilon)
    curator = joint.curator()
    first, second = calibrate(grr, joint, notion), calibrate(cr, curator, notion)
    return first.strength - second.strength, utility(joint, first.channel) - utility(curator, second.channel)


def _properties(joint: Joint) -> dict[str, float]:
    table = joint.table
    marginals = table.sum(axis=1), table.sum(axis=0)
    information = entropy(marginals[0]) + entropy(marginals[1]) - entropy(table)
    return dict(zip(PROPERTIES, (information, table.max(), marginals[1].max(), marginals[0].max()), strict=True))


def _correlation(points: Floats) -> float:
    """Over the distributions where both strengths are finite: where the identity satisfies ε, α says nothing."""
    finite = points[np.isfinite(points).all(axis=1)]
    return float(pearsonr(finite[:, 0], finite[:, 1]).statistic)
