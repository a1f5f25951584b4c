"""Bytes for a reader of Arrow, whose threads ask for them: what goes wrong is raised here, and no read is left behind.

A thread of Arrow that still has something of Python when the program ends waits for it for ever, and the program for
the thread. So an error is the end of the bytes for Arrow, and is raised where its batches are read; and whoever stops
reading ends the bytes, and waits until Arrow has let go of them.
"""

from __future__ import annotations

import io
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pacsv

SECONDS: Final = 2.0
"""A pipe that nobody writes to may hold a read for ever."""
LET_GO: Final = 0.1
"""Seconds until Arrow has let go of the bytes; where it failed while it opened them, it never does."""


class Feed:
    """The bytes that `read` gives, until it raises or somebody ends them; nobody else has the reader of them."""

    def __init__(self, read: Callable[[int], Any]) -> None:
        self._read, self._lock, self._over = read, threading.Lock(), False
        self._reader: pacsv.CSVStreamingReader | None = None
        self._released = threading.Event()
        self._error: Exception | None = None

    def batches(self, opened: Callable[[pa.PythonFile], pacsv.CSVStreamingReader]) -> Iterator[pa.RecordBatch]:
        """What the reader that is opened makes of the bytes."""
        self._reader = self._asked(lambda: opened(pa.PythonFile(self._file(), mode="r")))
        while (batch := self._asked(lambda: self._reader and self._reader.read_next_batch())) is not None:
            yield batch

    def _asked(self, step: Callable[[], Any]) -> Any:
        """What Arrow says, None at the end. Its errors are raised anew: their traces have the reader."""
        found, failed = None, False
        try:
            found = step()
        except StopIteration:
            pass
        except pa.ArrowInvalid:
            failed = True
        if self._error is not None:
            raise self._error
        if failed:
            raise pa.ArrowInvalid("not CSV")
        return found

    def _file(self) -> io.RawIOBase:
        file = _File(self._next)
        weakref.finalize(file, self._released.set)
        return file

    def _next(self, size: int) -> Any:
        with self._lock:
            if self._over:
                return b""
            try:
                return self._read(size)
            except Exception as error:
                self._error, self._over = error.with_traceback(None), True  # its frames have the file
                return b""

    def end(self) -> None:
        """No more bytes: what was asked for is awaited, and thrown away."""
        free = self._lock.acquire(timeout=SECONDS)
        self._over = True
        if not free:
            return
        self._lock.release()
        with suppress(StopIteration, pa.ArrowInvalid):
            while self._reader is not None:
                self._reader.read_next_batch()
        self._reader = None
        self._released.wait(LET_GO)


class _File(io.RawIOBase):
    def __init__(self, read: Callable[[int], Any]) -> None:
        self._next = read

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> Any:
        return self._next(size)
