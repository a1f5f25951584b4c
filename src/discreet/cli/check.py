"""`discreet check`: the rehearsal of a release. Everything is read; nothing is drawn, entered or written.

Exit codes are its own: 0 fine, 3 warnings, 4 the release would be refused.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from discreet.cli.options import (
    Budget,
    Encoding,
    Force,
    Household,
    Identity,
    Json,
    Keep,
    KeepAnyway,
    KeepOrder,
    KeyFile,
    LawAnyway,
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
from discreet.cli.show import as_json, facts, paragraph, stdout
from discreet.cli.target_files import may_replace, write_file
from discreet.phrases import rounded_up

if TYPE_CHECKING:
    from discreet.release import Check, Job


def check(
    protocol: ProtocolPath,
    source: Annotated[str, typer.Argument(help='The table: CSV, Parquet or Arrow, or "-" for standard input.')],
    target: Annotated[str, typer.Argument(help="Where it would go; left out, no target is checked.")] = "",
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
    board: Annotated[Path | None, typer.Option(help="Write one printed side for a board there.")] = None,
    about: Annotated[str, typer.Option(help="With --board: what the release is for, and for whom.")] = "",
    encoding: Encoding = None,
    force: Force = False,
    show_study: ShowStudy = False,
    json: Json = False,
) -> None:
    """Rehearse a release: read everything, draw nothing, and say what would be refused."""
    from discreet.release import Job, RowsAsked
    from discreet.release.sanitise import inputs_of

    job = Job(
        protocol=protocol, source=source, target=target, keep=tuple(keep or ()), keep_order=keep_order,
        keep_anyway=keep_anyway,
        encoding=encoding, format=to.value if to else None, key=key, identity=identity, several_rows=several_rows,
        data=people or data, budget=budget, repeat=repeat, policy=policy, unknown_anyway=unknown_anyway,
        law_anyway=law_anyway,
        rows=RowsAsked(person, household, rows.value if rows else None, one_row_per_person),
    )  # fmt: skip
    if show_study:
        print_study(job)
        return
    if board is not None:
        may_replace(board, force=force, inputs=inputs_of(job))
    found = rehearsed(job, json=json, force=force)
    if board is not None:
        from discreet.report.board import board_page

        write_file(board, board_page(found.facts(), about=about).encode())
    raise typer.Exit(found.code)


def rehearsed(job: Job, *, json: bool, force: bool) -> Check:
    """The check of a job, shown; files that are there stay, without `--force`."""
    from discreet.release import rehearse_file
    from discreet.release.check import Finding
    from discreet.release.companions import written_files

    with working("Checking"):
        found = rehearse_file(job)
    there = [str(path) for path in (written_files(job.target) if job.target else ()) if os.path.isfile(path)]
    if there and not force:
        stays = Finding("a file of this name is there already", ", ".join(there), "Give another name, or --force.")
        found = replace(found, refusals=(*found.refusals, stays))
    if json:
        as_json(found.facts())
    else:
        show_check(found)
    return found


def print_study(job: Job) -> None:
    """The study that a check or a release amounts to."""
    from discreet.protocol.strata import load_protocol
    from discreet.study.release_study import shown_study

    with working("Counting") as ticker:
        told = shown_study(load_protocol(job.protocol), job, RecordMeter(ticker))
    typer.echo(told, nl=False)


def show_check(found: Check) -> None:
    """The figures, then the warnings, then the refusals."""
    facts("The rehearsal: nothing was drawn", _rows(found))
    for title, findings, style in (("Warning", found.warnings, "yellow"), ("Would be refused", found.refusals, "red")):
        for one in findings:
            stdout.print(f"{title}: {one}", style=style, markup=False)
    if found.refusals:
        paragraph("The release would be refused. No draw would be spent.")
    elif not found.warnings:
        paragraph("Nothing stands against the release.")


def _rows(found: Check) -> dict[str, str]:
    rows: dict[str, str] = {"records": f"{found.records:,}" if found.columns else "not counted"}
    for one in found.columns:
        rows[f"no letter in {one.name}"] = f"{one.unknown:,} unknown, {one.missing:,} missing" + (
            f"; {one.looks_like}" if one.looks_like else ""
        )
    if found.law is not None:
        rows[f"law of the {found.law.of}"] = (
            f"changed by {found.law.distance:.3g} (chance explains {found.law.by_chance:.3g})"
        )
        if found.law.level is not None:
            rows["level at the table's own law"] = rounded_up(found.law.level)
    if found.level_beside_kept is not None:
        rows["level beside the kept columns"] = rounded_up(found.level_beside_kept)
    if found.people is not None:
        rows["people"] = f"{found.people.persons:,}, at most {found.people.most_rows:,} rows each"
    if found.account is not None:
        rows["draws with this one"] = f"{found.account.draws}, {found.account.total}"
    if found.identity is not None:
        rows |= _identity(found.identity)
    if found.guess is not None:
        guess = found.guess
        rows["best guess of the secret, nothing known"] = f"right {guess.nothing:.3f} of the time"
        rows["… with the release"] = f"{guess.release:.3f}"
        if found.identity is not None:
            rows["… with the kept columns"] = f"{guess.kept:.3f}"
            rows["… with the kept columns and the release"] = f"{guess.kept_and_release:.3f}"
    if found.size is not None:
        rows["expected size"] = f"{found.size / 1e6:,.1f} MB"
    if found.seconds is not None:
        rows["expected time"] = f"{found.seconds:.1f} s"
    if found.policy is not None:
        rows["policy"] = found.policy
    return rows


def _identity(risk: Any) -> dict[str, str]:
    rows = {
        "unique in the kept columns": f"{risk.unique:,} records; k < 3: {risk.below_3:,}; k < 5: {risk.below_5:,}",
        "columns that add most": ", ".join(f"{name} ({more:,})" for name, more in risk.adding_most),
    }
    if risk.single_secret_cells is not None:
        rows["cells with one secret value"] = (
            f"{risk.single_secret_cells:,} of {risk.cells:,}, {risk.single_secret_records:,} records"
        )
    return rows
