"""The commands under one roof, and what happens when something goes wrong.

    exit code   meaning
    0           done
    1           an error inside discreet
    2           a command line that cannot be understood
    3           data, a file or a parameter that cannot be used as it is
    4           no such mechanism, or not found in time
    5           a guarantee that could not be proven
    6           a release that was stopped; nothing was published
    130         interrupted by ctrl-C; nothing unfinished was published, unless the message says otherwise

Errors say what, where and what to do. They never show a traceback, which could carry data.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from importlib.metadata import version
from typing import Any

import typer

from discreet.cli import audit, demo, design, estimate, papers, report, sanitise
from discreet.cli.show import stderr
from discreet.exceptions import DiscreetError, InfeasibleError, ProofError, ReleaseError, UnfinishedError

app = typer.Typer(
    help="Release records that say as much as possible about what may be known, and provably little about a secret.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo.demo, design.design, sanitise.sanitise, audit.audit, estimate.estimate, report.report):
    app.command()(command)
app.add_typer(papers.app, name="papers")


class Interrupted(Exception):
    """Ctrl-C, out of reach of what the command line library would say about it."""


def _interruptible(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as stop:
            raise Interrupted(str(stop) or NOTHING) from None

    return wrapped


NOTHING = "Nothing unfinished was published."
for registered in (*app.registered_commands, *papers.app.registered_commands):
    if registered.callback is not None:
        registered.callback = _interruptible(registered.callback)


@app.callback(invoke_without_command=True)
def _root(show_version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if show_version:
        typer.echo(version("discreet"))
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    After a failure without further ado: a thread that still waits for a pipe would hold back an orderly exit for ever.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    code = run(given)
    if code:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, AttributeError):  # full, or closed and None
                stream.flush()
        os._exit(code)
    sys.exit(0)


def run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    try:
        app(arguments, prog_name="discreet")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0 if done.code is None else 1
    except DiscreetError as error:
        _show(error, "--json" in arguments)
        return code_of(error)
    except (Interrupted, KeyboardInterrupt) as stop:
        stderr.print(f"[bold]Interrupted.[/] {str(stop) or NOTHING}")
        return 130
    except Exception as error:
        place = _place(error)
        _show(DiscreetError(f"an error inside discreet ({type(error).__name__})", where=place, remedy=REPORT), False)
        return 1
    return 0


REPORT = "Nothing was published. Please report this line; it carries none of your data."


def code_of(error: DiscreetError) -> int:
    if isinstance(error, (InfeasibleError, UnfinishedError)):
        return 4
    if isinstance(error, ProofError):
        return 5
    return 6 if isinstance(error, ReleaseError) else 3


def _show(error: DiscreetError, as_json: bool) -> None:
    if as_json:
        fault = {"kind": type(error).__name__, "what": error.what, "where": error.where, "remedy": error.remedy}
        typer.echo(json.dumps({"error": fault}, ensure_ascii=False))
        return
    stderr.print(f"[bold red]Error:[/] {_plain(error.what)}.")
    if error.where:
        stderr.print(f"  where: {_plain(error.where)}")
    if error.remedy:
        stderr.print(f"  remedy: {_plain(error.remedy)}")


def _plain(text: str) -> str:
    """File names may contain what rich reads as markup."""
    return text.replace("[", "\\[")


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
