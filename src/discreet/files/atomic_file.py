"""Files and pipes that appear whole or not at all.

A file is written without a name where the system allows it (O_TMPFILE), otherwise under a hidden one, always with mode
0600. It gets its name when everything in it is on disk: sync, rename, sync the folder. A killed run leaves the folder
as it was. A pipe has no name to give, so it stays silent until everything is ready, in a sealed file.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol, cast

from discreet.exceptions import ReleaseError
from discreet.files.sealed_file import COPY_BYTES, SealedFile, SealedWriter

PIPE: Final = "-"
"""Standard input or output, where a path is asked for."""
DESCRIPTORS: Final = Path("/proc/self/fd")


class AtomicFile:
    """An open file without its name. `publish` gives it the name; until then nobody sees it."""

    def __init__(self, target: Path, mode: int) -> None:
        self.target, self._mode = target, mode
        self._hidden = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
        self._named = False
        self.published = False
        self._digest = hashlib.sha256()
        self.descriptor = self._open()

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC
        if hasattr(os, "O_TMPFILE") and DESCRIPTORS.is_dir():
            with suppress(OSError):
                return os.open(self.target.parent, flags | os.O_TMPFILE, 0o600)
        descriptor = os.open(self._hidden, flags | os.O_CREAT | os.O_EXCL, 0o600)
        self._named = True
        return descriptor

    @property
    def sink(self) -> BinaryIO:
        """The file to write to, from start to end; closing it keeps this open."""
        return hashing(os.fdopen(os.dup(self.descriptor), "wb", 1 << 20), self._digest)

    def write(self, content: bytes) -> None:
        with self.sink as sink:
            sink.write(content)

    def sha256(self) -> str:
        """The hash of what was written."""
        return self._digest.hexdigest()

    @property
    def size(self) -> int:
        return os.fstat(self.descriptor).st_size

    def publish(self) -> None:
        """Give the file its name, then its mode."""
        os.fsync(self.descriptor)
        if not self._named:
            try:
                self._link(self.target)
            except FileExistsError:
                self._link(self._hidden)
                self._named = True
        if self._named:
            os.replace(self._hidden, self.target)
            self._named = False
        self.published = True
        os.fchmod(self.descriptor, file_mode(self._mode))
        sync_folder(self.target.parent)

    def _link(self, name: Path) -> None:
        """Name a file that has no name. Python follows the link in /proc only when given a folder's descriptor."""
        folder = os.open(DESCRIPTORS, os.O_RDONLY)
        try:
            os.link(str(self.descriptor), name, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)

    def close(self) -> None:
        os.close(self.descriptor)
        if self._named:
            self._hidden.unlink(missing_ok=True)


def hashing(sink: BinaryIO, digest: hashlib._Hash) -> BinaryIO:
    """A sink that hashes what passes through it."""
    return cast(BinaryIO, _Hashing(sink, digest))


class _Hashing(io.RawIOBase):
    def __init__(self, sink: BinaryIO, digest: hashlib._Hash) -> None:
        self._sink, self._digest = sink, digest

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sink.tell()

    def flush(self) -> None:
        if not self._sink.closed:
            self._sink.flush()

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return self._sink.write(data)

    def close(self) -> None:
        if not self.closed:
            self._sink.close()
        super().close()


@contextmanager
def unpublished(target: Path, mode: int = 0o666) -> Iterator[AtomicFile]:
    """A file to write to and publish, then of this mode less the umask; what is not published is gone at the end."""
    check_writable(target)
    try:
        file = AtomicFile(target, mode)
    except OSError as error:
        raise ReleaseError(f"cannot write there ({error.strerror})", where=str(target)) from None
    try:
        yield file
    except OSError as error:
        raise ReleaseError(
            f"writing failed ({error.strerror or type(error).__name__})",
            where=str(target),
            remedy="The file is there, and whole." if file.published else "Nothing was released.",
        ) from None
    finally:
        file.close()


def check_writable(target: Path) -> None:
    """ReleaseError where the folder of a file is not there, or takes none of this name."""
    try:
        os.lstat(target)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a name that no file can have"
        raise ReleaseError(f"cannot write there ({reason})", where=str(target), remedy="Give another name.") from None
    if not target.parent.is_dir():
        raise ReleaseError(
            "cannot write there (no such folder)", where=str(target), remedy="Make it, or give another name."
        )
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise ReleaseError(
            "cannot write there (the folder takes no file)", where=str(target), remedy="Give another name."
        )
    if target.is_dir():
        raise ReleaseError("the output is a folder", where=str(target), remedy="Give the name of a file.")
    if target.exists() and not target.is_file():
        raise ReleaseError(
            "not an ordinary file, so it is not replaced",
            where=str(target),
            remedy="Give the name of a file, or - and redirect standard output there.",
        )


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C does nothing here: what gets its name now is finished, and what was entered in the ledger is released."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """What is published in a folder together gets its names while nobody else gives any there: two releases to one
    target leave all files of one of them. Where a folder cannot be locked, as on some networks, this is not held."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def same_file(one: Path, other: Path) -> bool:
    """Whether two names lead to one file, one that is not there yet included."""
    with suppress(OSError, ValueError):
        return one.samefile(other)
    with suppress(OSError, ValueError):
        return os.path.realpath(one) == os.path.realpath(other)
    return one == other


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def file_mode(wanted: int = 0o666) -> int:
    """What the umask leaves of a mode."""
    mask = os.umask(0o077)
    os.umask(mask)
    return wanted & ~mask


# ---- a file or a pipe ----------------------------------------------------------------------------------------------


class Target(Protocol):
    """Where a release goes."""

    @property
    def sink(self) -> BinaryIO:
        """Written to before publishing, closed by the one who writes."""
        ...

    @property
    def size(self) -> int: ...

    def sha256(self) -> str: ...

    def publish(self) -> None: ...


@contextmanager
def open_target(path: str) -> Iterator[Target]:
    """Nothing is visible at the path, or on standard output for "-", before `publish`."""
    if path == PIPE:
        if sys.stdout is None:
            raise ReleaseError("standard output is closed", where=path, remedy="Give the name of a file.")
        with SealedFile() as sealed:
            yield _Pipe(sealed)
    else:
        with unpublished(Path(path)) as file:
            yield file


class _Pipe:
    def __init__(self, sealed: SealedFile) -> None:
        self._sealed, self._digest = sealed, hashlib.sha256()

    @property
    def sink(self) -> BinaryIO:
        return hashing(cast(BinaryIO, SealedWriter(self._sealed)), self._digest)

    @property
    def size(self) -> int:
        return self._sealed.size

    def sha256(self) -> str:
        return self._digest.hexdigest()

    def publish(self) -> None:
        try:
            for start in range(0, self._sealed.size, COPY_BYTES):
                sys.stdout.buffer.write(self._sealed.read(start, COPY_BYTES))
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise ReleaseError(
                "the reader of the pipe went away", where="standard output", remedy="The ledger counts this release."
            ) from None
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise ReleaseError(
                f"standard output took only a part ({os.strerror(error.errno or 0)})",
                where="standard output",
                remedy="The ledger counts this release.",
            ) from None
        except KeyboardInterrupt:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise KeyboardInterrupt("The reader of the pipe has a part of the release; the ledger counts it.") from None
