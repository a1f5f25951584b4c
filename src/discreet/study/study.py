"""A study: a design with everything that helps to judge it, in one object that every skin renders.

A study begins with a design, or with a protocol that was read, and grows: every `with_…` returns the
study with one more part. `facts` is the whole of it as plain data, which is what `--json` prints.

    other form     what the same promise keeps if the mechanism reads the secret too, or no longer does
    curves         what is kept over epsilon, by the best mechanism found and by the closed forms beside it
    other half     the level on one random half of the table of a mechanism designed on the other (not robust)
    costs          what everybody else would keep more if nobody had a certain secret (robust LDP)
    forecasts      what analysts will get from so many released records
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final
from typing import Protocol as Contract

from discreet.audit.level_limits import LevelLimits
from discreet.channel import label
from discreet.design import Design, design
from discreet.estimate import Forecast, Reached, forecast, smallest_epsilon
from discreet.estimate.release_model import assumption_of
from discreet.exceptions import DiscreetError
from discreet.information import share_kept
from discreet.joint import Form, Joint
from discreet.notions.notion import Notion, words_of
from discreet.notions.rldp import RLDP
from discreet.notions.rlip import RLIP
from discreet.protocol import Protocol
from discreet.solvers.problem import Effort
from discreet.study.comparisons import (
    COST_SECONDS,
    MOST_COSTS,
    MULTIPLES,
    Costly,
    Curves,
    costly_secrets,
    trade_off,
)
from discreet.study.split_half import split_half
from discreet.wording import guarantee, has_counts

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

    protocol: Protocol
    design: Design | None = None
    other_form: Design | None = None
    curves: Curves = field(default_factory=dict)
    costs: tuple[Costly, ...] = ()
    other_half: LevelLimits | None = None
    forecasts: tuple[Forecast, ...] = ()
    reached: Reached | None = None

    @classmethod
    def begin(
        cls,
        joint: Joint,
        notion: Notion,
        *,
        method: str = "auto",
        gap: float = 1e-6,
        time_limit: float | None = None,
        reaching: tuple[int, float] | None = None,
        watcher: Watcher | None = None,
    ) -> Study:
        """With the best mechanism found for the joint in its form.

        `reaching` (n, half-width) takes the smallest epsilon found whose 95 % intervals from n records are at most so
        wide, in place of that of the notion; the time limit is then that of each epsilon tried.
        """
        watcher = watcher or Nobody()
        found: dict[float, Design] = {}

        def protocol_at(epsilon: float) -> Protocol:
            at = notion.at(epsilon)
            found[epsilon] = design(joint, at, method=method, gap=gap, time_limit=time_limit, progress=watcher.best)
            watcher.stage(f"Designing, epsilon {epsilon:.4g} done")
            return found[epsilon].protocol

        if reaching is None:
            return cls(protocol_at(notion.epsilon), found[notion.epsilon])
        n, half_width = reaching
        reached = smallest_epsilon(protocol_at, joint, n, half_width)
        return cls(found[reached.epsilon].protocol, found[reached.epsilon], reached=reached)

    @property
    def joint(self) -> Joint:
        return self.protocol.joint

    @property
    def share(self) -> float:
        """What is kept of what the data tell."""
        return share_kept(self.joint, self.protocol.utility)

    @property
    def other_share(self) -> str:
        """What the other form keeps, in words: "at least" unless that is proven to be all; empty if there is none."""
        if self.other_form is None:
            return ""
        share = share_kept(self.other_form.protocol.joint, self.other_form.utility)
        return f"{share:.1%}" if self.other_form.is_optimal(OTHER_GAP) else f"at least {share:.1%}"

    def sparser(self) -> Study:
        """With outputs merged that say nearly the same."""
        if self.design is None:
            return self
        found = self.design.sparser()
        return Study(found.protocol, found, reached=self.reached)

    def from_public(self) -> Study:
        """The distribution came from a public sample, and the protocol says so."""
        return replace(self, protocol=self.protocol.with_source("public"))

    @cached_property
    def merged(self) -> Design | None:
        """What merging outputs would give, where it saves a third of them."""
        if self.design is None:
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
        notion, watcher = self.protocol.notion, watcher or Nobody()
        watcher.stage("The other form")
        try:
            other = design(
                replace(self.joint, form=form), notion, gap=OTHER_GAP, time_limit=seconds, progress=watcher.best
            )
        except DiscreetError:
            return self
        worse = form is Form.CURATOR and other.utility < self.protocol.utility - OTHER_GAP
        return self if worse else replace(self, other_form=other)

    def with_curves(self, *, seconds: float | None = None, watcher: Watcher | None = None) -> Study:
        """The trade-off over epsilon; after `seconds` with the points that there are."""
        watcher = watcher or Nobody()
        done = iter(range(1, len(MULTIPLES) + 1))
        watcher.stage("Trade-off")
        bound = None if self.design is None else self.design.upper_bound
        curves = trade_off(
            self.protocol,
            upper_bound=bound,
            seconds=seconds,
            step=lambda: watcher.stage(f"Trade-off, {next(done)} of {len(MULTIPLES)}"),
        )
        return replace(self, curves=curves)

    def with_costs(self, *, seconds: float = COST_SECONDS, watcher: Watcher | None = None) -> Study:
        """The secrets that cost most, under RLDP; each design has so many seconds."""
        notion = self.protocol.notion
        if not isinstance(notion, (RLDP, RLIP)):
            return self
        (watcher or Nobody()).stage("Secrets that cost most")
        return replace(self, costs=costly_secrets(self.joint, notion, seconds=seconds))

    def with_other_half(self, *, seconds: float = HALF_SECONDS, watcher: Watcher | None = None) -> Study:
        """What a design of this kind is worth to records that were not counted, where it is not robust."""
        (watcher or Nobody()).stage("The other half")
        return replace(self, other_half=split_half(self.joint, self.protocol.notion, seconds=seconds))

    def compared(self, *, seconds: float | None = None, watcher: Watcher | None = None) -> Study:
        """With other form, curves, other half and costs, in so many seconds together; what has no time is left out."""
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
        return found.with_costs(watcher=watcher) if effort.left() >= needed else found

    def with_forecasts(self, n: int) -> Study:
        """For every released attribute by itself, and at the end for all of them together if there are several."""
        each = [[attribute.name] for attribute in self.joint.released]
        asked = each if len(each) == 1 else [*each, [name for one in each for name in one]]
        found = [forecast(self.protocol, self.joint, n, names=one) for one in asked]
        return replace(self, forecasts=tuple(found))

    def facts(self) -> dict[str, Any]:
        """Everything as plain data, information in nats; what a forecast does not determine is infinite."""
        protocol, joint = self.protocol, self.joint
        return {
            "sha256": protocol.digest,
            "notion": words_of(protocol.notion).name,
            "epsilon": protocol.epsilon,
            "n": joint.n,
            "secrets": len(joint.secret_letters),
            "letters": len(protocol.inputs),
            "outputs": len(protocol.outputs),
            "source": protocol.source,
            "contains_counts_of_the_data": has_counts(protocol),
            "utility": protocol.utility,
            "entropy": joint.entropy,
            "leakage": protocol.leakage,
            "guarantee": guarantee(protocol),
            "curves": {name: [vars(point) for point in points] for name, points in self.curves.items()},
            "costly_secrets": [{"secret": label(one.secret), "cost": one.cost} for one in self.costs],
            **({} if self.other_half is None else {"other_half": vars(self.other_half)}),
            **({} if self.design is None else _search_facts(self.design)),
            **({} if self.other_form is None else {"other_form": _form_facts(self.other_form)}),
            **({"plan": self._plan_facts()} if self.forecasts else {}),
        }

    def _plan_facts(self) -> dict[str, Any]:
        return {
            "n": self.forecasts[0].n,
            "assumed": assumed(self.protocol),
            "tables": [_forecast_facts(one) for one in self.forecasts],
            "tried": [] if self.reached is None else [list(pair) for pair in self.reached.tried],
        }


def assumed(protocol: Protocol) -> Any:
    """What forecasts and estimates take from the protocol by default: how the secret depends on the rest, where the
    mechanism reads it and the table itself was counted."""
    found = assumption_of(protocol.joint, protocol.source, None)
    return None if found == "nothing" else found


def _search_facts(found: Design) -> dict[str, Any]:
    return {
        "utility": found.utility,
        "upper_bound": found.upper_bound,
        "gap": found.gap,
        "method": found.method,
        "status": found.status,
        "seconds": found.seconds,
    }


def _form_facts(other: Design) -> dict[str, Any]:
    return {"sees_secret": other.protocol.joint.form is Form.CURATOR, "utility": other.utility}


def _forecast_facts(expected: Forecast) -> dict[str, Any]:
    return {
        "attributes": list(expected.names),
        "effective_sample_size": expected.effective_sample_size,
        "letters": [
            {"letter": label(letter), "frequency": float(p), "half_width": float(half)}
            for letter, p, half in zip(expected.letters, expected.frequencies, expected.half_widths(), strict=True)
        ],
    }
