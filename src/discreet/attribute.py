"""Attributes, the columns of a table with their letters, and the forms: which of them a mechanism reads and releases.

The letters of several columns together are in C order of the probability array: the last column changes fastest.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from discreet.exceptions import AlphabetError, ParameterError

if TYPE_CHECKING:
    from discreet.records.grouping import ColumnGrouping


@dataclass(frozen=True)
class Attribute:
    """One column: its name and its letters, in the order of the array's axis.

    Arguments:
        name: of the column.
        letters: its values, each once.
        labels: words for the letters, in their order; none if left out.
        missing: codes that mean "no answer".
        grouping: leads from the values in a table to the letters, where they are not the same.
        met: the letters were met in the table that was counted, not declared beforehand; others may exist.
    Raises:
        AlphabetError: no letter, a letter twice, or not one label for every letter.
    Example:
        >>> import discreet as dc
        >>> colour = dc.Attribute("colour", ("red", "blue"))
        >>> dc.Joint([[0.4, 0.1], [0.1, 0.4]], releases=[colour]).releases[0].letters
        ('red', 'blue')
    """

    name: str
    letters: tuple[Hashable, ...]
    labels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    grouping: ColumnGrouping | None = None
    met: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("letters", "labels", "missing"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.labels) not in (0, len(self.letters)):
            raise AlphabetError("not one label for every letter", where=self.name, remedy="Give one each, or none.")
        if not self.letters:
            raise AlphabetError("an attribute without letters", where=self.name, remedy="Give it at least one letter.")
        if len(set(self.letters)) != len(self.letters):
            repeated = len(self.letters) - len(set(self.letters))
            raise AlphabetError(
                f"{repeated} letters occur twice", where=self.name, remedy="Give every letter a name of its own."
            )

    def __len__(self) -> int:
        return len(self.letters)

    @property
    def beforehand(self) -> Attribute:
        """The same column towards another table, which chose neither its letters nor its groups."""
        grouping = None if self.grouping is None else replace(self.grouping, learnt=False)
        return replace(self, grouping=grouping, met=False)


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


# ---- forms -----------------------------------------------------------------------------------------------------------


class Form(StrEnum):
    """What a mechanism reads and what it is judged by; the values are those of the protocol file."""

    FUNNEL = "funnel"
    """Reads X, judged by X: the papers' funnel."""
    RELEASES_SECRET = "include_secret"
    """Reads (S, U) and is judged by both: X = (S, U), the papers on robust LDP."""
    CURATOR = "sees_secret"
    """Reads (S, X), judged by X: for an owner of the data."""


REQUIRED = {
    Form.FUNNEL: ("this mechanism reads X only", "Build the joint without include_secret and sees_secret."),
    Form.RELEASES_SECRET: ("this mechanism releases X = (S, U)", "Build the joint with include_secret=True."),
    Form.CURATOR: ("this mechanism reads (S, X) and releases X", "Use joint.curator(), or sees_secret=True."),
}
"""What to say where another form is needed, and what to do about it."""


def form_of(form: Form, include_secret: bool | None, sees_secret: bool | None) -> Form:
    """The form in one word, from the two flags where they are given."""
    if include_secret and sees_secret:
        raise ParameterError(
            "a mechanism that releases the secret reads it anyway",
            where="include_secret and sees_secret",
            remedy="Give one of the two.",
        )
    if include_secret or sees_secret:
        return Form.RELEASES_SECRET if include_secret else Form.CURATOR
    withdrawn = (form is Form.RELEASES_SECRET and include_secret is False) or (
        form is Form.CURATOR and sees_secret is False
    )
    return Form.FUNNEL if withdrawn else form
