"""`discreet sanitise`: from a table and a protocol to a released table."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from discreet.audit.words import rounded_up
from discreet.cli.options import Encoding, Json, ProtocolPath
from discreet.cli.show import Rows, as_json, facts, paragraph, stderr, working


class Formats(StrEnum):
    csv = "csv"
    parquet = "parquet"
    arrow = "arrow"


def sanitise(
    protocol: ProtocolPath,
    source: Annotated[str, typer.Argument(help='The table: CSV, Parquet or Arrow, or "-" for standard input.')],
    target: Annotated[str, typer.Argument(help='Where it goes, or "-" for standard output.')],
    keep: Annotated[
        list[str] | None, typer.Option(help="A public column to keep as it is; repeat for several.")
    ] = None,
    keep_order: Annotated[bool, typer.Option(help="Keep the order of the records, which can link them.")] = False,
    to: Annotated[Formats | None, typer.Option(help="The format of the output, if its name does not say it.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="A secret key file: the same person gets the same cell again.")
    ] = None,
    identity: Annotated[str | None, typer.Option("--id", help="With --key: the column that names the person.")] = None,
    budget: Annotated[float | None, typer.Option(help="Refuse when all releases together exceed this epsilon.")] = None,
    data: Annotated[str | None, typer.Option(help="A name for these people, if the ledger has others.")] = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Release a table of any size through a protocol."""
    from discreet.release import Job, sanitise_file
    from discreet.release.ledger import Account

    def announce(account: Account) -> None:
        draws = "the first draw" if account.draws == 1 else f"{account.draws} independent draws"
        limit = "" if account.budget is None else f" of a budget of {account.budget:g}"
        paragraph(
            f"This release makes {draws} of these records: total epsilon {rounded_up(account.epsilon)}{limit}.",
            stderr,
        )

    job = Job(
        protocol=protocol,
        source=source,
        target=target,
        keep=tuple(keep or ()),
        keep_order=keep_order,
        encoding=encoding,
        format=to.value if to else None,
        key=key,
        identity=identity,
        data=data,
        budget=budget,
    )
    with working("Sanitising") as tell:
        outcome = sanitise_file(job, announce, Rows(tell))
    if json and target != "-":
        as_json(asdict(outcome))
        return
    rows = {
        "records": f"{outcome.records:,}",
        "without a known value": f"{outcome.without_letter:,}, released as a draw from the population",
        "unreadable rows": f"{outcome.unreadable:,}, released the same way",
        "written to": "standard output" if target == "-" else target,
        "manifest": outcome.manifest or "none for a pipe",
    }
    facts("Released", rows, stderr)
    if outcome.records and outcome.without_letter > outcome.records / 10:
        paragraph("Many records had no known value: check separator, encoding and columns.", stderr, "yellow")
