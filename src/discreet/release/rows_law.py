"""The law that a promise is about where rows do not all count the same: that of persons, or of a weighted population.

A person with k rows counts once, so each row counts 1/k; a weighted record counts its weight. With these shares laws
are compared (`law_change`). What is judged with exact limits needs records that are drawn from that law: one row of
each person, or every record with a chance that goes by its weight, which leaves a sample of the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.randomness import Keystream
from discreet.records.persons import chosen_rows
from discreet.records.source import open_records
from discreet.records.weights import weights_of

RowMask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, eq=False)
class Shares:
    """What every row of a table counts, and how many independent records all of them are worth."""

    of_rows: Floats
    records: int


def law_of_persons(units: Integers) -> dict[str, Any]:
    """One row of each, alike in every check and release; and the share of every row."""
    rows = np.bincount(units)
    judged = chosen_rows(units, Keystream.testing().words(len(units)))
    return {"judged": judged, "shares": Shares(1.0 / rows[units], len(rows))}


def law_of_weights(table: Any, weight: str, encoding: str | None) -> dict[str, Any]:
    """The same of weighted records; nothing where the table does not have the weights."""
    with open_records(table, (), optional=(weight,), encoding=encoding, in_order=True) as source:
        if weight not in source.schema.names:
            return {}
        weights = np.concatenate([np.zeros(0), *(weights_of(batch.column(weight), weight) for batch in source)])
    if not weights.any():
        return {}
    chances = Keystream.testing().words(len(weights)) / 2.0**64
    worth = int(weights.sum() ** 2 / (weights**2).sum())
    return {"judged": chances * weights.max() < weights, "shares": Shares(weights, max(1, worth))}
