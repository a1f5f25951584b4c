"""Independent Reporting (robust-2, section 7): S and U through two separate randomised responses.

Given S the two reports are independent, so the ratio of likelihoods for two secrets is the product of two ratios: that
of the report on S, at most e^{ε₁} and equal to it for some output whatever the secrets, and that of the report on U.
Hence the exact level is ε₁ plus the exact level of the report on U, and the budget is split between the two.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from discreet.attribute import Form
from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.mechanisms.calibration import Calibrated, best_share, robust, strongest
from discreet.mechanisms.randomised_response import randomised_response
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.renyi_ball import RenyiBall, l1_radius
from discreet.uncertainty.sets import ball_around


def ir(joint: Joint, first: float, second: float) -> Channel:
    """GRR^{first} on S beside GRR^{second} on U; outputs are pairs like the inputs."""
    joint.require(Form.RELEASES_SECRET, "ir")
    c, k = joint.table.shape
    matrix = np.kron(randomised_response(c, first), randomised_response(k, second))
    return Channel(np.asarray(matrix, dtype=float), joint.letters, joint.letters)


def calibrated_ir(joint: Joint, notion: Notion) -> Calibrated:
    """The best split of the budget: what the report on U leaves goes to S. `strength` is that of the report on U."""
    notion = robust(notion, "ir")

    @cache
    def level_of_second(second: float) -> float:
        return notion.level(_report_on_u(joint, second), joint).epsilon

    most = strongest(level_of_second, notion.epsilon, tolerance=1e-9)

    def strengths(lie: float) -> tuple[float, float]:
        second = -math.log(lie) if lie > 0 else math.inf
        return max(0.0, notion.epsilon - level_of_second(second)), second

    lie = best_share(lambda at: utility(joint, ir(joint, *strengths(at))), math.exp(-most), 1.0)
    return Calibrated(ir(joint, *strengths(lie)), strengths(lie)[1], joint, notion)


def paper_ir(joint: Joint, notion: RLDP) -> Calibrated:
    """The budget split by Theorem 5: δ₂ = ln(1 + 2(e^{ε₂} − 1)/d)  (eq. 82; the exponential is missing in print)."""
    joint.require(Form.RELEASES_SECRET, "ir")
    d = distance(ball_around(notion.uncertainty, joint))

    def member(second: float) -> Channel:
        return ir(joint, notion.epsilon - second, math.log1p(2 * math.expm1(second) / d) if d > 0 else math.inf)

    second = best_share(lambda at: utility(joint, member(at)), 0.0, notion.epsilon)
    return Calibrated(member(second), second, joint, notion)


def distance(ball: RenyiBall) -> float:
    """d ≥ ‖P_{U|s} − P_{U|s'}‖₁ for every P in F (eq. 62)."""
    apart = np.abs(ball.conditional[:, None] - ball.conditional[None]).sum(axis=-1).max()
    return float(min(2.0, 2 * l1_radius(ball).max() + apart))


def _report_on_u(joint: Joint, strength: float) -> Channel:
    c, k = joint.table.shape
    return Channel(np.tile(randomised_response(k, strength), (1, c)), joint.letters)
