"""Policies and studies as TOML, read whole or not at all, in time proportional to their size.

`tomllib` calls itself for every bracket within another one, and compares all beginnings of a dotted key: a file of a
page could keep it busy for hours. So brackets and dots are counted first. Strings and comments are passed over as TOML
delimits them; where a file is no TOML, the two may see it differently, but then `tomllib` ends there.
"""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

from discreet.exceptions import ParameterError

LARGEST_FILE: Final = 1 << 20
"""1 MiB: a policy is a page. Of a longer file nothing is taken, for what is left out could be the rule that counts."""
DEEPEST: Final = 16
"""Brackets within each other, and parts of a dotted key: no study has more than two of either."""
LARGEST_WHOLE: Final = (1 << 63) - 1
"""TOML promises no whole numbers beyond 64 bits."""
MARKS: Final = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5}|\Z)|\'\'\'(?:[^']|'(?!\'\'))*+(?:'{3,5}|\Z)'''
    r"""|"(?:[^"\\\n]|\\.)*+["\n]?|'[^'\n]*+['\n]?|\#[^\n]*+|[\[\]{}.=,\n]""",
    re.DOTALL,
)
"""Strings of four kinds, comments, and the signs that nest or divide."""


def read_toml(path: str | os.PathLike[str], what: str, remedy: str) -> tuple[dict[str, Any], bytes]:
    """What a file says, and its bytes. It is read whole or not at all: cut short, it would lose rules unseen."""
    reason = f"above {LARGEST_FILE >> 20} MiB"
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) <= LARGEST_FILE:
            text = data.decode()
            reason = f"brackets or dotted keys deeper than {DEEPEST}"
            if not too_deep(text):
                stated = tomllib.loads(text)
                _check_numbers(stated)
                return stated, data
    except ParameterError:
        raise
    except (OSError, ValueError) as error:
        reason = type(error).__name__
    raise ParameterError(f"the {what} cannot be read ({reason})", where=str(path), remedy=remedy)


def too_deep(text: str) -> bool:
    """Whether brackets stand in too many others, or a key has too many parts."""
    depth = dots = 0
    for mark in MARKS.finditer(text.replace("\r\n", "\n")):
        sign = mark[0]
        if sign == ".":
            dots += 1
        elif sign[0] not in "\"'#":
            dots = 0
            depth += (sign in "[{") - (sign in "]}")
        if depth > DEEPEST or dots >= DEEPEST:
            return True
    return False


def _check_numbers(stated: dict[str, Any]) -> None:
    for key, value in stated.items():
        parts = value.items() if isinstance(value, dict) else [(key, value)]
        for name, part in parts:
            if isinstance(part, int) and abs(part) > LARGEST_WHOLE:
                raise ParameterError("a number beyond 64 bits", where=name, remedy="Write a smaller one.")
