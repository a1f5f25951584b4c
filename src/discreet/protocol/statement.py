"""What is stated beside the proof: whose rows they are, what the release is for, where the prior comes from.

None of it enters the proof. It is text for people, kept with the protocol so that it cannot be lost or changed unseen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from discreet.exceptions import ParameterError
from discreet.records.persons import NOT_CHECKED, Rule, WhoseRows

LONGEST = 10_000
MOST_FORECASTS = 1000
"""Characters of one statement, and how many forecasts it may have: a page or two."""


@dataclass(frozen=True)
class Statement:
    """Each entry is None, or empty, where nothing is said.

    `rows` says whose rows they are: what was counted by a column of persons or households, or a text;
    `people` how many people they are about, `purpose` what the release is for, `origin` where the prior comes from, and
    `forecast` what was promised to analysts before anything was released: a name and a decimal number or a text each.
    """

    rows: WhoseRows | str | None = None
    people: int | None = None
    purpose: str | None = None
    origin: str | None = None
    forecast: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "forecast", MappingProxyType(dict(self.forecast)))
        whose = None if isinstance(self.rows, WhoseRows) else self.rows
        texts = [whose, self.purpose, self.origin, *self.forecast, *self.forecast.values()]
        if any(text is not None and (not isinstance(text, str) or not 0 < len(text) <= LONGEST) for text in texts):
            raise ParameterError(
                f"not a text of 1 to {LONGEST:,} characters", where="statement", remedy="Say it in a sentence or two."
            )
        if self.people is not None and (type(self.people) is not int or not 0 < self.people < 2**53):
            raise ParameterError("not a number of people", where="people", remedy="Give a whole number above zero.")
        if len(self.forecast) > MOST_FORECASTS:
            raise ParameterError("more forecasts than anybody reads", where="forecast", remedy="State the main ones.")

    @classmethod
    def about(cls, rows: WhoseRows | None) -> Statement:
        """What counting a table has to say."""
        return cls() if rows is None else cls(rows=rows, people=rows.units)

    @property
    def whose(self) -> str:
        """Whose rows they are, in words."""
        return NOT_CHECKED if self.rows is None else str(self.rows)

    def to_a_unit(self, level: float) -> float:
        """What is promised to a person or household: all of their rows together where they are drawn by themselves,
        and otherwise the level of one row."""
        together = self.rows.epsilon if isinstance(self.rows, WhoseRows) else None
        return level if together is None else together

    @property
    def said(self) -> dict[str, str | int | dict[str, str] | dict[str, str | int]]:
        """The entries where something is said, by name, as files have them."""
        every = {one.name: getattr(self, one.name) for one in fields(self)} | {"forecast": dict(self.forecast)}
        every["rows"] = self.rows.facts if isinstance(self.rows, WhoseRows) else self.rows
        return {name: value for name, value in every.items() if value}


def stated_rows(protocol: Any) -> WhoseRows | None:
    """What a protocol says about persons with several rows, all of which are released."""
    stated = getattr(getattr(protocol, "statement", None), "rows", None)
    several = isinstance(stated, WhoseRows) and stated.rule in (Rule.tied, Rule.independent)
    return stated if several else None
