"""The ledger beside a protocol: how often it was used on the same records, and what that amounts to.

One line of JSON an event, written and synced *before* a release gets its name, so a killed run can leave the ledger
above the truth, never below it. A line that cannot be read counts as a release.

What was declared as a budget is kept. Where nothing was declared, a further release is refused when it comes to more
than the sum of the single budgets, which is what people expect and what need not hold (see `composition`).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import BudgetError, ReleaseError
from discreet.protocol import Protocol
from discreet.release.composition import ROUNDING, total_epsilon
from discreet.release.publish import sync_folder

ANY_DATA: Final = "the data"
UNREADABLE: Final = {"event": "release", "data": None, "key": None, "protocol": None}


@dataclass(frozen=True)
class Account:
    """What one more release comes to: so many independent draws of every record, and their level together."""

    draws: int
    epsilon: float
    budget: float | None


@dataclass(frozen=True, eq=False)
class Ledger:
    """`data` names the records: what is released under the same name is taken to be about the same people."""

    path: Path
    protocol: Protocol
    data: str = ANY_DATA

    @classmethod
    def beside(cls, protocol_path: Path, protocol: Protocol, data: str | None = None) -> Ledger:
        return cls(protocol_path.with_name(f"{protocol_path.name}.ledger"), protocol, data or ANY_DATA)

    def account(self, key: str | None = None, budget: float | None = None) -> Account:
        """What one more release would come to; BudgetError if that is more than was declared."""
        with self._locked() as file:
            return self._account(file, key, budget)

    def enter(self, key: str | None = None, budget: float | None = None) -> None:
        """Enter a release that is about to be published."""
        with self._locked() as file:
            known = self._budget(self._events(file))
            self._account(file, key, budget)
            if budget is not None and budget != known:
                self._append(file, {"event": "budget", "data": self.data, "epsilon": budget})
            self._append(file, {"event": "release", "data": self.data, "key": key})

    def draws(self) -> int:
        """Independent draws of every record so far."""
        with self._locked() as file:
            return independent(self._keys(self._events(file)))

    # ---- the file ---------------------------------------------------------------------------------------------

    def _account(self, file: int, key: str | None, budget: float | None) -> Account:
        events = self._events(file)
        known = self._budget(events)
        if budget is not None and not budget > 0:
            raise BudgetError("a budget is a positive number", where="budget")
        if budget is not None and known is not None and budget > known:
            raise BudgetError(
                f"a budget of {known:g} was declared before", where=self.path.name, remedy="It can only be lowered."
            )
        limit = budget if budget is not None else known
        draws = independent([*self._keys(events), key])
        epsilon = total_epsilon(self.protocol, draws)
        if limit is not None:
            allowed, declared = limit, f"the declared budget of {limit:g}"
        else:
            allowed = draws * self.protocol.epsilon
            declared = f"the {allowed:.4g} that their budgets add up to; declare a budget if that is meant"
        if not epsilon <= allowed * (1 + ROUNDING) or math.isinf(epsilon):
            raise BudgetError(
                f"{draws} independent releases of the same records come to epsilon {epsilon:.4g}, more than {declared}",
                where=self.path.name,
                remedy="Release with a key, which repeats the same draws, or publish the first release again.",
            )
        return Account(draws, epsilon, limit)

    def _keys(self, events: list[dict[str, Any]]) -> list[str | None]:
        """The key of every release of these records, None for fresh randomness."""
        mine = [event for event in events if event["event"] == "release" and event.get("data") in (self.data, None)]
        if any(event.get("protocol") not in (self.protocol.digest, None) for event in mine):
            raise BudgetError(
                "these records were released under another protocol before, and what both tell together is not known",
                where=self.path.name,
                remedy="If this is about other people, give the data a name of its own.",
            )
        return [event.get("key") for event in mine]

    def _budget(self, events: list[dict[str, Any]]) -> float | None:
        declared = [e["epsilon"] for e in events if e["event"] == "budget" and e.get("data") == self.data]
        return min(declared) if declared else None

    @contextmanager
    def _locked(self) -> Iterator[int]:
        import fcntl

        try:
            file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise ReleaseError(
                f"the ledger cannot be opened ({error.strerror})",
                where=str(self.path),
                remedy="A release needs a ledger beside its protocol; copy the protocol to a folder of your own.",
            ) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield file
        finally:
            os.close(file)

    def _events(self, file: int) -> list[dict[str, Any]]:
        content = os.pread(file, os.fstat(file).st_size, 0)
        return [_event(line) for line in content.split(b"\n") if line.strip()]

    def _append(self, file: int, event: dict[str, Any]) -> None:
        event = {**event, "protocol": self.protocol.digest, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        size = os.fstat(file).st_size
        torn = size and os.pread(file, 1, size - 1) != b"\n"
        line = (b"\n" if torn else b"") + json.dumps(event, sort_keys=True).encode() + b"\n"
        if os.write(file, line) != len(line):
            raise ReleaseError("the ledger could not be written in full", where=str(self.path))
        os.fsync(file)
        sync_folder(self.path.parent)


def independent(keys: list[str | None]) -> int:
    """Releases with the same key are one draw, those with fresh randomness one each."""
    return len(set(keys) - {None}) + keys.count(None)


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except ValueError:
        return dict(UNREADABLE)
    known = isinstance(event, dict) and event.get("event") in ("release", "budget")
    sound = known and (event["event"] != "budget" or isinstance(event.get("epsilon"), int | float))
    return event if sound else dict(UNREADABLE)
