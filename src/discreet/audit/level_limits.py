"""The level of a mechanism at other records than those it was designed for, with exact confidence limits (theory 5.2).

Other records are a sample of an unknown P. Within exact limits of their counts, A_s and B_s are the largest and the
smallest P(y|s). No P there has a level below max ln B_s/A_t (`least_levels`), and none one above max ln A_s/B_t; for
LIP the same with P(y) at its extremes. So with the stated confidence the level at P lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Integers
from discreet.audit.least_levels import LEAST, TableSample
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, RLDP, RLIP, SRLIP
from discreet.notions.notion import Notion
from discreet.uncertainty.confidence import Confidence, beforehand


@dataclass(frozen=True)
class LevelLimits:
    """The level at the proportions of a table, and limits for the level at the distribution it was drawn from."""

    measured: float
    low: float
    high: float
    confidence: float


def level_limits(
    channel: Channel, joint: Joint, notion: Notion, counts: Integers, confidence: float = 0.95
) -> LevelLimits | None:
    """Of this channel at a table with these counts; None for notions that do not rest on a distribution.

    SRLIP includes LIP, so LIP's lower limit holds for it; there is no upper one.
    """
    if not isinstance(notion, (LDP, LIP, SRLIP, RLDP, RLIP)):
        return None
    other = beforehand(replace(Joint.from_counts(counts, joint.secrets, joint.releases), form=joint.form))
    stated = Confidence(confidence)
    pairs = isinstance(notion, (LDP, RLDP))
    plain: Notion = LDP(1.0) if pairs else SRLIP(1.0) if isinstance(notion, SRLIP) else LIP(1.0)
    measured = plain.level(channel, other).epsilon
    high = (RLDP(1.0, stated) if pairs else RLIP(1.0, stated)).level(channel, other).epsilon
    low = LEAST[type(plain)](plain, TableSample(channel, other, stated))
    return LevelLimits(measured, max(low, 0.0), np.inf if isinstance(notion, SRLIP) else high, confidence)
