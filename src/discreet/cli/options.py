"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.exceptions import ParameterError
from discreet.notions import LDP, LIP, SRLIP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Bits = Annotated[bool, typer.Option("--bits", help="Show information in bits instead of nats.")]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of a CSV without byte order mark; utf-8 if not given.")
]
Secret = Annotated[list[str], typer.Option(help="A column to protect; repeat for several together.")]
Release = Annotated[list[str], typer.Option(help="A column to release; repeat for several.")]
ProtocolPath = Annotated[Path, typer.Argument(help="A protocol file.", metavar="PROTOCOL")]


class Notions(StrEnum):
    """The notions that need nothing but an epsilon, and the robust one at a confidence."""

    lip = "lip"
    ldp = "ldp"
    srlip = "srlip"
    rldp = "rldp"


def notion_of(name: Notions, epsilon: float, confidence: float) -> Notion:
    match name:
        case Notions.lip:
            return LIP(epsilon)
        case Notions.ldp:
            return LDP(epsilon)
        case Notions.srlip:
            return SRLIP(epsilon)
        case Notions.rldp:
            return RLDP(epsilon, ChiSquare(confidence=confidence))
    raise ParameterError("an unknown notion", where="--notion")
