"""What is shown while a command works: one changing line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable

import pytest
from rich.console import Console

from discreet.cli import progress
from discreet.cli.progress import Ticker, elapsed, working
from discreet.phrases import BITS


def comes(true: Callable[[], bool]) -> None:
    """Wait until it is so; the time is only there to end a test that waits in vain."""
    end = time.monotonic() + 300
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_line_says_what_for_how_long_and_the_best_so_far() -> None:
    now = [0.0]
    ticker = Ticker("Designing", BITS, lambda: now[0])
    assert ticker.line() == "Designing, 0 s"
    now[0] = 75.4
    ticker.best(0.6931471805599453, 2 * 0.6931471805599453, 1.0)
    assert ticker.line() == "Designing, 1 min 15 s, best so far 1.0000 bits, at most 2.0000 bits, gap 1.0000 bits"
    ticker.best(0.0, float("inf"), 1.0)
    assert ticker.line() == "Designing, 1 min 15 s, best so far 0.0000 bits"
    ticker.stage("Trade-off")
    assert ticker.line() == "Trade-off, 1 min 15 s"
    ticker("3 records")
    assert ticker.line() == "Trade-off, 1 min 15 s, 3 records"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.9, "0 s"), (59.9, "59 s"), (60, "1 min 00 s"), (3725, "62 min 05 s")]
)
def test_elapsed(seconds: float, words: str) -> None:
    assert elapsed(seconds) == words


def test_elsewhere_a_line_comes_every_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.02)
    shown, began = io.StringIO(), time.monotonic()
    with working("Designing", console=Console(file=shown)) as ticker:
        ticker.stage("Comparing")
        comes(lambda: shown.getvalue().count("Comparing") >= 3)
    lines = shown.getvalue().splitlines()
    assert len(lines) <= (time.monotonic() - began) / 0.02
    assert all(re.fullmatch(r"(Designing|Comparing), [0-9a-z ]+", line) for line in lines)
    before = threading.active_count()
    time.sleep(0.05)
    assert shown.getvalue().splitlines() == lines
    assert threading.active_count() == before


def test_what_is_short_is_silent_elsewhere() -> None:
    shown = io.StringIO()
    with working("Designing", console=Console(file=shown)):
        pass
    assert shown.getvalue() == ""


def test_a_terminal_shows_a_line_that_goes_away() -> None:
    shown = io.StringIO()
    with working("Designing", console=Console(file=shown, force_terminal=True, width=80)) as ticker:
        ticker("half done")
        comes(lambda: re.search(r"Designing, [0-9a-z ]+, half done", shown.getvalue()) is not None)
    assert shown.getvalue().endswith("\x1b[2K")  # erased
