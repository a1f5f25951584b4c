"""Which form of a joint a mechanism can work on."""

from __future__ import annotations

from discreet.exceptions import ParameterError
from discreet.joint import Joint
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP


def needs_secret_in_data(joint: Joint, mechanism: str) -> None:
    """SRR, IR and robust CR release the secret along with the rest, X = (S, U)."""
    if not joint.include_secret:
        raise ParameterError(
            "this mechanism releases X = (S, U)", where=mechanism, remedy="Build the joint with include_secret=True."
        )


def robust(notion: Notion, mechanism: str) -> RLDP:
    if not isinstance(notion, RLDP):
        raise ParameterError(
            "this mechanism is made for robust LDP", where=mechanism, remedy="Use dc.RLDP(epsilon, dc.ChiSquare())."
        )
    return notion
