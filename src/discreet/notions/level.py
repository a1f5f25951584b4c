"""The exact level of a channel, and the worst case that attains it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.channel import Channel
from discreet.exceptions import ChannelError, ParameterError
from discreet.joint import Joint
from discreet.notions.cone import Cone


@dataclass(frozen=True)
class Witness:
    """Where a level is attained: seeing `output` changes the odds between `secret` and `other` the most.

    `other` is None where the comparison is with the population (LIP), `side_channel` names the attributes an attacker
    knows beforehand (SRLIP), `distribution` is the worst P(s, x) of the uncertainty set (RLDP).
    """

    output: Hashable
    secret: Hashable
    other: Hashable | None = None
    side_channel: tuple[tuple[str, Hashable], ...] = ()
    distribution: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Level:
    """The smallest epsilon for which a notion holds; infinite if an output excludes a secret."""

    epsilon: float
    witness: Witness | None = None


class Notion(Protocol):
    """What the rest of discreet asks of a notion. A new notion is one small file with these three methods."""

    @property
    def epsilon(self) -> float: ...

    def cone(self, joint: Joint) -> Cone:
        """The permitted rows."""
        ...

    def level(self, channel: Channel, joint: Joint) -> Level:
        """The smallest epsilon for which this channel satisfies the notion, with its worst case."""
        ...


def allows(notion: Notion, row: NDArray[np.float64], joint: Joint, tolerance: float = 1e-12) -> bool:
    """Whether one row may occur in a mechanism."""
    return notion.cone(joint).excess(np.asarray(row, dtype=float)) <= tolerance


def checked_epsilon(epsilon: float) -> float:
    if not (np.isfinite(epsilon) and epsilon > 0):
        raise ParameterError("epsilon is not a positive number", where="epsilon", remedy="Try 1.0; smaller hides more.")
    return float(epsilon)


def check_fits(channel: Channel, joint: Joint) -> None:
    """The channel must read the letters of this joint."""
    if channel.matrix.shape[1] != len(joint.letters):
        raise ChannelError(
            f"a channel for {channel.matrix.shape[1]} letters, a joint with {len(joint.letters)}",
            remedy="Use the joint this channel was made for; with the secret among its inputs, in the same form.",
        )


def log_ratio(numerator: NDArray[np.float64], denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln(numerator / denominator), with ln(0/0) = 0: an output that never occurs tells nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(numerator) - np.log(denominator)
    return np.where(np.isnan(logs), 0.0, logs)
