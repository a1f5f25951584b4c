"""Work in other processes: with progress, a bound, and a stop that keeps the best found.

Pages must answer at once, so whatever reads the table, searches or draws is done by a worker process, which this one
hears from through a pipe. A stop says which task is meant, and signals; the worker turns that into ctrl-C, now or when
it comes to the task, and a search then ends with the best it has: no stop is lost, and none hits another task.
A worker whose studio has died finishes what it does, which is whole or nothing, and ends.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Final

from discreet.exceptions import DiscreetError

MOST_WORKERS: Final = 3
NICE: Final = 5
"""Pages and the browser come before searches."""
KEPT: Final = 200
"""Finished jobs that can still be asked for."""


@dataclass(eq=False)
class BackgroundJob:
    """A piece of work: under way, done with a `result`, or failed with an `error` in words."""

    name: str
    project: str
    question: Any
    options: dict[str, Any]
    then: Callable[[Any], None]
    state: str = "waiting"
    news: dict[str, Any] = field(default_factory=dict)
    parts: list[Any] = field(default_factory=list)
    result: Any = None
    error: dict[str, str] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    stopped: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        return self.state in ("waiting", "running")

    def facts(self) -> dict[str, Any]:
        """What a page is told."""
        seconds = round(time.monotonic() - self.started, 1)
        told = {"name": self.name, "state": self.state, "news": self.news, "seconds": seconds, "stopped": self.stopped}
        return {**told, "error": self.error, "parts": len(self.parts)}


class Jobs:
    """At most `MOST_WORKERS` processes, started when they are needed and kept."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: list[BackgroundJob] = []
        self._queue: list[BackgroundJob] = []
        self._workers: list[_Worker] = []
        self._closed = False

    def warm(self) -> None:
        """Start the first worker before it is needed."""
        with self._lock:
            if not self._workers and not self._closed:
                self._workers.append(_Worker(self._finished))

    def ask(
        self,
        name: str,
        project: str,
        question: Any,
        options: dict[str, Any] | None = None,
        then: Callable[[Any], None] = lambda result: None,
    ) -> BackgroundJob:
        """The task that answers this question: the one under way, or a new one. An older question of the same name and
        project is stopped: nobody waits for it any more."""
        with self._lock:
            for task in self._tasks:
                if (task.name, task.project) == (name, project) and task.running:
                    if task.question == question:
                        return task
                    self._stop(task)
            task = BackgroundJob(name, project, question, options or {}, then)
            self._tasks = [*self._tasks[-KEPT:], task]
            self._queue.append(task)
            self._assign()
        return task

    def latest(self, name: str, project: str) -> BackgroundJob | None:
        with self._lock:
            found = [task for task in self._tasks if (task.name, task.project) == (name, project)]
        return found[-1] if found else None

    def forget(self, name: str, project: str) -> None:
        """Finished work of this name, so that it is done again when it is asked for."""
        with self._lock:
            self._tasks = [t for t in self._tasks if (t.name, t.project) != (name, project) or t.running]

    def stop(self, name: str, project: str) -> bool:
        with self._lock:
            found = [t for t in self._tasks if (t.name, t.project) == (name, project) and t.running]
            for task in found:
                self._stop(task)
        return bool(found)

    def _stop(self, task: BackgroundJob) -> None:
        task.stopped = True
        if task in self._queue:
            self._queue.remove(task)
            task.state = "failed"
            task.error = {"what": "stopped before it began", "where": task.name, "remedy": ""}
            task.over.set()
        for worker in self._workers:
            if worker.task is task:
                worker.interrupt()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            workers, self._workers = self._workers, []
        for worker in workers:
            worker.end()

    def _assign(self) -> None:
        self._workers = [worker for worker in self._workers if worker.alive]
        while self._queue and not self._closed:
            free = next((worker for worker in self._workers if worker.task is None), None)
            if free is None and len(self._workers) >= MOST_WORKERS:
                return
            if free is None:
                free = _Worker(self._finished)
                self._workers.append(free)
            free.begin(self._queue.pop(0))

    def _finished(self) -> None:
        with self._lock:
            self._assign()


class _Worker:
    """One process, and the thread that listens to it."""

    def __init__(self, finished: Callable[[], None]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._stopped = context.RawValue("q", 0)
        self._given = 0
        self._ready = False
        self._process = context.Process(target=work, args=(theirs, self._stopped), daemon=True)
        self._process.start()
        theirs.close()
        self._finished = finished
        self._gone = False
        self.task: BackgroundJob | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def alive(self) -> bool:
        return not self._gone and self._process.is_alive()

    def begin(self, task: BackgroundJob) -> None:
        self.task = task
        self._given += 1
        task.state, task.started = "running", time.monotonic()
        with contextlib.suppress(OSError):  # it has just died: who listens to it will say so
            self._pipe.send((self._given, task.name, task.question, task.options))

    def interrupt(self) -> None:
        self._stopped.value = self._given
        if self._ready and self._process.pid is not None and self.alive:  # sooner, the signal would end it
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGUSR1)

    def end(self) -> None:
        self._process.terminate()
        self._process.join(5)

    def _listen(self) -> None:
        while True:
            try:
                kind, content = self._pipe.recv()
            except (EOFError, OSError):
                self._gone = True  # before anybody hands it something new
                self._settle("failed", {"what": "the process of this work ended", "where": "", "remedy": "Try again."})
                return
            task = self.task
            self._ready = True
            if kind == "ready" or task is None:
                continue
            if kind == "news":
                task.news = content
            elif kind == "part":
                task.parts.append(content)
            else:
                self._settle(kind, content)

    def _settle(self, kind: str, content: Any) -> None:
        task, self.task = self.task, None
        if task is not None:
            if kind == "done":
                task.result = content
                try:
                    task.then(content)
                    task.state = "done"
                except DiscreetError as error:
                    task.state, task.error = "failed", _told(error)
            else:
                task.state, task.error = "failed", content
            task.over.set()
        self._finished()


def _told(error: DiscreetError) -> dict[str, str]:
    return {"kind": type(error).__name__, "what": error.what, "where": error.where, "remedy": error.remedy}


# ---- in the other process -------------------------------------------------------------------------------------------


def work(pipe: Connection, stopped: Any) -> None:
    """Do what is asked for, one thing after the other, until the studio is gone. `stopped` holds the number of the last
    task that was to stop."""
    import warnings

    busy = 0

    def interrupt(*_: Any) -> None:
        if busy and stopped.value == busy:
            compiling.stop()

    def tell(kind: str, told: Any) -> None:
        pipe.send((kind, told))
        if (
            kind == "part" and stopped.value == busy
        ):  # a search may end in its best, and its caller not know of the stop
            raise KeyboardInterrupt

    os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C in the terminal is for the studio
    signal.signal(signal.SIGUSR1, interrupt)
    pipe.send(("ready", None))
    warnings.simplefilter("ignore")  # what a steward must know is in the results
    from discreet import compiling
    from discreet.studio.tasks import TASKS, give_back

    while True:
        try:
            number, name, question, options = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            busy = number
            interrupt()  # stopped before it began
            found: Any = TASKS[name](question, tell, **options)
            busy = 0
            answer: tuple[str, Any] = ("done", found)
        except DiscreetError as error:
            answer = ("failed", _told(error))
        except KeyboardInterrupt:
            answer = ("failed", {"kind": "Stopped", "what": "stopped", "where": "", "remedy": "Begin it again."})
        except Exception as error:
            kind = type(error).__name__
            answer = ("failed", {"kind": kind, "what": f"an error inside discreet ({kind})", "where": "", "remedy": ""})
        finally:
            busy = 0
        try:
            pipe.send(answer)
        except (BrokenPipeError, OSError):
            return
        found, answer = None, ("done", None)
        give_back()
