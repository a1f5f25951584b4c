"""Tables for people and JSON for machines. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

SILENT: Final = 2.0
"""Seconds before rows are shown."""
stdout = Console(highlight=False)
stderr = Console(stderr=True, highlight=False)


def as_json(content: Mapping[str, Any]) -> None:
    """One JSON object on standard output; numbers that JSON does not have are null."""
    typer.echo(json.dumps(_finite(content), ensure_ascii=False, indent=2))


def facts(title: str, rows: Mapping[str, str], console: Console = stdout) -> None:
    """A table of two columns."""
    table = Table(title=title, title_justify="left", title_style="bold", show_header=False, box=None, padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, Text(value))
    console.print(table)
    console.print()


def paragraph(text: str, console: Console = stdout, style: str = "") -> None:
    console.print(Text(text), style=style)
    console.print()


@contextmanager
def working(what: str) -> Iterator[Any]:
    """A line that shows that something goes on, on a terminal only; call it to change its words."""
    with stderr.status(what) as status:
        yield lambda text: status.update(f"{what}  {text}")


class Rows:
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
            self._next = now + 0.2
            rate = records / max(now - self._started, 1e-9)
            self._tell(f"{records:,} records {stage}, {rate:,.0f} a second")


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
