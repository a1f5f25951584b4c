"""Table 2: the impact of β at ε = 1.5, and what is behind its row for IR (section 8.5)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from discreet.arrays import Floats
from discreet.papers.distributions import observed
from discreet.papers.experiment import Measured, Panel, Reproduction, Workload
from discreet.papers.formulas import farthest, ir_information, radius_bounds
from discreet.papers.robust_2.robust_methods import (
    METHODS,
    Curves,
    DrawPlan,
    RobustCase,
    curves,
    draw_plan,
    drawn,
    gathered,
)
from discreet.uncertainty import ChiSquare
from discreet.uncertainty.renyi_ball import RenyiBall

SIZES = ((2, 5), (5, 2), (15, 16), (42, 6))
BETAS = (0.1, 0.01, 0.001)
EPSILON = 1.5


def betas(effort: Workload) -> Reproduction:
    """NMI of SRR, PolyOpt and IR for three significance levels; IR also with a d that is too small, see `single_u`."""
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for i, (c, k) in enumerate(SIZES):
        draws, small = effort.draws(100), c * k < 20
        work = draw_plan(effort, draws, small=small, closed=(), seconds=16)
        found = effort.part(i, len(SIZES)).map(_row, [(c, k, number, work) for number in range(draws)])
        samples = gathered(found)
        values |= measured(c, k, samples) | _impacts(f"{c}×{k}", samples)
        panels.append(
            Panel(
                f"|S| = {c}, |U| = {k}, {draws} draws", "β", "I(X;Y) / H(X) at ε = 1.5",
                drawn(np.array(BETAS), samples, small=small), log_x=True,
            )
        )  # fmt: skip
    values["largest impact of β on NMI"] = max(
        (m for name, m in values.items() if name.startswith("impact of β on NMI of")), key=lambda m: m.value
    )
    words = (
        "SRR and PolyOpt come out as printed. IR with the d of Theorem 5 does not, except for 42×6 where d = 2. With "
        "the distance ‖P̂(U|s) − P̂(U|s')‖₁ of (62) replaced by its first term |P̂(u₁|s) − P̂(u₁|s')| all twelve "
        "printed numbers come out: a slip in a program would explain the row (in Matlab, a matrix indexed with one "
        "number gives its first column). That d is too small to guarantee ε. New: PolyOpt without the rows for s = s', "
        "the robust optimum (exact), the coupling at every size, and NR, which no β changes."
    )
    return Reproduction(values, tuple(panels), words)


def single_u(ball: RenyiBall) -> float:
    """d with one u in place of the sum over U: the reading of (62) that reproduces the printed row."""
    first = ball.conditional[:, 0]
    return min(2.0, 2 * float(radius_bounds(ball).max()) + float(np.ptp(first)))


def measured(c: int, k: int, samples: Mapping[str, Floats]) -> dict[str, Measured]:
    """The entries of the table from the rows of all draws."""
    return {
        f"{name} {c}×{k} β={beta:g}": Measured.mean(nmi[:, b])
        for name, nmi in samples.items()
        for b, beta in enumerate(BETAS)
    }


def _impacts(size: str, samples: Mapping[str, Floats]) -> dict[str, Measured]:
    """What a β a hundred times smaller costs, as a share of the NMI."""
    lost = {name: 1 - samples[name][:, -1].mean() / samples[name][:, 0].mean() for name in samples}
    found = {f"impact of β on NMI of {name}, {size}": lost[name] for name in ("IR", "PolyOpt") if name in lost}
    if "PolyOpt" in lost:
        found[f"impact of β on IR − on PolyOpt, {size}"] = lost["IR"] - lost["PolyOpt"]
    return {name: Measured(float(value)) for name, value in found.items()}


def closed_forms(at: list[RobustCase]) -> Curves:
    """SRR, and IR with both readings of d, for every β."""
    joint = at[0].joint
    balls = [ChiSquare(one.confidence).around(joint) for one in at]
    printed = [min(2.0, 2 * float(radius_bounds(ball).max()) + farthest(ball)) for ball in balls]
    return {
        "SRR": [METHODS["SRR"](at[0], 0.0) / joint.entropy] * len(BETAS),
        "IR": [ir_information(joint, EPSILON, d) / joint.entropy for d in printed],
        "IR, single u": [ir_information(joint, EPSILON, single_u(ball)) / joint.entropy for ball in balls],
    }


def _row(todo: tuple[int, int, int, DrawPlan]) -> Curves:
    """For one draw, a list over β for every method."""
    c, k, number, work = todo
    joint, _ = observed(number, c, k)
    at = [RobustCase(joint, EPSILON, 1 - beta) for beta in BETAS]
    names = work.names(number)
    found = closed_forms(at) | curves(at, [name for name in names if name != "NR"], work.seconds)
    return found | {name: one * len(BETAS) for name, one in curves(at[:1], set(names) & {"NR"}, 0.0).items()}
