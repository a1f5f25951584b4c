"""What a design that is not robust would be worth to other records: designed on one random half, measured on the other.

Both halves are of one table, so the second is what the mechanism would meet at best: new records of the very same kind.
Nothing is released: the halves are counts, and the mechanism of the first half is thrown away.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.audit.level_limits import LevelLimits, level_limits
from discreet.design import design
from discreet.exceptions import DiscreetError
from discreet.joint import Joint
from discreet.notions.notion import Notion, words_of

MOST_CELLS = 5_000
"""Limits of so many cells take some ten seconds."""


def split_half(joint: Joint, notion: Notion, *, seconds: float, seed: int = 0) -> LevelLimits | None:
    """The level on one half of the mechanism designed on the other; None if the notion is robust or counts are not
    known, or if a half cannot be designed on in time. The halves are drawn from a fixed stream, so that the same table
    tells the same: nothing about it is published by them."""
    if joint.counts is None or not words_of(notion).at_prior or joint.counts.size > MOST_CELLS or joint.n == 1:
        return None
    flat = joint.counts.reshape(-1)
    first = np.random.default_rng(seed).multivariate_hypergeometric(flat, int(flat.sum()) // 2, method="marginals")
    halves = [part.reshape(joint.counts.shape) for part in (first, flat - first)]
    try:
        learnt = replace(Joint.from_counts(halves[0], joint.secrets, joint.releases), form=joint.form)
        found = design(learnt, notion, time_limit=seconds)
        return level_limits(found.protocol.channel, learnt, notion, halves[1])
    except DiscreetError:
        return None
