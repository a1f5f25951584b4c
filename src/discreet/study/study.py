"""A study: a design with everything that helps to judge it, in one object that every skin renders.

A study begins with a design, or with a protocol that was read, and grows: every `with_…` returns the
study with one more part. `facts` is the whole of it as plain data, which is what `--json` prints.

    other form     what the same promise keeps if the mechanism reads the secret too, or no longer does
    curves         what is kept over epsilon, by the best mechanism found and by the closed forms beside it
    other half     the level on one random half of the table of a mechanism designed on the other (not robust)
    rare secrets   what would be kept if the rare values of the secret were one
    costs          what everybody else would keep more if nobody had a certain secret (robust LDP)
    forecasts      what analysts will get from so many released records
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from typing import Protocol as Contract

from discreet.attribute import Form
from discreet.audit.level_limits import LevelLimits
from discreet.design import AnyDesign, Design, design
from discreet.estimate import Forecast, Reached, forecast, smallest_epsilon
from discreet.estimate.release_model import Assumption
from discreet.exceptions import DiscreetError
from discreet.given_columns import AnyJoint, StratifiedJoint, in_form
from discreet.information import share_kept
from discreet.notions.notion import Notion
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.protocol.counted_records import keeps_law
from discreet.protocol.strata import AnyProtocol, population_of, promise_of, share_unchanged, strata_of
from discreet.solvers.problem import Effort
from discreet.study.balance import BALANCE_SECONDS, Balanced, balance_points
from discreet.study.comparisons import (
    COST_SECONDS,
    MOST_COSTS,
    MULTIPLES,
    Costly,
    Curves,
    RareSecrets,
    Way,
    costly_secrets,
    rare_secrets,
    split_half,
    trade_off,
)
from discreet.study.facts import study_facts
from discreet.study.purposes import (
    Needed,
    Purpose,
    Served,
    as_share,
    needed_epsilon,
    remedy_of,
    serve,
)
from discreet.study.rare_letters import study_warnings
from discreet.utilities.agreement import Agreement
from discreet.utilities.task import Task, TaskValue
from discreet.utilities.utility import MutualInformation, Utility

SEARCH: Final = 0.6
"""The part of a time limit that the search has when comparisons follow; what it leaves is theirs as well."""
HALF_SECONDS: Final = 5.0
"""For the design on one half of the table: its level is read to two digits."""
OTHER_GAP, OTHER_SECONDS = 1e-4, 10.0
"""A comparison is read to three digits, so the other form need not be proven closer."""
COSTS_SECONDS: Final = (MOST_COSTS + 1) * COST_SECONDS
"""In less the designs that costs are measured with would not settle, and a cost would be noise: there is none then."""
MERGED: Final = 2 / 3
"""Merging is worth a word where it leaves at most this part of the outputs."""


class Watcher(Contract):
    """Who is told how a study goes."""

    def stage(self, what: str) -> None: ...

    def best(self, value: float, bound: float, seconds: float) -> None: ...


class Nobody:
    def stage(self, what: str) -> None: ...

    def best(self, value: float, bound: float, seconds: float) -> None: ...


@dataclass(frozen=True, eq=False)
class Study:
    """A protocol, how it was found (`design`, unknown for a protocol that was read), and what it is compared with."""

    protocol: AnyProtocol
    design: AnyDesign | None = None
    other_form: AnyDesign | None = None
    curves: Curves = field(default_factory=dict)
    costs: tuple[Costly, ...] = ()
    other_half: LevelLimits | None = None
    rare_secrets: RareSecrets | None = None
    forecasts: tuple[Forecast, ...] = ()
    for_others: tuple[Forecast, ...] = ()
    balance: tuple[Balanced, ...] = ()
    reached: Reached | None = None
    needed: Needed | None = None
    remark: str = ""
    method: str = "auto"

    @classmethod
    def begin(
        cls,
        joint: AnyJoint,
        notion: Notion,
        *,
        method: str = "auto",
        gap: float = 1e-6,
        time_limit: float | None = None,
        purpose: Purpose = Purpose.information,
        need: float | None = None,
        reaching: tuple[int, float] | None = None,
        force: bool = False,
        utility: Utility | None = None,
        watcher: Watcher | None = None,
    ) -> Study:
        """With the best mechanism found for the joint in its form and for a purpose, or for a utility that none has.

        `need` takes the smallest epsilon found with this share of what the purpose is about (`needed_epsilon`).
        `reaching` (n, half-width) takes the smallest epsilon found whose 95 % intervals from n records are at most so
        wide, in place of that of the notion; the time limit is then that of each epsilon tried. `force` designs
        strata of given columns that are too small as well.
        """
        watcher = watcher or Nobody()
        found: dict[float, Served] = {}
        options: dict[str, Any] = {"method": method, "gap": gap, "time_limit": time_limit, "force": force}
        if utility is not None:
            purpose, options["utility"] = Purpose.information, utility

        def protocol_at(epsilon: float) -> AnyProtocol:
            found[epsilon] = serve(joint, notion.at(epsilon), purpose, progress=watcher.best, **options)
            watcher.stage(f"Designing, epsilon {epsilon:.4g} done")
            return found[epsilon].design.protocol

        def share_at(epsilon: float) -> float:
            protocol_at(epsilon)
            return as_share(found[epsilon].design.measure, joint, found[epsilon].design.utility)

        epsilon, reached, needed = notion.epsilon, None, None
        if need is not None:
            needed = needed_epsilon(share_at, need, remedy=remedy_of(joint, notion))
            epsilon = needed.epsilon
        elif reaching is not None:
            rising = purpose is not Purpose.information
            reached = smallest_epsilon(protocol_at, joint, *reaching, rising=rising)
            epsilon = reached.epsilon
        else:
            protocol_at(epsilon)
        served = found[epsilon]
        begun = cls(served.design.protocol, served.design, remark=served.remark, method=method)
        return replace(begun, reached=reached, needed=needed)

    @property
    def joint(self) -> AnyJoint:
        return population_of(self.protocol)

    @property
    def notion(self) -> Notion:
        """What is promised for all strata together."""
        return promise_of(self.protocol)

    @property
    def share(self) -> float:
        """What is kept of what the data tell."""
        return share_kept(self.joint, self.protocol.utility)

    @cached_property
    def measure(self) -> Utility:
        """What the design has the most of; of a protocol that was read, agreement if its values keep their law."""
        if self.design is not None:
            return self.design.measure
        kept = all(keeps_law(one) for one in strata_of(self.protocol))
        return Agreement() if kept else MutualInformation

    @property
    def way(self) -> Way:
        """How it was designed, for what it is compared with."""
        return Way(self.measure, self.method)

    def as_share(self, value: float) -> float:
        """A value of the design's utility as a share of what clean data have."""
        return as_share(self.measure, self.joint, value)

    @cached_property
    def unchanged(self) -> float | None:
        """The share of values that stay what they are; None if outputs are no values."""
        return share_unchanged(self.protocol)

    @property
    def other_share(self) -> str:
        """What the other form keeps, in words: "at least" unless that is proven to be all; empty if there is none."""
        if self.other_form is None:
            return ""
        share = as_share(self.measure, population_of(self.other_form.protocol), self.other_form.utility)
        return f"{share:.1%}" if self.other_form.is_optimal(OTHER_GAP) else f"at least {share:.1%}"

    @property
    def task(self) -> TaskValue | None:
        """What the release is worth for the column that it was designed for, if it was designed for one."""
        found, joint = self.design, self.joint
        if not isinstance(found, Design) or not isinstance(found.measure, Task) or isinstance(joint, StratifiedJoint):
            return None
        return found.measure.judged(found.protocol.joint, found.protocol.channel)

    def sparser(self) -> Study:
        """With outputs merged that say nearly the same."""
        if self.design is None:
            return self
        found = self.design.sparser()
        return Study(found.protocol, found, reached=self.reached, method=self.method)

    def from_public(self) -> Study:
        """The distribution came from a public sample, and the protocol says so."""
        return replace(self, protocol=self.protocol.with_source("public"))

    @cached_property
    def merged(self) -> AnyDesign | None:
        """What merging outputs would give, where it saves a third of them; of designs for information only."""
        if self.design is None or self.design.measure is not MutualInformation:
            return None
        found = self.design.sparser()
        return found if len(found.protocol.outputs) <= MERGED * len(self.protocol.outputs) else None

    def with_other_form(self, *, seconds: float = OTHER_SECONDS, watcher: Watcher | None = None) -> Study:
        """What the other form keeps, at least: under RLDP, and where the secret is released itself, there is none.

        A curator can do whatever a funnel can, so a search for one that finds less has found nothing.
        """
        if self.joint.form is Form.RELEASES_SECRET or isinstance(self.protocol.notion, (RLDP, RLIP)):
            return self
        form = Form.FUNNEL if self.joint.form is Form.CURATOR else Form.CURATOR
        watcher = watcher or Nobody()
        watcher.stage("The other form")
        other: AnyDesign
        try:
            other = design(
                in_form(self.joint, form),
                self.notion,
                utility=self.measure,
                gap=OTHER_GAP,
                time_limit=seconds,
                progress=watcher.best,
                force=True,
            )
        except DiscreetError:
            return self
        mine = self.protocol.utility if self.design is None else self.design.utility
        worse = form is Form.CURATOR and other.utility < mine - OTHER_GAP
        return self if worse else replace(self, other_form=other)

    def with_curves(self, *, seconds: float | None = None, watcher: Watcher | None = None) -> Study:
        """The trade-off over epsilon; after `seconds` with the points that there are."""
        watcher = watcher or Nobody()
        done = iter(range(1, len(MULTIPLES) + 1))
        watcher.stage("Trade-off")
        bound = None if self.design is None else self.design.upper_bound
        curves = trade_off(
            self.protocol,
            measure=self.measure,
            value=None if self.design is None else self.design.utility,
            upper_bound=bound,
            seconds=seconds,
            step=lambda: watcher.stage(f"Trade-off, {next(done)} of {len(MULTIPLES)}"),
        )
        return replace(self, curves=curves)

    def with_costs(self, *, seconds: float = COST_SECONDS, watcher: Watcher | None = None) -> Study:
        """The secrets that cost most, under RLDP and without given columns; each design has so many seconds."""
        notion, joint = self.protocol.notion, self.joint
        if not isinstance(notion, (RLDP, RLIP)) or isinstance(joint, StratifiedJoint):
            return self
        (watcher or Nobody()).stage("Secrets that cost most")
        return replace(self, costs=costly_secrets(joint, notion, self.way, seconds=seconds))

    def with_other_half(self, *, seconds: float = HALF_SECONDS, watcher: Watcher | None = None) -> Study:
        """What a design of this kind is worth to records that were not counted, where it is not robust and has no given
        columns."""
        joint = self.joint
        if isinstance(joint, StratifiedJoint):
            return self
        (watcher or Nobody()).stage("The other half")
        return replace(self, other_half=split_half(joint, self.protocol.notion, self.way, seconds=seconds))

    def with_rare_secrets(self, *, seconds: float = COST_SECONDS, watcher: Watcher | None = None) -> Study:
        """What would be kept if the rare values of the secret were one."""
        (watcher or Nobody()).stage("Rare values of the secret")
        return replace(self, rare_secrets=rare_secrets(self.protocol, self.way, seconds=seconds))

    def compared(self, *, seconds: float | None = None, watcher: Watcher | None = None) -> Study:
        """With other form, curves, other half and costs, in so many seconds together; what has no time is left out."""
        if self.task is not None:
            return self
        effort = Effort.within(seconds)
        needed = COSTS_SECONDS if isinstance(self.protocol.notion, (RLDP, RLIP)) else 0.0
        found = self
        if effort.left() > 0:
            found = found.with_other_form(seconds=min(OTHER_SECONDS, effort.share(0.5).left()), watcher=watcher)
        if (left := effort.left()) > 0:
            shared = left - needed if left > 2 * needed else left
            found = found.with_curves(seconds=None if seconds is None else shared, watcher=watcher)
        if effort.left() > 0:
            found = found.with_other_half(seconds=min(HALF_SECONDS, effort.left()), watcher=watcher)
        if effort.left() > 0:
            found = found.with_rare_secrets(seconds=min(COST_SECONDS, effort.left()), watcher=watcher)
        if effort.left() > 0:
            found = found.with_balance(seconds=min(BALANCE_SECONDS, effort.left()), watcher=watcher)
        return found.with_costs(watcher=watcher) if effort.left() >= needed else found

    def with_forecasts(self, n: int) -> Study:
        """For every released attribute by itself, and at the end for all of them together if there are several."""
        each = [[attribute.name] for attribute in self.joint.released]
        asked = each if len(each) == 1 else [*each, [name for one in each for name in one]]
        found = tuple(forecast(self.protocol, self.joint, n, names=one) for one in asked)
        if not any(one.counted for one in found):
            return replace(self, forecasts=found, for_others=())
        plain: Assumption = "P(s|x)" if self.joint.form is Form.CURATOR else "nothing"
        others = tuple(forecast(self.protocol, self.joint, n, names=one, assume=plain) for one in each)
        return replace(self, forecasts=found, for_others=others)

    def with_balance(self, *, seconds: float = BALANCE_SECONDS, watcher: Watcher | None = None) -> Study:
        """The curve between information and accuracy, where it can be walked; none with given columns."""
        joint = self.joint
        if isinstance(joint, StratifiedJoint) or (self.measure is MutualInformation and not self.curves):
            return self
        (watcher or Nobody()).stage("Between information and accuracy")
        return replace(self, balance=balance_points(joint, self.protocol.notion, seconds=seconds))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a steward must know before releasing, in sentences."""
        return study_warnings(self)

    def facts(self) -> dict[str, Any]:
        """Everything as plain data, information in nats; what a forecast does not determine is infinite."""
        return study_facts(self)
