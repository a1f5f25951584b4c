"""Figures 3 and 5: synthetic data with P* known (sections 8.2, 8.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.ir import ir
from discreet.mechanisms.srr import srr
from discreet.papers.draws import observed
from discreet.papers.formulas import distance_bound, ir_strengths
from discreet.papers.model import Box, Effort, Measured, Outcome, Panel, Role, mean_curve, place
from discreet.papers.robust_2.methods import Setting, coupling_nmi, grr_nmi, ir_nmi, nr_nmi, polyopt, srr_nmi
from discreet.uncertainty import ChiSquare

Floats = NDArray[np.float64]
SIZES = ((2, 5), (5, 2), (15, 16), (42, 6))
EPSILONS = (0.075, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
COUPLED = 2  # draws for the curve that the paper does not have
NEW = ("PolyOpt, s ≠ s'", "coupling")


def four_sizes(effort: Effort) -> Outcome:
    """NMI under P̂ for 100 distributions of each of the four sizes of the Adult experiments."""
    epsilons, draws = effort.grid(EPSILONS), effort.draws(100)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (c, k) in enumerate(SIZES):
        count = draws if c * k < 20 else max(2, draws // 5)
        coupled = effort.draws(COUPLED, 1)
        todo = [(c, k, number, tuple(epsilons), effort.seconds(15) * (number < coupled)) for number in range(count)]
        found = effort.map(_curves, todo)
        curves = {name: np.array([one[name] for one in found if name in one]) for name in found[0]}
        marks = tuple(mean_curve(name, epsilons, samples, _role(name)) for name, samples in curves.items())
        panels.append(Panel(f"({'abcd'[i]}) |S| = {c}, |U| = {k}, {count} draws", "ε", "NMI", marks))
        at = place(epsilons, 1.5)
        values |= {f"{name} {c}×{k} ε=1.5": Measured.mean(samples[:, at]) for name, samples in curves.items()}
        values |= _orders(f"{c}×{k}", {name: samples.mean(axis=0) for name, samples in curves.items()})
    words = (
        "GRR is worst and NR best at every size, as in the paper, which could compute NR and PolyOpt for ten letters "
        "only. IR is drawn with the d of Theorem 5; the errata say more about it. New: NR and a robust mechanism "
        "(coupling, for a few of the draws) for the large sizes, where the best the paper had was IR."
    )
    return Outcome(values, tuple(panels), words)


def utility_robustness(effort: Effort) -> Outcome:
    """(I_P̂ − I_P*) / I_P̂ at ε = 1.5 for SRR, PolyOpt and IR."""
    draws = effort.draws(100)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    extreme = 0.0
    for c, k in SIZES:
        count = draws if c * k < 20 else max(2, draws // 5)
        found = np.array(effort.map(_differences, [(c, k, number) for number in range(count)]))
        names = ("SRR", "PolyOpt", "IR") if c * k < 20 else ("SRR", "IR")
        panels.append(
            Panel(f"|S| = {c}, |U| = {k}, {count} draws", "", "(I_P̂ − I_P*) / I_P̂", tuple(map(Box, names, found.T)))
        )
        extreme = max(extreme, float(np.abs(found).max()))
        for name, samples in zip(names, found.T, strict=True):
            values[f"largest difference {name} {c}×{k}"] = Measured(float(np.abs(samples).max()))
            values[f"median difference {name} {c}×{k}"] = Measured(float(np.median(samples)))
    words = f"The paper finds differences below 3 %, as often up as down; here the largest is {extreme:.1%}."
    return Outcome(values, tuple(panels), words)


def _curves(todo: tuple[int, int, int, tuple[float, ...], float]) -> dict[str, list[float]]:
    c, k, number, epsilons, seconds = todo
    joint, _ = observed(number, c, k)
    at = [Setting(joint, epsilon) for epsilon in epsilons]
    found = {
        "NR": [nr_nmi(one) for one in at],
        "IR": [ir_nmi(one) for one in at],
        "SRR": [srr_nmi(one) for one in at],
        "GRR": [grr_nmi(one) for one in at],
    }
    if seconds:
        found["coupling"] = [coupling_nmi(one, seconds) for one in at]
    if at[0].small:
        found["PolyOpt"] = [polyopt(one).value / joint.entropy for one in at]
        found["PolyOpt, s ≠ s'"] = [polyopt(one, as_printed=False).value / joint.entropy for one in at]
    return found


def _differences(todo: tuple[int, int, int]) -> list[float]:
    c, k, number = todo
    estimate, truth = observed(number, c, k)
    at = Setting(estimate, 1.5)
    strengths = ir_strengths(estimate, at.epsilon, distance_bound(ChiSquare(at.confidence).ball(estimate)))
    channels = [srr(estimate, at.epsilon), ir(estimate, *strengths)]
    if at.small:
        channels.insert(1, Channel(polyopt(at).matrix))
    return [_relative(estimate, truth, channel) for channel in channels]


def _relative(estimate: Joint, truth: Joint, channel: Channel) -> float:
    before = utility(estimate, channel)
    return (before - utility(truth, channel)) / before


def _orders(size: str, means: dict[str, Floats]) -> dict[str, Measured]:
    """What the paper says about the order of the curves, as shares of the grid."""
    pairs = (("SRR", "GRR"), ("IR", "GRR"), ("NR", "PolyOpt"), ("PolyOpt", "IR"), ("PolyOpt", "SRR"), ("IR", "SRR"))
    return {
        f"{upper} above {lower}, {size}, share of ε": Measured(float((means[upper] >= means[lower] - 1e-9).mean()))
        for upper, lower in pairs
        if upper in means and lower in means
    }


def _role(name: str) -> Role:
    return "reference" if name == "NR" else "new" if name in NEW else "paper"
