"""Alphabets: the named, ordered letters of one column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product

from discreet.exceptions import AlphabetError


@dataclass(frozen=True)
class Attribute:
    """One column: its name and its letters, in the order of the array's axis."""

    name: str
    letters: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "letters", tuple(self.letters))
        if not self.letters:
            raise AlphabetError("an attribute without letters", where=self.name, remedy="Give it at least one letter.")
        if len(set(self.letters)) != len(self.letters):
            repeated = len(self.letters) - len(set(self.letters))
            raise AlphabetError(
                f"{repeated} letters occur twice", where=self.name, remedy="Give every letter a name of its own."
            )

    def __len__(self) -> int:
        return len(self.letters)


def numbered(name: str, size: int) -> Attribute:
    """An attribute whose letters are 0, 1, …, size − 1."""
    return Attribute(name, tuple(range(size)))


def letters_of(attributes: Sequence[Attribute]) -> tuple[Hashable, ...]:
    """The letters of a product in C order: plain letters for one attribute, tuples for several."""
    if len(attributes) == 1:
        return attributes[0].letters
    return tuple(product(*(attribute.letters for attribute in attributes)))


def distinct_names(attributes: Sequence[Attribute]) -> None:
    names = [attribute.name for attribute in attributes]
    if len(set(names)) != len(names):
        raise AlphabetError("a column is named twice", where=", ".join(names), remedy="Name every column once.")
