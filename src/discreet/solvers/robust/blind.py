"""A robust mechanism that reads X only, for alphabets too large for the optimum.

It begins with one output a letter, each as strong as F permits by itself: rows v_z = 1 + λ_z (1_z / p_z − 1) with
weights p_z / λ_z add up to a multiple of one, whatever the λ_z are. Then the outputs are polished as a whole.
"""

from __future__ import annotations

import time

import numpy as np

from discreet.channel import Channel
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers.robust.polish import Tell, polished
from discreet.solvers.robust.private import at_level, weaker


def solve(joint: Joint, notion: RLDP, *, time_limit: float = np.inf, tell: Tell = lambda value: None) -> Channel:
    """At least as good as one output a letter that was seen. `tell` is called with what the best so far keeps."""
    end, best = time.monotonic() + time_limit, _begun(joint, notion)
    tell(utility(joint, best))
    return polished(joint, notion, best, end, tell)


def _begun(joint: Joint, notion: RLDP) -> Channel:
    """One output a letter that was seen; letters never seen are no more likely to give one than another."""
    seen = np.flatnonzero(joint.prior > 0)
    p = joint.prior[seen]
    if len(seen) == 1:
        return at_level(joint, notion, np.ones(1), np.ones((1, len(joint.letters))), grow=False)
    rows = np.where(joint.prior > 0, 0.0, np.ones((len(seen), 1)))
    rows[np.arange(len(seen)), seen] = 1 / p
    rows = weaker(joint, notion, rows)
    strength = (rows[np.arange(len(seen)), seen] - 1) / (1 / p - 1)
    widths = p / strength
    return at_level(joint, notion, widths / widths.sum(), rows, grow=True)
