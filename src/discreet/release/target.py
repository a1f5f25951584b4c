"""Where a release goes: a file that appears whole, or a pipe that is silent until everything is ready."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from discreet.exceptions import ReleaseError
from discreet.release.publish import hashing, unpublished
from discreet.release.read import PIPE
from discreet.release.sealed import COPY_BYTES, SealedFile, SealedWriter


class Target(Protocol):
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
