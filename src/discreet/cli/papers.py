"""`discreet papers`: every figure, table and example of the papers, computed again and compared with the print."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

app = typer.Typer(no_args_is_help=True, help="Every figure, table and example of the papers, at one command.")
console = Console()
COLUMNS = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())


@app.command("list")
def list_items(as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False) -> None:
    """What there is to run."""
    from discreet.papers import ITEMS, PAPERS

    if as_json:
        typer.echo(json.dumps([{"name": item.name, "title": item.title} for item in ITEMS], ensure_ascii=False))
        return
    for paper, title in PAPERS.items():
        table = Table(title=f"[bold]{paper}[/bold]  {title}", title_justify="left", box=None, show_header=False)
        for item in ITEMS:
            if item.paper == paper:
                table.add_row(f"  {item.name}", item.title)
        console.print(table)
    console.print("\nRun one with: discreet papers run funnel-2/figure-5 --quick")


@app.command()
def run(
    names: Annotated[list[str], typer.Argument(help="An item, a paper, or all: see `discreet papers list`.")],
    quick: Annotated[bool, typer.Option(help="Few draws and few points: seconds instead of minutes.")] = False,
    out: Annotated[Path, typer.Option(help="Where the plots and numbers go.")] = Path("papers"),
    jobs: Annotated[int, typer.Option(help="Processes; 0 for one a core.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Compute, draw, write the numbers, and say how they compare with the paper."""
    from discreet.papers import Reproduction, Workload, find, write
    from discreet.papers.output_files import as_json as record
    from discreet.papers.output_files import paragraph
    from discreet.papers.printed_numbers import compare

    records = []
    made: dict[
        Callable[[Workload], Reproduction], Reproduction
    ] = {}  # the journal repeats three figures of the conference paper
    for item in dict.fromkeys(item for name in names for item in find(name)):
        started = time.perf_counter()
        with Progress(*COLUMNS, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(item.name, total=1.0)
            advance = partial(_advance, progress, task)
            if item.make not in made:
                made[item.make] = item.make(Workload(quick, jobs or os.cpu_count() or 1, advance))
            outcome = made[item.make]
        written, compared = write(item, outcome, out, quick=quick), compare(item.name, outcome)
        records.append(record(item, outcome, compared, quick) | {"seconds": time.perf_counter() - started})
        if not as_json:
            typer.echo(paragraph(item, outcome, compared, quick=quick))
            typer.echo("  " + ", ".join(str(path) for path in written) + "\n")
    if as_json:
        typer.echo(json.dumps(records, ensure_ascii=False))


@app.command()
def gallery(
    results: Annotated[Path, typer.Argument(help="What `discreet papers run all --out RESULTS` wrote.")],
    docs: Annotated[Path, typer.Argument(help="The folder for gallery.md and its plots.")],
) -> None:
    """One page with every plot and its comparison."""
    from discreet.papers import ITEMS, PAPERS
    from discreet.papers.gallery import gallery as make

    typer.echo(str(make(ITEMS, PAPERS, results, docs)))


def _advance(progress: Progress, task: TaskID, share: float) -> None:
    progress.update(task, completed=share)
