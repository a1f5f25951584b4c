"""What robust searches run, compiled before their clocks start."""

from __future__ import annotations

from functools import cache

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers import columns
from discreet.solvers.robust.cuts import coarse_cone


@cache
def compiled() -> None:
    """As `columns.compiled`, and the oracles of F by one question each: another ten seconds, the first time."""
    columns.compiled()
    joint, notion = Joint.from_counts(np.full((2, 2), 9), include_secret=True), RLDP(0.1)
    row = np.array([0.8, 0.6, 0.2, 0.4])
    notion.level(Channel(np.array([row, 1 - row])), joint)
    cone = coarse_cone(joint, notion, 1e-3)
    assert cone.separate is not None
    cone.separate(row)
