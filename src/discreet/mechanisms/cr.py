"""Conditional Reporting (funnel-2, Algorithm 1): hide S by randomised response, then report X as it should look.

If the randomised secret s̃ is the true one, X is told; otherwise a draw from P(X | s̃) is. It reads the secret.
"""

from __future__ import annotations

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.mechanisms.grr import randomised_response


def cr(joint: Joint, strength: float) -> Channel:
    """CR^α for a joint in curator form: Q[y, (s, x)] = P(s̃=s | s) δ_{xy} + Σ_{s̃≠s} P(s̃ | s) P(y | s̃)  (eq. 46).

    A secret of probability zero is no s̃; records that carry it draw s̃ uniformly.
    """
    if not joint.sees_secret:
        raise ParameterError("Conditional Reporting reads the secret", where="cr", remedy="Use joint.curator().")
    seen, (c, a) = joint.seen, joint.table.shape
    reported = np.full((len(seen), c), 1 / len(seen))
    reported[:, seen] = randomised_response(len(seen), strength)
    truth = np.zeros(c)
    truth[seen] = reported[np.arange(len(seen)), seen]
    lies = reported.copy()
    lies[np.arange(len(seen)), seen] = 0
    drawn = joint.release_given_secret.T @ lies
    matrix = drawn[:, :, None] + truth[:, None] * np.eye(a)[:, None, :]
    return Channel(matrix.reshape(a, c * a), joint.letters, joint.release_letters)
