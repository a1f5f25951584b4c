"""What a design is compared with: other epsilons, closed forms, and the same people without one secret.

The trade-off: what the best mechanism keeps over epsilon, with its bound, and the closed-form mechanisms beside it.

The costs, under robust LDP: what everybody else would keep more if nobody had a certain secret. A secret that was seen
rarely has a conditional that F leaves almost open, and every output has to look alike for it and for all others. How
much that costs the others depends on the mechanism; so it is measured, by designing without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.design import design
from discreet.exceptions import DiscreetError
from discreet.information import utility
from discreet.joint import Attribute, Joint
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.protocol import Protocol
from discreet.solvers.problem import Effort
from discreet.uncertainty.intervals import IntervalSet
from discreet.uncertainty.renyi_ball import RenyiBall

MULTIPLES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Epsilons of the curve, as multiples of the chosen one: two octaves to either side."""
POINT_SECONDS: Final = 2.0
"""For each point; a curve is read to a few pixels, and its bound says what was not found."""
CLOSED_FORMS: Final = {"grr": "randomised response", "cr": "conditional reporting", "ir": "independent reporting"}
OPTIMUM: Final = "best found"
MOST_COSTS: Final = 3
COST_SECONDS: Final = 4.0
"""For each of the designs that a cost is measured with; they get the same, so that the ratio is fair."""
OTHERS: Final = "secret of the others"


@dataclass(frozen=True)
class Point:
    """At this epsilon so much is kept, and nothing can keep more than `bound`; both in nats."""

    epsilon: float
    value: float
    bound: float


Curves = dict[str, list[Point]]


def trade_off(
    protocol: Protocol,
    *,
    upper_bound: float | None = None,
    multiples: Sequence[float] = MULTIPLES,
    time_limit: float = POINT_SECONDS,
    seconds: float | None = None,
    step: Callable[[], None] = lambda: None,
) -> Curves:
    """Curves by name, the chosen point among those of the optimum. A method that does not apply has no curve.

    Points near the chosen one come first; of a method that took so long before that it would end after `seconds`, no
    further point is begun.
    """
    joint, notion = protocol.joint, protocol.notion
    effort = Effort.within(seconds)
    limit = time_limit if seconds is None else min(time_limit, seconds / len(multiples))
    bound = protocol.utility if upper_bound is None else upper_bound
    curves: Curves = {OPTIMUM: []}
    longest: dict[str, float] = {}
    for multiple in sorted(multiples, key=lambda multiple: abs(np.log(multiple))):
        for method, name in {"auto": OPTIMUM, **CLOSED_FORMS}.items():
            if method == "auto" and multiple == 1.0:
                curves[OPTIMUM].append(Point(notion.epsilon, protocol.utility, bound))
            elif effort.left() > longest.get(method, 0.0):
                started = time.monotonic()
                points = _point(joint, notion.at(multiple * notion.epsilon), method, limit)
                curves.setdefault(name, []).extend(points)
                longest[method] = max(longest.get(method, 0.0), time.monotonic() - started)
        step()
    return {name: sorted(points, key=lambda point: point.epsilon) for name, points in curves.items() if points}


class Costly(NamedTuple):
    """A secret, and what a record of anybody else would keep more without it: a share of what it keeps now."""

    secret: Hashable
    cost: float


def costly_secrets(
    joint: Joint, notion: RLDP | RLIP, *, most: int = MOST_COSTS, seconds: float = COST_SECONDS
) -> tuple[Costly, ...]:
    """The secrets that F knows least about, costliest first; a common secret unlike the others may cost more still.

    All designs get the same few seconds, so where these do not settle the search a small cost is noise.
    """
    unsure = doubts(notion, joint)
    if len(joint.seen) < 3 or unsure is None:
        return ()
    channel = design(joint, notion, time_limit=seconds).protocol.channel
    found = []
    for s in np.argsort(-unsure, kind="stable")[:most]:
        others = _without(joint, int(s))
        theirs = np.delete(joint.expand(channel.matrix), s, axis=1).reshape(len(channel.outputs), -1)
        now = utility(others, Channel(theirs if joint.reads_secret else channel.matrix))
        found.append(Costly(joint.secret_letters[s], design(others, notion, time_limit=seconds).utility / now - 1))
    return tuple(sorted(found, key=lambda one: -one.cost))


def doubts(notion: RLDP | RLIP, joint: Joint) -> Floats | None:
    """How little F knows about each secret: its Rényi radius, or how far apart its limits are; None if F is a point or
    everything, where no secret is known better than another."""
    known = notion.known(joint) if isinstance(notion, RLIP) else notion.uncertainty.around(joint)
    if isinstance(known, IntervalSet):
        return np.asarray((known.limits.high - known.limits.low).sum(axis=1))
    return known.radii if isinstance(known, RenyiBall) and 0 < known.budget < np.inf else None


def _point(joint: Joint, notion: Notion, method: str, time_limit: float) -> list[Point]:
    try:
        found = design(joint, notion, method=method, time_limit=time_limit)
    except DiscreetError:
        return []
    return [Point(notion.epsilon, found.utility, found.upper_bound)]


def _without(joint: Joint, s: int) -> Joint:
    """Everybody else, with as much known about them as before."""
    kept = np.delete(np.arange(len(joint.secret_letters)), s)
    secrets = (Attribute(OTHERS, tuple(joint.secret_letters[i] for i in kept)),)
    if joint.counts is not None:
        others = Joint.from_counts(joint.counts[kept], secrets, joint.releases)
        return replace(others, form=joint.form)
    cells = joint.probabilities[kept]
    return replace(joint, probabilities=cells / cells.sum(), secrets=secrets)
