"""Ctrl-C: a message of our own, exit code 130, nothing half-written. And rows while it takes long."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from discreet.cli.app import run
from discreet.cli.progress import RecordMeter
from discreet.release import Job, sanitise_file
from discreet.release.ledger import Account, Ledger

COMMAND = [sys.executable, "-c", "from discreet.cli import main; main()"]


def interrupted(folder: Path, target: str) -> tuple[int, bytes, bytes]:
    """A release from a pipe that never ends, stopped when its first records have been read."""
    process = subprocess.Popen(
        [*COMMAND, "sanitise", str(folder / "protocol.json"), "-", target],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdin.write(b"colour,health\n" + b"red,ill\n" * 200_000)
    process.stdin.flush()  # more than a pipe holds: whoever reads it has begun
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    code = process.wait(300)
    process.stdin.close()
    return code, process.stdout.read(), process.stderr.read()


@pytest.mark.parametrize("target", ["out.csv", "-"])
def test_ctrl_c(folder: Path, target: str) -> None:
    before = {path.name for path in folder.iterdir()}
    code, out, err = interrupted(folder, target if target == "-" else str(folder / target))
    assert code == 130
    assert out == b""
    assert b"Interrupted. Nothing unfinished was published." in err
    assert b"Traceback" not in err
    after = {path.name for path in folder.iterdir()}
    assert after - before <= {"protocol.json.ledger"}
    assert not (folder / "protocol.json.ledger").exists()


def test_ctrl_c_in_any_command(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for place in ("strata", "public_file"):
        monkeypatch.setattr(f"discreet.protocol.{place}.read_limited", stop)
    protocol, table = str(folder / "protocol.json"), str(folder / "people.csv")
    for command in (["sanitise", protocol, table, "out.csv"], ["report", protocol], ["estimate", protocol, table]):
        assert run(command) == 130
        assert "Interrupted." in capsys.readouterr().err


def test_ctrl_c_does_not_stop_what_is_being_published(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the entry in the ledger and the name of the file a release is finished, not torn."""
    enter = Ledger.enter

    def struck(*arguments: object) -> Account:
        account = enter(*arguments)  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGINT)
        return account

    monkeypatch.setattr(Ledger, "enter", struck)
    sanitise_file(Job(folder / "protocol.json", str(folder / "people.csv"), str(folder / "out.csv")))
    assert (folder / "out.csv").exists()
    assert (folder / "out.csv.manifest.json").exists()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_progress_counts_every_record(folder: Path) -> None:
    told: list[tuple[str, int]] = []
    job = Job(folder / "protocol.json", str(folder / "people.csv"), str(folder / "out.csv"))
    sanitise_file(job, progress=lambda stage, records: told.append((stage, records)))
    for stage in ("read", "written"):
        counts = [records for name, records in told if name == stage]
        assert counts == sorted(counts)
        assert counts[-1] == 400


def test_rows_are_shown_after_two_seconds() -> None:
    now, told = [0.0], list[str]()
    rows = RecordMeter(told.append, lambda: now[0])
    for now[0], stage, records in (
        (1.0, "read", 1_000), (2.0, "read", 4_000), (2.1, "read", 5_000), (4.0, "read", 8_000), (5.0, "written", 3_000),
    ):  # fmt: skip
        rows(stage, records)
    assert told == [
        "4,000 records read, 2,000 a second",
        "8,000 records read, 2,000 a second",
        "3,000 records written, 3,000 a second",
    ]
