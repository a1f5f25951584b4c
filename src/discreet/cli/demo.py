"""`discreet demo`: the whole path on embedded data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.audit.words import rounded_up
from discreet.cli.options import Bits, Json
from discreet.cli.show import as_json, facts, paragraph, stderr, working

SECRET, RELEASED, EPSILON = "occupation", "education", 0.5


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the files go.")] = Path("demo-output"),
    bits: Bits = False,
    json: Json = False,
) -> None:
    """Design, release, audit and report on the Adult census data, in half a minute."""
    import pyarrow.csv

    from discreet.datasets import adult

    folder.mkdir(parents=True, exist_ok=True)
    table, protocol = folder / "adult.csv", folder / "protocol.json"
    for stale in folder.glob("protocol.json*"):
        stale.unlink()
    with working("Unpacking Adult"):
        pyarrow.csv.write_csv(adult(), table)
    released, page = folder / "released.csv", folder / "report.html"
    _design(table, protocol, bits, json)
    _release(protocol, table, released)
    _report(protocol, page, bits)
    files: dict[str, Any] = {
        "the raw table": table, "the protocol": protocol, "the released table": released,
        "its manifest": folder / "released.csv.manifest.json", "the report": page,
    }  # fmt: skip
    if json:
        as_json({name: str(path) for name, path in files.items()})
    else:
        facts("Files", {name: str(path) for name, path in files.items()})


def _design(table: Path, protocol: Path, bits: bool, quiet: bool) -> None:
    from discreet.cli.design import protocol_bytes, show_design
    from discreet.design import design
    from discreet.notions import LIP
    from discreet.release import joint_of_file
    from discreet.release.publish import unpublished
    from discreet.report.words import BITS, NATS

    with working("Designing"):
        joint = joint_of_file(str(table), secret=[SECRET], release=[RELEASED])
        found = design(joint, LIP(EPSILON), time_limit=10.0)
    with unpublished(protocol) as file:
        file.write(protocol_bytes(found.protocol))
        file.publish()
    if not quiet:
        paragraph(f"Adult, 32,561 people. Secret: {SECRET}. Released: {RELEASED}.")
        show_design(found, found.protocol, BITS if bits else NATS)


def _release(protocol: Path, table: Path, released: Path) -> None:
    from discreet.release import Job, sanitise_file

    with working("Releasing"):
        outcome = sanitise_file(Job(protocol, str(table), str(released)))
    paragraph(f"Released {outcome.records:,} records at total epsilon {rounded_up(outcome.epsilon)}.", stderr)


def _report(protocol: Path, page: Path, bits: bool) -> None:
    from discreet.cli.report import report

    report(protocol, page, bits, json=False)
