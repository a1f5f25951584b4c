"""`discreet look`: what is in a table, before anything is decided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from discreet.cli.options import Encoding, Force, Json
from discreet.cli.progress import RecordMeter, working
from discreet.cli.show import as_json, paragraph, stdout
from discreet.cli.target_files import may_replace, write_file
from discreet.exceptions import visible

if TYPE_CHECKING:
    from discreet.look import ColumnLook, Look

BLOCKS = "▁▂▃▄▅▆▇█"
WIDTH = 24
MOST_MARKS = 16


def look(
    data: Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file.")],
    secret: Annotated[list[str] | None, typer.Option(help="A column to protect: what do others tell about it?")] = None,
    release: Annotated[list[str] | None, typer.Option(help="A column to release, where that is settled.")] = None,
    k: Annotated[int, typer.Option("--k", help="Show no value that fewer records have; 1 shows all.")] = 50,
    html: Annotated[Path | None, typer.Option(help="Write a page with the same, and pictures.")] = None,
    encoding: Encoding = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """What is in a table: kinds of columns, rare values, what tells about the secret, what to group."""
    from discreet.look import look as look_at
    from discreet.report.look_page import look_page

    if html is not None:
        may_replace(html, force=force, inputs=(Path(data),))
    with working("Looking") as ticker:
        found = look_at(
            data, secret=secret or (), release=release or (), k=k, encoding=encoding, progress=RecordMeter(ticker)
        )
    if html is not None:
        write_file(html, look_page(found).encode())
    if json:
        as_json({**found.facts(), **({} if html is None else {"page": str(html)})})
        return
    show_look(found, encoding)
    if html is not None:
        paragraph(f"Written to {html}: for you, not for publication.")


def show_look(found: Look, encoding: str | None = None) -> None:
    """The columns, what they tell, what to know, and the next command."""
    most = "" if found.whole else "the first "
    title = f"{visible(found.table)}: {most}{found.records:,} records, {len(found.columns)} columns"
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, padding=(0, 1))
    table.add_column("column", overflow="fold")
    for name in ("kind", "values", "rare", "missing"):
        table.add_column(name, justify="left" if name == "kind" else "right")
    table.add_column("shape", no_wrap=True)
    for column in found.columns:
        missing = f"{column.missing / column.records:.1%}" if column.missing else ""
        table.add_row(
            Text(visible(column.name)),
            str(column.kind),
            f"{column.distinct:,}",
            f"{column.rare:,}" if column.rare else "",
            missing,
            shape(column),
        )
    stdout.print(table)
    stdout.print(Text(f"rare: values with fewer than {found.k} records, which are not shown (--k)", style="dim"))
    stdout.print()
    _show_telling(found)
    _show_groupings(found)
    for one in found.findings:
        stdout.print(Text(f"  - {visible(str(one))}"))
    if found.findings:
        stdout.print()
    if found.command:
        stdout.print(Text("Next", style="bold"))
        stdout.print(Text(f"  {visible(found.command)}{f' --encoding {encoding}' if encoding else ''}"), soft_wrap=True)
    else:
        paragraph("No column is left to be released as it is: group one, or code it first.")


def shape(column: ColumnLook) -> str:
    """The histogram of a number, or the commonest values, as blocks."""
    heights = [bar.records for bar in column.histogram] or [one.records for one in column.top]
    if not heights:
        return ""
    most = max(heights)
    return "".join(BLOCKS[min(7, 8 * one // (most + 1))] if one else " " for one in heights[:MOST_MARKS])


def _show_telling(found: Look) -> None:
    """A bar for each column: what it tells about the secret, as a share of all there is to know."""
    if not found.telling:
        return
    named = visible(" and ".join(found.secret))
    table = Table(title=Text(f"What a column tells about {named}"), title_justify="left", title_style="bold", box=None)
    table.add_column("column", overflow="fold")
    table.add_column("", no_wrap=True, min_width=WIDTH)
    for name in ("share", "nats", "by chance"):
        table.add_column(name, justify="right")
    for column in found.telling:
        told = column.telling
        if told is None:
            continue
        solid = round(WIDTH * told.beyond_chance)
        bar = "█" * solid + "░" * (round(WIDTH * told.share) - solid)
        table.add_row(
            Text(visible(column.name)), bar, f"{told.share:.1%}", f"{told.nats:z.4f}", f"{told.by_chance:z.4f}"
        )
    stdout.print(table)
    stdout.print(
        Text(
            "share of all there is to know; ░ no more than chance shows with so many values and so few records",
            style="dim",
        )
    )
    stdout.print()


def _show_groupings(found: Look) -> None:
    if not found.groupings:
        return
    table = Table(title="What could be grouped", title_justify="left", title_style="bold", box=None)
    table.add_column("column", overflow="fold")
    table.add_column("with", overflow="fold")
    for name in ("letters", "detail kept"):
        table.add_column(name, justify="right")
    for one in found.groupings:
        table.add_row(Text(visible(one.column)), Text(visible(one.option)), str(one.letters), f"{one.keeps:.0%}")
    stdout.print(table)
    stdout.print()
