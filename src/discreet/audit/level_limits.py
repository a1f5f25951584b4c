"""The level of a mechanism at other records than those it was designed for, with exact confidence limits (theory 5.2).

Other records are a sample of an unknown P. Within exact limits of their counts, A_s and B_s are the largest and the
smallest P(y|s). No P there has a level below max ln B_s/A_t, and none one above max ln A_s/B_t; for LIP the same with
P(y) at its extremes. So with the stated confidence the level at P lies between the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.arrays import Integers
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions import LDP, LIP, RLDP, RLIP, SRLIP
from discreet.notions.notion import Notion, log_ratio
from discreet.notions.rlip import extreme_averages, extreme_means
from discreet.uncertainty.confidence import Confidence


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
    other = replace(Joint.from_counts(counts, joint.secrets, joint.releases), form=joint.form)
    stated = Confidence(confidence)
    pairs = isinstance(notion, (LDP, RLDP))
    plain: Notion = LDP(1.0) if pairs else SRLIP(1.0) if isinstance(notion, SRLIP) else LIP(1.0)
    measured = plain.level(channel, other).epsilon
    high = (RLDP(1.0, stated) if pairs else RLIP(1.0, stated)).level(channel, other).epsilon
    low = _least_between_secrets(stated, other, channel) if pairs else _least_against_average(stated, other, channel)
    return LevelLimits(measured, max(low, 0.0), np.inf if isinstance(notion, SRLIP) else high, confidence)


def _least_between_secrets(stated: Confidence, joint: Joint, channel: Channel) -> float:
    """max over outputs and pairs of ln B_s/A_t."""
    most, least = extreme_means(channel, joint, stated.around(joint))
    return float(log_ratio(least.max(axis=1), most.min(axis=1)).max())


def _least_against_average(stated: Confidence, joint: Joint, channel: Channel) -> float:
    """max over outputs and secrets of ln B_s / max_π (π_s B_s + Σ π_t A_t) and ln min_π (π_s A_s + Σ π_t B_t) / A_s."""
    known = stated.with_masses(joint)
    most, least = extreme_means(channel, joint, known)
    worst = 0.0
    for s in range(most.shape[1]):
        below, above = extreme_averages(known, most, least, s)
        worst = max(worst, float(log_ratio(least[:, s], above.value).max()))
        worst = max(worst, float(log_ratio(below.value, most[:, s]).max()))
    return worst
