"""A temporary file that nobody can read: without a name, and encrypted with a key that only this process knows.

Large shuffles and piped Parquet files need room on disk. What is written there is AES-256-CTR under a key that is never
stored, in a file that has no name where the system allows it and mode 0600 where not: a killed run leaves nothing.
"""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Final

from discreet.exceptions import ReleaseError
from discreet.randomness import BLOCK_BYTES, cipher, fresh_key

COPY_BYTES: Final = 1 << 22
"""4 MiB at a time: what is copied never stands in memory as a whole."""


class SealedFile(AbstractContextManager["SealedFile"]):
    """Append bytes, read them back from any place."""

    def __init__(self, folder: Path | None = None) -> None:
        self._key = fresh_key()
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - closed on exit
        self.size = 0

    def append(self, data: bytes | memoryview) -> tuple[int, int]:
        """Write, and return where: (start, length)."""
        start = self.size
        sealed = memoryview(self._crypt(start, data))
        try:
            while len(sealed):
                written = os.pwrite(self._file.fileno(), sealed, start + len(data) - len(sealed))
                sealed = sealed[written:]
        except OSError as error:
            raise ReleaseError(
                f"no room for a temporary file ({os.strerror(error.errno or 0)})",
                where="the folder of the output, or TMPDIR when the output is a pipe",
                remedy="Free some space; about as much as the output takes is needed.",
            ) from None
        self.size = start + len(data)
        return start, len(data)

    def read(self, start: int, length: int) -> bytes:
        """The bytes from there; fewer at the end of the file."""
        parts, end = [], min(start + length, self.size)
        while start < end:
            parts.append(self._crypt(start, os.pread(self._file.fileno(), end - start, start)))
            start += len(parts[-1])
        return b"".join(parts)

    def _crypt(self, start: int, data: bytes | memoryview) -> bytes:
        """In counter mode sealing and opening are the same."""
        stream = cipher(self._key, start // BLOCK_BYTES)
        stream.update(bytes(start % BLOCK_BYTES))
        return stream.update(data)

    def __exit__(self, *_: object) -> None:
        self._file.close()


def seekable(stream: BinaryIO, sealed: SealedFile) -> io.RawIOBase:
    """A stream that can only be read once, as a file that can be read from anywhere."""
    while block := stream.read(COPY_BYTES):
        sealed.append(block)
    return _SealedReader(sealed)


class _SealedReader(io.RawIOBase):
    def __init__(self, sealed: SealedFile) -> None:
        self._sealed, self._at = sealed, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._sealed.size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        data = self._sealed.read(self._at, self._sealed.size - self._at if size < 0 else size)
        self._at += len(data)
        return data


class SealedWriter(io.RawIOBase):
    """A sealed file to write to from start to end."""

    def __init__(self, sealed: SealedFile) -> None:
        self._sealed = sealed

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._sealed.size

    def write(self, data: Any) -> int:
        return self._sealed.append(bytes(data))[1]
