"""Ordinary ε-LDP, with respect to X itself (funnel-2, eq. 2): everything is secret, no distribution is needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.notion import (
    Cone,
    Level,
    Notion,
    Witness,
    Words,
    check_fits,
    log_ratio,
    ordered_pairs,
    registered,
)
from discreet.phrases import times

LISTED_LETTERS = 64
"""Up to here all pairs of letters are listed, 4,032 rows; above they are found as they are needed."""


def _promise(_: OrdinaryLDP, joint: Joint, epsilon: float) -> str:
    return (
        "Whoever sees a released record: the odds between any two original values change at most "
        f"{times(epsilon)}-fold."
    )


@registered
@dataclass(frozen=True)
class OrdinaryLDP(Notion):
    """Q[y, z] ≤ e^ε Q[y, z'] for all outputs and letters, whatever their probability."""

    epsilon: float
    words = Words(
        name="OrdinaryLDP",
        command="ordinary-ldp",
        title="ordinary local differential privacy",
        row="ordinary LDP of the data",
        symbol="ε-LDP of the data",
        over="and values x ≠ x′",
        formula="Q_{y,x} ≤ e^ε Q_{y,x′}",
        promise=_promise,
        at_prior=False,
    )

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
