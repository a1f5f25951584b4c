"""The ledger of a protocol: how often it was used on the same records, and what that amounts to.

One line of JSON per event, written and synced *before* a release gets its name, so a killed run can leave the ledger
above the truth, never below it. A line that cannot be read counts as a release.

What was declared as a budget is kept. Where nothing was declared, a further release is refused when it comes to more
than the sum of the single budgets, which is what people expect and what need not hold (see `draws_together`).

Whoever means to draw again says so (`repeat`): then the sum need not hold, a declared budget and a finite level must.
A person with up to k rows that are drawn by themselves is in every draw k times; the largest k so far counts. Where
one of k rows is chosen for every release, or a key drew people whose values changed, the level of several draws rests
on a condition: only `repeat` takes it for granted, and has it stated; a declared budget never does. What its key
repeats is no draw. Values may also have changed between draws without a key, which nobody sees: so a person's draws are
taken to be of the same row or of rows that are independent given the secret, whichever tells more.

What holds beside the leading promise, a ceiling or another notion, is held to the same: every one has a level of all
draws, and neither an average nor a declared budget makes up for a ceiling that no draw after this one would keep.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import BudgetError, ParameterError
from discreet.files.ledger_book import LEDGER, OpenBooks, common_book, locked, unchanged
from discreet.notions.notion import words_of
from discreet.phrases import rounded_up
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol, promise_of
from discreet.release.draws_together import (
    ROUNDING,
    condition_of,
    told_nothing,
    total_epsilon,
    unassumed_total,
    whatever_the_law,
)
from discreet.release.given import named_path
from discreet.release.keyed_draws import CONSTRUCTION, KeyedDraw
from discreet.release.ledger_events import (
    LARGEST_BUDGET,
    counted_rows,
    draw_of,
    events_of,
    independent,
    most_of,
    tables_of,
)

ANY_DATA: Final = "the data"
OTHER_PEOPLE: Final = (
    "Releases about different people do not add up: a promise is about the releases that a person is in. Whoever is in "
    "both has both, and then they do."
)


class _TooMuch(BudgetError):
    """One draw more than may be told; what would be accepted is not said yet."""


@dataclass(frozen=True)
class Account:
    """What one more release comes to: so many independent draws of every record, and their level together."""

    draws: int
    epsilon: float
    budget: float | None
    people: str | None = None
    """Their name, where they have one: releases of different people do not add up."""
    rows: int = 1
    """Rows of one person that are drawn by themselves, at most; `epsilon` is the person's."""
    repeat: bool = False
    """Whether a further draw was asked for."""
    others: tuple[tuple[str, float], ...] = ()
    """What all draws tell under the other notions that are promised, by name; where there are several draws or rows."""
    condition: str = ""
    """What the levels suppose where draws may be of different rows of a person, and the level without it."""
    least: bool = False
    """Whether the key drew other records before, for all that is known: then it is one draw more."""

    @property
    def total(self) -> str:
        """Of every promise."""
        levels = [f"total epsilon {rounded_up(self.epsilon)}"]
        levels += [f"{name} level {rounded_up(level)}" for name, level in self.others]
        return f"{', '.join(levels)}{f' {self.condition}' if self.condition else ''}"


@dataclass(frozen=True, eq=False)
class Ledger:
    """`data` names the records: what is released under the same name is taken to be about the same people.

    `repeat` says that a further draw is meant, `rows` how many rows of one person are drawn by themselves, `one_of`
    among how many the one that is drawn is chosen; what a `policy` allows, all releases together may tell. At a table
    where the promise is broken, levels are those measured `there`.
    `path` is the book beside the protocol; the common book of all its copies is kept as well (see `ledger_book`).
    """

    path: Path
    protocol: AnyProtocol
    data: str = ANY_DATA
    read: tuple[Path, ...] = ()
    repeat: bool = False
    rows: int = 1
    one_of: int = 1
    policy: Policy | None = None
    there: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def beside(
        cls, protocol_path: Path, protocol: AnyProtocol, data: str | None = None, *, repeat: bool = False
    ) -> Ledger:
        """Beside the file itself, whatever link leads to it; a book beside the link is read as well."""
        named = protocol_path.with_name(f"{protocol_path.name}{LEDGER}")
        real = protocol_path.resolve()
        path = real.with_name(f"{real.name}{LEDGER}")
        other = (named,) if os.path.exists(named) and named.resolve() != path.resolve() else ()
        return cls(path if other or protocol_path.is_symlink() else named, protocol, _name(data), other, repeat)

    @classmethod
    def of_user(
        cls,
        protocol: AnyProtocol,
        data: str | None = None,
        path: str | PathLike[str] | None = None,
        *,
        repeat: bool = False,
    ) -> Ledger:
        """In this file, or in the user's data folder, beside the common book."""
        common = common_book(protocol.digest)
        own = named_path(path, "ledger") if path else common.with_suffix(f".own{LEDGER}")
        return cls(own, protocol, _name(data), repeat=repeat)

    def of_rows(self, rows: int, one_of: int = 1) -> Ledger:
        """The same for a table where a person has up to so many rows, each drawn by itself, or one of so many."""
        return replace(self, rows=rows, one_of=one_of)

    def under(self, policy: Policy | None) -> Ledger:
        return replace(self, policy=policy)

    def at(self, there: Mapping[str, float]) -> Ledger:
        """The same for a table where the promise is broken and these levels were measured, by notion."""
        return replace(self, there=there)

    def account(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """What one more release would come to; BudgetError if that is more than was declared.

        A keyed draw of people not yet read is taken for a repetition of one with the same key and column, and the
        account says that it is the least that it can come to.
        """
        with self._locked() as books:
            return self._account(events_of(books), draw, checked_budget(budget))

    def foretold(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """What `account` says, from books that are only read: where there is none, none is begun."""
        with unchanged(common_book(self.protocol.digest), self.path, self.read) as books:
            return self._account(events_of(books), draw, checked_budget(budget))

    def enter(self, draw: KeyedDraw | None = None, budget: float | None = None) -> Account:
        """Enter a release that is about to be published; what all of them come to with it."""
        budget = checked_budget(budget)
        with self._locked() as books:
            events = events_of(books)
            account = self._account(events, draw, budget)
            if budget is not None and budget != self._budget(events):
                self._append(books, {"event": "budget", "data": self.data, "epsilon": budget})
            remembered = {"key": None} if draw is None else {**asdict(draw), "construction": CONSTRUCTION}
            remembered |= {"repeat": True} if self.repeat else {}
            remembered |= {"rows": self.rows} if self.rows > 1 else {}
            remembered |= {"one_of": self.one_of} if self.one_of > 1 else {}
            remembered |= {"there": dict(self.there)} if self.there else {}
            self._append(books, {"event": "release", "data": self.data, **remembered})
            return account

    def draws(self) -> int:
        """Independent draws of every record so far."""
        with self._locked() as books:
            return independent(self._past(events_of(books)))

    def entered(self) -> list[dict[str, Any]]:
        """Every release of these records so far, whatever became of it, from books that are only read."""
        with unchanged(common_book(self.protocol.digest), self.path, self.read) as books:
            return self._mine(events_of(books))

    def _locked(self) -> AbstractContextManager[OpenBooks]:
        return locked(common_book(self.protocol.digest), self.path, self.read)

    def _append(self, books: OpenBooks, event: dict[str, Any]) -> None:
        event = {**event, "protocol": self.protocol.digest, "time": datetime.now(UTC).isoformat(timespec="seconds")}
        books.append(json.dumps(event, sort_keys=True).encode())

    def _account(self, events: list[dict[str, Any]], draw: KeyedDraw | None, budget: float | None) -> Account:
        try:
            return self._judged(events, draw, budget)
        except _TooMuch as error:
            raise BudgetError(error.what, where=error.where, remedy=self._ways(events, draw, budget)) from None

    def _ways(self, events: list[dict[str, Any]], draw: KeyedDraw | None, budget: float | None) -> str:
        """What would be accepted instead: each way is tried before it is named."""

        def accepted(ledger: Ledger, draw: KeyedDraw | None, budget: float | None) -> bool:
            try:
                ledger._judged(events, draw, budget)
            except BudgetError:
                return False
            return True

        past, once = self._past(events), replace(self, repeat=False)
        others = replace(once, data=f"not {[event.get('data') for event in events]}")
        told = {
            "Release with the key of an earlier release, which repeats its draws.": any(
                accepted(once, one, budget) for one in {*past} - {None, draw}
            ),
            "Publish the first release again.": bool(past),
            "If these are other people, next year's or another region's, give them a name: --people NAME.": accepted(
                others, draw, budget
            ),
            "Declare a larger budget." if budget else "If that is meant, declare a budget: --budget.": accepted(
                self, draw, self._budget(events) or LARGEST_BUDGET
            ),
            "If one more draw is meant: --repeat (repeat=True).": accepted(replace(self, repeat=True), draw, budget),
        }
        otherwise = "Design on this table." if self.there else "Design for a smaller level."
        return " ".join(way for way, works in told.items() if works) or otherwise

    def _judged(self, events: list[dict[str, Any]], draw: KeyedDraw | None, budget: float | None) -> Account:
        known = self._budget(events)
        if budget is not None and known is not None and budget > known:
            raise BudgetError(
                f"a budget of {known:g} was declared before", where=self.path.name, remedy="It can only be lowered."
            )
        limit = budget if budget is not None else known
        past = self._past(events)
        draws = independent([*past, draw])
        mine = self._mine(events)
        rows = max([self.rows, *(counted_rows(event, "rows") for event in mine)])
        chosen = max([self.one_of, *(counted_rows(event, "one_of") for event in mine)])
        tables = tables_of([*past, draw])
        condition = condition_of(self.protocol, draws, rows, chosen, tables)
        unread = draw is not None and draw.people is None
        if self.repeat and not 0 < independent(past) < draws + unread:
            raise BudgetError(
                "nothing would be drawn again: this is the first draw of these records, or one that its key repeats",
                where=self.path.name,
                remedy="Leave out --repeat (repeat=True), which is for one more draw on purpose.",
            )
        there = most_of([self.there, *(event.get("there", {}) for event in mine)])
        supposed = not condition or draws == independent(past) or (self.repeat and limit is None)
        levels = []
        for place, one in enumerate(promise_of(self.protocol).promises):
            if place and max(draws, rows) == 1 and not there:
                continue
            name, level = words_of(one).name, total_epsilon(self.protocol, draws, rows, draws, place, tables)
            if there:
                level = max(level, self._elsewhere(draws, rows, place, there.get(name, 0.0)))
            levels.append((name, level))
            what = f"{levels[-1][0]} level" if place else "epsilon"
            declared = "" if place or limit is None else f"the declared budget of {limit:g}"
            first = draws == independent(past) or (draws == 1 and bool(there))
            again = math.inf if first else self._sum(draws, rows, place)
            allowed = limit if declared and limit is not None else again
            self._hold(what, draws, levels[-1][1], allowed, declared)
            sure = unassumed_total(self.protocol, draws, rows, place, tables) if condition else level
            sure = max(sure, level)
            if not supposed:
                what = f"{what}, whatever the rows and values of one person have to do with each other,"
                self._hold(what, draws, sure, allowed, declared)
            if draws > 1 or rows > self.rows:
                self._hold_to_policy(draws, rows, levels[-1][0], sure)
        people = None if self.data == ANY_DATA else self.data
        (_, epsilon), *others = levels
        least = unread and draws == independent(past)
        return Account(draws, epsilon, limit, people, rows, self.repeat, tuple(others), condition, least)

    def _elsewhere(self, draws: int, rows: int, place: int, measured: float) -> float:
        """What so many draws tell where the promise is broken: what was measured of one; of several nothing is known
        but what holds at every law."""
        return measured if draws == rows == 1 else whatever_the_law(self.protocol, draws * rows, place)

    def _sum(self, draws: int, rows: int, place: int = 0) -> float:
        """What so many draws come to where levels add up, counted from where nothing is told; any, if asked for."""
        nothing, one = told_nothing(self.protocol, place), total_epsilon(self.protocol, 1, rows, 1, place)
        return math.inf if self.repeat else nothing + draws * (one - nothing)

    def _hold(self, what: str, draws: int, level: float, allowed: float, declared: str) -> None:
        """BudgetError if so many draws come to a level above what is allowed, or to none."""
        if level <= allowed * (1 + ROUNDING) + ROUNDING and math.isfinite(level):  # levels are rounded up by that much
            return
        limit = declared or ("any bound" if self.repeat else f"the {allowed:.4g} that their budgets add up to")
        raise _TooMuch(
            f"{draws} independent releases of the same records come to {what} {level:.4g}, more than {limit}",
            where=self.path.name,
        )

    def _hold_to_policy(self, draws: int, rows: int, name: str, level: float) -> None:
        """BudgetError where all draws tell somebody with so many rows more than the policy in force lets a notion have;
        a release by itself is judged by its `Rules`."""
        most = math.inf if self.policy is None else self.policy.epsilon.get(name, math.inf)
        if level > most:
            each = "" if rows == 1 else f" for somebody with {rows} rows"
            raise _TooMuch(
                f"{draws} independent releases of the same records come to epsilon {level:.4g}{each}, and "
                f"epsilon.{name} = {most:g} is all that the policy allows",
                where=self.path.name,
            )

    def _past(self, events: list[dict[str, Any]]) -> list[KeyedDraw | None]:
        """Every release of these records so far, None for fresh randomness."""
        mine = self._mine(events)
        if any(event.get("protocol") not in (self.protocol.digest, None) for event in mine):
            raise BudgetError(
                "these records were released under another protocol before, and what both tell together is not known",
                where=self.path.name,
                remedy="If this is about other people, give them a name: --people NAME, people=….",
            )
        return [draw_of(event) for event in mine]

    def _mine(self, events: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [event for event in events if event["event"] == "release" and event.get("data") in (self.data, None)]

    def _budget(self, events: list[dict[str, Any]]) -> float | None:
        declared = [e["epsilon"] for e in events if e["event"] == "budget" and e.get("data") == self.data]
        return min(declared) if declared else None


def ledger_of(
    path: str | PathLike[str] | None, protocol: AnyProtocol, data: str | None, budget: float | None, repeat: bool
) -> Ledger | None:
    """The ledger in this file, for tables in memory; None where nobody counts."""
    if path is None and (data is not None or budget is not None or repeat):
        raise ParameterError(
            "a budget, a name or a repeat without a ledger", where="ledger", remedy="Name a file for it."
        )
    return None if path is None else Ledger(named_path(path, "ledger"), protocol, _name(data), repeat=repeat)


def checked_budget(budget: Any) -> float | None:
    """A budget as it is entered: any real number above zero, of whatever library."""
    if budget is None:
        return None
    number = isinstance(budget, Real | Decimal) and not isinstance(budget, bool)
    with suppress(OverflowError, ValueError):
        if number and 0 < (found := float(budget)) <= LARGEST_BUDGET:
            return found
    raise BudgetError("a budget is a positive number", where="budget", remedy="Give a number: budget=2.0.")


def _name(people: Any) -> str:
    """The name of those that a release is about; a number would not be found again in the books."""
    if not isinstance(people, str | None):
        raise ParameterError("a name for people that is no text", where="people", remedy='Give text: people="2024".')
    return people or ANY_DATA
