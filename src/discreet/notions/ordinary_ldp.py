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
    """Q[y, z] ≤ e^ε Q[y, z'] for all outputs and letters, whatever their probability.

    Arguments:
        epsilon: the largest ln Q[y, z] / Q[y, z'], in nats.
    Raises:
        ParameterError: an epsilon that is not a positive number.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> belted = dc.design(joint, dc.LIP(0.5) & dc.OrdinaryLDP(2))  # two promises at once
        >>> belted.utility < dc.design(joint, dc.LIP(0.5)).utility
        True
    """

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
        y = _widest(channel, joint)
        row = channel.row(y, joint.prior)
        high, low = int(row.argmax()), int(row.argmin())
        ratio = float(log_ratio(row[high], row[low]))
        return Level(ratio, Witness(channel.outputs[y], joint.letters[high], joint.letters[low]))


def _widest(channel: Channel, joint: Joint) -> int:
    """The output whose largest entry is most above its smallest: the first that has a zero beside others, if any."""
    worst, found = -1.0, 0
    sizes = np.diff(channel.entries.indptr)
    zeros = np.flatnonzero((sizes > 0) & (sizes < len(channel.inputs) - len(channel.silent)))
    if len(zeros):
        return int(zeros[0])
    for outputs, rows in channel.blocks(joint.prior):
        ratios = log_ratio(rows.max(axis=1), rows.min(axis=1))
        if ratios.max() > worst:
            worst, found = float(ratios.max()), int(outputs[ratios.argmax()])
    return found


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
