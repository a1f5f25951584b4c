"""Generalised Randomised Response: tell the truth with odds e^α against each other letter (funnel-2, eq. 28)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.joint import Joint


def grr(joint: Joint, strength: float) -> Channel:
    """GRR^α on the target letters. At infinite strength it is the identity."""
    matrix = randomised_response(len(joint.target_letters), strength)
    return Channel(matrix[:, joint.target_of], joint.letters, joint.target_letters)


def randomised_response(size: int, strength: float) -> NDArray[np.float64]:
    """e^α / (e^α + a − 1) on the diagonal, 1 / (e^α + a − 1) elsewhere."""
    lie = math.exp(-strength)
    matrix = np.full((size, size), lie) + (1 - lie) * np.eye(size)
    return matrix / (1 + (size - 1) * lie)
