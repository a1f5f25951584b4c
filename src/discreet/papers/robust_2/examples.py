"""Examples 1 to 5: two secrets, two values of U, a hundred records, ε = ln 2."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.independent_reporting import distance, paper_ir
from discreet.mechanisms.randomised_response import grr, srr
from discreet.notions.notion import Cone
from discreet.notions.polyopt import polyopt_rows
from discreet.notions.rldp import RLDP
from discreet.papers.experiment import Measured, Reproduction, Workload, optimum_in
from discreet.papers.robust_2.robust_methods import METHODS, RobustCase
from discreet.solvers.driver import solve
from discreet.solvers.enumeration import vertices
from discreet.solvers.problem import Effort, Problem
from discreet.solvers.robust.optimum import search_optimum
from discreet.uncertainty import ChiSquare
from discreet.uncertainty.renyi_ball import l1_radius, lower_bounds, upper_bounds

ESTIMATE = Joint.from_counts([[7, 10], [26, 57]], include_secret=True)
TRUTH = Joint(np.array([[0.1, 0.1], [0.2, 0.6]]), include_secret=True)
EPSILON = math.log(2)
BALL = ChiSquare(0.95).around(ESTIMATE)
CELLS = ("s1,u1", "s1,u2", "s2,u1", "s2,u2")


def first(_: Workload) -> Reproduction:
    values = {"B": Measured(BALL.radius), "D₂(P̂‖P*)": Measured(float(BALL.divergence(TRUTH.table)))}
    return Reproduction(values, words="P* lies in F, as the example says.")


def second(_: Workload) -> Reproduction:
    bounds, highest, radii = lower_bounds(BALL), upper_bounds(BALL), l1_radius(BALL)
    values = {f"P̂(s{s + 1})": Measured(float(BALL.mass[s])) for s in range(2)}
    for s in range(2):
        values[f"B_s{s + 1}"] = Measured(float(BALL.radii[s]))
        values[f"rad_s{s + 1}"] = Measured(float(radii[s]))
        for u in range(2):
            values[f"P̂(u{u + 1}|s{s + 1})"] = Measured(float(BALL.conditional[s, u]))
            values[f"L_u{u + 1}|s{s + 1}"] = Measured(float(bounds[s, u]))
            values[f"max P(u{u + 1}|s{s + 1})"] = Measured(float(highest[s, u]))
    words = (
        "The printed B_s1 does not follow from Theorem 1, and what depends on it is off with it; maximising over F "
        "directly agrees with the theorem."
    )
    return Reproduction(values, words=words)


def third(_: Workload) -> Reproduction:
    """PolyOpt as printed (16 vertices, four of them used), and what the same set allows without the rows for s = s'."""
    at = RobustCase(ESTIMATE, EPSILON)
    cone = Cone(polyopt_rows(ESTIMATE, at.notion, same_secret=True))
    best = optimum_in(ESTIMATE, cone, gap=1e-9, time_limit=None)
    freer = optimum_in(ESTIMATE, Cone(polyopt_rows(ESTIMATE, at.notion, same_secret=False)), gap=1e-9, time_limit=None)
    matrix = best.matrix[np.argsort(best.matrix[:, 0])][[1, 0, 3, 2]]  # outputs have no order; this is the printed one
    values = _entries("PolyOpt", matrix) | _utilities("PolyOpt", Channel(matrix)) | listed(cone.rows, best.matrix)
    values |= {
        "I_P̂ without s = s'": Measured(freer.value),
        "I_P̂ exact": Measured(solve(search_optimum, Problem.of(ESTIMATE, at.notion), Effort(gap=1e-4)).value),
        "I_P̂ NR": Measured(METHODS["NR"](at, 0.0)),
        "outputs": Measured(float(len(matrix))),
    }
    words = (
        f"RLDP does not compare a secret with itself; without those rows the same polytopes give {freer.value:.4f}. "
        f"The optimum for F itself, no polytope in between, is {values['I_P̂ exact'].value:.4f}, and with P̂ known for "
        f"certain {values['I_P̂ NR'].value:.4f}."
    )
    return Reproduction(values, words=words)


def fourth(_: Workload) -> Reproduction:
    plain, secret = grr(ESTIMATE, EPSILON), srr(ESTIMATE, EPSILON)
    values = _entries("GRR", plain.matrix) | _entries("SRR", secret.matrix)
    for name, channel in (("GRR", plain), ("SRR", secret)):
        values |= _utilities(name, channel)
    return Reproduction(values)


def fifth(_: Workload) -> Reproduction:
    found = paper_ir(ESTIMATE, RLDP(EPSILON, ChiSquare(0.95)))
    values = {"d": Measured(distance(BALL)), "ε₂": Measured(found.strength)}
    values |= _entries("IR", found.channel.matrix) | _utilities("IR", found.channel)
    factor = 2 / distance(BALL)
    values |= {"2/d": Measured(factor), "2/d − 1": Measured(factor - 1), "2 − 2/d": Measured(2 - factor)}
    values |= {"4/d": Measured(2 * factor), "4/d − 2": Measured(2 * factor - 2)}
    better = utility(ESTIMATE, srr(ESTIMATE, EPSILON)) / utility(ESTIMATE, found.channel)
    values["I_P̂ of SRR / I_P̂ of IR"] = Measured(better)
    words = "The printed d = 1.4591 is right: it follows from the radius that Example 2 should have printed."
    return Reproduction(values, words=words)


def listed(conditions: NDArray[np.float64], mechanism: NDArray[np.float64]) -> dict[str, Measured]:
    """(47): the corners V of the polytope {Σ v = 1}, their worth μ and the weights θ that make up the mechanism.

    Corners have no order. Here they are sorted by their first entry, no two of which are alike.
    """
    corners = vertices(conditions, ESTIMATE.prior)
    corners = corners / corners.sum(axis=1, keepdims=True)
    corners = corners[np.argsort(corners[:, 0])]
    weighed = corners * ESTIMATE.prior
    worth = (weighed * np.log(np.where(corners > 0, corners, 1.0) / weighed.sum(axis=1, keepdims=True))).sum(axis=1)
    apart = np.abs(corners[:, None] - (mechanism / mechanism.sum(axis=1, keepdims=True))[None]).max(axis=2)
    weights = np.zeros(len(corners))
    weights[apart.argmin(axis=0)] = mechanism.sum(axis=1)
    found = {"vertices": Measured(float(len(corners)))}
    for i, corner in enumerate(corners, start=1):
        found |= {f"V[{i}|{cell}]": Measured(float(v)) for cell, v in zip(CELLS, corner, strict=True)}
        found |= {f"μ[{i}]": Measured(float(worth[i - 1])), f"θ[{i}]": Measured(float(weights[i - 1]))}
    return found


def _utilities(name: str, channel: Channel) -> dict[str, Measured]:
    return {
        f"I_P̂ {name}": Measured(utility(ESTIMATE, channel)),
        f"I_P* {name}": Measured(utility(TRUTH, channel)),
    }


def _entries(name: str, matrix: NDArray[np.float64]) -> dict[str, Measured]:
    return {
        f"{name}[{y + 1}|{cell}]": Measured(float(matrix[y, x]))
        for y in range(len(matrix))
        for x, cell in enumerate(CELLS)
    }
