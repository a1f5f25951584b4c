"""`discreet sanitise`: from a table and a protocol to a released table."""

from __future__ import annotations

from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.check import print_study, rehearsed
from discreet.cli.options import (
    Budget,
    Encoding,
    Engine,
    Engines,
    Force,
    Household,
    Identity,
    Json,
    Keep,
    KeepAnyway,
    KeepOrder,
    KeyFile,
    LawAnyway,
    Master,
    OldPeople,
    OneRowPerPerson,
    People,
    Person,
    PolicyPath,
    ProtocolPath,
    Repeat,
    Rows,
    SeveralRows,
    ShowStudy,
    TargetFormat,
    UnknownAnyway,
)
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, facts, paragraph, stderr
from discreet.cli.target_files import may_replace
from discreet.exceptions import ParameterError

if TYPE_CHECKING:
    from discreet.release import Job, Outcome


def sanitise(
    protocol: ProtocolPath,
    source: Annotated[str, typer.Argument(help='The table: CSV, Parquet or Arrow, or "-" for standard input.')],
    target: Annotated[str, typer.Argument(help='Where it goes, or "-" for standard output.')],
    keep: Keep = None,
    keep_anyway: KeepAnyway = False,
    keep_order: KeepOrder = False,
    to: TargetFormat = None,
    key: KeyFile = None,
    identity: Identity = None,
    several_rows: SeveralRows = False,
    person: Person = None,
    household: Household = None,
    rows: Rows = None,
    one_row_per_person: OneRowPerPerson = False,
    budget: Budget = None,
    repeat: Repeat = False,
    people: People = None,
    data: OldPeople = None,
    policy: PolicyPath = None,
    unknown_anyway: UnknownAnyway = False,
    law_anyway: LawAnyway = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Rehearse only, as `discreet check` does.")] = False,
    encoding: Encoding = None,
    force: Force = False,
    show_study: ShowStudy = False,
    engine: Engine = Engines.here,
    master: Master = None,
    json: Json = False,
) -> None:
    """Release a table of any size through a protocol."""
    from discreet.protocol.strata import load_protocol
    from discreet.release import Job, RowsAsked, sanitise_file
    from discreet.release.companions import written_files
    from discreet.release.draws_together import draws_told
    from discreet.release.ledger import OTHER_PEOPLE, Account
    from discreet.release.sanitise import inputs_of

    told: list[Account] = []

    def announce(account: Account) -> None:
        """Before it is made: what is more than a first draw; a first one is told of once it was made."""
        if account.draws > 1 or account.least:
            tell(account)

    def tell(account: Account) -> None:
        """The account, once."""
        if account in told:
            return
        explained = bool(told)
        told.append(account)
        made = "the first draw" if account.draws == 1 else f"{account.draws} independent draws"
        of = f"the people called {people or data}" if people or data else "these records"
        allowed = "" if account.budget is None else f" of a budget of {account.budget:g}"
        changed = " at least: one more if people or values are others than the key drew before" if account.least else ""
        paragraph(f"This release makes {made} of {of}{changed}: {account.total}{allowed}.", stderr)
        if (account.draws > 1 or key is not None) and not explained:
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
        data=people or data,
        budget=budget,
        repeat=repeat,
        policy=policy,
        unknown_anyway=unknown_anyway,
        law_anyway=law_anyway,
        rows=RowsAsked(person, household, rows.value if rows else None, one_row_per_person),
    )
    if show_study:
        print_study(job)
        return
    if engine is Engines.spark or master is not None:
        if keep_order or to is not None or dry_run or encoding is not None or "-" in (source, target):
            raise ParameterError(
                "Spark releases Parquet into a folder, in no order", where="--engine",
                remedy="Leave out --keep-order, --to, --dry-run, --encoding and -; `discreet check` rehearses.",
            )  # fmt: skip
        released_by = import_module("discreet.spark.frame_carrier").sanitise_path
        with working("Sanitising on Spark"):
            outcome = released_by(job, master, announce)
    elif dry_run:
        raise typer.Exit(rehearsed(job, json=json, force=force).code)
    else:
        may_replace(*written_files(target), force=force, inputs=inputs_of(job))
        with working("Sanitising") as ticker:
            outcome = sanitise_file(job, announce, RecordMeter(ticker))
    if outcome.account is not None:
        tell(outcome.account)
    if people or data:
        paragraph(OTHER_PEOPLE, stderr)
    _tell(outcome, job, json)


def _tell(outcome: Outcome, job: Job, json: bool) -> None:
    target = job.target
    if json and target != "-":
        as_json({name: value for name, value in asdict(outcome).items() if name != "account"})
        return
    public = (outcome.manifest or "").replace("manifest.json", "public.json")
    shown = {
        "records": f"{outcome.records:,}",
        "without a known value": f"{outcome.without_letter:,}, released as a draw from the population",
        "unreadable rows": f"{outcome.unreadable:,}, released the same way",
        "written to": "standard output" if target == "-" else target,
        "manifest": outcome.manifest or "none for a pipe",
        **({"for analysts": f"{public}; the protocol file stays with you"} if public else {}),
    }
    facts("Released", shown, stderr)
    if outcome.records and outcome.without_letter > outcome.records / 10:
        paragraph("Many records had no known value: check separator, encoding and columns.", stderr, "yellow")
