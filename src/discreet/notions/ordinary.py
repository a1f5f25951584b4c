"""Ordinary ε-LDP, with respect to X itself (funnel-2, eq. 2): everything is secret, no distribution is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.cone import Cone, Floats, ordered_pairs
from discreet.notions.level import Level, Witness, check_fits, checked_epsilon, log_ratio

LISTED_LETTERS = 64


@dataclass(frozen=True)
class OrdinaryLDP:
    """Q[y, z] ≤ e^ε Q[y, z'] for all outputs and letters, whatever their probability."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", checked_epsilon(self.epsilon))

    def cone(self, joint: Joint) -> Cone:
        """v_z ≤ e^ε v_z'"""
        a = len(joint.letters)
        if a <= LISTED_LETTERS:
            return Cone(_comparisons(a, *ordered_pairs(a), self.epsilon))
        return Cone(np.zeros((0, a)), lambda v: _violated(v, self.epsilon))

    def level(self, channel: Channel, joint: Joint) -> Level:
        """The witness names letters, not secrets: here they are the same thing."""
        check_fits(channel, joint)
        high, low = channel.matrix.argmax(axis=1), channel.matrix.argmin(axis=1)
        rows = np.arange(len(high))
        ratios = log_ratio(channel.matrix[rows, high], channel.matrix[rows, low])
        y = int(ratios.argmax())
        return Level(float(ratios[y]), Witness(channel.outputs[y], joint.letters[high[y]], joint.letters[low[y]]))


def _comparisons(a: int, first: np.ndarray, second: np.ndarray, epsilon: float) -> Floats:
    rows = np.zeros((len(first), a))
    rows[np.arange(len(first)), first] = 1.0
    rows[np.arange(len(first)), second] -= np.exp(epsilon)
    return rows


def _violated(v: Floats, epsilon: float) -> Floats:
    """Every letter that is too likely, compared with the least likely one; and the other way round."""
    low, high = int(v.argmin()), int(v.argmax())
    too_high = np.flatnonzero(v > np.exp(epsilon) * v[low])
    too_low = np.flatnonzero(np.exp(epsilon) * v < v[high])
    first = np.concatenate([too_high, np.full(len(too_low), high)])
    second = np.concatenate([np.full(len(too_high), low), too_low])
    return _comparisons(len(v), first, second, epsilon)
