"""Table 2: the impact of β at ε = 1.5, and what is behind its row for IR (section 8.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.papers.draws import observed
from discreet.papers.formulas import farthest, ir_information, radius_bounds
from discreet.papers.model import Effort, Measured, Outcome, Panel, Role, Series
from discreet.papers.robust_2.methods import Setting, polyopt, srr_nmi
from discreet.uncertainty import ChiSquare
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
SIZES = ((2, 5), (5, 2), (15, 16), (42, 6))
BETAS = (0.1, 0.01, 0.001)
EPSILON = 1.5
Row = dict[str, list[float]]


def betas(effort: Effort) -> Outcome:
    """NMI of SRR, PolyOpt and IR for three significance levels; IR also with a d that is too small, see `single_u`."""
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    for c, k in SIZES:
        draws = effort.draws(100) if c * k < 20 else effort.draws(50, 3)
        found = effort.map(_row, [(c, k, number) for number in range(draws)])
        values |= measured(c, k, found)
        marks = tuple(
            Series(name, np.array(BETAS), np.mean([one[name] for one in found], axis=0), role=_role(name))
            for name in found[0]
        )
        panels.append(Panel(f"|S| = {c}, |U| = {k}, {draws} draws", "β", "NMI at ε = 1.5", marks, log_x=True))
    words = (
        "SRR and PolyOpt come out as printed. IR with the d of Theorem 5 does not, except for 42×6 where d = 2. With "
        "the distance ‖P̂(U|s) − P̂(U|s')‖₁ of (62) replaced by its first term |P̂(u₁|s) − P̂(u₁|s')| all twelve "
        "printed numbers come out: a slip in a program would explain the row (in Matlab, a matrix indexed with one "
        "number gives its first column). That d is too small to guarantee ε."
    )
    return Outcome(values, tuple(panels), words)


def single_u(ball: Ball) -> float:
    """d with one u in place of the sum over U: the reading of (62) that reproduces the printed row."""
    first = ball.conditional[:, 0]
    return min(2.0, 2 * float(radius_bounds(ball).max()) + float(np.ptp(first)))


def measured(c: int, k: int, found: list[Row]) -> dict[str, Measured]:
    """The entries of the table from the rows of all draws."""
    return {
        f"{name} {c}×{k} β={beta:g}": Measured.mean([one[name][b] for one in found])
        for name in found[0]
        for b, beta in enumerate(BETAS)
    }


def closed_forms(at: list[Setting]) -> Row:
    """SRR, and IR with both readings of d, for every β."""
    joint = at[0].joint
    balls = [ChiSquare(one.confidence).ball(joint) for one in at]
    printed = [min(2.0, 2 * float(radius_bounds(ball).max()) + farthest(ball)) for ball in balls]
    return {
        "SRR": [srr_nmi(at[0])] * len(BETAS),
        "IR": [ir_information(joint, EPSILON, d) / joint.entropy for d in printed],
        "IR, single u": [ir_information(joint, EPSILON, single_u(ball)) / joint.entropy for ball in balls],
    }


def _row(todo: tuple[int, int, int]) -> Row:
    """For one draw, a list over β for every method."""
    c, k, number = todo
    joint, _ = observed(number, c, k)
    at = [Setting(joint, EPSILON, 1 - beta) for beta in BETAS]
    found = closed_forms(at)
    if at[0].small:
        found["PolyOpt"] = [polyopt(one).value / joint.entropy for one in at]
        found["PolyOpt, s ≠ s'"] = [polyopt(one, as_printed=False).value / joint.entropy for one in at]
    return found


def _role(name: str) -> Role:
    return "new" if name in ("PolyOpt, s ≠ s'", "IR, single u") else "paper"
