"""Which method `auto` takes, and why: a ladder to be read from top to bottom, and asked before it is climbed."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.joint import Joint
from discreet.notions import LDP, LIP, SRLIP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty.sets import Everything, Exactly
from discreet.utilities import MutualInformation, Separable, Utility

EXACT_ROBUST_LETTERS = 16
SIDE_CHANNEL_LETTERS = 20_000
COUPLED_SECRETS = 50


@dataclass(frozen=True)
class Plan:
    """A method by name, and the reason in words."""

    method: str
    why: str


def plan(joint: Joint, notion: Notion, utility: Utility = MutualInformation) -> Plan:
    """What `design(joint, notion)` will do. Give it `joint.curator()` to ask about the curator form."""
    letters = len(joint.letters)
    if _distribution_known(notion) and joint.include_secret and utility is MutualInformation:
        return Plan("nr", "X = (S, U) with a known distribution has a closed form: all of U, and the best report on S.")
    if isinstance(notion, RLDP) and letters <= EXACT_ROBUST_LETTERS:
        return Plan("columns", f"{letters} letters are few enough for the exact robust optimum, by cuts and columns.")
    few = len(joint.secret_prior) <= COUPLED_SECRETS
    if isinstance(notion, RLDP) and few and not isinstance(notion.uncertainty, Everything):
        how = "bands and a shared draw" if joint.reads_secret else "one output a letter, polished"
        return Plan("coupling", f"{letters} letters are too many for the exact robust optimum: {how}.")
    if isinstance(notion, RLDP):
        return Plan("simple", f"{letters} letters are too many for the exact robust optimum: the best closed form.")
    if isinstance(notion, SRLIP) and letters > SIDE_CHANNEL_LETTERS:
        return Plan(
            "product-safe", f"{letters} letters are too many to handle at once; attribute by attribute, proven."
        )
    if isinstance(notion, (LDP, LIP)) and len(joint.seen) == 2 and not joint.reads_secret and _separable(utility):
        return Plan(
            "pairs", "With two secrets the best outputs are single letters and pairs; pricing them is closed form."
        )
    return Plan("columns", "Column generation with exact pricing ends with a proof at every size, or with its gap.")


def _distribution_known(notion: Notion) -> bool:
    return isinstance(notion, LDP) or (isinstance(notion, RLDP) and isinstance(notion.uncertainty, Exactly))


def _separable(utility: Utility) -> bool:
    return isinstance(utility, Separable)
