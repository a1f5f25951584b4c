"""Parts of frames that are slow, wait, or draw afresh: carried to the workers as code."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

WAITING_SECONDS = 600
"""Only there to end a test that waits in vain."""


class Straggler:
    """Draws, but the first attempt at part 0 waits for a second one before it does. Attempts leave a file each.

    With `until`, the first attempt at every part waits for that file instead.
    """

    def __init__(self, inner: Any, folder: Path, until: Path | None = None) -> None:
        self.inner, self.folder, self.until = inner, str(folder), None if until is None else str(until)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        tried = task.attemptNumber()
        Path(self.folder, f"{task.partitionId()}-{tried}").touch()
        if tried == 0 and (task.partitionId() == 0 or self.until is not None):
            _wait_for(Path(self.until or Path(self.folder, "0-1")))
        yield from self.inner(batches)


class Unsteady:
    """The planted fault: from its second reading on, every part gives its second record in the place of its first."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        was_read = Path(self.folder, f"read {task.partitionId()}")
        again = was_read.exists()
        for batch in batches:
            yield batch.take(pa.array([1, *range(1, len(batch))])) if again and len(batch) > 1 else batch
        was_read.touch()


class WaitingOrder:
    """Orders a part once the test has seen that it is about to."""

    def __init__(self, inner: Any, folder: Path) -> None:
        self.inner, self.folder = inner, str(folder)

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        Path(self.folder, "ordering").touch()
        _wait_for(Path(self.folder, "go"))
        yield from self.inner(batches)


def _wait_for(awaited: Path) -> None:
    deadline = time.monotonic() + WAITING_SECONDS
    while time.monotonic() < deadline and not awaited.exists():
        time.sleep(0.02)


class UnkeyedDrawing:
    """The planted fault: every attempt draws under a key of its own, as fresh randomness would."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from discreet.release import keyed_draws

        right = keyed_draws.KeyedDraws._word.func  # type: ignore[attr-defined]
        keyed_draws.KeyedDraws._word.func = lambda _: keyed_draws._encryptor(os.urandom(32))  # type: ignore[attr-defined]
        try:
            yield from self.inner(batches)
        finally:
            keyed_draws.KeyedDraws._word.func = right  # type: ignore[attr-defined]
