"""The way back and forth: every state of the choices before and after, as what it has otherwise than its neighbour.

A list of states ends with the one next to now. A decision changes a field or two, so a hundred states take hardly more
than one; where a field is long, as the merges of thousands of values are, the farthest states are forgotten. States
that say every field, as they were kept once, are read in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

MOST_STEPS: Final = 100
MOST_BYTES: Final = 4 << 20
"""Of a way: every change writes all of it, and every page reads it."""


def kept(now: Mapping[str, Any], states: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The states as they are written: the fields of each that its neighbour, or now, has otherwise."""
    said: list[dict[str, Any]] = []
    after, size = now, 0
    for state in reversed(states[-MOST_STEPS:]):
        one = {name: value for name, value in state.items() if name not in after or after[name] != value}
        size += len(json.dumps(one, ensure_ascii=False).encode())
        if size > MOST_BYTES:
            break
        said.append(one)
        after = state
    return said[::-1]


def read(now: Mapping[str, Any], said: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The states that were written so."""
    states: list[dict[str, Any]] = []
    for one in reversed(said):
        states.append({**(states[-1] if states else now), **one})
    return tuple(states[::-1])
