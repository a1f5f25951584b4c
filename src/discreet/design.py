"""`design`: from a joint and a notion to a proven protocol, with what it is worth and what nobody can exceed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.naming import named_outputs
from discreet.notions.level import Notion
from discreet.protocol import Protocol
from discreet.solvers.method import Limits, Progress
from discreet.solvers.methods import METHODS
from discreet.solvers.plan import plan
from discreet.solvers.robust.fewer import fewer_outputs
from discreet.utilities import MutualInformation, Utility

SPARSER = 0.02


@dataclass(frozen=True, eq=False)
class Design:
    """A proven protocol, its utility in nats (for information utilities), and a proven bound on every other one.

    `utility` is that of the exact integer weights that will be released, not of the float matrix behind them.
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
) -> Design:
    """The mechanism that keeps the most utility under the notion.

    `method="auto"` follows the ladder of `discreet.plan`; every method can be asked for by name. With `sees_secret` the
    mechanism reads (S, X) and is judged by what it tells about X: the form for an owner of the data. The search ends
    when it is proven optimal to within `gap`, or after `time_limit` seconds, or on ctrl-C, with the best found so far.
    """
    started = time.perf_counter()
    form = joint.curator() if sees_secret else joint
    chosen = plan(form, notion, utility).method if method == "auto" else method
    if chosen not in METHODS:
        raise ParameterError(
            "a method nobody knows", where="method", remedy="Use auto, " + ", ".join(sorted(METHODS)) + "."
        )
    _check_limits(gap, time_limit)
    found = METHODS[chosen](form, notion, utility, Limits(gap, time_limit, progress))
    protocol = Protocol.make(found.channel, form, notion)
    value = utility.of(form, protocol.channel)
    ceiling = utility.of(form, Channel(np.eye(len(form.letters))))
    bound = max(value, min(found.upper_bound, ceiling))
    return Design(protocol, value, bound, chosen, found.status, time.perf_counter() - started, utility)


def _check_limits(gap: float, time_limit: float | None) -> None:
    if not gap >= 0:
        raise ParameterError("a gap that is not ≥ 0", where="gap", remedy="Try 1e-6.")
    if time_limit is not None and not time_limit > 0:
        raise ParameterError("a time limit that is not positive", where="time_limit", remedy="Give seconds, or None.")
