"""A notion from what somebody writes: its name, its epsilon, and what only some notions need.

A notion with other numbers than an epsilon is written in one word, the numbers in their order after the name:
`alip:0.3:0.7`, `shift:0.1`. Every notion may be: `lip:0.5`. Averages too: `funnel:0.02`, with a ceiling beside them.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final, cast

from discreet.exceptions import ParameterError
from discreet.notions.notion import AVERAGES, NOTIONS, Notion, words_of
from discreet.notions.ordinary_ldp import OrdinaryLDP

DEFAULT_EPSILON: Final = 1.0
"""Where neither an epsilon nor numbers are given."""


def kinds() -> list[type[Notion]]:
    """Everything that can be promised, rows first."""
    return [*NOTIONS.values(), *AVERAGES.values()]


def notion_of(
    command: str, epsilon: float | None, confidence: float, belt: float | None = None, ceiling: str | None = None
) -> Notion:
    """The notion of this name at this epsilon, or at the numbers after its name; `confidence` is for those about a set,
    a belt is ordinary LDP beside it, a ceiling any notion in one word that every output keeps beside an average."""
    name, _, numbers = command.partition(":")
    kind = next(kind for kind in kinds() if kind.words.command == name)
    if ceiling is not None and kind not in AVERAGES.values():
        raise ParameterError(
            "a ceiling for a notion that is one itself", where="ceiling", remedy="It stands beside an average: funnel."
        )
    if numbers and epsilon is not None:
        raise ParameterError("numbers after the notion, and an epsilon", where="epsilon", remedy="Give one of them.")
    if epsilon is None and not numbers and kind.words.measure != "epsilon":
        raise ParameterError("a notion without its number", where="notion", remedy=f"Try {name}:0.1.")
    asked = kind.asked(DEFAULT_EPSILON if epsilon is None else epsilon, confidence)
    if numbers:
        asked = _at_confidence(spelled(command), confidence)
    if ceiling is not None:
        asked = asked & _at_confidence(spelled(ceiling), confidence)
    return asked if belt is None else asked & OrdinaryLDP(belt)


def has_number(command: str) -> bool:
    """Whether the level stands after the name."""
    return ":" in command


def _at_confidence(notion: Notion, confidence: float) -> Notion:
    """The notion at this confidence, where it is about a set."""
    about = getattr(type(notion).asked(DEFAULT_EPSILON, confidence), "uncertainty", None)
    stated = cast("Any", notion)
    return notion if about is None else cast("Notion", replace(stated, uncertainty=about))


def spelled(text: str) -> Notion:
    """A notion in one word."""
    command, *numbers = text.lower().split(":")
    kind = next((one for one in kinds() if one.words.command == command), None)
    stated: Any = kind
    try:
        if kind is not None and len(numbers) == len(_numbers(kind)):
            return cast("Notion", stated(*map(float, numbers)))
    except ValueError:
        pass
    asked = ":".join([command, *(f"({name})" for name in _numbers(kind))]) if kind else "lip:0.5"
    raise ParameterError("not a notion with its numbers", where=text, remedy=f"Write it as {asked}.")


def spelling(notion: Notion) -> str:
    """The notion in one word, as `spelled` reads it."""
    return ":".join([words_of(notion).command, *(f"{getattr(notion, name)!r}" for name in _numbers(type(notion)))])


def _numbers(kind: type[Notion]) -> list[str]:
    """The fields that are numbers, in their order."""
    return [one.name for one in fields(kind) if one.name not in ("uncertainty", "ceiling")]
