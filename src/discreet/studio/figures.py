"""Numbers and places for pages: rounded against the one who promises, and where marks stand.

No library is needed for them, so that the process of the pages stays small. Gains are rounded down, promises up; a
narrow space stands before the percent sign. Places are in percent of a picture's width.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final

from discreet.exceptions import visible

THIN: Final = "\u202f"
NUMBERS: Final = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
LONGEST: Final = 60


def kept_percent(share: float) -> str:
    """A gain in whole percent, rounded down."""
    return f"{math.floor(share * 100 + 1e-9)}{THIN}%"


def share_percent(share: float, digits: int = 1) -> str:
    """A share as it is counted."""
    return f"{100 * share:.{digits}f}{THIN}%"


def raised_percent(share: float, digits: int = 1) -> str:
    """An error or a limit, rounded up."""
    unit = 10**digits
    return f"{math.ceil(share * 100 * unit - 1e-9) / unit:.{digits}f}{THIN}%"


def factor(epsilon: float) -> str:
    """× e^ε, rounded up."""
    return f"× {math.ceil(math.exp(min(epsilon, 700)) * 100 - 1e-9) / 100:.2f}"


def level_words(epsilon: float) -> str:
    """ε with three decimals at most, rounded up."""
    return f"{math.ceil(epsilon * 1000 - 1e-9) / 1000:.3f}".rstrip("0").rstrip(".")


def times(ratio: float, up: bool) -> str:
    rounded = math.ceil(ratio * 100 - 1e-9) if up else math.floor(ratio * 100 + 1e-9)
    return f"× {rounded / 100:.2f}"


def thousands(number: float) -> str:
    return f"{number:,.0f}"


def counted(number: int, one: str, many: str | None = None) -> str:
    """ "one column", "three columns", "40 columns"."""
    word = NUMBERS[number] if number < len(NUMBERS) else f"{number:,}"
    return f"{word} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str]) -> str:
    told = [name_shown(name) for name in names]
    return told[0] if len(told) == 1 else ", ".join(told[:-1]) + " and " + told[-1] if told else ""


def name_shown(text: str, most: int = LONGEST) -> str:
    """Whatever comes from data: control characters made visible, and not endless."""
    told = visible(str(text))
    return told if len(told) <= most else told[: most - 1] + "…"


def short_letter(text: str, most: int) -> str:
    """A letter for a narrow place: bins by their borders."""
    short = text.replace(" to under ", "–").replace("under ", "< ").replace(" and over", " +")
    return name_shown(short, most)


def without_options(text: str) -> str:
    """A remedy without the sentences that are about a command line."""
    sentences = re.split(r"(?<=[.;])\s+", text)
    kept = " ".join(one for one in sentences if "--" not in one).rstrip("; ")
    return kept if not kept or kept.endswith(".") else kept + "."


def at(share: float, whole: float = 1.0) -> str:
    """A place or a width."""
    return f"{100 * min(1.0, max(0.0, share / whole)):.3f}%" if whole > 0 else "0%"


def round_marks(highest: float, most: int = 5) -> list[float]:
    """0 and equal round steps up to the first that is not below `highest`."""
    if not highest > 0:
        return [0.0, 1.0]
    power = 10.0 ** math.floor(math.log10(highest / most))
    step = next(s * power for s in (1, 2, 5, 10) if s * power * most >= highest * (1 - 1e-9))
    return [i * step for i in range(math.ceil(highest / step - 1e-9) + 1)]


def axis(highest: float, most: int = 4) -> dict[str, Any]:
    """An axis of shares from 0: its end, and ticks with places and words."""
    marks = round_marks(min(1.0, highest), most)
    end = max(marks[-1], 1e-9)
    ticks = [{"at": at(mark, end), "words": f"{100 * mark:.10g}{THIN}%"} for mark in marks]
    for place, tick in enumerate(ticks):
        tick["anchor"] = "" if place == 0 else "end" if place == len(ticks) - 1 else "mid"
    return {"end": end, "ticks": ticks}
