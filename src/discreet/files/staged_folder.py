"""A folder that appears whole or not at all.

Its files are written to a hidden folder beside it, which nobody else may enter, under names of no meaning: whoever
writes one twice, or too late, disturbs nobody. Those that count are moved to a folder of their own, everything is
brought to disk, and one rename shows it. What a killed run leaves is hidden, and removed by the next run with the same
target.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from discreet.exceptions import ReleaseError
from discreet.files.atomic_file import file_mode, sync_folder

LOCK, PARTS, READY = "lock", "parts", "ready"


class StagedFolder(AbstractContextManager["StagedFolder"]):
    """`parts` is where files are written; `publish` makes some of them the target. At the end the rest is gone."""

    def __init__(self, target: Path) -> None:
        self.target = target
        _check(target)
        _sweep(target)
        self.path = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
        try:
            self.path.mkdir(mode=0o700)
            self._lock = _locked(self.path / LOCK)
            self.parts.mkdir(mode=0o700)
        except OSError as error:
            raise ReleaseError(f"cannot write there ({error.strerror})", where=str(target)) from None

    @property
    def parts(self) -> Path:
        return self.path / PARTS

    def secret(self, name: str, content: bytes) -> Path:
        """A file that only its owner can read, for as long as this folder is there."""
        path = self.path / name
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        return path

    def publish(self, files: Mapping[str, str], more: Mapping[str, bytes]) -> None:
        """Show the target: parts under new names, and small files with this content."""
        ready = self.path / READY
        try:
            ready.mkdir(mode=0o700)
            for part, name in files.items():
                os.rename(self.parts / part, ready / name)
            for name, content in more.items():
                (ready / name).write_bytes(content)
            for path in ready.iterdir():
                _on_disk(path, file_mode())
            ready.chmod(file_mode(0o777))
            sync_folder(ready)
            os.rename(ready, self.target)
            sync_folder(self.target.parent)
        except OSError as error:
            raise ReleaseError(
                f"writing failed ({error.strerror or type(error).__name__})",
                where=str(self.target),
                remedy="Nothing can be seen; the ledger may count this release already.",
            ) from None

    def __exit__(self, *_: object) -> None:
        os.close(self._lock)
        _removed(self.path)


def _check(target: Path) -> None:
    if os.path.lexists(target):
        raise ReleaseError(
            "there is something of this name", where=str(target), remedy="Give another: a folder is never replaced."
        )
    if not target.parent.is_dir():
        raise ReleaseError(
            "cannot write there (no such folder)", where=str(target), remedy="Make it, or give another name."
        )


def _locked(path: Path) -> int:
    import fcntl

    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return file


def _sweep(target: Path) -> None:
    """Remove what killed runs left: folders whose lock nobody holds."""
    for old in target.parent.glob(f".{target.name}.*.part"):
        if old.is_dir() and (old / LOCK).exists():
            with suppress(OSError):
                file = _locked(old / LOCK)
                try:
                    _removed(old)
                finally:
                    os.close(file)


def _removed(folder: Path) -> None:
    """Somebody who is late may write while it is removed: again, then."""
    for _ in range(3):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return


def _on_disk(path: Path, mode: int) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fchmod(file, mode)
        os.fsync(file)
    finally:
        os.close(file)
