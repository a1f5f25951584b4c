"""`design`: from a joint and a notion to a proven protocol, with what it is worth and what nobody can exceed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, overload

from scipy import sparse

from discreet import compiling
from discreet.attribute import Attribute
from discreet.channel import Channel, fewer_outputs, named_outputs
from discreet.exceptions import ParameterError
from discreet.given_columns import StratifiedJoint, Stratum, averaged
from discreet.joint import Joint
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.notions.rows_together import largest_row_level
from discreet.protocol import Protocol
from discreet.protocol.protocol import check_private
from discreet.protocol.statement import Statement
from discreet.protocol.strata import StratifiedProtocol
from discreet.protocol.together import in_each_stratum
from discreet.records.persons import Rule, WhoseRows
from discreet.solvers.methods import METHODS, plan
from discreet.solvers.problem import Effort, Problem, Progress, Status
from discreet.solvers.retreat import retreat
from discreet.uncertainty.confidence import check_chosen_beforehand, has_limits
from discreet.utilities.accuracy import Accuracy
from discreet.utilities.agreement import Agreement
from discreet.utilities.utility import MutualInformation, Utility

SPARSER = 0.02
"""The share of the information that `sparser` gives away for fewer outputs."""
PROOF_SECONDS_PER_ENTRY = 8e-7
PROOF_SHARE = 0.5
"""What naming, rounding and proving take for one entry of a full matrix; kept free at the end of a time limit, but no
more than this share of it: most matrices are sparse. Robust methods know better, and keep what their outputs need."""
LARGEST_EPSILON = 100.0
"""No search goes further: beyond, factors such as e^2ε are near the end of floating point, and nothing is hidden."""
LEAST_SECONDS = 0.01
"""For a stratum whose time is used up: it still gets the first mechanism that its search meets."""


@dataclass(frozen=True, eq=False)
class Design:
    """A proven protocol, its utility in nats (for information utilities), and a proven bound on every other one.

    `utility` is that of the exact integer weights that will be released, not of the float matrix behind them.
    `seconds` is what the search and the proof took, without compiling, which happens once on a machine.
    `status` says how the search ended: "optimal", "closed form", or why it stopped before it had a proof.

    Attributes:
        protocol: what was proven, ready to release.
        utility: what it keeps.
        upper_bound: what no permitted mechanism exceeds; `gap` is the difference, `is_optimal()` whether it is small.
        method: the name of the search.
        status: how it ended.
        seconds: what search and proof took.
        measure: the utility that was asked for.
    Example:
        >>> import discreet as dc
        >>> found = dc.design(dc.Joint.from_counts([[30, 10, 5], [5, 20, 40]]), dc.LIP(0.5))
        >>> found.method, found.gap < 1e-5
        ('pairs', True)
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
        information is lost. Merging is post-processing; the result is proven all the same, its outputs named anew.
        Values that are values stay as they are."""
        if not 0 <= share < 1:
            raise ParameterError("a share outside [0, 1)", where="share", remedy="Try 0.02.")
        if isinstance(self.measure, Agreement):
            return self
        joint = self.protocol.joint
        merged = fewer_outputs(joint, self.protocol.channel, share)
        channel = Channel(merged.rows, joint.letters, named_outputs(joint, merged.rows))
        protocol = Protocol.make(channel, joint, self.protocol.notion, source=self.protocol.source)
        protocol = protocol.stating(self.protocol.statement)
        value = self.measure.of(joint, protocol.channel)
        return replace(self, protocol=protocol, utility=value, status=f"{self.status}, outputs merged")


@dataclass(frozen=True, eq=False)
class StratifiedDesign:
    """A design for every stratum of the given columns; utility and bound are means over the strata (theory 7.2).

    Attributes:
        given: the given columns.
        designs: by their letters, a `Design`; `protocol` has all of them.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> rows = [("a", "x", "k")] * 300 + [("a", "y", "m")] * 200 + [("b", "y", "k")] * 300 + [("b", "x", "m")] * 200
        >>> table = pa.table(dict(zip(("s", "x", "given"), zip(*rows), strict=True)))
        >>> found = dc.design(dc.Joint.from_table(table, secret="s", release="x", given="given"), dc.LIP(0.5))
        >>> sorted(found.designs)
        [('k',), ('m',)]
    """

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

    @property
    def method(self) -> str:
        return ", ".join(dict.fromkeys(one.method for one in self.designs.values()))

    @property
    def status(self) -> str:
        return ", ".join(dict.fromkeys(one.status for one in self.designs.values()))

    @property
    def measure(self) -> Utility:
        return next(iter(self.designs.values())).measure

    def sparser(self, share: float = SPARSER) -> StratifiedDesign:
        """The same with fewer outputs in every stratum."""
        return replace(self, designs={key: one.sparser(share) for key, one in self.designs.items()})

    def is_optimal(self, tolerance: float = 1e-6) -> bool:
        return self.gap <= tolerance


AnyDesign = Design | StratifiedDesign


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

    The search ends when it is proven optimal to within `gap`, or after `time_limit` seconds, or on ctrl-C, with the
    best found so far. With given columns every stratum has its own search, to the same gap and with its share of time.

    Arguments:
        joint: the distribution of secret and released columns, from `Joint.from_table` or `Joint.from_counts`.
        notion: what is promised, such as `LIP(0.5)`.
        method: "auto" follows the ladder of `discreet.plan`; every method can be asked for by name.
        utility: what is to be kept: `MutualInformation`, `Accuracy()`, `Agreement()`, `Task(…)`.
        sees_secret: the mechanism reads (S, X) and is judged by what it tells about X: for an owner of the data.
        gap: how near to the bound is near enough.
        time_limit: in seconds; none if not given.
        progress: is told the best so far, its bound and the time.
        force: design strata that are too small as well.
    Returns:
        A `Design`: `protocol`, which is proven, its `utility`, and `upper_bound`, which no permitted mechanism exceeds.
    Raises:
        ParameterError: a method that does not suit, or an option out of range.
        InfeasibleError: no mechanism keeps the promise.
        UnfinishedError: nothing was found in the time given.
        ProofError: what was found could not be proven; nothing is handed out.
    Example:
        >>> import discreet
        >>> joint = discreet.Joint.from_counts([[30, 10, 5], [5, 20, 40]])
        >>> found = discreet.design(joint, discreet.LIP(0.5))
        >>> found.is_optimal(), found.protocol.epsilon <= 0.5
        (True, True)
    """
    check_level(notion)
    if (whose := drawn_independently(joint)) is not None:
        options = {"method": method, "utility": utility, "sees_secret": sees_secret, "gap": gap, "progress": progress}
        return _design_rows(joint, notion, whose, time_limit, {**options, "force": force})
    if isinstance(joint, StratifiedJoint):
        return _design_strata(joint, notion, force, time_limit, method, utility, sees_secret, gap, progress)
    started, compiled = time.perf_counter(), compiling.seconds()
    form = held(joint.curator() if sees_secret else joint, notion)
    check_private(form, notion)
    chosen = plan(form, notion, utility).method if method == "auto" else method
    if chosen not in METHODS:
        raise ParameterError(
            "a method nobody knows", where="method", remedy="Use auto, " + ", ".join(sorted(METHODS)) + "."
        )
    if time_limit is not None and not time_limit > 0:
        raise ParameterError("a time limit that is not positive", where="time_limit", remedy="Give seconds, or None.")
    proof = 0.0 if isinstance(notion, RLDP) else PROOF_SECONDS_PER_ENTRY * min(len(form.letters), 3000) ** 2
    proof = proof if time_limit is None else min(proof, PROOF_SHARE * time_limit)
    effort = Effort.within(time_limit, gap, progress).keeping(proof)
    below = retreat(form, notion, utility)
    found = METHODS[chosen].solve(Problem.of(form, below.notion, utility), effort)
    protocol = Protocol.make(found.channel, form, notion)
    value = utility.of(form, protocol.channel)
    ceiling = _ceiling(utility, form)
    bound = max(value, min(below.bound(found.upper_bound), ceiling))
    seconds = time.perf_counter() - started - (compiling.seconds() - compiled)
    status = found.status
    if time_limit is None and status is Status.TIME_LIMIT:  # some searches end by themselves: nobody gave a limit
        status = Status.OWN_TIME
    if status in (Status.STALLED, Status.OWN_TIME, Status.TIME_LIMIT, Status.GAP) and bound - value <= gap:
        status = Status.OPTIMAL
    return Design(protocol, value, bound, chosen, str(status), seconds, utility)


def check_level(notion: Notion) -> None:
    """ParameterError where a promise, or a belt beside it, is too large to be searched for."""
    if max(one.epsilon for one in notion.promises) > LARGEST_EPSILON:
        raise ParameterError(
            f"a level above {LARGEST_EPSILON:g}, which hides nothing", where="epsilon", remedy="Try 1.0."
        )


def _ceiling(utility: Utility, form: Joint) -> float:
    """What publishing everything as it is would be worth."""
    if isinstance(utility, Agreement):
        return utility.most
    if isinstance(utility, Accuracy):
        return 1.0
    return utility.of(form, Channel(sparse.eye_array(form.size, format="csr")))


def _design_strata(
    joint: StratifiedJoint, notion: Notion, force: bool, time_limit: float | None, *options: Any
) -> StratifiedDesign:
    """Every stratum by itself, each with its part of the time that is left."""
    if not force:
        joint.check_sizes(by_name=has_limits(notion))
    if has_limits(notion):
        check_chosen_beforehand(joint.given)
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


# ---- several rows of one person (theory 7.3) -------------------------------------------------------------------------


def held(joint: Joint, notion: Notion) -> Joint:
    """The distribution that a protocol of this promise holds."""
    return joint.one_row_each() if notion.counted else joint


def drawn_independently(joint: Joint | StratifiedJoint) -> WhoseRows | None:
    """Whose rows are drawn by themselves: the promise is then about all of them together, a protocol about one."""
    whose = (joint.first if isinstance(joint, StratifiedJoint) else joint).rows
    return whose if whose is not None and whose.rule is Rule.independent else None


def _design_rows(
    joint: Any, notion: Notion, whose: WhoseRows, time_limit: float | None, options: dict[str, Any]
) -> Design | StratifiedDesign:
    """The notion is what a person is promised; the mechanism of a row is the strongest found that keeps it."""
    found: dict[float, Design | StratifiedDesign] = {}
    effort = Effort.within(time_limit, options["gap"])
    counted = _mapped(joint, lambda one: replace(held(one, notion), rows=None))

    def tried(epsilon: float) -> float:
        left = None if time_limit is None else max(effort.share(1 / 3).left(), LEAST_SECONDS)
        done = design(counted, notion.at(epsilon), time_limit=left, **options)
        found[epsilon] = done
        every = [done] if isinstance(done, Design) else list(done.designs.values())
        return max(one.protocol.rows_level(whose.most) for one in every)

    best = found[largest_row_level(tried, notion.epsilon, whose.most)]
    said = Statement.about(whose.holding(notion.epsilon))
    if isinstance(best, Design):
        return replace(best, protocol=best.protocol.stating(said, "data"))
    designs = {key: replace(one, protocol=one.protocol.stating(said, "data")) for key, one in best.designs.items()}
    return replace(best, designs=designs)


def _mapped(joint: Any, change: Callable[[Joint], Joint]) -> Any:
    if isinstance(joint, StratifiedJoint):
        return replace(joint, strata={key: change(one) for key, one in joint.strata.items()})
    return change(joint)
