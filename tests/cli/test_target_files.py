"""A file that is there already is not replaced unasked."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.app import run

COLUMNS = ["--secret", "health", "--release", "colour", "--no-curve"]
COMMANDS = {
    "design": (["design", "people.csv", *COLUMNS, "--out", "there"], "there"),
    "sanitise": (["sanitise", "protocol.json", "people.csv", "there"], "there"),
    "sanitise, manifest": (["sanitise", "protocol.json", "people.csv", "there"], "there.manifest.json"),
    "sanitise, public file": (["sanitise", "protocol.json", "people.csv", "there"], "there.public.json"),
    "sanitise, metadata": (["sanitise", "protocol.json", "people.csv", "there"], "there.datapackage.json"),
    "publish": (["publish", "protocol.json", "there"], "there"),
    "report": (["report", "protocol.json", "--out", "there"], "there"),
    "demo": (["demo", "."], "protocol.json.ledger"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_stays_without_force(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    arguments, file = COMMANDS[name]
    (folder / file).write_text("precious")
    before = sorted(folder.iterdir())
    assert run([*arguments, "--json"]) == 6
    fault = json.loads(capsys.readouterr().out)["error"]
    assert "there already" in fault["what"]
    assert "--force" in fault["remedy"]
    assert (folder / file).read_text() == "precious"
    assert sorted(folder.iterdir()) == before
    if name != "demo":
        assert run([*arguments, "--force"]) == 0
        assert (folder / file).read_text() != "precious"


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 6), ("\x04", 130)])
def test_a_terminal_is_asked(folder: Path, answer: str, code: int) -> None:
    (folder / "page.html").write_text("precious")
    keyboard, terminal = pty.openpty()
    command = [sys.executable, "-c", "from discreet.cli import main; main()"]
    process = subprocess.Popen(
        [*command, "report", "protocol.json", "--out", "page.html"],
        cwd=folder, stdin=terminal, stdout=subprocess.PIPE, stderr=terminal,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while b"Replace?" not in shown:
        shown += os.read(keyboard, 1000)
    os.write(keyboard, f"{answer}\n".encode() if answer != "\x04" else b"\x04")
    assert process.stdout
    try:
        while os.read(keyboard, 1000):
            pass
    except OSError:  # the other side is closed
        pass
    process.stdout.close()
    assert process.wait(60) == code
    assert ((folder / "page.html").read_text() == "precious") == (code != 0)
    os.close(keyboard)
