"""Between information and accuracy: what a little information buys.

The mechanism that tells the most and the one that estimates best are the ends of a curve; between them one percent of
the information can buy ten times the accuracy (theory 6.5). Every point is a design of its own, `Balance(information)`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from discreet.design import Design, design
from discreet.exceptions import DiscreetError
from discreet.information import share_kept
from discreet.joint import Joint
from discreet.notions.notion import Notion
from discreet.utilities.accuracy import Accuracy, Balance
from discreet.utilities.utility import MutualInformation, Utility

BALANCE_SECONDS: Final = 20.0
SHARES: Final = (0.999, 0.99, 0.97, 0.94)
"""Of the possible information that is kept, between the two ends."""
MOST_LETTERS: Final = 60
"""Lists of rows for more letters are too long to walk for a picture."""


@dataclass(frozen=True)
class Balanced:
    """One mechanism of the curve: what it keeps of the information, and the share of clean records it is worth."""

    information: float
    worth: float


def balance_points(joint: Joint, notion: Notion, *, seconds: float = BALANCE_SECONDS) -> tuple[Balanced, ...]:
    """The curve from the most informative mechanism to the most accurate one; what has no time is left out."""
    if len(joint.letters) > MOST_LETTERS:
        return ()
    until, found = time.monotonic() + seconds, []
    asked: list[Utility] = [Accuracy(), MutualInformation, *(Balance(information=share) for share in SHARES)]
    for place, utility in enumerate(asked):
        left = until - time.monotonic()
        if left <= 0:
            break
        made = _made(joint, notion, utility, left / (len(asked) - place))
        if made is not None:
            channel = made.protocol.channel
            found.append(Balanced(share_kept(joint, made.protocol.utility), Accuracy().of(joint, channel)))
    ordered = sorted(found, key=lambda point: -point.information)
    front: list[Balanced] = []
    for point in ordered:
        if not front or point.worth > front[-1].worth:
            front.append(point)
    return tuple(front) if len(front) > 1 else ()


def _made(joint: Joint, notion: Notion, utility: Utility, seconds: float) -> Design | None:
    try:
        return design(joint, notion, utility=utility, time_limit=seconds)
    except DiscreetError:
        return None
