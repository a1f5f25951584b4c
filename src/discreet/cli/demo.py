"""`discreet demo`: the whole path on embedded data."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.options import Bits, Force, Json
from discreet.cli.progress import working
from discreet.cli.show import as_json, facts, paragraph, show_study, stderr
from discreet.cli.target_files import ask_to_replace, check_targets, write_file
from discreet.exceptions import ReleaseError
from discreet.phrases import BITS, NATS, rounded_up

if TYPE_CHECKING:
    from discreet.study import Study

SECRET, RELEASED, EPSILON = "occupation", "education", 0.5
SECONDS = 10.0
"""For the design: long enough to prove it on a slow machine."""


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")] = Path("demo-output"),
    force: Force = False,
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Design, release, audit and report on the Adult census data, in half a minute."""
    import pyarrow.csv

    from discreet.datasets import adult
    from discreet.report import page

    files = {
        "the raw table": folder / "adult.csv",
        "the protocol": folder / "protocol.json",
        "the released table": folder / "released.csv",
        "its manifest": folder / "released.csv.manifest.json",
        "for analysts": folder / "released.csv.public.json",
        "its metadata": folder / "released.csv.datapackage.json",
        "the report": folder / "report.html",
    }
    ledger = folder / "protocol.json.ledger"
    _make(folder)
    check_targets(*files.values())
    ask_to_replace(*files.values(), ledger, force=force)
    ledger.unlink(missing_ok=True)
    table, protocol, released, *_, report = files.values()
    with working("Unpacking Adult"):
        pyarrow.csv.write_csv(adult(), table)
    study = _design(table, protocol)
    if not json:
        paragraph(f"Adult, {study.joint.n:,} people. Secret: {SECRET}. Released: {RELEASED}.")
        show_study(study, BITS if bits else NATS)
    _release(protocol, table, released)
    with working("Writing the report") as ticker:
        write_file(report, page(study.with_curves(watcher=ticker), bits=bits).encode())
    told = {name: str(path) for name, path in files.items()}
    if json:
        as_json(told)
    else:
        facts("Files", told)
        paragraph("The same in the browser, with a picture at every decision: discreet studio --demo")


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReleaseError(
            f"the folder cannot be made ({error.strerror})", where=str(folder), remedy="Give another name."
        ) from None


def _design(table: Path, protocol: Path) -> Study:
    from discreet.notions import LIP
    from discreet.release import joint_of_file
    from discreet.study import Study

    with working("Designing") as ticker:
        joint = joint_of_file(str(table), secret=[SECRET], release=[RELEASED])
        study = Study.begin(joint, LIP(EPSILON), time_limit=SECONDS, watcher=ticker)
    write_file(protocol, study.protocol.encode())
    return study


def _release(protocol: Path, table: Path, released: Path) -> None:
    from discreet.release import Job, sanitise_file

    with working("Releasing"):
        outcome = sanitise_file(Job(protocol, str(table), str(released), data=f"demonstration {token_hex(4)}"))
    paragraph(f"Released {outcome.records:,} records at total epsilon {rounded_up(outcome.epsilon)}.", stderr)
