"""What a release says about itself: its statement, and the manifest of a file.

The statement says nothing about the raw data: a hash of them, or a count of unusual cells, would confirm a guess about
a single person to whoever knows the others.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from discreet.files.atomic_file import Target
from discreet.notions.notion import words_of
from discreet.release.batches import BatchSanitiser, ReleaseLaw
from discreet.release.keyed_draws import CONSTRUCTION
from discreet.release.ledger import OTHER_PEOPLE, Account

FORMAT: Final = "discreet release"
VERSION: Final = 1
"""Of the format; it grows when a reader of the old one could misread the new one."""


def _released(kernel: BatchSanitiser) -> str | list[str]:
    names = [name for name, _ in kernel.columns]
    return names[0] if len(names) == 1 else names


def statement(kernel: BatchSanitiser, keep_order: bool, several_rows: bool = False) -> dict[str, Any]:
    """What every release says about itself."""
    protocol = kernel.protocol
    assert not isinstance(protocol, ReleaseLaw)
    given = {"given": list(kernel.given)} if kernel.given else {}
    lead, *others = protocol.notion.promises
    return {
        "format": FORMAT,
        "version": VERSION,
        "records": kernel.tally.records,
        "columns": {"released": _released(kernel), "kept": list(kernel.keep), **given},
        "order": "as in the source" if keep_order else "random",
        "protocol": {
            "sha256": protocol.digest,
            "notion": words_of(lead).name,
            "epsilon": protocol.epsilon,
            **({"also": [{"notion": words_of(n).name, "epsilon": n.epsilon} for n in others]} if others else {}),
        },
        "randomness": "; ".join(_sources(kernel)),
        **_people(kernel, several_rows),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _people(kernel: BatchSanitiser, several_rows: bool) -> dict[str, Any]:
    """Whose rows these are, as far as keyed draws depend on it."""
    if not kernel.keyed or not kernel.keyed.kept:
        return {}
    shared = "rows of one id with equal values share one draw: all of them are released alike"
    rows = shared if several_rows else "one row per id: checked"
    return {"identity": {"column": kernel.keyed.column, "rows": rows}}


def _sources(kernel: BatchSanitiser) -> list[str]:
    """Where the draws come from, and the order, if it is not the operating system's."""
    if not kernel.keyed or not kernel.keyed.kept:
        return [kernel.randomness.source]
    return [f"keyed, repeatable: {CONSTRUCTION}", *([] if kernel.randomness.private else [kernel.randomness.source])]


def account_of(account: Account) -> dict[str, Any]:
    named = {} if account.people is None else {"people": account.people, "adding_up": OTHER_PEOPLE}
    meant = {"repeat": "one more draw of the same records, on purpose"} if account.repeat else {}
    others = [{"notion": name, "total_epsilon": level} for name, level in account.others]
    also = {"also": others} if others else {}
    supposed = {"condition": account.condition} if account.condition else {}
    return {"independent_draws": account.draws, "total_epsilon": account.epsilon, **supposed, **also, **meant, **named}


def manifest(
    kernel: BatchSanitiser, account: Account, target: Target, keep_order: bool, name: str, several_rows: bool = False
) -> dict[str, Any]:
    file = {"name": Path(name).name, "bytes": target.size, "sha256": target.sha256()}
    return {**statement(kernel, keep_order, several_rows), "file": file, **account_of(account)}
