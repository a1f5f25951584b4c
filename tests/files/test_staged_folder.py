"""A folder that appears whole or not at all, and leaves nothing behind."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.exceptions import ReleaseError
from discreet.files.staged_folder import StagedFolder


def test_it_appears_whole_and_only_with_what_counts(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with StagedFolder(target) as staged:
        assert stat.S_IMODE(staged.path.stat().st_mode) == 0o700
        for name in ("one", "late"):
            (staged.parts / name).write_text(name)
        assert not target.exists()
        staged.publish({"one": "part-0"}, {"_said": b"said"})
        (staged.parts / "later").write_text("a slow attempt")
    assert {path.name: path.read_text() for path in target.iterdir()} == {"part-0": "one", "_said": "said"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_nothing_is_left_of_what_failed(tmp_path: Path) -> None:
    with StagedFolder(tmp_path / "out") as staged:
        secret = staged.secret("key", b"secret")
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path) -> None:
    code = "import os, sys; from discreet.files.staged_folder import *; StagedFolder(Path(sys.argv[1])); os._exit(9)"
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")]).returncode == 9
    assert len(list(tmp_path.iterdir())) == 1
    with StagedFolder(tmp_path / "other"):
        assert len(list(tmp_path.iterdir())) == 2
        with StagedFolder(tmp_path / "out") as staged, StagedFolder(tmp_path / "out") as beside:
            assert staged.path.exists(), "the folder of a run that goes on was removed"
            assert beside.path.exists()
            assert len(list(tmp_path.iterdir())) == 3
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(ReleaseError, match="something of this name"):
        StagedFolder(tmp_path / "out")
    with pytest.raises(ReleaseError, match="no such folder"):
        StagedFolder(tmp_path / "nowhere" / "out")
    (tmp_path / "out").rmdir()
    with pytest.raises(ReleaseError, match="writing failed"), StagedFolder(tmp_path / "out") as staged:
        staged.publish({"never written": "part-0"}, {})
    assert list(tmp_path.iterdir()) == []
