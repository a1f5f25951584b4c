"""The strongest member of a family of mechanisms that still satisfies a notion.

A family has one parameter, its strength: 0 tells nothing, infinity tells the most the family can. The strength is
found from the *exact level* of its members, not from a bound on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from scipy.optimize import brentq

from discreet.channel import Channel
from discreet.exceptions import UnfinishedError
from discreet.joint import Joint
from discreet.notions.level import Level, Notion

Family = Callable[[Joint, float], Channel]
STRONGEST = 600.0


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A member of a family, its strength (infinite: the family is exhausted) and its exact level."""

    channel: Channel
    strength: float
    level: Level

    @property
    def saturated(self) -> bool:
        return math.isinf(self.strength)


def calibrate(family: Family, joint: Joint, notion: Notion) -> Calibrated:
    """The strongest member of the family whose exact level is at most epsilon."""
    strength = strongest(lambda alpha: notion.level(family(joint, alpha), joint).epsilon, notion.epsilon)
    channel = family(joint, strength)
    return Calibrated(channel, strength, notion.level(channel, joint))


def strongest(level_at: Callable[[float], float], epsilon: float) -> float:
    """The largest strength with level_at(strength) ≤ epsilon, for a level that grows from 0; infinite if it never does.

    Where the level is not monotone this finds one of the crossings: a weaker member, never one that breaks epsilon.
    """
    if level_at(math.inf) <= epsilon:
        return math.inf
    above = 1.0
    while level_at(above) <= epsilon:
        above *= 2
        if above > STRONGEST:
            return STRONGEST
    root = float(brentq(lambda alpha: level_at(alpha) - epsilon, 0.0, above, xtol=1e-14, rtol=1e-14))
    step = 1e-15
    while level_at(root) > epsilon:
        root, step = max(0.0, root * (1 - step)), step * 4
        if step > 1e-6:
            raise UnfinishedError("the strength could not be calibrated", remedy="Please report this joint's sizes.")
    return root
