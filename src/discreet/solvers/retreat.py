"""A little below ε: mechanisms of many letters leave room for rounding, so that nothing has to be mended (theory 10.2).

Weights are rounded to whole numbers, and at the very edge of the cone rounding breaks a condition. Mending mixes every
row with the constant one, which fills every entry: with thousands of letters a file of a few megabytes becomes one of
gigabytes. A mechanism that was designed for ε' = (1 − 1e-8) ε needs no mending.

What is proven about ε' says something about ε: let λ be so large that (1 − λ) Q + λ q 1ᵀ keeps ε' whenever Q keeps ε.
It is Q with probability 1 − λ and a useless draw otherwise, without being told which; whether it was useless is worth
at most h(λ) = −λ ln λ − (1 − λ) ln(1 − λ), so (1 − λ) I(Q) − h(λ) ≤ I*(ε'), and

    I*(ε) ≤ (I*(ε') + h(λ)) / (1 − λ).

A condition "high ≤ e^ε low" (both are 1 for the constant row, low ≤ 1 at the worst place) needs
λ/(1 − λ) ≥ (e^ε − e^ε')/(e^ε' − 1) = (e^(ε − ε') − 1)/(1 − e^−ε'); this is more than what the lower side
of LIP needs. PML has the upper side only, and ALIP one of either size: the larger λ serves both.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import expm1

from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.alip import ALIP
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion
from discreet.notions.pml import PML
from discreet.utilities.utility import MutualInformation, Utility

MANY_LETTERS = 120
"""Up to so many a mechanism with every entry is a file of a tenth of a megabyte, and every digit of ε is used."""
SHARE = 1e-8
"""Rounding to 2^−52 moves a mean over entries of 1e-6 by 2e-10 of it; the bound pays 3e-7 nats for this share."""


@dataclass(frozen=True)
class Retreat:
    """The notion to design for, and the bound at the notion asked for."""

    notion: Notion
    mixing: float

    def bound(self, found: float) -> float:
        """What nobody exceeds at ε, from what nobody exceeds at ε'."""
        if self.mixing == 0:
            return found
        return (found + entropy([self.mixing, 1 - self.mixing])) / (1 - self.mixing)


def retreat(joint: Joint, notion: Notion, utility: Utility) -> Retreat:
    """None of it for few letters, for notions of other conditions, and for ε = 0."""
    if utility is not MutualInformation or joint.size <= MANY_LETTERS or not notion.epsilon > 0:
        return Retreat(notion, 0.0)
    if isinstance(notion, LDP | LIP | PML):
        below = notion.at(notion.epsilon * (1 - SHARE))
        return Retreat(below, _mixing([(notion.epsilon, below.epsilon)]))
    if isinstance(notion, ALIP):
        alip = notion.at(notion.up * (1 - SHARE))
        return Retreat(alip, _mixing([(notion.low, alip.low), (notion.up, alip.up)]))
    return Retreat(notion, 0.0)


def _mixing(limits: list[tuple[float, float]]) -> float:
    """λ for every ε and ε' of these."""
    odds = max(expm1(limit - below) / -expm1(-below) for limit, below in limits)
    return odds / (1 + odds)
