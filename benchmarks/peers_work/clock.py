"""How both sides measure: processor seconds, and memory beyond what the modules take."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from typing import Any

Answer = dict[str, Any]
SMALL = [[0.1, 0.1, 0.05, 0.1], [0.05, 0.1, 0.1, 0.05], [0.15, 0.05, 0.1, 0.05]]


def measured(tasks: Mapping[str, Callable[[Answer], Answer]], job: Answer) -> Answer:
    """The answer to a job with its seconds and megabytes; a small job of the same kind goes first."""
    work = tasks[job["task"]]
    work({**job, "table": SMALL, "letters": 2})
    before, started = _peak(), time.process_time()
    answer = work(job)
    return {**answer, "seconds": time.process_time() - started, "megabytes": _peak() - before}


def rate(work: Callable[[], object], seconds: float = 1.0) -> float:
    """How often a second of the processor is enough for some work, after doing it once."""
    work()
    started, done = time.process_time(), 0
    while time.process_time() - started < seconds:
        work()
        done += 1
    return done / (time.process_time() - started)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
