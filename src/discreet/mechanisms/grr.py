"""Generalised Randomised Response: tell the truth with odds e^α against each other letter (funnel-2, eq. 28)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.mechanisms.calibrate import Calibrated, calibrate, strongest
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.statistics import upper_bounds


def grr(joint: Joint, strength: float) -> Channel:
    """GRR^α on the target letters. At infinite strength it is the identity."""
    matrix = randomised_response(len(joint.target_letters), strength)
    return Channel(matrix[:, joint.target_of], joint.letters, joint.target_letters)


def randomised_response(size: int, strength: float) -> NDArray[np.float64]:
    """e^α / (e^α + a − 1) on the diagonal, 1 / (e^α + a − 1) elsewhere."""
    lie = math.exp(-strength)
    matrix = np.full((size, size), lie) + (1 - lie) * np.eye(size)
    return matrix / (1 + (size - 1) * lie)


def calibrated_grr(joint: Joint, notion: Notion) -> Calibrated:
    """GRR at the level of the notion. For RLDP with the secret among the data the level is closed form.

    Output (s, u) has likelihood 1 + (e^α − 1) R_u under secret s, with R in F_{U|s}, and 1 under every other secret.
    """
    ball = notion.uncertainty.ball(joint) if isinstance(notion, RLDP) and joint.include_secret else None
    if ball is None or len(ball.compared) < 2:
        return calibrate(grr, joint, notion)
    most = float(upper_bounds(ball)[ball.compared].max())
    with np.errstate(divide="ignore"):
        truth, lie = np.log(most), np.log1p(-most)
    strength = strongest(lambda alpha: float(np.logaddexp(lie, truth + alpha)), notion.epsilon)
    return Calibrated(grr(joint, strength), strength, joint, notion)
