"""Columns that nobody named: they are told apart by their place, for two may share a name, or have none."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

OTHER: Final = "discreet other column "
EVERY: Final[Container[int]] = range(sys.maxsize)
"""The places of all columns."""


@dataclass(frozen=True)
class OtherColumn:
    """The column in this place of a table, and what it is called in the batches that are read."""

    place: int
    name: str
    column: str
    shown: bool = True

    @property
    def called(self) -> str:
        """For people: without the name where there is none, or where it may be somebody's value."""
        return self.name if self.shown and self.name else f"column number {self.place + 1}"


def places_of(names: Sequence[str]) -> dict[str, int]:
    """The first place of every name, for a table may have very many columns."""
    return {name: place for place, name in reversed(tuple(enumerate(names)))}


def twice_in(names: Sequence[str]) -> set[str]:
    """The names that are there more than once."""
    return {name for name, times in Counter(names).items() if times > 1}


def single_names(names: Sequence[str]) -> list[str]:
    """The names that are one column's alone."""
    twice = twice_in(names)
    return [name for name in names if name not in twice]


def other_columns(
    names: Sequence[object], read: Mapping[str, int], places: Container[int], *, shown: bool = True
) -> tuple[OtherColumn, ...]:
    """The columns in these places; those that are read by name are called by it."""
    called = {place: name for name, place in read.items()}
    return tuple(
        OtherColumn(place, str(name), called.get(place, f"{OTHER}{place}"), shown)
        for place, name in enumerate(names)
        if place in places
    )
