"""Files that a command writes: not replaced unasked, and there whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from discreet.cli.show import stderr
from discreet.exceptions import ReleaseError


def may_replace(*targets: Path, force: bool, inputs: Iterable[Path] = ()) -> None:
    """Asks on a terminal before files are replaced; elsewhere a file that is there stays, without `--force`.

    What is no ordinary file, and what is an input of the command, is refused later, with or without `--force`.
    """
    given = [path for path in inputs if path.exists()]
    there = [path for path in targets if path.is_file() and not any(path.samefile(one) for one in given)]
    if force or not there:
        return
    listed = ", ".join(map(str, there))
    if not (sys.stdin and sys.stdin.isatty() and stderr.is_terminal):
        raise ReleaseError(
            "a file of this name is there already", where=listed, remedy="Give another name, or --force."
        )
    try:
        agreed = typer.confirm(f"There already: {listed}. Replace?", err=True)
    except typer.Abort:
        raise KeyboardInterrupt from None
    if not agreed:
        raise ReleaseError("what is there stays as it is", where=listed, remedy="Give another name.")


def write_file(target: Path, content: bytes) -> None:
    from discreet.files.atomic_file import unpublished

    with unpublished(target) as file:
        file.write(content)
        file.publish()
