"""Generalised Randomised Response: tell the truth with odds e^α against each other letter (funnel-2, eq. 28).

Keep or draw: tell the truth with probability κ_x, otherwise draw a value: the law of X stays what it was.

Secret Randomised Response (robust-2, Definition 4): GRR that may move by e^{2ε} where the secret is the same.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.attribute import Form
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.mechanisms.calibration import Calibrated, calibrate, strongest
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.renyi_ball import RenyiBall, lower_bounds, upper_bounds


def grr(joint: Joint, strength: float) -> Channel:
    """GRR^α on the target letters. At infinite strength it is the identity."""
    matrix = randomised_response(len(joint.target_letters), strength)
    return Channel(matrix[:, joint.target_of], joint.letters, joint.target_letters)


def keep_or_draw(joint: Joint, strength: float) -> Channel:
    """The value x itself with probability κ_x, otherwise a draw with law ∝ p(1 − κ): p κ + p (1 − κ) = p is kept.

    If the draw told nothing, an output y would have P(y|s)/P(y) = 1 − κ_y + κ_y r with r = P(y|s)/p_y; κ_y is the
    largest for which that stays within e^±α for every secret. What the draw tells is found by calibrating α.
    """
    law, given = joint.target_prior, joint.release_given_secret
    if joint.form is Form.RELEASES_SECRET:
        given = joint.letter_given_secret
    ratios = np.divide(given, law, out=np.ones_like(given), where=law > 0)
    rise, fall = (np.expm1(min(strength, 600.0)), -np.expm1(-strength))
    moves = ratios - 1
    room = np.divide(np.where(moves > 0, rise, fall), np.abs(moves), out=np.full_like(moves, np.inf), where=moves != 0)
    kept = np.where(law > 0, np.minimum(1.0, room.min(axis=0)), 0.0)
    occurs = np.flatnonzero(law > 0)
    drawn = law * (1 - kept)
    drawn = drawn / drawn.sum() if drawn.sum() > 0 else law
    matrix = drawn[occurs, None] * (1 - kept)
    matrix[np.arange(len(occurs)), occurs] += kept[occurs]
    matrix[:, law == 0] = law[occurs, None]
    outputs = tuple(joint.target_letters[t] for t in occurs)
    return Channel((matrix / matrix.sum(axis=0))[:, joint.target_of], joint.letters, outputs)


def randomised_response(size: int, strength: float) -> NDArray[np.float64]:
    """e^α / (e^α + a − 1) on the diagonal, 1 / (e^α + a − 1) elsewhere."""
    lie = math.exp(-strength)
    matrix = np.full((size, size), lie) + (1 - lie) * np.eye(size)
    return matrix / (1 + (size - 1) * lie)


def calibrated_grr(joint: Joint, notion: Notion) -> Calibrated:
    """GRR at the level of the notion. For RLDP with the secret among the data the level is closed form.

    Output (s, u) has likelihood 1 + (e^α − 1) R_u under secret s, with R in F_{U|s}, and 1 under every other secret.
    """
    ball = notion.uncertainty.around(joint) if isinstance(notion, RLDP) and joint.include_secret else None
    if not isinstance(ball, RenyiBall) or len(ball.compared) < 2:
        return calibrate(grr, joint, notion)
    most = float(upper_bounds(ball)[ball.compared].max())
    with np.errstate(divide="ignore"):
        truth, lie = np.log(most), np.log1p(-most)
    strength = strongest(lambda alpha: float(np.logaddexp(lie, truth + alpha)), notion.epsilon)
    return Calibrated(grr(joint, strength), strength, joint, notion)


# ---- secret Randomised Response (robust-2, Definition 4): GRR that may move by e^{2ε} where the secret ---------------


def srr(joint: Joint, strength: float) -> Channel:
    """SRR^ε on (S, U), eq. 58: weights e^ε for the truth, e^−ε for the true secret with another u, 1 for the rest."""
    joint.require(Form.RELEASES_SECRET, "srr")
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
    ball = notion.uncertainty.around(joint)
    if not isinstance(ball, RenyiBall) or len(ball.compared) < 2:
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
