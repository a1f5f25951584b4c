"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.notions.by_name import kinds
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
    list[str] | None,
    typer.Option(help='Values as one: "column: A, B -> C" (no name: missing), rare:50 or column:rare:50; repeat.'),
]
Force = Annotated[
    bool,
    typer.Option("--force", help="Replace a file that is there already; go on where good reasons speak against it."),
]
ProtocolPath = Annotated[Path, typer.Argument(help="A protocol file.", metavar="PROTOCOL")]
ShowStudy = Annotated[bool, typer.Option("--show-study", help="Print the study file this amounts to, and stop.")]

# ---- of a release and its rehearsal ----------------------------------------------------------------------------------


class Formats(StrEnum):
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


Keep = Annotated[list[str] | None, typer.Option(help="A public column to keep as it is; repeat for several.")]
KeepAnyway = Annotated[bool, typer.Option(help="Keep columns that tell more about the secret than is promised.")]
KeepOrder = Annotated[bool, typer.Option(help="Keep the order of the records, which can link them.")]
TargetFormat = Annotated[Formats | None, typer.Option(help="The format of the output, if its name does not say it.")]
KeyFile = Annotated[Path | None, typer.Option(help="A secret key file: the same person gets the same cell again.")]
Identity = Annotated[str | None, typer.Option("--id", help="With --key: the column that names the person.")]
SeveralRows = Annotated[
    bool,
    typer.Option(
        help="Persons that were counted have several rows. With --key, equal values of one id are released alike."
    ),
]
Budget = Annotated[float | None, typer.Option(help="Refuse when all releases together exceed this epsilon.")]
People = Annotated[
    str | None,
    typer.Option(help="A name for these people, if others were released: different people do not add up."),
]
OldPeople = Annotated[str | None, typer.Option("--data", hidden=True)]
"""What --people was called; it works for one more version."""
PolicyPath = Annotated[Path | None, typer.Option(help="A policy.toml that may refuse; DISCREET_POLICY if not given.")]
Repeat = Annotated[
    bool, typer.Option("--repeat", help="One more draw of the same records on purpose; says first what that tells.")
]
LawAnyway = Annotated[
    bool,
    typer.Option(
        "--law-anyway", help="Release a table at whose own law the promise is broken for certain, at the levels there."
    ),
]
UnknownAnyway = Annotated[
    bool, typer.Option("--unknown-anyway", help="Release although over 5 % of the records are unknown: as noise.")
]


# ---- whose rows ------------------------------------------------------------------------------------------------------


class RowRules(StrEnum):
    one = "one"
    tied = "tied"
    independent = "independent"


Person = Annotated[str | None, typer.Option(help="The column that says whose row it is: the promise is the person's.")]
Household = Annotated[
    str | None, typer.Option(help="The same for a household: the promise is the household's, all of it sharing S.")
]
Rows = Annotated[
    RowRules | None,
    typer.Option(help="Several rows of one person: one of them at random, one draw for all, or a draw each."),
]
OneRowPerPerson = Annotated[
    bool, typer.Option("--one-row-per-person", help="State that no two rows belong to one person.")
]


def _known(command: str) -> str:
    """The name of a notion on the command line, in any case, refused if there is none of that name."""
    commands = [kind.words.command for kind in kinds()]
    if command.lower().partition(":")[0] not in commands:
        raise typer.BadParameter(f"{command!r} is not one of {', '.join(map(repr, commands))}.")
    return command.lower()


NotionName = Annotated[
    str,
    typer.Option(
        parser=_known,
        metavar="|".join(kind.words.command for kind in kinds()),
        help="What is promised; with its numbers instead of --epsilon: alip:0.3:0.7, shift:0.1.",
    ),
]


Nats = Annotated[
    float | None,
    typer.Option(help="For the funnel: what a released record tells about the secret on average, at most."),
]
Ceiling = Annotated[str | None, typer.Option(help="Beside an average, what every single output keeps: lip:1.")]
TaskColumns = Annotated[
    str | None, typer.Option("--task", help="Be useful for this column, which is not released, instead of everything.")
]
Belt = Annotated[
    float | None,
    typer.Option(help="Hold ordinary LDP at this level as well: a bound for repeated draws and for any knowledge."),
]


def grouping_of(bins: list[str] | None, merges: list[str] | None) -> Grouping:
    return Grouping.parse(bins or (), merges or ())


# ---- on other machines -----------------------------------------------------------------------------------------------


class Engines(StrEnum):
    here = "here"
    spark = "spark"


Engine = Annotated[Engines, typer.Option(help="Who does the work: this machine, or Spark, from Parquet to a folder.")]
Master = Annotated[str | None, typer.Option(help="With --engine spark: its master, such as spark://host:7077.")]
