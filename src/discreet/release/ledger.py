"""The ledger of a protocol: how often it was used on the same records, and what that amounts to.

One line of JSON per event, written and synced *before* a release gets its name, so a killed run can leave the ledger
above the truth, never below it. A line that cannot be read counts as a release.

What was declared as a budget is kept. Where nothing was declared, a further release is refused when it comes to more
than the sum of the single budgets, which is what people expect and what need not hold: budgets add up when a mechanism
reads the secret alone, and do *not* when it reads data that are merely correlated with the secret. Two draws that each
say nothing about S can together say everything. Let X = (A, B) be two fair coins, S = A xor B, and let a draw show A or
B at random: one draw has level 0, two show S half of the time. So the level of k independent draws is taken from the
channel that makes k draws, Q[(y_1 … y_k), z] = Π_i Q[y_i, z], which is exact; where that is too large, from the
identity, because any number of draws tells at most z itself.
"""

from __future__ import annotations

import json
import math
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import combinations_with_replacement
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np

from discreet.channel import Channel
from discreet.exceptions import BudgetError, ParameterError
from discreet.notions.conjunction import belt_of
from discreet.notions.rldp import RLDP
from discreet.phrases import rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.release.keyed_draws import KeyedDraw
from discreet.release.ledger_book import OpenBooks, common_book, locked, unchanged

ANY_DATA: Final = "the data"
UNREADABLE: Final = {"event": "release", "data": None, "key": None, "protocol": None}
MOST_CELLS: Final = 4_000_000
"""Of the channel of several draws: 32 MB."""
MOST_ROBUST_ROWS: Final = 500
"""Of that channel, where the level of every row is a search over a set of distributions."""
MOST_DRAWS: Final = 64
"""For more draws the level of the identity is stated, which no number of them exceeds."""
SMALLEST_LOG: Final = 600.0
"""Products below e^−600 may underflow, and an output that seems impossible would hide what it tells."""
LARGEST_BUDGET: Final = 1e300
USUAL_BELT: Final = 8.0
"""The belt that is recommended: it costs little (theory 7.1)."""
ROUNDING: Final = 1e-9
"""Levels are rounded up to a multiple of this, so that an error in the last digits states no less than the truth."""


@dataclass(frozen=True)
class Account:
    """What one more release comes to: so many independent draws of every record, and their level together."""

    draws: int
    epsilon: float
    budget: float | None


@dataclass(frozen=True, eq=False)
class Ledger:
    """`data` names the records: what is released under the same name is taken to be about the same people.

    `path` is the book beside the protocol; the common book of all its copies is kept as well (see `ledger_book`).
    """

    path: Path
    protocol: AnyProtocol
    data: str = ANY_DATA
    read: tuple[Path, ...] = ()

    @classmethod
    def beside(cls, protocol_path: Path, protocol: AnyProtocol, data: str | None = None) -> Ledger:
        """Beside the file itself, whatever link leads to it; a book beside the link is read as well."""
        named = protocol_path.with_name(f"{protocol_path.name}.ledger")
        real = protocol_path.resolve()
        path = real.with_name(f"{real.name}.ledger")
        other = (named,) if named.exists() and named.resolve() != path.resolve() else ()
        return cls(path if other or protocol_path.is_symlink() else named, protocol, data or ANY_DATA, other)

    def account(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """What one more release would come to; BudgetError if that is more than was declared.

        A keyed draw of people not yet read is taken for a repetition of one with the same key and column.
        """
        with self._locked() as books:
            return self._account(_events(books), draw, budget)

    def foretold(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """What `account` says, from books that are only read: where there is none, none is begun."""
        with unchanged(common_book(self.protocol.digest), self.path, self.read) as books:
            return self._account(_events(books), draw, budget)

    def enter(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """Enter a release that is about to be published; what all of them come to with it."""
        with self._locked() as books:
            events = _events(books)
            account = self._account(events, draw, budget)
            if budget is not None and budget != self._budget(events):
                self._append(books, {"event": "budget", "data": self.data, "epsilon": budget})
            remembered = {"key": None} if draw is None else asdict(draw)
            self._append(books, {"event": "release", "data": self.data, **remembered})
            return account

    def draws(self) -> int:
        """Independent draws of every record so far."""
        with self._locked() as books:
            return independent(self._past(_events(books)))

    def _locked(self) -> AbstractContextManager[OpenBooks]:
        return locked(common_book(self.protocol.digest), self.path, self.read)

    def _append(self, books: OpenBooks, event: dict[str, Any]) -> None:
        event = {**event, "protocol": self.protocol.digest, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        books.append(json.dumps(event, sort_keys=True).encode())

    def _account(self, events: list[dict[str, Any]], draw: KeyedDraw | None, budget: float | None) -> Account:
        known = self._budget(events)
        if budget is not None and not 0 < budget <= LARGEST_BUDGET:
            raise BudgetError("a budget is a positive number", where="budget")
        if budget is not None and known is not None and budget > known:
            raise BudgetError(
                f"a budget of {known:g} was declared before", where=self.path.name, remedy="It can only be lowered."
            )
        limit = budget if budget is not None else known
        draws = independent([*self._past(events), draw])
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

    def _past(self, events: list[dict[str, Any]]) -> list[KeyedDraw | None]:
        """Every release of these records so far, None for fresh randomness."""
        mine = [event for event in events if event["event"] == "release" and event.get("data") in (self.data, None)]
        if any(event.get("protocol") not in (self.protocol.digest, None) for event in mine):
            raise BudgetError(
                "these records were released under another protocol before, and what both tell together is not known",
                where=self.path.name,
                remedy="If this is about other people, give the data a name of its own.",
            )
        return [_draw(event) for event in mine]

    def _budget(self, events: list[dict[str, Any]]) -> float | None:
        declared = [e["epsilon"] for e in events if e["event"] == "budget" and e.get("data") == self.data]
        return min(declared) if declared else None


def ledger_of(
    path: str | PathLike[str] | None, protocol: AnyProtocol, data: str | None, budget: float | None
) -> Ledger | None:
    """The ledger in this file, for tables in memory; None where nobody counts."""
    if path is None and (data is not None or budget is not None):
        raise ParameterError("a budget or a name without a ledger", where="ledger", remedy="Name a file for it.")
    return None if path is None else Ledger(Path(path), protocol, data or ANY_DATA)


def independent(past: list[KeyedDraw | None]) -> int:
    """Keyed releases that agree in key, column of ids and people are one draw, those with fresh randomness one each."""
    keyed = {draw for draw in past if draw is not None}
    unread = {draw for draw in keyed if draw.people is None}
    known = {(draw.key, draw.identity) for draw in keyed - unread}
    return len(keyed - unread) + len({(d.key, d.identity) for d in unread} - known) + past.count(None)


def _draw(event: dict[str, Any]) -> KeyedDraw | None:
    """The draw of an event; one that does not say whose ids it used is a draw of its own."""
    if not isinstance(event.get("key"), str):
        return None
    return KeyedDraw(event["key"], str(event.get("identity")), str(event.get("people")))


def _events(books: OpenBooks) -> list[dict[str, Any]]:
    return [_event(line) for line in books.lines()]


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return dict(UNREADABLE)
    return event if isinstance(event, dict) and _sound(event) else dict(UNREADABLE)


def _sound(event: dict[str, Any]) -> bool:
    """Whether the event is one that `enter` writes, or one with more fields."""
    if not all(isinstance(event.get(name), str | None) for name in ("data", "key", "protocol")):
        return False
    declared = event.get("epsilon")
    if event.get("event") == "budget":
        return isinstance(declared, int | float) and not isinstance(declared, bool) and 0 < declared <= LARGEST_BUDGET
    return event.get("event") == "release"


# ---- what several releases tell together ----------------------------------------------------------------------------


def total_epsilon(protocol: AnyProtocol, draws: int) -> float:
    """The level of that many independent releases of the same records, rounded up; 0 for none. With a belt of b it is
    never above b for each of them (theory 7.1)."""
    if draws <= 1:
        return protocol.epsilon if draws else 0.0
    if isinstance(protocol, StratifiedProtocol):
        return max(total_epsilon(one, draws) for one in protocol.strata.values())
    leading, belt = protocol.notion.promises[0], belt_of(protocol.notion)
    most = MOST_ROBUST_ROWS if isinstance(leading, RLDP) else MOST_CELLS // len(protocol.inputs)
    level = leading.level(repeated(protocol.channel, draws, most), protocol.joint).epsilon
    level = level if belt is None else min(level, draws * belt)
    return max(protocol.epsilon, math.ceil(level / ROUNDING) * ROUNDING if math.isfinite(level) else math.inf)


def draws_told(protocol: AnyProtocol) -> str:
    """What one, two and three draws of one record tell, in one line; and what a belt would bound, where it helps."""
    levels = [total_epsilon(protocol, draws) for draws in (1, 2, 3)]
    said = ", ".join("no bound" if math.isinf(level) else rounded_up(level) for level in levels)
    text = f"One, two and three independent draws of a record have level {said}."
    belt = belt_of(protocol.notion)
    if belt is not None:
        return f"{text} With the belt of {belt:g} k draws never exceed {belt:g}·k, whatever anybody knows."
    if levels[1] <= 2 * USUAL_BELT:
        return text
    return (
        f"{text} A design with --belt {USUAL_BELT:g} would hold two and three draws at {2 * USUAL_BELT:g} and "
        f"{3 * USUAL_BELT:g} at most, whatever anybody knows: for devices, panels and keys that may get lost."
    )


def repeated(channel: Channel, draws: int, most: int) -> Channel:
    """`draws` independent draws, in any order; a channel that tells more where that takes more than `most` rows."""
    matrix = channel.matrix[channel.matrix.any(axis=1)]
    if draws * -math.log(matrix[matrix > 0].min()) > SMALLEST_LOG:
        return Channel(np.eye(matrix.shape[1]), channel.inputs)
    if draws > MOST_DRAWS or math.comb(len(matrix) + draws - 1, draws) > most:
        return Channel(np.eye(matrix.shape[1]), channel.inputs)
    rows = []
    for chosen in combinations_with_replacement(range(len(matrix)), draws):
        orders = math.factorial(draws) // math.prod(math.factorial(chosen.count(y)) for y in set(chosen))
        rows.append(orders * np.prod(matrix[list(chosen)], axis=0))
    return Channel(np.array(rows), channel.inputs)
