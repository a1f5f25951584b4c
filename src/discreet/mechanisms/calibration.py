"""The strongest member of a family of mechanisms that still satisfies a notion.

A family has one parameter, its strength: 0 tells nothing, infinity tells the most the family can. The strength is
found from the *exact level* of its members, not from a bound on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from scipy.optimize import brentq, minimize_scalar

from discreet.channel import Channel
from discreet.exceptions import InfeasibleError, ParameterError, UnfinishedError
from discreet.joint import Joint
from discreet.notions.notion import Level, Notion
from discreet.notions.rldp import RLDP

Family = Callable[[Joint, float], Channel]
ROBUST_ONLY = "this mechanism is made for robust LDP"
STRONGEST = 600.0
"""e^600 is near the largest double: stronger members cannot be told from the strongest."""
GRID = 16
"""Places where a share of the budget is tried before golden section: hills narrower than a sixteenth were never met."""


def robust(notion: Notion, mechanism: str) -> RLDP:
    if not isinstance(notion, RLDP):
        raise ParameterError(ROBUST_ONLY, where=mechanism, remedy="Use dc.RLDP(epsilon, dc.ChiSquare()).")
    return notion


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A member of a family, its strength (infinite: the family is exhausted) and its exact level."""

    channel: Channel
    strength: float
    joint: Joint
    notion: Notion

    @cached_property
    def level(self) -> Level:
        return self.notion.level(self.channel, self.joint)

    @property
    def saturated(self) -> bool:
        return math.isinf(self.strength)


def calibrate(family: Family, joint: Joint, notion: Notion) -> Calibrated:
    """The strongest member of the family whose exact level is at most epsilon."""
    strength = strongest(lambda alpha: notion.level(family(joint, alpha), joint).epsilon, notion.epsilon)
    return Calibrated(family(joint, strength), strength, joint, notion)


def strongest(level_at: Callable[[float], float], epsilon: float, tolerance: float = 1e-14) -> float:
    """The largest strength with level_at(strength) ≤ epsilon, for a level that grows from 0; infinite if it never does.

    Found to within `tolerance`, from below. Where the level is not monotone this finds one of the crossings: a weaker
    member, never one that breaks epsilon. A family may have no member that is private enough (Conditional Reporting
    draws from P̂, which F doubts).
    """
    if level_at(math.inf) <= epsilon:
        return math.inf
    if level_at(0.0) > epsilon:
        raise InfeasibleError(
            "not even the weakest mechanism of this family is private enough",
            where="calibrate",
            remedy='Use a larger epsilon, or method="auto".',
        )
    above = 1.0
    while level_at(above) <= epsilon:
        above *= 2
        if above > STRONGEST:
            return STRONGEST
    root = float(brentq(lambda alpha: level_at(alpha) - epsilon, 0.0, above, xtol=tolerance, rtol=tolerance))
    step = tolerance / 10
    while level_at(root) > epsilon:
        root, step = max(0.0, root * (1 - step)), step * 4
        if step > 0.5:
            raise UnfinishedError("the strength could not be calibrated", remedy="Please report this joint's sizes.")
    return root


def best_share(value_at: Callable[[float], float], low: float, high: float) -> float:
    """Where a function of one variable is largest: a grid finds the hill, golden section its top."""
    grid = [low + (high - low) * i / GRID for i in range(GRID + 1)]
    values = [value_at(point) for point in grid]
    top = max(range(GRID + 1), key=values.__getitem__)
    around = (grid[max(top - 1, 0)], grid[min(top + 1, GRID)])
    refined = minimize_scalar(
        lambda point: -value_at(point), bounds=around, method="bounded", options={"xatol": 1e-6 * (high - low)}
    )
    return grid[top] if values[top] >= -refined.fun else float(refined.x)
