"""What a design is compared with: other epsilons, closed forms, and the same people without one secret.

The trade-off: what the best mechanism keeps over epsilon, with its bound, and the closed-form mechanisms beside it.

What is designed for a comparison is designed in the same way as what it is compared with (`Way`): for the same purpose,
by the same search.

The costs, under robust LDP: what everybody else would keep more if nobody had a certain secret. A secret that was seen
rarely has a conditional that F leaves almost open, and every output has to look alike for it and for all others. How
much that costs the others depends on the mechanism; so it is measured, by designing without it.

The other half: what a design that is not robust would be worth to other records, designed on one random half of the
table and measured on the other. Both are of one table, so the second is what the mechanism would meet at best: new
records of the very same kind. Nothing is released: the halves are counts, and the mechanism found is thrown away.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np

from discreet.arrays import Floats
from discreet.attribute import Attribute, Form
from discreet.audit.level_limits import LevelLimits, level_limits
from discreet.channel import Channel
from discreet.design import Design, design
from discreet.exceptions import DiscreetError
from discreet.given_columns import AnyJoint
from discreet.information import share_kept
from discreet.joint import Joint
from discreet.notions.notion import Notion, at_prior
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, population_of, promise_of
from discreet.solvers.problem import Effort
from discreet.study.purposes import purpose_of, serve
from discreet.uncertainty.intervals import IntervalSet
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.utilities.agreement import Agreement
from discreet.utilities.utility import MutualInformation, Utility
from discreet.wording import RARE_RECORDS

MULTIPLES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Epsilons of the curve, as multiples of the chosen one: two octaves to either side."""
POINT_SECONDS: Final = 2.0
"""For each point; a curve is read to a few pixels, and its bound says what was not found."""
CLOSED_FORMS: Final = {"grr": "randomised response", "cr": "conditional reporting", "ir": "independent reporting"}
OPTIMUM: Final = "best found"
MANY_LETTERS: Final = 1_000
MANY_SECONDS: Final = 3.0
"""Beyond so many letters closed forms, which fill their matrix, are left out, and all points have so many seconds."""
MOST_COSTS: Final = 3
COST_SECONDS: Final = 4.0
"""For each of the designs that a cost is measured with; they get the same, so that the ratio is fair."""
OTHERS: Final = "secret of the others"
MOST_CELLS: Final = 5_000
"""Limits of so many cells take some ten seconds."""


@dataclass(frozen=True)
class Point:
    """At this epsilon so much is kept, and nothing can keep more than `bound`; information in nats, else shares."""

    epsilon: float
    value: float
    bound: float


Curves = dict[str, list[Point]]


def trade_off(
    protocol: AnyProtocol,
    *,
    measure: Utility = MutualInformation,
    value: float | None = None,
    upper_bound: float | None = None,
    multiples: Sequence[float] = MULTIPLES,
    time_limit: float = POINT_SECONDS,
    seconds: float | None = None,
    step: Callable[[], None] = lambda: None,
) -> Curves:
    """Curves of a utility by name, the chosen point among those of the optimum. A method that does not apply has none;
    for agreement none of the closed forms does, because they change the law, and for many letters none is compared.

    Points near the chosen one come first; of a method that took so long before that it would end after `seconds`, no
    further point is begun.
    """
    joint, notion = population_of(protocol), promise_of(protocol)
    first = next(iter(protocol.strata.values())) if isinstance(protocol, StratifiedProtocol) else protocol
    many = len(first.inputs) > MANY_LETTERS
    seconds = MANY_SECONDS if many and seconds is None else seconds
    effort = Effort.within(seconds)
    multiples = multiples if notion.at(2 * notion.epsilon) != notion else (1.0,)
    limit = time_limit if seconds is None else min(time_limit, seconds / len(multiples))
    mine = protocol.utility if value is None else value
    bound = mine if upper_bound is None else upper_bound
    methods = {"auto": OPTIMUM, **({} if many or isinstance(measure, Agreement) else CLOSED_FORMS)}
    curves: Curves = {OPTIMUM: []}
    longest: dict[str, float] = {}
    for multiple in sorted(multiples, key=lambda multiple: abs(np.log(multiple))):
        for method, name in methods.items():
            if method == "auto" and multiple == 1.0:
                curves[OPTIMUM].append(Point(notion.epsilon, mine, bound))
            elif effort.left() > longest.get(method, 0.0):
                started = time.monotonic()
                points = _point(joint, notion.at(multiple * notion.epsilon), method, measure, limit)
                curves.setdefault(name, []).extend(points)
                longest[method] = max(longest.get(method, 0.0), time.monotonic() - started)
        step()
    return {name: sorted(points, key=lambda point: point.epsilon) for name, points in curves.items() if points}


class Costly(NamedTuple):
    """A secret, and what a record of anybody else would keep more without it: a share of what it keeps now."""

    secret: Hashable
    cost: float


@dataclass(frozen=True)
class Way:
    """How a mechanism was designed: what it has the most of, and by which search."""

    measure: Utility = MutualInformation
    method: str = "auto"

    def design(self, joint: Joint, notion: Notion, seconds: float) -> Design:
        options = {"utility": self.measure, "method": self.method, "time_limit": seconds}
        found = serve(joint, notion, purpose_of(self.measure), **options).design
        assert isinstance(found, Design)
        return found


FOR_INFORMATION: Final = Way()


def costly_secrets(
    joint: Joint,
    notion: RLDP | RLIP,
    way: Way = FOR_INFORMATION,
    *,
    most: int = MOST_COSTS,
    seconds: float = COST_SECONDS,
) -> tuple[Costly, ...]:
    """The secrets that F knows least about, costliest first; a common secret unlike the others may cost more still.

    All designs get the same few seconds, so where these do not settle the search a small cost is noise.
    """
    unsure = doubts(notion, joint)
    if len(joint.seen) < 3 or unsure is None or joint.noise is not None:
        return ()
    found = []
    try:
        channel = way.design(joint, notion, seconds).protocol.channel
        for s in np.argsort(-unsure, kind="stable")[:most]:
            others = _without(joint, int(s))
            theirs = np.delete(joint.expand(channel.matrix), s, axis=1).reshape(len(channel.outputs), -1)
            left = Channel(theirs if joint.reads_secret else channel.matrix, others.letters, channel.outputs)
            if (now := way.measure.of(others, left)) > 0:
                then = way.design(others, notion, seconds).utility
                found.append(Costly(joint.secret_letters[s], then / now - 1))
    except DiscreetError:
        return ()
    return tuple(sorted(found, key=lambda one: -one.cost))


@dataclass(frozen=True)
class RareSecrets:
    """Of so many values of the secret so many are rare; the information kept with them, and with these as one value."""

    values: int
    rare: int
    merged: int
    now: float
    then: float


def rare_secrets(
    protocol: AnyProtocol,
    way: Way = FOR_INFORMATION,
    *,
    seconds: float = COST_SECONDS,
) -> RareSecrets | None:
    """What merging the rare values of the secret would keep, shares of H(T); None where there are none, or too few
    others, or where counts have noise. A single rare value is merged with the next one."""
    joint = protocol.joint
    if isinstance(protocol, StratifiedProtocol) or joint.counts is None or joint.form is Form.RELEASES_SECRET:
        return None
    if joint.noise is not None:
        return None
    sizes = joint.counts.reshape(len(joint.counts), -1).sum(axis=1)
    order = [int(s) for s in np.argsort(sizes, kind="stable") if sizes[s] > 0]
    rare = int((sizes[order] < RARE_RECORDS).sum())
    together = order[: max(2, rare)]
    if not rare or len(order) - len(together) < 1:
        return None
    merged = joint.observed().merge_secrets([joint.secret_letters[s] for s in together], OTHERS)
    try:
        found = way.design(replace(merged, form=joint.form), protocol.notion, seconds)
    except DiscreetError:
        return None
    return RareSecrets(
        len(order), rare, len(together),
        share_kept(joint, protocol.utility), share_kept(merged, found.protocol.utility),
    )  # fmt: skip


def split_half(
    joint: Joint,
    notion: Notion,
    way: Way = FOR_INFORMATION,
    *,
    seconds: float,
    seed: int = 0,
) -> LevelLimits | None:
    """The level on one half of the mechanism designed on the other; None if the notion is robust or counts are not
    known, or if a half cannot be designed on in time. The halves are drawn from a fixed stream, so that the same table
    tells the same: nothing about it is published by them."""
    if joint.counts is None or not at_prior(notion) or joint.counts.size > MOST_CELLS or joint.n == 1:
        return None
    flat = joint.counts.reshape(-1)
    first = np.random.default_rng(seed).multivariate_hypergeometric(flat, int(flat.sum()) // 2, method="marginals")
    halves = [part.reshape(joint.counts.shape) for part in (first, flat - first)]
    try:
        learnt = replace(Joint.from_counts(halves[0], joint.secrets, joint.releases), form=joint.form)
        found = way.design(learnt, notion, seconds)
        return level_limits(found.protocol.channel, learnt, notion, halves[1])
    except DiscreetError:
        return None


def doubts(notion: RLDP | RLIP, joint: Joint) -> Floats | None:
    """How little F knows about each secret: its Rényi radius, or how far apart its limits are; None if F is a point or
    everything, where no secret is known better than another."""
    known = notion.known(joint) if isinstance(notion, RLIP) else notion.uncertainty.around(joint)
    if isinstance(known, IntervalSet):
        return np.asarray((known.limits.high - known.limits.low).sum(axis=1))
    return known.radii if isinstance(known, RenyiBall) and 0 < known.budget < np.inf else None


def _point(joint: AnyJoint, notion: Notion, method: str, measure: Utility, time_limit: float) -> list[Point]:
    try:
        if method == "auto":
            found = serve(joint, notion, purpose_of(measure), time_limit=time_limit, force=True).design
        else:
            found = design(joint, notion, method=method, utility=measure, time_limit=time_limit, force=True)
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
