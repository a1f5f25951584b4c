"""What the lines of a ledger say: events as they were entered, and what those of a release have in common.

A line that cannot be read, or is none that a ledger writes, counts as a release of which nothing is known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from discreet.files.ledger_book import OpenBooks
from discreet.records.persons import MOST_ROWS
from discreet.release.keyed_draws import KeyedDraw

UNREADABLE: Final = {"event": "release", "data": None, "key": None, "protocol": None}
LARGEST_BUDGET: Final = 1e300
"""Beyond, sums of levels are no numbers any more; nobody means such a budget."""


def independent(past: list[KeyedDraw | None]) -> int:
    """Keyed releases that agree in key, column of ids and people are one draw, those with fresh randomness one each."""
    keyed = {draw for draw in past if draw is not None}
    unread = {draw for draw in keyed if draw.people is None}
    known = {(draw.key, draw.identity) for draw in keyed - unread}
    return len(keyed - unread) + len({(d.key, d.identity) for d in unread} - known) + past.count(None)


def tables_of(draws: list[KeyedDraw | None]) -> int:
    """How many tables that differ, in ids or in what people have, one key drew at most. What a draw depends on is the
    id, not what its column is called."""
    found: dict[str, set[tuple[str, str]]] = {}
    for draw in draws:
        if draw is not None and draw.people is not None:
            found.setdefault(draw.key, set()).add((draw.identity, draw.people))
    return max(map(len, found.values()), default=1)


def draw_of(event: dict[str, Any]) -> KeyedDraw | None:
    """The draw of an event; one that does not say whose ids it used is a draw of its own."""
    if not isinstance(event.get("key"), str):
        return None
    return KeyedDraw(event["key"], str(event.get("identity")), str(event.get("people")))


def most_of(measured: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The largest level of every notion."""
    return {name: max(one.get(name, 0.0) for one in measured) for one in measured for name in one}


def counted_rows(event: dict[str, Any], name: str) -> int:
    """Rows of one person that a release drew by themselves, or chose one of; one where it does not say."""
    return int(event.get(name, 1))


def events_of(books: OpenBooks) -> list[dict[str, Any]]:
    return [_event(line) for line in books.lines()]


def _event(line: bytes) -> dict[str, Any]:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return dict(UNREADABLE)
    return event if isinstance(event, dict) and _sound(event) else dict(UNREADABLE)


def _sound(event: dict[str, Any]) -> bool:
    """Whether the event is one that `enter` writes, or one with more fields; nobody has more rows than a table."""
    if not all(isinstance(event.get(name), str | None) for name in ("data", "key", "protocol")):
        return False
    counted = [event.get(name, 1) for name in ("rows", "one_of")]
    if not all(type(rows) is int and 0 < rows <= MOST_ROWS for rows in counted):
        return False
    there = event.get("there", {})
    if not isinstance(there, dict) or not all(_is_level(level) for level in there.values()):
        return False
    declared = event.get("epsilon")
    if event.get("event") == "budget":
        return declared != 0 and _is_level(declared)
    return event.get("event") == "release"


def _is_level(number: Any) -> bool:
    return isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number <= LARGEST_BUDGET
