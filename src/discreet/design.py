"""`design`: from a joint and a notion to a proven protocol, with what it is worth and what nobody can exceed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

import numpy as np

from discreet import compiling
from discreet.channel import Channel, fewer_outputs, named_outputs
from discreet.exceptions import ParameterError
from discreet.given_columns import StratifiedJoint, Stratum, averaged
from discreet.joint import Attribute, Joint
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.protocol.strata import StratifiedProtocol, in_each_stratum
from discreet.solvers.methods import METHODS, plan
from discreet.solvers.problem import Effort, Problem, Progress
from discreet.utilities.accuracy import Accuracy
from discreet.utilities.agreement import Agreement
from discreet.utilities.utility import MutualInformation, Utility

SPARSER = 0.02
"""The share of the information that `sparser` gives away for fewer outputs."""
PROOF_SECONDS_PER_ENTRY = 8e-7
"""What naming, rounding and proving take for one entry of a matrix; kept free at the end of a time limit. Robust
methods know better, and keep what their outputs need."""
LEAST_SECONDS = 0.01
"""For a stratum whose time is used up: it still gets the first mechanism that its search meets."""


@dataclass(frozen=True, eq=False)
class Design:
    """A proven protocol, its utility in nats (for information utilities), and a proven bound on every other one.

    `utility` is that of the exact integer weights that will be released, not of the float matrix behind them.
    `seconds` is what the search and the proof took, without compiling, which happens once on a machine.
    `status` says how the search ended: "optimal", "closed form", or why it stopped before it had a proof.
    """

    protocol: Protocol
    utility: float
    upper_bound: float
    method: str
    status: str
    seconds: float
    measure: Utility = MutualInformation

    @property
    def gap(self) -> float:
        """What could still be gained at most: upper_bound − utility."""
        return max(0.0, self.upper_bound - self.utility)

    def is_optimal(self, tolerance: float = 1e-6) -> bool:
        return self.gap <= tolerance

    def sparser(self, share: float = SPARSER) -> Design:
        """The same with fewer outputs: those that say nearly the same are merged while at most this share of the mutual
        information is lost. Merging is post-processing; the result is proven all the same, its outputs named anew."""
        if not 0 <= share < 1:
            raise ParameterError("a share outside [0, 1)", where="share", remedy="Try 0.02.")
        joint = self.protocol.joint
        merged = fewer_outputs(joint, self.protocol.channel, share)
        channel = Channel(merged.matrix, joint.letters, named_outputs(joint, merged.matrix))
        protocol = Protocol.make(channel, joint, self.protocol.notion, source=self.protocol.source)
        value = self.measure.of(joint, protocol.channel)
        return replace(self, protocol=protocol, utility=value, status=f"{self.status}, outputs merged")


@dataclass(frozen=True, eq=False)
class StratifiedDesign:
    """A design for every stratum of the given columns; utility and bound are means over the strata (theory 7.2)."""

    given: tuple[Attribute, ...]
    designs: Mapping[Stratum, Design]

    @cached_property
    def protocol(self) -> StratifiedProtocol:
        return StratifiedProtocol(self.given, {key: one.protocol for key, one in self.designs.items()})

    @property
    def utility(self) -> float:
        """I(T;Y|K) in nats, for information utilities."""
        return averaged({key: (one.protocol.joint, one.utility) for key, one in self.designs.items()})

    @property
    def upper_bound(self) -> float:
        return averaged({key: (one.protocol.joint, one.upper_bound) for key, one in self.designs.items()})

    @property
    def gap(self) -> float:
        return max(0.0, self.upper_bound - self.utility)

    @property
    def seconds(self) -> float:
        return sum(one.seconds for one in self.designs.values())

    def is_optimal(self, tolerance: float = 1e-6) -> bool:
        return self.gap <= tolerance


@overload
def design(
    joint: Joint,
    notion: Notion,
    *,
    method: str = "auto",
    utility: Utility = MutualInformation,
    sees_secret: bool = False,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Design: ...


@overload
def design(
    joint: StratifiedJoint,
    notion: Notion,
    *,
    method: str = "auto",
    utility: Utility = MutualInformation,
    sees_secret: bool = False,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> StratifiedDesign: ...


def design(
    joint: Joint | StratifiedJoint,
    notion: Notion,
    *,
    method: str = "auto",
    utility: Utility = MutualInformation,
    sees_secret: bool = False,
    gap: float = 1e-6,
    time_limit: float | None = None,
    progress: Progress | None = None,
    force: bool = False,
) -> Design | StratifiedDesign:
    """The mechanism that keeps the most utility under the notion.

    `method="auto"` follows the ladder of `discreet.plan`; every method can be asked for by name. With `sees_secret` the
    mechanism reads (S, X) and is judged by what it tells about X: the form for an owner of the data. The search ends
    when it is proven optimal to within `gap`, or after `time_limit` seconds, or on ctrl-C, with the best found so far.

    With given columns every stratum has its own search, to the same gap and with its share of the time; `force` designs
    strata that are too small as well.
    """
    if isinstance(joint, StratifiedJoint):
        return _design_strata(joint, notion, force, time_limit, method, utility, sees_secret, gap, progress)
    started, compiled = time.perf_counter(), compiling.seconds()
    form = joint.curator() if sees_secret else joint
    chosen = plan(form, notion, utility).method if method == "auto" else method
    if chosen not in METHODS:
        raise ParameterError(
            "a method nobody knows", where="method", remedy="Use auto, " + ", ".join(sorted(METHODS)) + "."
        )
    if time_limit is not None and not time_limit > 0:
        raise ParameterError("a time limit that is not positive", where="time_limit", remedy="Give seconds, or None.")
    proof = 0.0 if isinstance(notion, RLDP) else PROOF_SECONDS_PER_ENTRY * len(form.letters) ** 2
    effort = Effort.within(time_limit, gap, progress).keeping(proof)
    found = METHODS[chosen].solve(Problem.of(form, notion, utility), effort)
    protocol = Protocol.make(found.channel, form, notion)
    value = utility.of(form, protocol.channel)
    ceiling = _ceiling(utility, form)
    bound = max(value, min(found.upper_bound, ceiling))
    seconds = time.perf_counter() - started - (compiling.seconds() - compiled)
    return Design(protocol, value, bound, chosen, str(found.status), seconds, utility)


def _ceiling(utility: Utility, form: Joint) -> float:
    """What publishing everything as it is would be worth."""
    if isinstance(utility, Agreement):
        return utility.most
    if isinstance(utility, Accuracy):
        return 1.0
    return utility.of(form, Channel(np.eye(len(form.letters))))


def _design_strata(
    joint: StratifiedJoint, notion: Notion, force: bool, time_limit: float | None, *options: Any
) -> StratifiedDesign:
    """Every stratum by itself, each with its part of the time that is left."""
    if not force:
        joint.check_sizes()
    method, utility, sees_secret, gap, progress = options
    shared, effort, found = in_each_stratum(notion, len(joint.strata)), Effort.within(time_limit, gap), {}
    for number, (key, one) in enumerate(joint.strata.items()):
        left = None if time_limit is None else max(effort.share(1 / (len(joint.strata) - number)).left(), LEAST_SECONDS)
        found[key] = design(
            one,
            shared,
            method=method,
            utility=utility,
            sees_secret=sees_secret,
            gap=gap,
            time_limit=left,
            progress=progress,
        )
    return StratifiedDesign(joint.given, found)
