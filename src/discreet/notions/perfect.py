"""Perfect: the release is independent of the secret. Proven to one part in a billion, because equalities do not survive
the rounding to whole numbers; the stated promise is LIP at that level (theory 9.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.lip import LIP, information_rows
from discreet.notions.notion import Cone, Level, Notion, Words, registered
from discreet.phrases import names
from discreet.uncertainty.uncertainty import Uncertainty

PERFECT = 1e-9
"""The level at which independence is proven: the step in which levels are stated."""

ROUNDING = 1e-12
"""Shares that differ by less are the same: as a condition of its own their rounding would forbid the letter."""


def _promise(_: Perfect, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record learns nothing about {names(joint.secrets)}: no value becomes more or less "
        f"likely than in the whole population, by more than one part in a billion."
    )


@registered
@dataclass(frozen=True)
class Perfect(Notion):
    """P(y | s) = P(y) for every output and every secret that occurs, to within a factor e^(10⁻⁹).

    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> dc.audit(dc.design(joint, dc.Perfect()).protocol).lip < 1e-8
        True
    """

    words = Words(
        name="Perfect",
        command="perfect",
        title="perfect privacy",
        row="perfect privacy",
        symbol="perfect privacy",
        over="and secret s",
        formula="P(y|s) = P(y)",
        promise=_promise,
        headline=lambda _: ("can be learnt about the secret", "nothing"),
    )

    def __post_init__(self) -> None:
        """There is nothing to check."""

    @property
    def epsilon(self) -> float:
        return PERFECT

    def at(self, epsilon: float) -> Perfect:
        """There is one level only."""
        return self

    @classmethod
    def asked(cls, epsilon: float, confidence: float) -> Perfect:
        return cls()

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> Notion | None:
        """Its level is that of LIP, which audits show; this one where it is promised."""
        return None

    def cone(self, joint: Joint) -> Cone:
        """p_{Z|s}·v = p_Z·v"""
        rows = information_rows(joint.letter_given_secret, joint.prior, 0.0)
        return Cone(np.where(np.abs(rows) <= ROUNDING * joint.prior, 0.0, rows))

    def level(self, channel: Channel, joint: Joint) -> Level:
        """That of LIP."""
        return LIP(1.0).level(channel, joint)
