"""What a command writes never replaces what it reads, what it remembers, or what else it writes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from discreet.exceptions import ReleaseError
from discreet.files.atomic_file import PIPE, same_file
from discreet.files.ledger_book import LEDGER


def check_outputs(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """ReleaseError where an output is an input, a ledger, or another output by whatever name."""
    read = [one for one in inputs if str(one) != PIPE]
    for i, path in enumerate(outputs):
        if path.name.endswith(LEDGER) or any(same_file(path, one) for one in read):
            raise ReleaseError(
                "the output would replace an input or a ledger", where=str(path), remedy="Give it another name."
            )
        if any(same_file(path, one) for one in outputs[:i]):
            raise ReleaseError("two outputs have one name", where=str(path), remedy="Give each a name of its own.")
