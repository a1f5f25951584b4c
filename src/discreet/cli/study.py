"""`discreet study`: one file that says what is done, and one command that does it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.check import show_check
from discreet.cli.options import Force, Json
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, facts, paragraph
from discreet.cli.target_files import ask_to_replace, check_targets, may_replace, write_file
from discreet.exceptions import ParameterError
from discreet.files.atomic_file import PIPE

if TYPE_CHECKING:
    from discreet.release import Check, Outcome
    from discreet.study_file import StudyFile

app = typer.Typer(no_args_is_help=True, help="One file that says what is done, and one command that does it.")


@app.command()
def init(
    table: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file.")],
    out: Annotated[Path, typer.Option(help="Where to write the study.")] = Path("study.toml"),
    force: Force = False,
) -> None:
    """Write a study with a comment for every key, to be filled in."""
    from discreet.records.header import header_of
    from discreet.study_file import commented

    may_replace(out, force=force, inputs=(Path(table),))
    with working("Reading the table"):
        columns, records = header_of(table)
    write_file(out, commented(table, columns, records).encode())
    paragraph(f"Written to {out}. Name the secret and what is released, then: discreet study run {out}")


@app.command()
def run(
    study: Annotated[Path, typer.Argument(help="A study.toml.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Design and check only: nothing is drawn.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Design, check, sanitise, publish and report, as the study says."""
    from discreet.release.companions import PUBLIC, beside
    from discreet.study_file import StudyFile

    found, outcome = follow(StudyFile.read(study), dry_run=dry_run, force=force, read=[study])
    if json:
        public = None if outcome is None else str(beside(outcome.target, PUBLIC))
        as_json({"check": found.facts(), "released": None if outcome is None else outcome.target, "public": public})
    else:
        show_check(found)
        if outcome is not None:
            public = str(beside(outcome.target, PUBLIC))
            facts("Released", {"records": f"{outcome.records:,}", "written to": outcome.target, "for analysts": public})
    if outcome is None:
        raise typer.Exit(found.code)


def follow(
    asked: StudyFile,
    *,
    dry_run: bool = False,
    force: bool = False,
    testing: bool = False,
    read: Iterable[Path] = (),
) -> tuple[Check, Outcome | None]:
    """Everything the study says, in its order: design, check, sanitise, publish (the public file and what else lies
    beside a release), report. No outcome where the check refuses. A board's page of an earlier run is replaced unasked.
    `read` are files that no target replaces, beside those that the study names. `testing` is not private."""
    from discreet.records.header import header_of
    from discreet.release import rehearse_file, sanitise_file
    from discreet.release.companions import written_files
    from discreet.report import page
    from discreet.report.board import board_page, is_board_page
    from discreet.study import begun, counted_joint, judged

    job = replace(asked.job(), testing=testing)
    if job.target == PIPE:
        raise ParameterError("a study releases into a file", where="released", remedy="Give the name of a file.")
    released, board = written_files(job.target), asked.path("board")
    check_targets(job.protocol, board, *released, asked.path("report"), inputs=(*asked.inputs(), *read))
    ours = board.is_file() and is_board_page(board)
    ask_to_replace(*released, asked.path("report"), *([] if ours else [board]), force=force)
    columns, records = header_of(asked.source, asked.encoding)
    asked.check_table(columns, records)
    with working("Counting") as ticker:
        joint = counted_joint(asked, RecordMeter(ticker))
    with working("Designing") as ticker:
        asked = replace(asked, plan=asked.plan or records)
        study = judged(asked, begun(asked, joint, force=force, watcher=ticker), started=time.monotonic(), compare=False)
    content = study.protocol.encode()
    if not (job.protocol.is_file() and job.protocol.read_bytes() == content):
        ask_to_replace(job.protocol, force=force)
        write_file(job.protocol, content)
    with working("Checking"):
        found = rehearse_file(job)
    write_file(board, board_page(found.facts(), about=asked.about).encode())
    if dry_run or found.refusals:
        return found, None
    with working("Sanitising"):
        outcome = sanitise_file(job)
    with working("Writing the report"):
        write_file(asked.path("report"), page(study).encode())
    return found, outcome
