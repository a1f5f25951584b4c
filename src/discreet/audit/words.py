"""A worst case in words that a board can read."""

from __future__ import annotations

import math
from collections.abc import Hashable
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from discreet.notions.level import Level

PLAIN = 1e9


def in_words(level: Level, *, raised: bool = True, robust: bool = False) -> str:
    """What the witness of a level means; `raised` is the direction in which LIP moves the secret."""
    if level.witness is None or level.epsilon <= 0:
        return "no output tells anything about the secret"
    found = level.witness
    output, secret = quoted(found.output), quoted(found.secret)
    if found.other is not None:
        change = _compared(level.epsilon, output, secret, quoted(found.other))
    else:
        change = _moved(level.epsilon, output, secret, raised)
    known = " and ".join(f"{name} = {quoted(value)}" for name, value in found.side_channel)
    told = f" for somebody who knows {known}" if known else ""
    return change + told + (", at the worst distribution of the set" if robust else "")


def quoted(letter: Hashable) -> str:
    """Text in quotes, tuples joined, everything else as it is written."""
    if isinstance(letter, tuple):
        return "(" + ", ".join(quoted(part) for part in letter) + ")"
    return f"'{letter}'" if isinstance(letter, str) else str(letter)


def times(epsilon: float) -> str:
    """e^ε, rounded up to three digits of what exceeds 1: no promise sounds stronger than it is."""
    return rounded_up(math.exp(epsilon), above=1.0, digits=3) if epsilon < 700 else "more than 1e300"


def rounded_up(value: float, above: float = 0.0, digits: int = 6) -> str:
    """A decimal that is not below the value, with so many digits of what exceeds `above`."""
    return _rounded(value, above, digits, ROUND_CEILING)


def rounded_down(value: float, above: float = 0.0, digits: int = 6) -> str:
    """A decimal that is not above the value, with so many digits of what exceeds `above`."""
    return _rounded(value, above, digits, ROUND_FLOOR)


def _rounded(value: float, above: float, digits: int, rounding: str) -> str:
    if value <= above or not math.isfinite(value):
        return f"{value:g}"
    exact = Decimal(repr(float(value)))
    unit = Decimal(1).scaleb((exact - Decimal(repr(above))).adjusted() - digits + 1)
    shown = ((exact / unit).to_integral_value(rounding) * unit).normalize()
    return f"{shown:f}" if value < PLAIN else f"{shown:e}"


def _compared(epsilon: float, output: str, secret: str, other: str) -> str:
    if epsilon == math.inf:
        return f"output {output} excludes {other} and leaves {secret} possible"
    return f"output {output} makes {secret} {times(epsilon)} times as likely as {other}"


def _moved(epsilon: float, output: str, secret: str, raised: bool) -> str:
    if epsilon == math.inf:
        return f"output {output} excludes {secret}"
    return f"output {output} makes {secret} {times(epsilon)} times {'as' if raised else 'less'} likely" + (
        " as before" if raised else " than before"
    )
