"""Secret Randomised Response (robust-2, Definition 4): GRR that may move by e^{2ε} where the secret is the same."""

from __future__ import annotations

import math

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.mechanisms.calibrate import Calibrated, calibrate, strongest
from discreet.mechanisms.forms import needs_secret_in_data
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.statistics import lower_bounds, upper_bounds


def srr(joint: Joint, strength: float) -> Channel:
    """SRR^ε on (S, U), eq. 58: weights e^ε for the truth, e^−ε for the true secret with another u, 1 for the rest."""
    needs_secret_in_data(joint, "srr")
    c, k = joint.table.shape
    rest, same = math.exp(-strength), math.exp(-2 * strength)
    weights = np.full((c * k, c * k), rest) + np.kron(np.eye(c), np.full((k, k), same - rest))
    weights += (1 - same) * np.eye(c * k)
    return Channel(weights / weights.sum(axis=0), joint.letters, joint.letters)


def calibrated_srr(joint: Joint, notion: Notion) -> Calibrated:
    """SRR at the level of the notion. For RLDP the level is closed form.

    Output (s, u) has likelihood e^−ε + 2 sinh(ε) R_u under secret s, with R in F_{U|s}, and 1 under every other secret.
    """
    if not isinstance(notion, RLDP):
        return calibrate(srr, joint, notion)
    ball = notion.uncertainty.ball(joint)
    if len(ball.compared) < 2:
        return calibrate(srr, joint, notion)
    most, least = upper_bounds(ball)[ball.compared].max(), lower_bounds(ball)[ball.compared].min()

    def level_at(strength: float) -> float:
        if strength > 300:
            return math.inf
        floor, spread = math.exp(-strength), 2 * math.sinh(strength)
        return max(math.log(floor + spread * most), -math.log(floor + spread * least))

    strength = strongest(level_at, notion.epsilon)
    return Calibrated(srr(joint, strength), strength, joint, notion)


def paper_srr(joint: Joint, notion: RLDP) -> Calibrated:
    """SRR^ε as the paper uses it: private for every distribution, whatever F is (Lemma 2)."""
    return Calibrated(srr(joint, notion.epsilon), notion.epsilon, joint, notion)
