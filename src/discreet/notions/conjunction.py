"""Two promises at once (theory 7.1): `LIP(0.5) & OrdinaryLDP(8)`, the intersection of cones.

A row is permitted when every part permits it, so every search for one cone searches this one too. The first part leads:
`epsilon` and the level that is stated are its own, and the others hold at the numbers they were given, or nothing does.
With ordinary LDP at b among the parts, k independent draws of a record have level at most k·b towards anybody, whatever
they know: a belt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.notion import AVERAGES, INSIDE, SEVERAL, Cone, Level, Notion, Words, joined_words, words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP
from discreet.uncertainty.uncertainty import Uncertainty


@dataclass(frozen=True)
class Conjunction(Notion):
    """All of its parts at once; made with `&`."""

    parts: tuple[Notion, ...]

    def __post_init__(self) -> None:
        flat = tuple(one for part in self.parts for one in part.promises)
        if len(flat) < 2 or len({words_of(one).name for one in flat}) != len(flat):
            raise ParameterError(
                "not two or more different notions", where="&", remedy="Join different ones: LIP(0.5) & OrdinaryLDP(8)."
            )
        if any(words_of(one).name in AVERAGES for one in flat):
            raise ParameterError(
                "an average among notions",
                where="&",
                remedy="Give the others as its ceiling: Funnel(0.02, ceiling=LIP(1)).",
            )
        object.__setattr__(self, "parts", flat)

    @property
    def promises(self) -> tuple[Notion, ...]:
        return self.parts

    @property
    def epsilon(self) -> float:
        """That of the first part."""
        return self.parts[0].epsilon

    @cached_property
    def words(self) -> Words:  # type: ignore[override]
        """Made of the words of the parts."""
        return joined_words(self.parts)

    def at(self, epsilon: float) -> Conjunction:
        """The first part at another level, the others as they are."""
        return Conjunction((self.parts[0].at(epsilon), *self.parts[1:]))

    @classmethod
    def audited(cls, uncertainty: Uncertainty | None) -> Notion | None:
        """Audits measure the parts."""
        return None

    def cone(self, joint: Joint) -> Cone:
        """The conditions of all parts."""
        cones = [one.cone(joint) for one in self.parts]
        lazy = [cone.separate for cone in cones if cone.separate is not None]

        def separate(v: Floats) -> Floats:
            return np.vstack([find(v) for find in lazy])

        return Cone(np.vstack([cone.rows for cone in cones]), separate if lazy else None)

    def level(self, channel: Channel, joint: Joint) -> Level:
        """That of the first part if the channel satisfies the others, otherwise infinite, with what breaks them."""
        for one in self.parts[1:]:
            found = one.level(channel, joint)
            if found.epsilon > one.epsilon + INSIDE:
                return Level(math.inf, found.witness)
        return self.parts[0].level(channel, joint)


SEVERAL.add(Conjunction)


def belt_of(notion: Notion) -> float | None:
    """The level of ordinary LDP among the promises, if there is one: towards anybody, whatever they know."""
    return min((one.epsilon for one in notion.promises if isinstance(one, OrdinaryLDP)), default=None)
