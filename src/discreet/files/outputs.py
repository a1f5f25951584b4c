"""What a command writes never replaces what it reads, what it remembers, or what else it writes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from discreet.exceptions import ReleaseError
from discreet.files.atomic_file import PIPE, same_file
from discreet.files.ledger_book import LEDGER, common_book


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """ReleaseError where an output is an input, a ledger, or another output by whatever name."""
    every = list(inputs)
    read = [one for one in every if str(one) != PIPE]
    for i, path in enumerate(outputs):
        piped = len(read) < len(every) and _behind_standard_input(path)
        if piped or any(same_file(path, one) for one in read) or _is_ledger(path, read):
            raise ReleaseError(
                "the output would replace an input or a ledger", where=str(path), remedy="Give it another name."
            )
        if any(same_file(path, one) for one in outputs[:i]):
            raise ReleaseError("two outputs have one name", where=str(path), remedy="Give each a name of its own.")


def _behind_standard_input(path: Path) -> bool:
    """Whether this is the file that standard input reads."""
    with suppress(OSError, ValueError):
        read = os.fstat(0)
        return stat.S_ISREG(read.st_mode) and os.path.samestat(read, os.stat(path))
    return False


def _is_ledger(path: Path, inputs: Sequence[Path]) -> bool:
    """By its name, by that of the file that links lead to, or as another name of a ledger: of one of the user's, or of
    one beside the output or an input."""
    with suppress(OSError, ValueError):
        if path.name.endswith(LEDGER) or os.path.realpath(path).endswith(LEDGER):
            return True
        if os.stat(path).st_nlink < 2:
            return False
        folders = {place.parent for one in (path, *inputs) for place in (one, Path(os.path.realpath(one)))}
        with suppress(ReleaseError):
            folders.add(common_book("").parent)
        return any(same_file(path, book) for folder in folders for book in folder.glob(f"*{LEDGER}"))
    return False
