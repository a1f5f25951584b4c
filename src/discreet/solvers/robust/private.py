"""The last step of every robust solver: the finished channel at level ε, not its construction."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.exceptions import ProofError
from discreet.joint import Joint
from discreet.notions.rldp import RLDP, largest_excess
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
MARGIN = 1e-9
SECONDS_A_PAIR, SECONDS_A_LETTER = 2e-5, 4.7e-6


def at_level(joint: Joint, notion: RLDP, widths: Floats, rows: Floats, *, grow: bool) -> Channel:
    """The rows 1 + λ (v − 1) with the largest λ that keeps them private and non-negative; λ ≤ 1 unless they may grow.

    Their worst excess P_{U|s}·v_s − E P_{U|t}·v_t over F is λ e + (1 − λ)(1 − E), with e the excess at λ = 1: the means
    move with λ, and P stays the worst. It vanishes at λ = (E − 1)/(E − 1 + e). `rows` is v over the input letters, with
    Σ_y widths_y v_y = 1 for every letter.
    """
    price = float(np.exp(notion.epsilon)) * (1 - MARGIN)
    excess = largest_excess(notion.uncertainty.ball(joint), joint.expand(rows), price)
    least = float(rows.min())
    share = min((price - 1) / max(price - 1 + excess, 1e-12), 1 / (1 - least) if least < 1 else 1.0)
    share = share if grow else min(share, 1.0)
    matrix = np.maximum(1 + share * (rows - 1), 0.0) * widths[:, None]
    channel = Channel(matrix / matrix.sum(axis=0), joint.letters).merged()
    if notion.level(channel, joint).epsilon > notion.epsilon:
        raise ProofError("the finished mechanism is not private", where="robust", remedy="Please report this.")
    return channel


def weaker(joint: Joint, notion: RLDP, rows: Floats) -> Floats:
    """Each of these rows with P̂·v = 1 for itself as 1 + λ (v − 1), with the largest λ ≤ 1 that makes it private."""
    ball, price = notion.uncertainty.ball(joint), float(np.exp(notion.epsilon)) * (1 - MARGIN)
    excess = np.array([largest_excess(ball, joint.expand(row[None]), price) for row in rows])
    share = np.minimum((price - 1) / np.maximum(price - 1 + excess, price - 1), 1.0)
    return np.asarray(1 + share[:, None] * (rows - 1))


def proof_seconds(ball: Ball, outputs: int) -> float:
    """About what it takes to bring so many outputs to level ε and to prove it, by pairs of secrets and letters."""
    c, k = map(int, ball.estimate.shape)
    return outputs * c**2 * (SECONDS_A_PAIR + k * SECONDS_A_LETTER)
