"""Fifty ways to go wrong: each a clear message, the right exit code, no traceback, no data."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.cli.app import run
from discreet.exceptions import ReleaseError
from discreet.protocol import Protocol

CANARY = "CANARYx88b2"
TABLE, PROTOCOL, OUT = "{}/people.csv", "{}/protocol.json", "{}/out.csv"
COLUMNS = ["--secret", "health", "--release", "colour", "--out", "{}/new.json", "--no-curve"]
SANITISE = ["sanitise", PROTOCOL, TABLE, OUT]
USAGE, INPUT, PROOF, RELEASE = 2, 3, 5, 6


def write(name: str, content: str | bytes, mode: int = 0o644) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        (folder / name).chmod(mode)

    return make


def edit(name: str, old: str, new: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return make


def parquet(table: pa.Table) -> Callable[[Path], None]:
    return lambda folder: pq.write_table(table, folder / "in.parquet")


def nothing(folder: Path) -> None:
    pass


def pipe(name: str) -> Callable[[Path], None]:
    return lambda folder: os.mkfifo(folder / name)


def link(folder: Path) -> None:
    (folder / "out.csv").symlink_to(folder / "people.csv")


NESTED = pa.table({"colour": pa.array([[CANARY]]), "health": ["ill"]})
KEY = ["--key", "{}/key", "--id", "name"]
STRONG = bytes(range(64))

CASES: dict[str, tuple[Callable[[Path], None], list[str], int, str]] = {
    "no such command": (nothing, ["sanitize"], USAGE, "No such command"),
    "no such option": (nothing, [*SANITISE, "--sed"], USAGE, "No such option"),
    "missing argument": (nothing, ["sanitise", PROTOCOL], USAGE, "Missing argument"),
    "missing secret": (nothing, ["design", TABLE, "--release", "colour"], USAGE, "Missing option"),
    "epsilon is a word": (nothing, ["design", TABLE, *COLUMNS, "--epsilon", "much"], USAGE, "--epsilon"),
    "epsilon is negative": (nothing, ["design", TABLE, *COLUMNS, "--epsilon", "-1"], INPUT, "epsilon"),
    "epsilon is zero": (nothing, ["design", TABLE, *COLUMNS, "--epsilon", "0"], INPUT, "epsilon"),
    "epsilon is nan": (nothing, ["design", TABLE, *COLUMNS, "--epsilon", "nan"], INPUT, "epsilon"),
    "confidence is 1": (nothing, ["design", TABLE, *COLUMNS, "--notion", "rldp", "--confidence", "1"], INPUT, "confid"),
    "unknown notion": (nothing, ["design", TABLE, *COLUMNS, "--notion", "dp"], USAGE, "not one of"),
    "unknown method": (nothing, ["design", TABLE, *COLUMNS, "--method", "magic"], INPUT, "method"),
    "time limit of zero": (nothing, ["design", TABLE, *COLUMNS, "--time-limit", "0"], INPUT, "time"),
    "gap below zero": (nothing, ["design", TABLE, *COLUMNS, "--gap", "-1"], INPUT, "gap"),
    "design without a file": (nothing, ["design", "{}/none.csv", *COLUMNS], INPUT, "no such file"),
    "design on a folder": (nothing, ["design", "{}", *COLUMNS], INPUT, "a folder"),
    "design without secret": (edit("people.csv", "health", "illness"), ["design", TABLE, *COLUMNS], INPUT, "no such"),
    "secret named twice": (nothing, ["design", TABLE, *COLUMNS, "--secret", "health"], INPUT, "health"),
    "secret is released": (nothing, ["design", TABLE, *COLUMNS, "--release", "health"], INPUT, "health"),
    "one secret value": (
        write("people.csv", f"health,colour\n{CANARY},red\n"), ["design", TABLE, *COLUMNS], INPUT, "one value"
    ),
    "an empty table": (write("people.csv", "health,colour\n"), ["design", TABLE, *COLUMNS], INPUT, "no records"),
    "an empty file": (write("people.csv", ""), ["design", TABLE, *COLUMNS], INPUT, "no such column"),
    "too many letters": (
        write("people.csv", "health,colour\n" + "".join(3 * [f"{CANARY}{i},{CANARY}{i}\n" for i in range(4_000)])),
        ["design", TABLE, *COLUMNS], INPUT, "combinations",
    ),
    "out is nowhere": (nothing, ["design", TABLE, *COLUMNS[:4], "--out", "{}/x/y.json"], RELEASE, "cannot write"),
    "no protocol": (nothing, ["sanitise", "{}/none.json", TABLE, OUT], PROOF, "cannot be read"),
    "protocol is a table": (nothing, ["sanitise", TABLE, TABLE, OUT], PROOF, ""),
    "protocol is empty": (write("protocol.json", ""), SANITISE, PROOF, ""),
    "protocol was changed": (edit("protocol.json", '"epsilon":"0.5"', '"epsilon":"0.4"'), SANITISE, PROOF, ""),
    "protocol of another version": (edit("protocol.json", '"version":2', '"version":9'), SANITISE, PROOF, "version"),
    "protocol is bytes": (write("protocol.json", bytes(range(256))), SANITISE, PROOF, ""),
    "no source": (nothing, ["sanitise", PROTOCOL, "{}/none.csv", OUT], INPUT, "no such file"),
    "source is a folder": (nothing, ["sanitise", PROTOCOL, "{}", OUT], INPUT, "a folder"),
    "source lacks the column": (edit("people.csv", "colour", "color"), SANITISE, INPUT, "no such column"),
    "source has it twice": (edit("people.csv", "name", "colour"), SANITISE, INPUT, "two columns"),
    "quote not closed": (edit("people.csv", CANARY, f'"{CANARY}'), SANITISE, INPUT, "not closed"),
    "parquet cut off": (write("people.csv", b"PAR1" + CANARY.encode()), SANITISE, INPUT, "cannot be read"),
    "arrow cut off": (write("people.csv", b"ARROW1\0\0" + CANARY.encode()), SANITISE, INPUT, "cannot be read"),
    "nested cells": (parquet(NESTED), ["sanitise", PROTOCOL, "{}/in.parquet", OUT], INPUT, "list"),
    "unknown encoding": (nothing, [*SANITISE, "--encoding", "klingon"], INPUT, "unknown encoding"),
    "keep the secret": (nothing, [*SANITISE, "--keep", "health"], INPUT, "cannot be kept"),
    "keep what is released": (nothing, [*SANITISE, "--keep", "colour"], INPUT, "cannot be kept"),
    "keep twice": (nothing, [*SANITISE, "--keep", "region", "--keep", "region"], INPUT, "cannot be kept"),
    "keep a stranger": (nothing, [*SANITISE, "--keep", "age"], INPUT, "no such column"),
    "unknown format": (nothing, [*SANITISE, "--to", "xlsx"], USAGE, "not one of"),
    "target is the source": (nothing, ["sanitise", PROTOCOL, TABLE, TABLE], RELEASE, "replace an input"),
    "target is no ordinary file": (
        pipe("pipe.csv"),
        ["sanitise", PROTOCOL, TABLE, "{}/pipe.csv"],
        RELEASE,
        "not an ordinary file",
    ),
    "manifest is no ordinary file": (pipe("out.csv.manifest.json"), SANITISE, RELEASE, "not an ordinary file"),
    "protocol goes to no ordinary file": (pipe("new.json"), ["design", TABLE, *COLUMNS], RELEASE, "not an ordinary"),
    "report goes to no ordinary file": (
        pipe("page.html"),
        ["report", PROTOCOL, "--out", "{}/page.html"],
        RELEASE,
        "not an ordinary file",
    ),
    "target links to the source": (link, SANITISE, RELEASE, "replace an input"),
    "target is the protocol": (nothing, ["sanitise", PROTOCOL, TABLE, PROTOCOL], RELEASE, "replace an input"),
    "target is a folder": (nothing, ["sanitise", PROTOCOL, TABLE, "{}"], RELEASE, "a folder"),
    "target is nowhere": (nothing, ["sanitise", PROTOCOL, TABLE, "{}/x/out.csv"], RELEASE, "cannot write"),
    "key without id": (nothing, [*SANITISE, "--key", "{}/key"], INPUT, "go together"),
    "id without key": (nothing, [*SANITISE, "--id", "name"], INPUT, "go together"),
    "no key": (nothing, [*SANITISE, *KEY], RELEASE, "cannot be read"),
    "a short key": (write("key", CANARY, 0o600), [*SANITISE, *KEY], RELEASE, "32 bytes"),
    "a key of zeros": (write("key", bytes(64), 0o600), [*SANITISE, *KEY], RELEASE, "32 bytes"),
    "a public key": (write("key", STRONG, 0o644), [*SANITISE, *KEY], RELEASE, "others can read"),
    "no id column": (write("key", STRONG, 0o600), [*SANITISE, *KEY[:3], "person"], INPUT, "no such column"),
    "budget too small": (nothing, [*SANITISE, "--budget", "0.1"], RELEASE, "budget"),
    "budget below zero": (nothing, [*SANITISE, "--budget", "-1"], RELEASE, "budget"),
    "audit nothing": (nothing, ["audit", "{}/none.json"], PROOF, ""),
    "audit a matrix alone": (write("m.csv", "0.5,0.5\n0.5,0.5\n"), ["audit", "{}/m.csv"], INPUT, "joint"),
    "audit a table": (nothing, ["audit", TABLE], INPUT, ""),
    "audit without columns": (nothing, ["audit", PROTOCOL, "--data", TABLE], INPUT, "columns"),
    "report on nothing": (nothing, ["report", "{}/none.json"], PROOF, "cannot be read"),
    "report to nowhere": (nothing, ["report", PROTOCOL, "--out", "{}/x/y.html"], RELEASE, "cannot write"),
}  # fmt: skip


def test_there_are_fifty() -> None:
    assert len(CASES) >= 50


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("for_machines", [False, True])
def test_an_error(name: str, for_machines: bool, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare, arguments, code, words = CASES[name]
    prepare(folder)
    given = [argument.replace("{}", str(folder)) for argument in arguments]
    assert run([*given, "--json"] if for_machines else given) == code
    shown = capsys.readouterr()
    everything = shown.out + shown.err
    assert CANARY not in everything
    assert "Traceback" not in everything
    if for_machines and code != USAGE:
        fault = json.loads(shown.out)["error"]
        everything = " ".join(map(str, fault.values()))
    assert words in " ".join(everything.replace("│", " ").split())
    assert not (folder / "out.csv").exists() or name == "target links to the source"


def test_what_nobody_foresaw_shows_no_data(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"cannot handle {CANARY}")

    monkeypatch.setattr("discreet.release.sanitise_file", broken)
    arguments = [argument.replace("{}", str(folder)) for argument in SANITISE]
    assert run(arguments) == 1
    shown = capsys.readouterr()
    assert CANARY not in shown.out + shown.err
    assert "RuntimeError" in shown.err
    assert "test_errors" in shown.err


def test_an_interrupt(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.release.sanitise_file", interrupted)
    assert run([argument.replace("{}", str(folder)) for argument in SANITISE]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_special_files_stay_what_they_are(folder: Path) -> None:
    """Renaming over a device would replace it for the whole machine."""
    os.mkfifo(folder / "special")
    arguments = ["sanitise", str(folder / "protocol.json"), str(folder / "people.csv"), str(folder / "special")]
    assert run(arguments) == RELEASE
    with pytest.raises(ReleaseError, match="not an ordinary file"):
        Protocol.load(folder / "protocol.json").save(folder / "special")
    assert stat.S_ISFIFO((folder / "special").stat().st_mode)


def test_a_closed_standard_output(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert run(["sanitise", str(folder / "protocol.json"), str(folder / "people.csv"), "-"]) == RELEASE
    assert not (folder / "protocol.json.ledger").exists()


def test_a_closed_standard_output_of_the_process(folder: Path) -> None:
    command = f"'{sys.executable}' -c 'from discreet.cli import main; main()' sanitise protocol.json people.csv - >&-"
    done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == RELEASE
    assert "Traceback" not in done.stderr


def test_rows_that_cannot_be_read_are_told_without_showing_them(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with (folder / "people.csv").open("a") as file:
        file.write(f"{CANARY}\n{CANARY},ill,red,north,too many\n")
    arguments = [part.format(folder) for part in ["design", TABLE, *COLUMNS, "--method", "grr"]]
    assert run(arguments) == 0
    shown = capfd.readouterr()
    assert "Warning:" in shown.err
    assert "2 records with too many or too few fields" in " ".join(shown.err.split())
    assert CANARY not in shown.out + shown.err
