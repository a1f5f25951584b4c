"""Fewer outputs: merge those that say nearly the same, as long as little is lost.

Merging outputs is post-processing: it never raises a level.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.channel import Channel
from discreet.information import mutual_information, target_with_output
from discreet.joint import Joint

Floats = NDArray[np.float64]


def fewer_outputs(joint: Joint, channel: Channel, share: float) -> Channel:
    """Merge the two outputs whose difference is worth least, again and again, while at most this share is lost."""
    masses = target_with_output(joint, channel).T
    allowance = share * mutual_information(masses.T)
    groups = [[y] for y in range(len(masses))]
    alive = np.ones(len(masses), dtype=bool)
    loss = np.array([_loss(masses[y], masses) for y in range(len(masses))])
    np.fill_diagonal(loss, np.inf)
    while alive.sum() > 1:
        a, b = (int(i) for i in np.unravel_index(int(loss.argmin()), loss.shape))
        if loss[a, b] > allowance:
            break
        allowance -= loss[a, b]
        masses[a] += masses[b]
        groups[a] += groups[b]
        alive[b] = False
        loss[b], loss[:, b] = np.inf, np.inf
        fresh = np.where(alive, _loss(masses[a], masses), np.inf)
        fresh[a] = np.inf
        loss[a], loss[:, a] = fresh, fresh
    kept = np.flatnonzero(alive)
    matrix = np.array([channel.matrix[groups[y]].sum(axis=0) for y in kept])
    return Channel(matrix, channel.inputs, tuple(channel.outputs[y] for y in kept))


def _loss(one: Floats, others: Floats) -> Floats:
    """What merging an output with each of the others loses, from the masses P(t, y)."""
    return np.maximum(size(one) + size(others) - size(one + others), 0.0)


def size(masses: Floats) -> Floats:
    """Σ_t P(t, y) ln P(t | y), the part of an output in the mutual information that merging changes."""
    total = masses.sum(axis=-1)
    return np.asarray(xlogy(masses, masses).sum(axis=-1) - xlogy(total, total))
