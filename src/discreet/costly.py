"""Which secrets cost most under robust LDP: what everybody else would keep more if nobody had them.

A secret that was seen rarely has a conditional that F leaves almost open, and every output has to look alike for it and
for all others. How much that costs the others depends on the mechanism; so it is measured, by designing without it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from discreet.alphabet import Attribute
from discreet.channel import Channel
from discreet.design import design
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP

MOST = 3
SECONDS = 4.0
SECRET = "secret of the others"


@dataclass(frozen=True)
class Costly:
    """A secret, and what a record of anybody else would keep more without it: a share of what it keeps now."""

    secret: Hashable
    cost: float


def costly_secrets(joint: Joint, notion: RLDP, *, most: int = MOST, seconds: float = SECONDS) -> tuple[Costly, ...]:
    """The secrets that F knows least about, costliest first; a common secret unlike the others may cost more still.

    All designs get the same few seconds, so where these do not settle the search a small cost is noise.
    """
    ball = notion.uncertainty.ball(joint)
    if len(joint.seen) < 3 or not 0 < ball.budget < np.inf:
        return ()
    channel = design(joint, notion, time_limit=seconds).protocol.channel
    found = []
    for s in np.argsort(-ball.radii, kind="stable")[:most]:
        others = _without(joint, int(s))
        theirs = np.delete(joint.expand(channel.matrix), s, axis=1).reshape(len(channel.outputs), -1)
        now = utility(others, Channel(theirs if joint.reads_secret else channel.matrix))
        found.append(Costly(joint.secret_letters[s], design(others, notion, time_limit=seconds).utility / now - 1))
    return tuple(sorted(found, key=lambda one: -one.cost))


def _without(joint: Joint, s: int) -> Joint:
    """Everybody else, with as much known about them as before."""
    kept = np.delete(np.arange(len(joint.secret_letters)), s)
    secrets = (Attribute(SECRET, tuple(joint.secret_letters[i] for i in kept)),)
    if joint.counts is not None:
        others = Joint.from_counts(joint.counts[kept], secrets, joint.releases)
        return replace(others, include_secret=joint.include_secret, sees_secret=joint.sees_secret)
    cells = joint.probabilities[kept]
    return replace(joint, probabilities=cells / cells.sum(), secrets=secrets)
