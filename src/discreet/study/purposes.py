"""What a release is for, and the design that serves it.

    values        the same columns with the same values, as many of them true as possible, the law of X kept
    statistics    the least variance for whoever estimates frequencies from the release
    information   the most mutual information, the papers' objective

A purpose changes neither the promise nor who reads what: it says which of the permitted mechanisms is taken. Where the
best one for a purpose is out of reach, the best of a stated list is taken, and a remark says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np

from discreet.attribute import Form
from discreet.channel import Channel
from discreet.design import AnyDesign, Design, design
from discreet.exceptions import DiscreetError, InfeasibleError, ParameterError, UnfinishedError
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.information import share_kept
from discreet.joint import Joint
from discreet.notions.notion import Notion
from discreet.phrases import few_as_one
from discreet.protocol import Protocol
from discreet.solvers.problem import Effort
from discreet.uncertainty.confidence import has_limits
from discreet.utilities.accuracy import Accuracy, Balance
from discreet.utilities.agreement import Agreement
from discreet.utilities.task import Task
from discreet.utilities.utility import MutualInformation, Utility


class Purpose(StrEnum):
    """What a release is for."""

    values = "values"
    statistics = "statistics"
    information = "information"


MOST_AGREEING_CELLS: Final = 120_000
"""Inputs times outputs of the linear program for agreement that ends within half a minute: 300 letters, squared."""
MOST_ACCURATE_LETTERS: Final = 400
"""The search for accuracy ends within a minute up to about so many letters."""
LISTED: Final[Mapping[str, tuple[str, Utility]]] = {
    "agreement": ("agreement", Agreement()),
    "keep-or-draw": ("keeping a value or drawing one", Agreement()),
    "grr": ("randomised response", MutualInformation),
}
"""What is tried where the best is out of reach, in words, each with the utility it is designed for."""
BETWEEN: Final = (0.001, 20.0)
"""Epsilons that are tried: below nothing is told, above everything is."""
LIST_SECONDS: Final = 20.0
"""For each of them, where nobody gave a limit."""
LEAST_SECONDS: Final = 1.0
"""In less the search for grouped letters would not begin to pay."""
GROUPED: Final = "the commonest values by themselves, the others together"
MOST_GROUPED: Final = 100
"""Letters that a grouping keeps apart: accuracy for so many is designed within seconds."""


@dataclass(frozen=True, eq=False)
class Served:
    """A design for a purpose, and what must be said about it."""

    design: AnyDesign
    remark: str = ""


def measure_of(purpose: Purpose) -> Utility:
    """The utility that a design for this purpose has the most of."""
    if purpose is Purpose.information:
        return MutualInformation
    return Agreement() if purpose is Purpose.values else Accuracy()


def purpose_of(measure: Utility) -> Purpose:
    """The purpose that a design with this utility serves."""
    if isinstance(measure, Agreement):
        return Purpose.values
    return Purpose.statistics if isinstance(measure, Accuracy | Balance) else Purpose.information


def as_share(measure: Utility, joint: AnyJoint, value: float) -> float:
    """A value of this utility as a share of what clean data have; values unchanged and accuracy are shares already."""
    if isinstance(measure, Task) and isinstance(joint, Joint):
        return value / most if (most := measure.most(joint)) > 0 else 1.0
    return share_kept(joint, value) if measure is MutualInformation else value


def serve(joint: AnyJoint, notion: Notion, purpose: Purpose, **options: Any) -> Served:
    """The best design for a purpose, or the best of the list where that is out of reach; options are `design`'s."""
    utility = options.pop("utility", None) or measure_of(purpose)
    first = joint.first if isinstance(joint, StratifiedJoint) else joint
    by_name = options.get("method", "auto") != "auto"
    if by_name or purpose is Purpose.information or not _too_large(first, purpose):
        return Served(design(joint, notion, utility=utility, **options))
    if isinstance(joint, StratifiedJoint):
        raise UnfinishedError(
            f"more letters than {purpose} can be designed for beside given columns",
            where=", ".join(attribute.name for attribute in first.releases),
            remedy=f"Group rare values ({few_as_one('', 50, by_name=has_limits(notion))}), or design for information.",
        )
    return (
        _values_of_many(joint, notion, **options)
        if purpose is Purpose.values
        else _best_of_list(joint, notion, **options)
    )


def _too_large(joint: Joint, purpose: Purpose) -> bool:
    inputs, outputs = int((joint.prior > 0).sum()), int((joint.target_prior > 0).sum())
    if purpose is Purpose.values:
        return inputs * outputs > MOST_AGREEING_CELLS
    return max(inputs / len(joint.seen), outputs) > MOST_ACCURATE_LETTERS


def _values_of_many(joint: Joint, notion: Notion, **options: Any) -> Served:
    found = design(joint, notion, utility=Agreement(), **{**options, "method": "keep-or-draw"})
    many = int((joint.target_prior > 0).sum())
    return Served(
        found,
        f"{many:,} values are too many to prove how many can stay unchanged: each is kept with a probability of its "
        "own, as large as the promise allows, or replaced by a draw from all of them.",
    )


def _best_of_list(joint: Joint, notion: Notion, **options: Any) -> Served:
    """The most accurate of the list, judged letter by letter: the mean share of clean records that one is worth."""
    effort = Effort.within(options.get("time_limit"))
    found: dict[str, Design] = {}
    for place, (method, (name, utility)) in enumerate(LISTED.items()):
        if method == "agreement" and _too_large(joint, Purpose.values):
            continue
        seconds = min(LIST_SECONDS, max(effort.share(1 / (len(LISTED) - place)).left(), 0.01))
        try:
            found[name] = design(joint, notion, utility=utility, **{**options, "method": method, "time_limit": seconds})
        except DiscreetError:
            continue
    seconds = min(LIST_SECONDS, effort.left() / 2)
    if seconds > LEAST_SECONDS and (grouped := _grouped(joint, notion, seconds)) is not None:
        found[GROUPED] = grouped
    if not found:
        raise UnfinishedError(
            "nothing of the list could be designed", where="statistics", remedy="Group rare values, or use information."
        )
    worths = {name: worth_by_letter(joint, one.protocol.channel) for name, one in found.items()}
    best = max(worths, key=lambda name: worths[name])
    many = int((joint.target_prior > 0).sum())
    listed = ", ".join(f"{name} ({share:.1%})" for name, share in worths.items())
    chosen = found[best]
    accuracy = Accuracy()
    value = accuracy.of(joint, chosen.protocol.channel)
    judged = replace(
        chosen, utility=value, upper_bound=1.0, measure=accuracy, status=f"{chosen.status}, best of a list"
    )
    return Served(
        judged,
        f"{many:,} values are too many for the best accuracy. The best of a list was taken, by the share of clean "
        f"records that a released one is worth, averaged over all values: {best}. Tried: {listed}.",
    )


def worth_by_letter(joint: Joint, channel: Channel) -> float:
    """The mean over letters of 1 / design effect; a letter that is not determined counts as nothing."""
    return float((1 / Accuracy().effects(joint, channel)).mean())


def _grouped(joint: Joint, notion: Notion, seconds: float) -> Design | None:
    """Accuracy for the commonest letters, all others as one that is drawn anew: a mechanism on grouped letters, and a
    draw that tells nothing more. None if it cannot be made."""
    if joint.counts is None or joint.reads_secret:
        return None
    cells = joint.counts.reshape(len(joint.counts), -1)
    order = np.argsort(-joint.target_prior, kind="stable")
    group = np.full(len(order), MOST_GROUPED, dtype=np.intp)
    group[order[:MOST_GROUPED]] = np.arange(MOST_GROUPED)
    summed = np.zeros((len(cells), MOST_GROUPED + 1), np.int64)
    np.add.at(summed.T, group, cells.T)
    try:
        coarse = Joint.from_counts(summed, joint.secrets)
        found = design(coarse, notion, utility=Accuracy(), time_limit=seconds)
        channel = Channel(found.protocol.matrix[:, group], joint.letters)
        protocol = Protocol.make(channel, joint, notion)
    except DiscreetError:
        return None
    value = Accuracy().of(joint, protocol.channel)
    return Design(protocol, value, 1.0, "accuracy", f"{found.status}, grouped", found.seconds, Accuracy())


@dataclass(frozen=True, eq=False)
class Needed:
    """The smallest epsilon found that reaches a share, what it reaches, and all that were tried, with their designs."""

    epsilon: float
    share: float
    tried: tuple[tuple[float, float], ...]


def remedy_of(joint: AnyJoint, notion: Notion) -> str:
    """What to do where no epsilon reaches a need: what stands beside it may be in its way, or what is not read."""
    if len(notion.promises) > 1:
        return "Ask for less, or for a larger belt or ceiling (--belt, --ceiling)."
    if joint.form is Form.FUNNEL:
        return "Ask for less, or read the secret too (--sees-secret) if the data are yours."
    return "Ask for less."


def needed_epsilon(
    share_at: Callable[[float], float],
    share: float,
    *,
    between: tuple[float, float] = BETWEEN,
    precision: float = 0.01,
    remedy: str = "Ask for less.",
) -> Needed:
    """The smallest epsilon, to within the part `precision`, at which a design has at least this share.

    `share_at(epsilon)` is what the best design found there has: values unchanged, clean records that a released one is
    worth, or information kept (`as_share`). A larger epsilon permits every mechanism of a smaller one, so the best
    share grows with epsilon, and halving finds where it is reached. `remedy` is for a share that never is.
    """
    if not 0 < share <= 1:
        raise ParameterError("not a share", where="need", remedy="Give a number above 0, at most 1, such as 0.9.")
    tried: dict[float, float] = {}

    def reaches(epsilon: float) -> bool:
        tried[epsilon] = share_at(epsilon)
        return tried[epsilon] >= share

    low, high = between
    if not reaches(high):
        raise InfeasibleError(
            f"{tried[high]:.3g} is reached at epsilon {high:g}, not {share:g}",
            where="need",
            remedy=remedy,
        )
    if reaches(low):
        high = low
    while high > low * (1 + precision):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return Needed(high, tried[high], tuple(sorted(tried.items())))
