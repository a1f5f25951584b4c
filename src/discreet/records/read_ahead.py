"""Reading and writing at once: what comes next is read in a thread of its own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

AHEAD: Final = 4
"""Batches read ahead: enough to even out reading and writing, at most 128 MB."""
Item = TypeVar("Item")


def ahead(items: Iterable[Item], depth: int = AHEAD) -> Iterator[Item]:
    """The same items in the same order, read in a thread of their own; what reading them raises is raised here."""
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(depth)
    stopped = threading.Event()

    def put(item: Item | None, error: BaseException | None) -> None:
        while not stopped.is_set():
            try:
                return waiting.put((item, error), timeout=0.1)
            except queue.Full:
                continue

    def read() -> None:
        try:
            for item in items:
                put(item, None)
                if stopped.is_set():
                    return
            put(None, StopIteration())
        except BaseException as error:
            put(None, error)

    reader = threading.Thread(target=read, name="read ahead", daemon=True)
    reader.start()
    try:
        while True:
            item, error = waiting.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield item  # type: ignore[misc]
    finally:
        stopped.set()
        reader.join(timeout=2.0)  # a pipe that nobody writes to may hold it for ever
