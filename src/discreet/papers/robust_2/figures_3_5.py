"""Figures 3 and 5: synthetic data with P* known (sections 8.2, 8.4)."""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.independent_reporting import ir
from discreet.mechanisms.randomised_response import srr
from discreet.papers.distributions import observed
from discreet.papers.experiment import Measured, Panel, Quartiles, Reproduction, Workload, place
from discreet.papers.formulas import distance_bound, ir_strengths
from discreet.papers.robust_2.robust_methods import (
    Curves,
    DrawPlan,
    RobustCase,
    coupled,
    curves,
    draw_plan,
    drawn,
    gathered,
    nr_channel,
    rising,
    solved_polyopt,
)
from discreet.uncertainty import ChiSquare

SIZES = ((2, 5), (5, 2), (15, 16), (42, 6))
EPSILONS = (0.075, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
CLOSED = ("IR", "SRR", "GRR")


def four_sizes(effort: Workload) -> Reproduction:
    """NMI under P̂ for 100 distributions of each of the four sizes of the Adult experiments."""
    epsilons, draws = effort.grid(EPSILONS), effort.draws(100)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (c, k) in enumerate(SIZES):
        small = c * k < 20
        work = draw_plan(effort, draws, small=small, closed=CLOSED, seconds=16)
        found = effort.part(i, len(SIZES)).map(
            _curves, [(c, k, number, tuple(epsilons), work) for number in range(draws)]
        )
        samples = gathered(found)
        marks = drawn(epsilons, samples, small=small)
        panels.append(Panel(f"({'abcd'[i]}) |S| = {c}, |U| = {k}, {draws} draws", "ε", "I(X;Y) / H(X)", marks))
        at = place(epsilons, 1.5)
        values |= {f"{name} {c}×{k} ε=1.5": Measured.mean(nmi[:, at]) for name, nmi in samples.items()}
        values |= _orders(f"{c}×{k}", {name: nmi.mean(axis=0) for name, nmi in samples.items()})
    words = (
        "GRR is worst and NR best at every size, as in the paper, which could compute NR and PolyOpt for ten letters "
        "only. IR is drawn with the d of Theorem 5; the errata say more about it. New: NR and a robust mechanism "
        "(coupling) for the large sizes, where the best the paper had was IR, and the robust optimum (exact) for the "
        "small ones. These are from the first few draws, scaled by what NR keeps of them and of all."
    )
    return Reproduction(values, tuple(panels), words)


def utility_robustness(effort: Workload) -> Reproduction:
    """(I_P̂ − I_P*) / I_P̂ at ε = 1.5 for SRR, PolyOpt and IR."""
    draws = effort.draws(100)
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (c, k) in enumerate(SIZES):
        few = effort.draws(20, 3) if c * k < 20 else effort.draws(2, 1)
        todo = [(c, k, number, number < 10 * few, effort.seconds(16) * (number < few)) for number in range(draws)]
        found = effort.part(i, len(SIZES)).map(_differences, todo)
        samples = {name: np.array([one[name] for one in found if name in one]) for name in found[0]}
        boxes = tuple(Quartiles(f"{name}\n({len(nmi)})", nmi) for name, nmi in samples.items())
        panels.append(Panel(f"|S| = {c}, |U| = {k}", "method (draws)", "(I under P̂ − I under P*) / I under P̂", boxes))
        for name, nmi in samples.items():
            values[f"largest difference {name} {c}×{k}"] = Measured(float(np.abs(nmi).max()))
            values[f"share of positive differences {name} {c}×{k}"] = Measured.mean(nmi > 0)
    extreme = max(m.value for name, m in values.items() if name.startswith("largest"))
    words = (
        f"The paper finds differences below 3 %, as often up as down; here the largest is {extreme:.1%}. New: NR and "
        f"the coupling, which differ as little."
    )
    return Reproduction(values, tuple(panels), words)


def _curves(todo: tuple[int, int, int, tuple[float, ...], DrawPlan]) -> Curves:
    c, k, number, epsilons, work = todo
    joint, _ = observed(number, c, k)
    return rising(curves([RobustCase(joint, epsilon) for epsilon in epsilons], work.names(number), work.seconds))


def _differences(todo: tuple[int, int, int, bool, float]) -> dict[str, float]:
    c, k, number, with_nr, seconds = todo
    estimate, truth = observed(number, c, k)
    at = RobustCase(estimate, 1.5)
    strengths = ir_strengths(estimate, at.epsilon, distance_bound(ChiSquare(at.confidence).around(estimate)))
    channels = {"SRR": srr(estimate, at.epsilon), "IR": ir(estimate, *strengths)}
    if at.small:
        channels["PolyOpt"] = Channel(solved_polyopt(at).matrix)
    if with_nr:
        channels["NR"] = nr_channel(at)
    if seconds:
        channels["coupling"] = coupled(at, seconds)
    return {name: _relative(estimate, truth, channel) for name, channel in channels.items()}


def _relative(estimate: Joint, truth: Joint, channel: Channel) -> float:
    before = utility(estimate, channel)
    return (before - utility(truth, channel)) / before


def _orders(size: str, means: dict[str, Floats]) -> dict[str, Measured]:
    """What the paper says about the order of the curves, as shares of the grid."""
    pairs = (("SRR", "GRR"), ("IR", "GRR"), ("NR", "PolyOpt"), ("PolyOpt", "IR"), ("PolyOpt", "SRR"), ("IR", "SRR"))
    known = [pair for pair in pairs if set(pair) <= means.keys()]
    found = {f"{a} above {b}, {size}, share of ε": (means[a] >= means[b] - 1e-9).mean() for a, b in known}
    ahead = means["IR"] >= means["SRR"]
    found |= {f"IR above SRR at the lowest ε, {size}": ahead[0], f"SRR above IR at the highest ε, {size}": ~ahead[-1]}
    return {name: Measured(float(value)) for name, value in found.items()}
