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

    What cannot be written, and what is an input of the command or a ledger, is refused with or without `--force`.
    """
    check_targets(*targets, inputs=inputs)
    ask_to_replace(*targets, force=force)


def check_targets(*targets: Path, inputs: Iterable[Path] = ()) -> None:
    """ReleaseError where a file cannot be written, or would replace what its command reads or remembers."""
    from discreet.files.atomic_file import check_writable
    from discreet.files.outputs import check_outputs

    check_outputs(targets, inputs)
    for path in targets:
        check_writable(path)


def ask_to_replace(*targets: Path, force: bool) -> None:
    """Of files that are there; KeyboardInterrupt or ReleaseError where nobody agrees."""
    there = [path for path in targets if path.is_file()]
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


def remove_file(path: Path) -> None:
    """What belonged to a file that was replaced."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise ReleaseError(
            f"cannot be removed ({error.strerror})", where=str(path), remedy="Remove it: it belongs to an earlier file."
        ) from None
