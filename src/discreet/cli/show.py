"""Tables for people and JSON for machines. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

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


def _finite(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {str(key): _finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
