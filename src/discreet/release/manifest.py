"""The manifest beside a release: what it is, so that anyone can check it.

It says nothing about the raw data: a hash of them, or a count of unusual cells, would confirm a guess about a single
person to whoever knows the others.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from discreet.release.kernel import Kernel
from discreet.release.ledger import Account
from discreet.release.target import Target

FORMAT: Final = "discreet release"
VERSION: Final = 1


def statement(kernel: Kernel, keep_order: bool) -> dict[str, Any]:
    """What every release says about itself."""
    protocol = kernel.protocol
    return {
        "format": FORMAT,
        "version": VERSION,
        "records": kernel.tally.records,
        "columns": {"released": kernel.column, "kept": list(kernel.keep)},
        "order": "as in the source" if keep_order else "random",
        "protocol": {
            "sha256": protocol.digest,
            "notion": type(protocol.notion).__name__,
            "epsilon": protocol.epsilon,
        },
        "randomness": "; ".join(_sources(kernel)),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _sources(kernel: Kernel) -> list[str]:
    """Where the draws come from, and the order, if it is not the operating system's."""
    if not kernel.keyed:
        return [kernel.randomness.source]
    return ["keyed BLAKE2b, repeatable", *([] if kernel.randomness.private else [kernel.randomness.source])]


def account_of(account: Account) -> dict[str, Any]:
    return {"independent_draws": account.draws, "total_epsilon": account.epsilon}


def manifest(kernel: Kernel, account: Account, target: Target, keep_order: bool, name: str) -> dict[str, Any]:
    file = {"name": Path(name).name, "bytes": target.size, "sha256": target.sha256()}
    return {**statement(kernel, keep_order), "file": file, **account_of(account)}
