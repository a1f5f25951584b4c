"""Entropies and mutual informations, in nats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

if TYPE_CHECKING:
    from discreet.channel import Channel
    from discreet.joint import Joint


def entropy(distribution: ArrayLike) -> float:
    """H(p) = −Σ p ln p"""
    p = np.asarray(distribution, dtype=float)
    return float(-xlogy(p, p).sum())


def mutual_information(joint_with_output: NDArray[np.float64]) -> float:
    """I(A;Y) from the matrix P(a, y)."""
    p_a, p_y = joint_with_output.sum(axis=1, keepdims=True), joint_with_output.sum(axis=0, keepdims=True)
    independent = p_a * p_y
    positive = joint_with_output > 0
    return float((joint_with_output[positive] * np.log(joint_with_output[positive] / independent[positive])).sum())


def target_with_output(joint: Joint, channel: Channel) -> NDArray[np.float64]:
    """P(t, y)"""
    masses = channel.matrix * joint.prior
    summed = np.zeros((len(joint.target_letters), len(masses)))
    np.add.at(summed, joint.target_of, masses.T)
    return summed


def secret_with_output(joint: Joint, channel: Channel) -> NDArray[np.float64]:
    """P(s, y)"""
    return np.asarray(joint.matrix @ channel.matrix.T)


def utility(joint: Joint, channel: Channel) -> float:
    """I(T;Y): I(X;Y) in the papers."""
    return mutual_information(target_with_output(joint, channel))


def leakage(joint: Joint, channel: Channel) -> float:
    """I(S;Y): what the release tells about the secret on average."""
    return mutual_information(secret_with_output(joint, channel))
