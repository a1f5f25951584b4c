"""(low, up)-ALIP, asymmetric local information privacy: how far the chance of a secret may fall, and how far rise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import Cone, Level, Notion, Witness, Words, check_fits, log_ratio, registered
from discreet.notions.pml import PML, likeliest_value
from discreet.phrases import names, times
from discreet.uncertainty.uncertainty import Uncertainty


def _promise(notion: ALIP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record finds no value of {names(joint.secrets)} more than {times(epsilon)} times as "
        f"likely, nor more than {times(epsilon * notion.low / notion.up)} times less likely, as in the whole "
        "population."
    )


@registered
@dataclass(frozen=True)
class ALIP(Notion):
    """e^−low ≤ P(y | s) / P(y) ≤ e^up. Its level is that of the upper side; the lower one follows in proportion.

    ALIP(ε, ε) permits what LIP(ε) permits, and ALIP(∞, ε) is PML(ε): asked for, that is what one gets.

    Arguments:
        low: the largest ln P(s) / P(s | y), in nats; `math.inf` lets secrets be ruled out.
        up: the largest ln P(s | y) / P(s), in nats.
    Raises:
        ParameterError: not two positive numbers.
    Example:
        >>> import discreet as dc, math
        >>> dc.ALIP(math.inf, 0.5)
        PML(epsilon=0.5)
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> dc.design(joint, dc.ALIP(0.3, 0.7)).protocol.epsilon <= 0.7
        True
    """

    low: float
    up: float
    words = Words(
        name="ALIP",
        command="alip",
        title="asymmetric local information privacy",
        row="asymmetric local information privacy",
        symbol="(l, ε)-ALIP",
        over="and secret s",
        formula="e^{−l} ≤ P(y|s)/P(y) ≤ e^ε",
        promise=_promise,
        headline=likeliest_value,
    )

    def __new__(cls, low: float = math.nan, up: float = math.nan) -> Any:
        return PML(up) if low == math.inf else super().__new__(cls)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and self.low > 0 and math.isfinite(self.up) and self.up > 0):
            raise ParameterError("not two positive numbers", where="ALIP", remedy="Try dc.ALIP(0.3, 0.7).")
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "up", float(self.up))

    @property
    def epsilon(self) -> float:
        return self.up

    def at(self, epsilon: float) -> ALIP:
        return ALIP(self.low * (epsilon / self.up), epsilon)

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> ALIP:
        return cls(epsilon, epsilon)

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> Notion | None:
        """There is one level for every ratio of the two sides; audits show LIP and PML, and this one if promised."""
        return None

    def cone(self, joint: Joint) -> Cone:
        """e^−low p_Z·v ≤ p_{Z|s}·v ≤ e^up p_Z·v"""
        given, prior = joint.letter_given_secret, joint.prior
        return Cone(np.vstack([given - np.exp(self.up) * prior, np.exp(-self.low) * prior - given]))

    def level(self, channel: Channel, joint: Joint) -> Level:
        """max of ln P(y|s)/P(y) and up/low times ln P(y)/P(y|s)."""
        check_fits(channel, joint)
        moves = log_ratio(channel.rows @ joint.letter_given_secret.T, (channel.rows @ joint.prior)[:, None])
        levels = np.maximum(moves, -moves * (self.up / self.low))
        y, s = np.unravel_index(int(levels.argmax()), levels.shape)
        secret, move = joint.secret_letters[joint.seen[s]], abs(float(moves[y, s]))
        return Level(max(float(levels[y, s]), 0.0), Witness(channel.outputs[y], secret, move=move))
