"""Columns, letters and numbers as people read them.

Everything that comes from data passes `visible`, so that no letter can move a cursor, turn the direction of the text or
end a line. Numbers are rounded against the one who promises. Whole sentences are those of a notion (`Words.promise`),
of an uncertainty set (`SetWords.holds`) and of `wording`.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from discreet.attribute import Attribute
from discreet.channel import label
from discreet.exceptions import visible

PLAIN = 1e9
"""From here on numbers are written with a power of ten."""
LARGEST_POWER = 700.0
"""e^700 is about 1e304, near the end of floating point."""
LONGEST_SHOWN = 300
"""Characters of a letter that people are shown; a terminal takes time in the square of a line."""


@dataclass(frozen=True)
class InformationUnit:
    """Nats inside, bits for people who ask for them."""

    name: str
    nats: float

    def __call__(self, value: float, digits: int = 4) -> str:
        return f"{value / self.nats:z.{digits}f} {self.name}"


NATS, BITS = InformationUnit("nats", 1.0), InformationUnit("bits", math.log(2))  # what is divided by


def shown(letter: Hashable) -> str:
    """A letter for people, cut where nobody would read on."""
    return visible(cut(label(letter)))


def cut(text: str) -> str:
    """The beginning of a text that nobody reads to its end."""
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}… ({len(text):,} characters)"


def quoted(letter: Hashable) -> str:
    """Text in quotes, tuples joined, everything else as it is written."""
    if isinstance(letter, tuple):
        return "(" + ", ".join(quoted(part) for part in letter) + ")"
    return visible(f"'{cut(letter)}'" if isinstance(letter, str) else cut(str(letter)))


def few_as_one(column: str, records: int, *, by_name: bool) -> str:
    """The option that makes one value of those that few records have: by their number, or by name where the counts
    must not choose (theory 5.1). Without a column, of every one."""
    number = f"{column}:rare:{records}" if column else f"rare:{records}"
    return "--merge " + shlex.quote(visible(f"{column or 'column'}: A, B -> C" if by_name else number))


def named_apart(letters: Sequence[Hashable], words: Callable[[Hashable], str]) -> list[str]:
    """A different text for every letter: in words, and those that would be called alike as Python writes them."""
    said = [words(letter) for letter in letters]
    often = Counter(said)
    apart = [text if often[text] == 1 else repr(letter) for text, letter in zip(said, letters, strict=True)]
    return apart if len(set(apart)) == len(apart) else [repr(letter) for letter in letters]


def names(attributes: Sequence[Attribute]) -> str:
    """The columns in words."""
    columns = [visible(attribute.name) for attribute in attributes]
    return columns[0] if len(columns) == 1 else ", ".join(columns[:-1]) + " and " + columns[-1]


def times(epsilon: float) -> str:
    """e^ε, rounded up to three digits of what exceeds 1: no promise sounds stronger than it is."""
    return rounded_up(math.exp(epsilon), above=1.0, digits=3) if epsilon < LARGEST_POWER else "more than 1e300"


def percent(share: float) -> str:
    """Ten digits, and not above the share: 99.99999999999 % is not 100 %."""
    return f"{_decimal(_exact(share).scaleb(2), 10, ROUND_FLOOR):f}%"


def rounded_up(value: float, above: float = 0.0, digits: int = 6) -> str:
    """A decimal that is not below the value, with so many digits of what exceeds `above`."""
    return _rounded(value, above, digits, ROUND_CEILING)


def rounded_down(value: float, above: float = 0.0, digits: int = 6) -> str:
    """A decimal that is not above the value, with so many digits of what exceeds `above`."""
    return _rounded(value, above, digits, ROUND_FLOOR)


def _rounded(value: float, above: float, digits: int, rounding: str) -> str:
    if value <= above or not math.isfinite(value):
        return f"{value:g}"
    decimal = _decimal(_exact(value), digits, rounding, _exact(above))
    return f"{decimal:f}" if value < PLAIN else f"{decimal:e}"


def _exact(value: float) -> Decimal:
    """The number as it is written in decimals."""
    return Decimal(repr(float(value)))


def _decimal(exact: Decimal, digits: int, rounding: str, above: Decimal = Decimal(0)) -> Decimal:
    """So many digits of what exceeds `above`, and none behind that are zero."""
    unit = Decimal(1).scaleb((exact - above).adjusted() - digits + 1)
    return ((exact / unit).to_integral_value(rounding) * unit).normalize()
