"""Checks every number of docs/note-to-authors.md that is computed: printed beside computed, an error if one is off.

python scripts/check_note.py
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

import discreet as dc
from discreet.information import leakage, utility
from discreet.papers.distributions import observed
from discreet.papers.formulas import distance_bound, ir_information
from discreet.papers.robust_2.table_2 import single_u
from discreet.solvers.methods import METHODS
from discreet.solvers.problem import Effort, Problem
from discreet.uncertainty.renyi_ball import l1_radius

EXAMPLE = [[7, 10], [26, 57]]


def composition() -> dict[str, tuple[float, float]]:
    """The counterexample to funnel-2 Theorem 4: both hypotheses, and the level of the product."""
    counts = np.array([[[1202, 142063, 200964], [10626, 495, 1104]], [[15782, 236553, 35375], [344512, 9195, 2129]]])
    first = dc.Channel([[0.3158, 0.9732], [0.6842, 0.0268]])
    second = dc.Channel([[0.8725, 0.0156, 0.3924], [0.1275, 0.1269, 0.6076], [0, 0.8575, 0]])
    joint = dc.Joint.from_counts(counts)

    def hypothesis(channel: dc.Channel, table: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
        tables = [table.sum(axis=2), *(table[:, :, other] for other in range(table.shape[2]))]
        return max(dc.LIP(1).level(channel, dc.Joint.from_counts(one)).epsilon for one in tables)

    product = dc.Channel(first.product(second).matrix, joint.letters)
    met = max(hypothesis(first, counts), hypothesis(second, counts.transpose(0, 2, 1)))
    if not met < 0.5:
        raise SystemExit("the hypothesis of the theorem is not met")
    return {"level of the product (theorem: at most 1)": (1.2274, dc.LIP(1).level(product, joint).epsilon)}


def example_2() -> dict[str, tuple[float, float]]:
    ball = dc.ChiSquare(0.95).around(dc.Joint.from_counts(EXAMPLE, include_secret=True))
    printed = np.log((np.exp(ball.radius) - (1 - ball.mass)) / ball.mass)
    return {
        "B_s1 by Theorem 1 (printed 0.3782)": (0.4067, ball.radii[0]),
        "B_s2 by Theorem 1 (printed 0.0900)": (0.0903, ball.radii[1]),
        "B_s1 as printed": (0.3782, printed[0]),
        "rad_s1": (0.6310, l1_radius(ball)[0]),
    }


def example_3() -> dict[str, tuple[float, float]]:
    rows = [
        [0.0885, 0.3840, 0.6667, 0.0507],
        [0.0860, 0.3731, 0, 0.3080],
        [0.6162, 0.1813, 0, 0.6159],
        [0.2094, 0.0616, 0.3333, 0.0254],
    ]
    channel = dc.Channel(np.array(rows) / np.sum(rows, axis=0))
    truth = dc.Joint([[0.1, 0.1], [0.2, 0.6]], include_secret=True)
    return {"I_P*(X;Y) of the printed matrix (printed 0.2804)": (0.3702, utility(truth, channel))}


def polyopt() -> dict[str, tuple[float, float]]:
    """Example 3 by PolyOpt, with and without the conditions for s = s'."""
    joint = dc.Joint.from_counts(EXAMPLE, include_secret=True)
    notion = dc.RLDP(EXAMPLE_EPSILON, dc.ChiSquare(0.95))
    found = {
        name: METHODS[name].solve(Problem.of(joint, notion), Effort(gap=1e-6)).value
        for name in ("polyopt-paper", "polyopt")
    }
    return {
        "PolyOpt as printed": (0.4228, found["polyopt-paper"]),
        "PolyOpt without s = s'": (0.5630, found["polyopt"]),
    }


def equation_34() -> dict[str, tuple[float, float]]:
    e, rho = math.exp(0.406733474), 7 / 17
    root = math.sqrt((e - 1) * (e - (2 * rho - 1) ** 2))
    return {
        "(34) as printed, a radius": (-0.5454, (-e + 2 * rho - 1 + root) / e),
        "from (A53)": (0.6310, 2 * rho * ((e + 2 * rho - 1 + root) / (2 * e * rho) - 1)),
    }


def table_2() -> dict[str, tuple[float, float]]:
    """100 draws of 2 × 5; standard errors are 0.006 and 0.010."""
    joints = [observed(number, 2, 5)[0] for number in range(100)]
    balls = [dc.ChiSquare(0.9).around(joint) for joint in joints]

    def mean(distance: Callable[..., float]) -> float:
        pairs = zip(joints, balls, strict=True)
        return float(np.mean([ir_information(joint, 1.5, distance(ball)) / joint.entropy for joint, ball in pairs]))

    return {"IR by Theorem 5": (0.228, mean(distance_bound)), "IR with one u (printed 0.512)": (0.506, mean(single_u))}


def information() -> None:
    """I(S;Y) ≤ ε tanh(ε/2) wherever LIP holds at ε, for mechanisms drawn at random; an error if not."""
    draw = np.random.default_rng(1)
    for _ in range(500):
        joint = dc.Joint(draw.dirichlet(np.full(12, 0.5)).reshape(3, 4))
        channel = dc.Channel(draw.dirichlet(np.ones(3), size=4).T)
        epsilon = dc.LIP(1).level(channel, joint).epsilon
        if math.isfinite(epsilon) and leakage(joint, channel) > epsilon * math.tanh(epsilon / 2) + 1e-12:
            raise SystemExit("I(S;Y) exceeds ε tanh(ε/2)")
    print("I(S;Y) ≤ ε tanh(ε/2): holds for 500 mechanisms at random")


EXAMPLE_EPSILON = math.log(2)
TOLERANCE = {table_2: 0.03}


def check() -> int:
    """The number of statements that do not hold."""
    wrong = 0
    for part in (composition, example_2, example_3, polyopt, equation_34, table_2):
        for what, (stated, computed) in part().items():
            fine = abs(stated - computed) <= TOLERANCE.get(part, 0.00006)
            wrong += not fine
            print(f"{'ok ' if fine else 'OFF'}  {part.__name__:12} {what:52} {stated:8.4f}  {computed:8.4f}")
    information()
    return wrong


if __name__ == "__main__":
    raise SystemExit(check())
