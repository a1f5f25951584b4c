"""What is said where something goes wrong after a release was published: nothing that is not true."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import discreet as dc
from discreet.cli import sanitise as command
from discreet.cli.app import run
from discreet.exceptions import ReleaseError
from discreet.files import atomic_file


def test_an_error_after_the_release_does_not_deny_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, target = tmp_path / "t.csv", tmp_path / "released.csv"
    rows = ["ill,red"] * 300 + ["ill,blue"] * 100 + ["well,red"] * 150 + ["well,blue"] * 450
    table.write_text("\n".join(["health,colour", *rows]) + "\n")
    joint = dc.Joint.from_table(table, secret="health", release="colour")
    dc.design(joint, dc.LIP(0.5)).protocol.save(tmp_path / "p.json")

    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(command, "_tell", broken)
    words = ["sanitise", str(tmp_path / "p.json"), str(table), str(target), "--one-row-per-person"]
    assert run(words) == 1
    assert target.is_file()
    told = " ".join(capsys.readouterr().err.split())
    assert "an error inside discreet (RuntimeError)" in told
    assert "Nothing was" not in told
    assert "a draw is in the ledger" in told


def test_a_file_that_has_its_name_is_not_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path) -> None:
        raise OSError(5, os.strerror(5))

    monkeypatch.setattr(atomic_file, "sync_folder", broken)
    with pytest.raises(ReleaseError, match="writing failed") as found:
        written(tmp_path / "f")
    assert (tmp_path / "f").is_file()
    assert found.value.remedy == "The file is there, and whole."


def written(path: Path) -> None:
    with atomic_file.unpublished(path) as file:
        file.write(b"x")
        file.publish()
