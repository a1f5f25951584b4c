"""robust-1: Robust Local Differential Privacy (ISIT 2021), section V."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.information import utility
from discreet.mechanisms.grr import grr
from discreet.mechanisms.robust_cr import calibrated_robust_cr
from discreet.notions.rldp import RLDP
from discreet.papers.draws import observed
from discreet.papers.formulas import cr_information, distance_bound, ir_information, radius_bounds
from discreet.papers.model import Effort, Item, Measured, Outcome, Panel, Role, mean_curve, place
from discreet.uncertainty import ChiSquare

Floats = NDArray[np.float64]
EPSILONS = (0.2, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
RECORDS = (100, 1_000, 10_000, 100_000)
CLOSED = ("GRR", "IR", "CR", "CR, exact level")


def records(effort: Effort) -> Outcome:
    """GRR, IR and CR for |S| = |U| = 5 as the number of records n grows."""
    epsilons, draws = effort.grid(EPSILONS), effort.draws(200)
    found = np.array(effort.map(_closed_forms, [(5, 5, n, i, tuple(epsilons)) for n in RECORDS for i in range(draws)]))
    curves = found.reshape(len(RECORDS), draws, len(epsilons), len(CLOSED))
    panels: list[Panel] = []
    values: dict[str, Measured] = {}
    one = place(epsilons, 1.0)
    for n, part in zip(RECORDS, curves, strict=True):
        marks = tuple(mean_curve(name, epsilons, part[:, :, m], _role(name)) for m, name in enumerate(CLOSED))
        panels.append(Panel(f"n = {n:,}", "ε", "I(X;Y) / H(X)", marks))
        values |= {f"{name} n={n} ε=1": Measured.mean(part[:, one, m]) for m, name in enumerate(CLOSED)}
        lead = part[:, :, 0].mean(axis=0) - part[:, :, 1:3].mean(axis=0).max(axis=1)
        values[f"GRR overtakes at ε, n={n}"] = Measured(_crossing(epsilons, lead))
    gain = curves[-1, :, one, 2].mean() - curves[0, :, one, 2].mean()
    words = (
        f"GRR overtakes IR and CR at a large ε (the paper: typically around 4), and at ε = 1 both are ahead of it. CR "
        f"gains with n: {gain:+.3f} at ε = 1 from n = {RECORDS[0]:,} to {RECORDS[-1]:,}. New: CR with its exact level "
        f"over F in place of the bound of Theorem 5."
    )
    return Outcome(values, tuple(panels), words)


def _closed_forms(todo: tuple[int, int, int, int, tuple[float, ...]]) -> Floats:
    """[ε, method] for one draw, as shares of H(X)."""
    c, k, n, number, epsilons = todo
    joint, _ = observed(number, c, k, n)
    ball = ChiSquare(0.95).ball(joint)
    radii, d = radius_bounds(ball), distance_bound(ball)
    rows = [
        (
            utility(joint, grr(joint, e)),
            ir_information(joint, e, d),
            cr_information(joint, e, radii),
            utility(joint, calibrated_robust_cr(joint, RLDP(e)).channel),
        )
        for e in epsilons
    ]
    return np.array(rows) / joint.entropy


def _crossing(x: Floats, lead: Floats) -> float:
    """Where a curve that ends above the others rises above them for good; infinite if it does not."""
    behind = np.flatnonzero(lead <= 0)
    if len(behind) == 0:
        return float(x[0])
    i = int(behind[-1])
    if i + 1 == len(x):
        return float("inf")
    return float(x[i] + (x[i + 1] - x[i]) * lead[i] / (lead[i] - lead[i + 1]))


def _role(name: str) -> Role:
    return "new" if "exact" in name else "paper"


ITEMS = (Item("robust-1/figure-3", "GRR, IR and CR for |S| = |U| = 5 as n grows", records),)
