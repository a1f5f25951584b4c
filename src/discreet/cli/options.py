"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.notions import NOTIONS, Notion, OrdinaryLDP
from discreet.records.grouping import Grouping

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Bits = Annotated[bool, typer.Option("--bits", help="Show information in bits instead of nats.")]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of a CSV without byte order mark; utf-8 if not given.")
]
Secret = Annotated[list[str], typer.Option(help="A column to protect; repeat for several together.")]
Release = Annotated[list[str], typer.Option(help="A column to release; repeat for several.")]
BinsOf = Annotated[
    list[str] | None,
    typer.Option("--bins", help="Numbers by bins: age=0,18,30 or wage=quantiles:6; repeat for several columns."),
]
Merge = Annotated[
    list[str] | None, typer.Option(help='Values as one: "column: A, B -> C", rare:50 or column:rare:50; repeat.')
]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there already.")]
ProtocolPath = Annotated[Path, typer.Argument(help="A protocol file.", metavar="PROTOCOL")]
ShowStudy = Annotated[bool, typer.Option("--show-study", help="Print the study file this amounts to, and stop.")]

# ---- of a release and its rehearsal ----------------------------------------------------------------------------------


class Formats(StrEnum):
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


Keep = Annotated[list[str] | None, typer.Option(help="A public column to keep as it is; repeat for several.")]
KeepOrder = Annotated[bool, typer.Option(help="Keep the order of the records, which can link them.")]
TargetFormat = Annotated[Formats | None, typer.Option(help="The format of the output, if its name does not say it.")]
KeyFile = Annotated[Path | None, typer.Option(help="A secret key file: the same person gets the same cell again.")]
Identity = Annotated[str | None, typer.Option("--id", help="With --key: the column that names the person.")]
SeveralRows = Annotated[
    bool, typer.Option(help="With --key: rows with one id belong to one person; equal values are released alike.")
]
Budget = Annotated[float | None, typer.Option(help="Refuse when all releases together exceed this epsilon.")]
People = Annotated[str | None, typer.Option(help="A name for these people, if the ledger has others.")]
PolicyPath = Annotated[Path | None, typer.Option(help="A policy.toml that may refuse; DISCREET_POLICY if not given.")]
UnknownAnyway = Annotated[
    bool, typer.Option("--unknown-anyway", help="Release although over 5 % of the records are unknown: as noise.")
]


def _known(command: str) -> str:
    """The name of a notion on the command line, in any case, refused if there is none of that name."""
    commands = [kind.words.command for kind in NOTIONS.values()]
    if command.lower() not in commands:
        raise typer.BadParameter(f"{command!r} is not one of {', '.join(map(repr, commands))}.")
    return command.lower()


NotionName = Annotated[
    str,
    typer.Option(
        parser=_known, metavar="|".join(kind.words.command for kind in NOTIONS.values()), help="What is promised."
    ),
]


Belt = Annotated[
    float | None,
    typer.Option(help="Hold ordinary LDP at this level as well: a bound for repeated draws and for any knowledge."),
]


def notion_of(command: str, epsilon: float, confidence: float, belt: float | None = None) -> Notion:
    """The notion of this name; `confidence` is for those about a set, a belt is ordinary LDP beside it."""
    kind = next(kind for kind in NOTIONS.values() if kind.words.command == command)
    asked = kind.asked(epsilon, confidence)
    return asked if belt is None else asked & OrdinaryLDP(belt)


def grouping_of(bins: list[str] | None, merges: list[str] | None) -> Grouping:
    return Grouping.parse(bins or (), merges or ())
