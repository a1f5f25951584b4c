"""What a release does to relations with a column that was left out, by an example from the table itself.

A row is changed by chance, a column that is joined to it later is not. So among people released with a letter a the
share of a value z is

    Σ_{s, x} n(z, s, x) Q(a | s, x)  /  Σ_{z, s, x} n(z, s, x) Q(a | s, x)

up to chance, and n(z, a) / n(a) in the table. The example is the letter and the value where both differ most; both have
at least 50 people. Nothing is drawn for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from discreet.arrays import Floats
from discreet.phrases import shown
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.records.counting import Cells, cells_of
from discreet.records.grouping import Grouping

FEW: Final = 50
LARGEST: Final = 5_000_000
"""Entries of Q over (s, x): an example is not worth more."""


@dataclass(frozen=True)
class WeakenedRelation:
    """The share of `value` of the column left out among people with `letter` of a released column: in the table
    (`before`), and among those released with it (`after`)."""

    column: str
    value: str
    released: str
    letter: str
    before: float
    after: float


def weakened_relation(
    protocol: AnyProtocol, table: Any, left_out: Sequence[str], group: Grouping
) -> WeakenedRelation | None:
    """The strongest example over these columns, or None: where outputs are no values, or letters are others by now."""
    found = [one for name in left_out for one in _examples(protocol, table, name, group)]
    return max(found, key=lambda one: abs(one.before - one.after), default=None)


def _examples(protocol: AnyProtocol, table: Any, name: str, group: Grouping) -> list[WeakenedRelation]:
    joint = protocol.joint
    given = protocol.given if isinstance(protocol, StratifiedProtocol) else ()
    secrets, releases = ([one.name for one in columns] for columns in (joint.secrets, joint.releases))
    cells = cells_of(table, [name, *secrets], [*(one.name for one in given), *releases], group=group, force=True)
    if _letters(cells.secrets[1:]) != _letters(joint.secrets) or _letters(cells.releases) != _letters(
        (*given, *joint.releases)
    ):
        return []
    moved = _moved(protocol, cells, len(given))
    if moved is None:
        return []
    examples = []
    for axis, column in enumerate(joint.releases):
        others = tuple(1 + other for other in range(len(joint.releases)) if other != axis)
        before, after = (array.sum(axis=others) for array in moved)
        shares = [np.divide(array, np.maximum(array.sum(axis=0), 1e-9)) for array in (before, after)]
        change = np.abs(shares[0] - shares[1]) * ((before >= FEW) & (after >= FEW))
        largest = np.round(change, 9) + 1e-12 * shares[0]  # of two values that mirror each other the usual one
        z, a = np.unravel_index(int(largest.argmax()), change.shape)
        if change[z, a] > 0:
            value, letter = shown(cells.secrets[0].letters[z]), shown(column.letters[a])
            examples.append(
                WeakenedRelation(name, value, column.name, letter, float(shares[0][z, a]), float(shares[1][z, a]))
            )
    return examples


def _letters(columns: Sequence[Any]) -> list[tuple[Any, ...]]:
    return [one.letters for one in columns]


def _moved(protocol: AnyProtocol, cells: Cells, given: int) -> tuple[Floats, Floats] | None:
    """n(z, x) as it is, and as it is expected among the released; None where outputs are no values."""
    joint = protocol.joint
    values, secrets = len(cells.secrets[0]), len(joint.secret_letters)
    counts = np.asarray(cells.counts, float).reshape(values, secrets, -1, joint.table.shape[1])
    sizes = [len(one) for one in cells.releases[:given]]
    parts: list[tuple[int, Protocol]] = [(0, protocol)] if isinstance(protocol, Protocol) else []
    if isinstance(protocol, StratifiedProtocol):
        codes = [{letter: i for i, letter in enumerate(one.letters)} for one in protocol.given]
        for key, one in protocol.strata.items():
            place = [code[letter] for code, letter in zip(codes, key, strict=True)]
            parts.append((int(np.ravel_multi_index(place, sizes)), one))
    after = np.zeros((values, joint.table.shape[1]))
    for stratum, one in parts:
        places = {letter: i for i, letter in enumerate(one.joint.target_letters)}
        if len(one.outputs) * secrets * len(places) > LARGEST or any(y not in places for y in one.outputs):
            return None
        law = one.joint.expand(one.matrix).reshape(len(one.outputs), -1)
        after[:, [places[y] for y in one.outputs]] += counts[:, :, stratum].reshape(values, -1) @ law.T
    before = counts.sum(axis=(1, 2))
    shape = values, *(len(one) for one in joint.releases)
    return before.reshape(shape), after.reshape(shape)
