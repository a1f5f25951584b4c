"""`discreet sanitise`: from a table and a protocol to a released table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.check import print_study, rehearsed
from discreet.cli.options import (
    Budget,
    Encoding,
    Force,
    Identity,
    Json,
    Keep,
    KeepOrder,
    KeyFile,
    People,
    PolicyPath,
    ProtocolPath,
    SeveralRows,
    ShowStudy,
    TargetFormat,
    UnknownAnyway,
)
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, facts, paragraph, stderr
from discreet.cli.target_files import may_replace
from discreet.phrases import rounded_up


def sanitise(
    protocol: ProtocolPath,
    source: Annotated[str, typer.Argument(help='The table: CSV, Parquet or Arrow, or "-" for standard input.')],
    target: Annotated[str, typer.Argument(help='Where it goes, or "-" for standard output.')],
    keep: Keep = None,
    keep_anyway: Annotated[
        bool, typer.Option(help="Keep columns that tell more about the secret than is promised.")
    ] = False,
    keep_order: KeepOrder = False,
    to: TargetFormat = None,
    key: KeyFile = None,
    identity: Identity = None,
    several_rows: SeveralRows = False,
    budget: Budget = None,
    data: People = None,
    policy: PolicyPath = None,
    unknown_anyway: UnknownAnyway = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Rehearse only, as `discreet check` does.")] = False,
    encoding: Encoding = None,
    force: Force = False,
    show_study: ShowStudy = False,
    json: Json = False,
) -> None:
    """Release a table of any size through a protocol."""
    from discreet.protocol.strata import load_protocol
    from discreet.release import Job, sanitise_file
    from discreet.release.ledger import Account, draws_told

    def announce(account: Account) -> None:
        draws = "the first draw" if account.draws == 1 else f"{account.draws} independent draws"
        limit = "" if account.budget is None else f" of a budget of {account.budget:g}"
        paragraph(
            f"This release makes {draws} of these records: total epsilon {rounded_up(account.epsilon)}{limit}.",
            stderr,
        )
        if account.draws > 1 or key is not None:
            paragraph(draws_told(load_protocol(protocol)), stderr)

    job = Job(
        protocol=protocol,
        source=source,
        target=target,
        keep=tuple(keep or ()),
        keep_anyway=keep_anyway,
        keep_order=keep_order,
        encoding=encoding,
        format=to.value if to else None,
        key=key,
        identity=identity,
        several_rows=several_rows,
        data=data,
        budget=budget,
        policy=policy,
        unknown_anyway=unknown_anyway,
    )
    if show_study:
        print_study(job)
        return
    if dry_run:
        raise typer.Exit(rehearsed(job, json=json, force=force).code)
    if target != "-":
        written = Path(target), Path(f"{target}.manifest.json")
        may_replace(*written, force=force, inputs=(protocol, Path(source)))
    with working("Sanitising") as ticker:
        outcome = sanitise_file(job, announce, RecordMeter(ticker))
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
