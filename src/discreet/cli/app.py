"""The commands under one roof, and what happens when something goes wrong.

    exit code   meaning
    0           done
    1           an error inside discreet
    2           a command line that cannot be understood
    3           data, a file or a parameter that cannot be used as it is
    4           no such mechanism, or not found in time
    5           a guarantee that could not be proven
    6           a release that was stopped; nothing was published
    0, 3, 4     of `check`: fine, warnings, would be refused
    130         interrupted by ctrl-C; nothing unfinished was published, unless the message says otherwise

Errors say what, where and what to do. They never show a traceback, which could carry data. The module of a command is
imported when that command is asked for, so that help comes at once.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import wraps
from importlib import import_module
from importlib.metadata import version
from typing import Any, Final

import typer
from typer.core import TyperGroup

from discreet.exceptions import DiscreetError, InfeasibleError, ProofError, ReleaseError, UnfinishedError, visible

PURPOSE: Final = (
    "Release records that say as much as possible about what may be known, and provably little about a secret."
)
COMMANDS: Final = {
    "demo": "Design, release, audit and report on the Adult census data, in half a minute.",
    "look": "What is in a table: kinds of columns, rare values, what tells about the secret, what to group.",
    "design": "Find the best mechanism for a table, prove it, and write it to a protocol file.",
    "check": "Rehearse a release: read everything, draw nothing, and say what would be refused.",
    "sanitise": "Release a table of any size through a protocol.",
    "publish": "Write the public file of a protocol: weights, laws and promise, no counts with the secret.",
    "keygen": "Make an Ed25519 key to sign public files with.",
    "study": "One file that says what is done, and one command that does it.",
    "studio": "Take a table to a release in the browser, with a picture at every decision.",
    "audit": "The exact level under every notion, with the worst case in words.",
    "estimate": "Estimate the distribution of the released attributes, with confidence intervals.",
    "report": "Write one self-contained HTML page about a protocol.",
    "warm-up": "Compile the searches once, so that the first design does not have to wait for it.",
    "papers": "Every figure, table and example of the papers, at one command.",
}
"""Every command and its first line. The function, or a `typer.Typer` called `app`, is in the module of that name."""
ESCAPED: Final = "discreet-escaped"
NOTHING: Final = "Nothing unfinished was published."
REPORT: Final = (
    "A file is whole or not there: one that is there was written, and a draw is in the ledger. "
    "Please report this line; it carries none of your data."
)


class Interrupted(Exception):
    """Ctrl-C, out of reach of what the command line library would say about it."""


class _Visible(TyperGroup):
    """What the command line library says of a line that it cannot understand repeats that line, with escapes for what
    cannot be seen."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        return _visibly(super().make_context, *arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        return _visibly(super().invoke, ctx)


def _visibly(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    try:
        return call(*arguments, **options)
    except Exception as error:
        said = getattr(error, "message", None)
        if isinstance(said, str) and hasattr(error, "format_message"):
            error.__dict__["message"] = visible(said)
        raise


def application(asked: str | None) -> typer.Typer:
    """All commands, of which only the one asked for is more than its name and first line."""
    app = typer.Typer(
        cls=_Visible,
        help=PURPOSE,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(invoke_without_command=True)(_root)
    for name, says in COMMANDS.items():
        if name == asked:
            _add(app, name)
        else:
            app.command(name, help=says)(lambda: None)
    return app


def _add(app: typer.Typer, name: str) -> None:
    module = import_module(f"discreet.cli.{name.replace('-', '_')}")
    commands = getattr(module, "app", None)
    if commands is None:
        app.command(name)(_interruptible(getattr(module, name.replace("-", "_"))))
        return
    for registered in commands.registered_commands:
        if not hasattr(registered.callback, "__wrapped__"):
            registered.callback = _interruptible(registered.callback)
    app.add_typer(commands, name=name)


def _interruptible(command: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as stop:
            raise Interrupted(str(stop) or NOTHING) from None

    return wrapped


def _root(show_version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    if show_version:
        typer.echo(version("discreet"))
        raise typer.Exit


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code.

    After a failure without further ado: a thread that still waits for a pipe would hold back an orderly exit for ever.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    _fit_terminal()
    code = run(given)
    if code:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, AttributeError):  # full, or closed and None
                stream.flush()
        os._exit(code)
    sys.exit(0)


def _fit_terminal() -> None:
    """Signs that the encoding of an output does not have are escaped, as in JSON; a terminal has some columns."""
    codecs.register_error(ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # closed and None, or somebody's own
            stream.reconfigure(errors=ESCAPED)  # type: ignore[union-attr]
    if not os.environ.get("COLUMNS", "1").strip("0 "):
        del os.environ["COLUMNS"]


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def run(arguments: list[str]) -> int:
    """The exit code of a command line."""
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _warn
            asked = next((one for one in arguments if not one.startswith("-")), None)
            application(asked)(arguments, prog_name="discreet")
    except SystemExit as done:
        return done.code if isinstance(done.code, int) else 0 if done.code is None else 1
    except DiscreetError as error:
        _show(error, "--json" in arguments)
        return code_of(error)
    except (Interrupted, KeyboardInterrupt) as stop:
        _tell("Interrupted.", "bold", f" {str(stop) or NOTHING}")
        return 130
    except Exception as error:
        place = _place(error)
        _show(DiscreetError(f"an error inside discreet ({type(error).__name__})", where=place, remedy=REPORT), False)
        return 1
    return 0


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
    _tell("Error:", "bold red", f" {error.what}.")
    if error.where:
        _tell("  where:", "", f" {error.where}")
    if error.remedy:
        _tell("  remedy:", "", f" {error.remedy}")


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    _tell("Warning:", "yellow", f" {message}")


def _tell(title: str, style: str, text: str) -> None:
    """Nothing of the text is markup: names may look like it."""
    from rich.text import Text

    from discreet.cli.show import stderr

    stderr.print(Text.assemble((title, style), text))


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
