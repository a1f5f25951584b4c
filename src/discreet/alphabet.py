"""Alphabets: the named, ordered letters of one column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

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


def attributes_for(given: Any, sizes: tuple[int, ...], name: str) -> tuple[Attribute, ...]:
    """Attributes as given, or letters turned into attributes, checked against the axes of the array."""
    names = [name] if len(sizes) == 1 else [f"{name}{i + 1}" for i in range(len(sizes))]
    if given is None or len(given) == 0:
        return tuple(numbered(n, size) for n, size in zip(names, sizes, strict=True))
    if all(isinstance(item, Attribute) for item in given):
        attributes = tuple(given)
    elif len(sizes) == 1:
        attributes = (Attribute(name, tuple(given)),)
    elif len(given) != len(sizes) or any(isinstance(item, str) for item in given):
        raise AlphabetError(
            f"{len(given)} lists of letters for {len(sizes)} axes", where=f"{name}s", remedy="Give one list an axis."
        )
    else:
        attributes = tuple(Attribute(n, tuple(letters)) for n, letters in zip(names, given, strict=True))
    found = tuple(len(attribute) for attribute in attributes)
    secret_columns_on_one_axis = name == "secret" and prod(found) == sizes[0]
    if found != sizes and not secret_columns_on_one_axis:
        raise AlphabetError(
            f"{found} letters for axes of {sizes}", where=f"{name}s", remedy="Give one letter an entry of the axis."
        )
    return attributes
