"""How a long command goes: on a terminal one line that changes, elsewhere one line every ten seconds.

The line says what is being done and for how long, and while a mechanism is searched the best so far and its bound.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from discreet.cli.show import stderr
from discreet.phrases import NATS, InformationUnit

SILENT: Final = 2.0
"""Seconds before rows are shown: a release that takes less needs no meter."""
EVERY: Final = 10.0
"""Seconds between two lines in a log."""
REFRESH: Final = 5
"""Times a second that the line on a terminal changes."""


class Ticker:
    """What is being done, for how long, and what is known so far; a `Watcher` of studies."""

    def __init__(self, what: str, unit: InformationUnit = NATS, clock: Callable[[], float] = time.monotonic) -> None:
        self._what, self._words, self._unit = what, "", unit
        self._clock, self._started = clock, clock()

    def stage(self, what: str) -> None:
        self._what, self._words = what, ""

    def best(self, value: float, bound: float, seconds: float) -> None:
        most = f", at most {self._unit(bound)}, gap {self._unit(bound - value)}" if bound < float("inf") else ""
        self._words = f"best so far {self._unit(value)}{most}"

    def __call__(self, words: str) -> None:
        self._words = words

    def line(self) -> str:
        return ", ".join(part for part in (self._what, elapsed(self._clock() - self._started), self._words) if part)


def elapsed(seconds: float) -> str:
    whole = int(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02} s"


@contextmanager
def working(what: str, unit: InformationUnit = NATS, console: Console = stderr) -> Iterator[Ticker]:
    """Shows that something goes on, and for how long."""
    ticker = Ticker(what, unit)
    if console.is_terminal and not console.is_dumb_terminal:
        spinner = Spinner("dots")

        def picture() -> Spinner:
            spinner.update(text=Text(ticker.line(), no_wrap=True, overflow="ellipsis"))
            return spinner

        with Live(get_renderable=picture, console=console, transient=True, refresh_per_second=REFRESH):
            yield ticker
        return
    done = threading.Event()
    thread = threading.Thread(target=_log, args=(ticker, console, done), daemon=True)
    thread.start()
    try:
        yield ticker
    finally:
        done.set()
        thread.join()


def _log(ticker: Ticker, console: Console, done: threading.Event) -> None:
    while not done.wait(EVERY):
        console.print(Text(ticker.line()), soft_wrap=True)


class RecordMeter:
    """Tells how many records are done and how many a second, after two seconds and then five times a second."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._stage, self._last = "", clock()
        self._next = self._last + SILENT

    def __call__(self, stage: str, records: int) -> None:
        now = self._clock()
        if stage != self._stage:
            self._stage, self._started = stage, self._last
        self._last = now
        if now >= self._next:
            self._next = now + 1 / REFRESH
            rate = records / max(now - self._started, 1e-9)
            self._tell(f"{records:,} records {stage}, {rate:,.0f} a second")
