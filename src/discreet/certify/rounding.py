"""A float matrix as integer weights over a power of two, every column adding up exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint

BITS = 52
"""Weights of at most 2^52 are exact in every language that reads JSON, and leave room for the sampler's tables."""
MAX_BITS = 60
Floats = NDArray[np.float64]
Weights = NDArray[np.int64]


def round_columns(matrix: Floats, bits: int = BITS) -> Weights:
    """Integers W ≥ 0 near 2^bits · matrix with Σ_y W[y, z] = 2^bits for every z; zeros stay zero.

    Rounded down first; what a column then lacks goes in proportion to its entries, and the last few units to the
    entries that lost most.
    """
    if not 1 <= bits <= MAX_BITS:
        raise ParameterError(f"{bits} bits", where="bits", remedy=f"Use 1 to {MAX_BITS}.")
    target: Floats = np.ldexp(matrix / matrix.sum(axis=0), bits)
    weights: Weights = np.floor(target).astype(np.int64)
    lost = np.where(matrix > 0, target - weights, -1.0)
    missing = (1 << bits) - weights.sum(axis=0)
    if (missing < 0).any():
        surplus = np.minimum(missing, 0)
        _spread(weights, np.ceil(weights * (surplus / weights.sum(axis=0))).astype(np.int64))
        missing = (1 << bits) - weights.sum(axis=0)
    _spread(weights, np.floor(weights * (np.maximum(missing, 0) / weights.sum(axis=0))).astype(np.int64))
    _settle(weights, lost, bits)
    return weights


def marginal_weights(weights: Weights, bits: int, joint: Joint) -> Weights:
    """q_y = P(Y = y) as weights over 2^bits: what a value outside the alphabet is drawn from."""
    return np.asarray(round_columns((weights / 2.0**bits @ joint.prior)[:, None], bits)[:, 0])


def _spread(weights: Weights, change: Weights) -> None:
    weights += np.maximum(change, -weights)


def _settle(weights: Weights, lost: Floats, bits: int) -> None:
    """Unit by unit until every column is exact: added where rounding took most, taken from the largest."""
    for _ in range(64):
        missing = (1 << bits) - weights.sum(axis=0)
        if not missing.any():
            return
        order = np.argsort(-lost, axis=0, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(weights))[:, None], axis=0)
        usable = np.maximum((lost >= 0).sum(axis=0), 1)
        whole, rest = np.divmod(np.abs(missing), usable)
        units = np.where(rank < usable, whole + (rank < rest), 0) * np.sign(missing)
        _spread(weights, units)
    raise ChannelError("a column cannot be rounded", where="round_columns", remedy="Use more bits.")
