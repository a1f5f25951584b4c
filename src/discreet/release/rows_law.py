"""The law that a promise is about where rows do not all count the same: that of persons, or of a weighted population.

A person with k rows counts once, so each row counts 1/k; a weighted record counts its weight. With these shares laws
are compared (`law_change`). What is judged with exact limits needs records that are drawn from that law: one row of
each person, or every record with a chance that goes by its weight, which leaves a sample of the population.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Integers
from discreet.protocol.strata import AnyProtocol
from discreet.randomness import Keystream
from discreet.records.persons import Rule, WhoseRows, chosen_rows, unit_codes
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


def law_of_table(table: Any, protocol: AnyProtocol, encoding: str | None) -> dict[str, Any]:
    """Of a table that is looked at, not released: by the persons, or the weights, that the protocol counted; nothing
    where all rows count the same, or the table does not say."""
    stated, weight = protocol.statement.rows, protocol.joint.weight
    if weight:
        return law_of_weights(table, weight, encoding)
    if not isinstance(stated, WhoseRows) or (ids := _column(table, stated.column, encoding)) is None:
        return {}
    units = unit_codes(ids, stated.column)
    if len(units) == int(units.max(initial=-1)) + 1:
        return {}
    law = law_of_persons(units)
    return {**law, "chosen": law["judged"]} if stated.rule is Rule.one else law


def law_of_weights(table: Any, weight: str, encoding: str | None) -> dict[str, Any]:
    """The same of weighted records; nothing where the table does not have the weights."""
    cells = _column(table, weight, encoding)
    if cells is None:
        return {}
    weights = np.concatenate([np.zeros(0), *(weights_of(one, weight) for one in cells)])
    if not weights.any():
        return {}
    chances = Keystream.testing().words(len(weights)) / 2.0**64
    worth = int(weights.sum() ** 2 / (weights**2).sum())
    return {"judged": chances * weights.max() < weights, "shares": Shares(weights, max(1, worth))}


def _column(table: Any, name: str, encoding: str | None) -> list[pa.Array] | None:
    """The cells of a column, in order; None where the table does not have it."""
    with open_records(table, (), optional=(name,), encoding=encoding, in_order=True) as source:
        return [batch.column(name) for batch in source] if name in source.schema.names else None
