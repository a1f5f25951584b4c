"""A file appears whole or not at all; a pipe is silent until everything is ready."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest

from discreet.exceptions import ReleaseError
from discreet.files import atomic_file
from discreet.files.atomic_file import PIPE, open_target, unpublished


@pytest.fixture(params=["without a name", "hidden"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the system has files without a name, and where it has none."""
    if request.param == "hidden":
        monkeypatch.setattr(atomic_file, "DESCRIPTORS", tmp_path / "none")
    return tmp_path


def test_nothing_is_seen_before_it_is_published(folder: Path) -> None:
    target = folder / "out"
    for content in (b"first", b"second"):
        before = target.read_bytes() if target.exists() else None
        with unpublished(target) as file:
            file.write(content)
            assert (target.read_bytes() if target.exists() else None) == before
            assert os.fstat(file.descriptor).st_mode & 0o077 == 0
            file.publish()
        assert target.read_bytes() == content
        assert (file.sha256(), [path.name for path in folder.iterdir()]) == (
            hashlib.sha256(content).hexdigest(),
            ["out"],
        )
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(target.stat().st_mode) == 0o666 & ~mask


def test_what_is_not_published_is_gone(folder: Path) -> None:
    (folder / "out").write_text("before")
    with unpublished(folder / "out") as file:
        file.write(b"half")
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"out": "before"}


def test_what_cannot_be_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name, what in (("fifo", "not an ordinary file"), ("nowhere/out", "cannot write there")):
        with pytest.raises(ReleaseError, match=what), unpublished(tmp_path / name):
            raise AssertionError("it was opened")
    with pytest.raises(ReleaseError, match="No space left"), unpublished(tmp_path / "out"):
        raise OSError(28, "No space left on device")
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def test_a_pipe_is_silent_until_it_is_published(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with open_target(PIPE) as target:
        with target.sink as sink:
            sink.write(b"every record")
        assert capfdbinary.readouterr().out == b""
        assert (target.size, target.sha256()) == (12, hashlib.sha256(b"every record").hexdigest())
        target.publish()
    assert capfdbinary.readouterr().out == b"every record"
