"""A guarantee in words for a board, and numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.alphabet import Attribute
from discreet.audit.words import times
from discreet.costly import Costly
from discreet.joint import Joint
from discreet.naming import label
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.protocol import Protocol
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

NAMES: dict[type, str] = {
    LIP: "local information privacy",
    LDP: "local differential privacy with respect to the secret",
    SRLIP: "side-channel resistant local information privacy",
    RLDP: "robust local differential privacy",
    OrdinaryLDP: "ordinary local differential privacy",
}
COSTLY = 0.005
SOURCES = {
    "data": "learnt from the table that is released",
    "public": "learnt from a public sample",
    "given": "stated, not learnt from the released table",
}


@dataclass(frozen=True)
class Unit:
    """Nats inside, bits for people who ask for them."""

    name: str
    nats: float

    def __call__(self, value: float, digits: int = 4) -> str:
        return f"{value / self.nats:.{digits}f} {self.name}"


NATS, BITS = Unit("nats", 1.0), Unit("bits", math.log(2))


def names(attributes: Sequence[Attribute]) -> str:
    """The columns in words."""
    quoted = [attribute.name for attribute in attributes]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]


def notion_name(notion: Notion) -> str:
    return NAMES.get(type(notion), type(notion).__name__)


def guarantee(protocol: Protocol) -> str:
    """What is promised about the secret, in one or two sentences."""
    secret, factor = names(protocol.joint.secrets), times(protocol.epsilon)
    notion = protocol.notion
    if isinstance(notion, SRLIP):
        return (
            f"Whoever sees a released record, and even knows some of the original {names(protocol.joint.releases)}, "
            f"finds no value of {secret} more than {factor} times as likely, or as unlikely, as before."
        )
    if isinstance(notion, LIP):
        return (
            f"Whoever sees a released record finds no value of {secret} more than {factor} times as likely, "
            f"or as unlikely, as in the whole population."
        )
    if isinstance(notion, OrdinaryLDP):
        return f"Whoever sees a released record: the odds between any two original values change at most {factor}-fold."
    sentence = (
        f"Whoever sees a released record: the odds between any two values of {secret} change at most {factor}-fold."
    )
    return f"{sentence} {robustness(notion)}" if isinstance(notion, RLDP) else sentence


def robustness(notion: RLDP) -> str:
    """For which distributions a robust guarantee holds."""
    match notion.uncertainty:
        case ChiSquare(confidence=confidence):
            return f"This holds for every distribution in the {percent(confidence)} confidence set of the estimate."
        case Renyi(order=order, radius=radius):
            return f"This holds for every distribution within Rényi divergence {radius:g} (order {order:g})."
        case Everything():
            return "This holds whatever the true distribution is."
        case Exactly():
            return "This holds for the estimated distribution."
    return "This holds for every distribution in the stated set."


def percent(share: float) -> str:
    """All its digits: 99.9 % is not 100 %."""
    return f"{100 * share:.10g}%"


def caveats(protocol: Protocol) -> list[str]:
    """What is not promised, said plainly."""
    released = names(protocol.joint.releases)
    said = [
        f"The released data themselves ({released}) are not hidden: they are what is published, blurred only as far as "
        "protecting the secret asks for.",
        "Columns that are kept as they are lie outside the guarantee.",
        "A second release of the same records with fresh randomness weakens it; the ledger says by how much.",
    ]
    if protocol.source == "data":
        said.append(
            "The distribution was learnt from the table that is released; the guarantee holds for that distribution."
        )
    elif not isinstance(protocol.notion, (RLDP, OrdinaryLDP)):
        said.append("The guarantee holds at the stated distribution; the audit shows its level around it.")
    if has_counts(protocol):
        said.append(counts_inside(protocol))
    if protocol.joint.sees_secret:
        said.append("The mechanism reads the secret as well, so it leans harder on the estimated distribution.")
    return said


def has_counts(protocol: Protocol) -> bool:
    """Whether the protocol file shows the counts of the table that is released."""
    return protocol.source == "data" and protocol.joint.counts is not None


def counts_inside(protocol: Protocol) -> str:
    """What the protocol file itself gives away."""
    joint = protocol.joint
    columns = names(joint.secrets + joint.releases)
    return (
        f"The protocol file contains the exact table of counts of {columns}, {joint.probabilities.size:,} cells about "
        f"{joint.n:,} records: whoever gets the file can read them. Give it only to people who "
        "may see that table, or learn the distribution from a public sample."
    )


def costly(joint: Joint, found: Sequence[Costly]) -> str:
    """What the least known secrets cost all others, and what can be done; empty where it is next to nothing."""
    named = [one for one in found if one.cost >= COSTLY]
    if not named:
        return ""
    listed = ", ".join(f"{label(one.secret)} ({one.cost:.1%})" for one in named)
    return (
        f"What single values of {names(joint.secrets)} cost, among those that least is known about: so much more would "
        f"be kept of all other records if nobody had them: {listed}. Merging such values with others in the table, "
        "before designing, can keep more; values that are merged are protected as one, and are no longer hidden from "
        "each other."
    )
