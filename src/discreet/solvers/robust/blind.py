"""A robust mechanism that reads X only, for alphabets too large for the optimum.

It begins with one output a letter, each as strong as F permits by itself: rows v_z = 1 + λ_z (1_z / p_z − 1) with
weights p_z / λ_z add up to a multiple of one, whatever the λ_z are. Then the outputs are polished as a whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers.robust.polish import polished
from discreet.solvers.robust.private import at_level, proof_seconds, weaker

Progress = Callable[[float, float, float], None]
LEAST_FOR_PROOF = 0.1


def solve(
    joint: Joint,
    notion: RLDP,
    *,
    time_limit: float | None,
    progress: Progress | None = None,
    known_bound: float = np.inf,
) -> Channel:
    """At least as good as one output a letter that was seen. `known_bound` was proven elsewhere."""
    started, end, ball = time.monotonic(), np.inf, notion.uncertainty.ball(joint)
    if time_limit is not None:
        end = started + time_limit - max(proof_seconds(ball, len(joint.letters)), LEAST_FOR_PROOF * time_limit)

    def tell(value: float) -> None:
        if progress is not None:
            progress(value, known_bound, time.monotonic() - started)

    best = _begun(joint, notion)
    tell(utility(joint, best))
    if (ball.mass > 0).all() and ball.radius < np.inf:
        best = polished(joint, notion, best, lambda: time.monotonic() > end, tell)
    return best


def _begun(joint: Joint, notion: RLDP) -> Channel:
    """One output a letter that was seen; letters never seen are no more likely to give one than another."""
    seen = np.flatnonzero(joint.prior > 0)
    p = joint.prior[seen]
    if len(seen) == 1:
        return at_level(joint, notion, np.ones(1), np.ones((1, len(joint.letters))), grow=False)
    rows = np.where(joint.prior > 0, 0.0, np.ones((len(seen), 1)))
    rows[np.arange(len(seen)), seen] = 1 / p
    rows = weaker(joint, notion, rows)
    strength = (rows[np.arange(len(seen)), seen] - 1) / (1 / p - 1)
    widths = p / strength
    return at_level(joint, notion, widths / widths.sum(), rows, grow=True)
