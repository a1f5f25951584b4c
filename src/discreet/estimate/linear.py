"""Unbiased linear estimates: l · (observed shares), with scores l that do not depend on the data.

For a channel Q (columns add up to one) and any positive output probabilities q, generalised least squares gives
L = (Qᵀ W Q)⁺ Qᵀ W with W = diag(1/q). For every combination w in the row space of Q the scores l = w L satisfy l Q = w,
so the estimate of w·p is exactly unbiased *whatever* q is; if q = Q p it has the smallest variance among all unbiased
linear estimates, and that variance is the inverse Fisher information. Therefore q is fixed beforehand, from the prior
that the protocol states: weights taken from the release itself would bias the estimate.
"""

from __future__ import annotations

import numpy as np

from discreet.estimate.sample import Floats
from discreet.exceptions import ChannelError

RANK = 1e-9
"""A singular value below this part of the largest one is taken for zero: the letters' columns are then dependent."""


def left_inverse(matrix: Floats, frequencies: Floats) -> Floats:
    """L for q = Q · frequencies; where Q has dependent columns, L Q projects on its row space."""
    q = matrix @ frequencies
    if not (q > 0).all():
        raise ChannelError("an output without probability", where="left_inverse", remedy="Give every letter some.")
    root = 1 / np.sqrt(q)
    return np.asarray(np.linalg.pinv(matrix * root[:, None], rcond=RANK) * root)


def determined(rows: Floats, inverse: Floats, matrix: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which combinations (rows over letters) lie in the row space of the channel."""
    reached = rows @ inverse @ matrix
    return np.asarray(np.abs(reached - rows).max(axis=1) <= 1e-6 * np.abs(rows).max(axis=1))


def on_simplex(values: Floats) -> Floats:
    """The nearest distribution in Euclidean distance: max(v − τ, 0), with τ such that it adds up to one."""
    ordered = np.sort(values)[::-1]
    surplus = (np.cumsum(ordered) - 1) / np.arange(1, len(values) + 1)
    tau = surplus[np.flatnonzero(ordered > surplus)[-1]]
    return np.asarray(np.maximum(values - tau, 0))
