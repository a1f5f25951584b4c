"""`discreet study`: one file that says what is done, and one command that does it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.check import show_check
from discreet.cli.options import Force, Json, notion_of
from discreet.cli.progress import working
from discreet.cli.show import as_json, facts, paragraph
from discreet.cli.target_files import may_replace, write_file

if TYPE_CHECKING:
    from discreet.release import Check, Outcome
    from discreet.study import Study
    from discreet.study_file import StudyFile

app = typer.Typer(no_args_is_help=True, help="One file that says what is done, and one command that does it.")
DEFAULT_EPSILON, DEFAULT_CONFIDENCE = 1.0, 0.95


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
    """Design, check, sanitise and report, as the study says."""
    from discreet.study_file import StudyFile

    found, outcome = follow(StudyFile.read(study), dry_run=dry_run, force=force)
    if json:
        as_json({"check": found.facts(), "released": None if outcome is None else outcome.target})
    else:
        show_check(found)
        if outcome is not None:
            facts("Released", {"records": f"{outcome.records:,}", "written to": outcome.target})
    if outcome is None:
        raise typer.Exit(found.code)


def follow(
    asked: StudyFile, *, dry_run: bool = False, force: bool = False, testing: bool = False
) -> tuple[Check, Outcome | None]:
    """Everything the study says, in its order; no outcome where the check refuses. `testing` is not private."""
    from discreet.protocol.file import encode
    from discreet.records.header import header_of
    from discreet.release import rehearse_file, sanitise_file
    from discreet.report import page
    from discreet.report.board import board_page

    job = replace(asked.job(), testing=testing)
    may_replace(Path(job.target), Path(f"{job.target}.manifest.json"), asked.path("report"), force=force)
    columns, records = header_of(asked.source, asked.encoding)
    asked.check_table(columns, records)
    study = designed(asked, records)
    content = encode(study.protocol)
    if not (job.protocol.is_file() and job.protocol.read_bytes() == content):
        may_replace(job.protocol, force=force)
        write_file(job.protocol, content)
    with working("Checking"):
        found = rehearse_file(job)
    write_file(asked.path("board"), board_page(found.facts(), purpose=asked.purpose).encode())
    if dry_run or found.refusals:
        return found, None
    with working("Sanitising"):
        outcome = sanitise_file(job)
    with working("Writing the report"):
        write_file(asked.path("report"), page(study).encode())
    return found, outcome


def designed(asked: StudyFile, records: int) -> Study:
    """The design that the study asks for."""
    from discreet.exceptions import ParameterError
    from discreet.release import joint_of_file
    from discreet.study import Study

    for name in ("given", "person"):
        if getattr(asked, name):
            raise ParameterError(
                "this key is not followed by `study run` yet", where=name, remedy="Leave it out, or design by hand."
            )
    epsilon = DEFAULT_EPSILON if asked.epsilon is None else asked.epsilon
    with working("Counting"):
        joint = joint_of_file(
            asked.source,
            secret=asked.secret,
            release=asked.release,
            include_secret=asked.include_secret,
            encoding=asked.encoding,
        )
    with working("Designing") as ticker:
        return Study.begin(
            joint.curator() if asked.sees_secret else joint,
            notion_of(asked.notion, epsilon, DEFAULT_CONFIDENCE),
            time_limit=asked.time_limit,
            reaching=None if asked.accuracy is None else (records, asked.accuracy),
            watcher=ticker,
        )
