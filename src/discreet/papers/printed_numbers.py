"""What the papers print, and whether it came out here.

`expected/<paper>.toml` holds one entry a number: its `name` among the values of an item, the number as `printed`, and
`where`. A mean over random draws also has the number of `draws` behind the printed one and the `spread` of a single
draw; both means then differ by chance, and the tolerance is three standard errors of their difference. Half a unit of
the last printed digit is always allowed. `between` stands for a range that a figure shows or a sentence claims.
A row of a table is one entry: `at` lists what stands in place of the `{}` of its name, and the other fields are then
lists of the same length, or the same for the whole row.

An entry with an `erratum` is a printed number that does not come out. It says why, and holds the number that does
(`here`): the same test that asks for agreement elsewhere asks for this disagreement here.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from discreet.papers.experiment import Measured, Reproduction

SIGMAS = 3.0


@dataclass(frozen=True)
class Printed:
    name: str
    where: str
    printed: str = ""
    between: tuple[float, float] | None = None
    draws: int = 1
    spread: float = 0.0
    here: str = ""
    erratum: str = ""

    def tolerance(self, draws: int) -> float:
        """For a mean over this many draws against the printed one."""
        return SIGMAS * self.spread * math.sqrt(1 / self.draws + 1 / max(draws, 1)) + half_unit(self.printed)

    def agrees(self, measured: Measured) -> bool:
        """Whether the printed number came out."""
        if self.between is not None:
            return bool(self.between[0] <= measured.value <= self.between[1])
        return bool(abs(measured.value - float(self.printed)) <= self.tolerance(measured.draws))

    def holds(self, measured: Measured) -> bool:
        """Whether the measurement is as this entry says: the printed number, or for an erratum not that but `here`.

        With few draws the two may be too close to tell apart; then `here` is all that is asked for.
        """
        if not self.erratum:
            return self.agrees(measured)
        if self.between is not None:
            return not self.agrees(measured)
        chance = SIGMAS * self.spread / math.sqrt(max(measured.draws, 1)) + half_unit(self.here)
        apart = abs(float(self.here) - float(self.printed)) > self.tolerance(measured.draws) + chance
        return abs(measured.value - float(self.here)) <= chance and not (apart and self.agrees(measured))

    @property
    def shown(self) -> str:
        """What the paper has."""
        return self.printed or "{:g} to {:g}".format(*(self.between or ()))

    def value_like(self, measured: Measured) -> str:
        """The number that came out, with as many digits as the paper has and at least three."""
        if self.between is not None:
            return f"{measured.value:.4g}"
        return f"{measured.value:.{max(len(self.printed.partition('.')[2]), 3)}f}"

    def sentence(self, measured: Measured) -> str:
        """One line for people."""
        reason = "" if self.agrees(measured) else f" ({self.erratum or 'no reason known'})"
        if self.between is not None:
            verdict = "as the paper has it" if self.agrees(measured) else "not so"
            return f"{self.name}: {self.shown} in the paper, here {self.value_like(measured)}, {verdict}{reason}"
        verdict = "met" if self.agrees(measured) else "not met"
        allowed = f"tolerance {self.tolerance(measured.draws):.2g}"
        return f"{self.name}: printed {self.printed}, here {self.value_like(measured)} ({allowed}), {verdict}{reason}"


@cache
def printed_numbers(paper: str) -> dict[str, tuple[Printed, ...]]:
    """The entries of a paper by item."""
    text = files("discreet.papers").joinpath("expected", f"{paper}.toml").read_text(encoding="utf-8")
    items = tomllib.loads(text)["items"]
    return {part: tuple(one for fields in entries for one in _entries(fields)) for part, entries in items.items()}


def compare(name: str, outcome: Reproduction) -> list[tuple[Printed, Measured]]:
    """Every printed number of an item beside the one that came out."""
    paper, part = name.split("/")
    return [(entry, outcome.values[entry.name]) for entry in printed_numbers(paper).get(part, ())]


def half_unit(number: str) -> float:
    """Half a unit of the last digit, with room for the number itself being a float."""
    return 0.5000001 * 10.0 ** -len(number.partition(".")[2]) if number else 0.0


def _entries(fields: dict[str, Any]) -> Iterator[Printed]:
    """One entry, or those of a row."""
    if "between" in fields:
        fields = {**fields, "between": tuple(fields["between"])}
    places = fields.get("at")
    if places is None:
        yield Printed(**fields)
        return
    row = {name: value if isinstance(value, list) else [value] * len(places) for name, value in fields.items()}
    del row["at"]
    for place, *values in zip(places, *row.values(), strict=True):
        one = dict(zip(row, values, strict=True))
        yield Printed(**{**one, "name": one["name"].replace("{}", place)})
