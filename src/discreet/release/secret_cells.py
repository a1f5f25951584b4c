"""The secret of a table as its protocol names it: one column for each secret, or the parts of secrets that were joined.

`Joint.observed` and `Joint.merge_secrets` make one secret a×b of the columns a and b, whose letters are pairs. No table
has such a column, but it has the parts: it is made of them wherever secrets are read. Of letters that were merged the
parts are not known any more, so that such cells are unknown ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from discreet.attribute import Attribute
from discreet.joint import Joint
from discreet.records.letters import LetterReader, letters_by_text
from discreet.records.no_numbers import MOST_UNKNOWN

JOIN = "×"
NO_LETTER = "\x00"
"""A text that is no letter: a cell of the secret that is unknown, which is told."""


def secret_columns(joint: Joint) -> list[str]:
    """Every column that may hold a secret or a part of one."""
    return list(dict.fromkeys(name for one in joint.secrets for name in (one.name, *_parts(one))))


def secrets_in(joint: Joint, there: Sequence[str]) -> list[str] | None:
    """Those of these columns that are read for the secrets; None where one cannot be read."""
    found: list[str] = []
    for one in joint.secrets:
        columns = [one.name] if one.name in there else [*_parts(one)]
        if not columns or not set(columns) <= set(there):
            return None
        found += columns
    return list(dict.fromkeys(found))


def with_secrets(joint: Joint, batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same records with a column for every secret whose parts are there."""
    names = batch.schema.names
    for one in joint.secrets:
        parts = _parts(one)
        if one.name not in names and parts and set(parts) <= set(names):
            batch = batch.append_column(one.name, _joined(one, [batch.column(part) for part in parts]))
    return batch


def merged_away(joint: Joint, unknown: int, records: int) -> bool:
    """Whether so many cells of joined secrets are unknown that some of their letters must have been merged: then the
    law of the secret in a table is not known."""
    return any(_parts(one) for one in joint.secrets) and unknown > MOST_UNKNOWN * records


def _parts(secret: Attribute) -> tuple[str, ...]:
    parts = tuple(secret.name.split(JOIN))
    return parts if len(parts) > 1 and _pairs(secret, len(parts)) else ()


def _pairs(secret: Attribute, parts: int) -> dict[int, tuple[object, ...]]:
    """The letters that are made of so many others, by their number."""
    found = enumerate(secret.letters)
    return {number: one for number, one in found if isinstance(one, tuple) and len(one) == parts}


def _joined(secret: Attribute, cells: Sequence[pa.Array]) -> pa.Array:
    """The text of the letter of every record; another text for one that has none."""
    pairs = _pairs(secret, len(cells))
    written = {number: text for text, number in letters_by_text(secret)[0].items()}
    place = np.zeros(len(cells[0]), np.int64)
    numbers = np.zeros(len(pairs), np.int64)
    for part, column in enumerate(cells):
        letters = tuple(dict.fromkeys(one[part] for one in pairs.values()))
        reader = LetterReader((Attribute(secret.name, letters),))
        place = place * (reader.size + 1) + reader.codes([column]).astype(np.int64)
        own = np.array([letters.index(one[part]) for one in pairs.values()], np.int64)
        numbers = numbers * (reader.size + 1) + own
    order = np.argsort(numbers)
    found = np.searchsorted(numbers[order], place).clip(max=len(order) - 1)
    known = [written[number] for number in np.array(list(pairs))[order].tolist()]
    texts = pa.array([*known, NO_LETTER], pa.large_string())
    return texts.take(pa.array(np.where(numbers[order][found] == place, found, len(order))))
