"""Combinations of released letters that few people have: how many there are, and which may be named.

The promise holds for them as for all; what analysts get about them will be rough. A combination is named where each of
its letters is one that many people have, or one that the steward has named (a bin, a merged group): a letter of few
people is counted, not shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.arrays import Floats
from discreet.attribute import Attribute
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.joint import Joint
from discreet.phrases import shown
from discreet.records.grouping import Bins, Merged

FEW: Final = 50
"""Records below which nothing is shown, as `look` has it."""
MOST_NAMED: Final = 4
"""Combinations that a sentence names."""


@dataclass(frozen=True)
class ThinCombinations:
    """`count` combinations have fewer than 50 people, and at least one; `named` are the first that may be told."""

    count: int
    named: tuple[tuple[str, ...], ...] = ()


def thin_combinations(joint: AnyJoint) -> ThinCombinations:
    """Over all strata together, where columns are given; none where nobody was counted."""
    parts: list[Joint] = list(joint.strata.values()) if isinstance(joint, StratifiedJoint) else [joint]
    columns = parts[0].releases
    people: Floats = np.sum([(one.n or 0) * one.probabilities.sum(axis=0) for one in parts], axis=0)
    thin = np.argwhere((people > 0.5) & (people < FEW - 0.5))
    known = [_tellable(column, people, axis) for axis, column in enumerate(columns)]
    named = [
        tuple(shown(column.letters[i]) for column, i in zip(columns, place, strict=True))
        for place in thin.tolist()
        if all(tellable[i] for tellable, i in zip(known, place, strict=True))
    ]
    return ThinCombinations(len(thin), tuple(named[:MOST_NAMED]))


def _tellable(column: Attribute, people: Floats, axis: int) -> Sequence[bool]:
    """Which letters many people have, or the steward wrote."""
    totals = people.sum(axis=tuple(other for other in range(people.ndim) if other != axis))
    written: set[object] = set()
    for step in column.grouping.steps if column.grouping else ():
        written |= set(step.names) if isinstance(step, Bins) else {step.into} if isinstance(step, Merged) else set()
    return [bool(total >= FEW - 0.5) or letter in written for letter, total in zip(column.letters, totals, strict=True)]
