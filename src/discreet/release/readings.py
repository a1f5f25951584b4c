"""What a table gave when it was read: the number of its records and a keyed sum over them, to be found again.

A frame of an engine is a recipe. Where it gives other records when it is read again, and some of its parts were read
before a machine was lost and others after it, a record can be in none of them, or in two. No part can notice that; two
whole readings can. So a frame is read once for its ids, and a release of anything else than these is refused.

The sum is that of the keyed hashes of all ids (`keyed_draws`), modulo 2^64 in each half: it depends on no order and on
no division into parts, and other ids have it with probability 2^-128. Where there are no ids, it is the sum over the
cells of all columns that are read, each hashed with the number of its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.exceptions import ReleaseError
from discreet.records.cells import as_text, indexed
from discreet.release.keyed_draws import KeyedDraws, Words

HALF: Final = 2**64
"""A sum of 128 bits has two halves of 64."""
MISSING: Final = "missing"


@dataclass(frozen=True)
class Reading:
    """Of a part, or of a table. Without `sums` the records were only counted, where nothing can be read differently."""

    records: int = 0
    sums: tuple[int, int] | None = (0, 0)

    def __add__(self, other: Reading) -> Reading:
        if self.sums is None or other.sums is None:
            return Reading(self.records + other.records, None)
        low, high = ((one + two) % HALF for one, two in zip(self.sums, other.sums, strict=True))
        return Reading(self.records + other.records, (low, high))

    @classmethod
    def heard(cls, said: dict[str, Any]) -> Reading:
        sums = said["sums"]
        return cls(said["records"], None if sums is None else (sums[0], sums[1]))

    def said(self) -> dict[str, Any]:
        return {"records": self.records, "sums": self.sums}

    def check(self, drawn: Reading) -> None:
        """ReleaseError where these are not the records that were drawn from."""
        summed = self.sums is not None and drawn.sums is not None
        if self.records == drawn.records and (not summed or self.sums == drawn.sums):
            return
        raise ReleaseError(
            "the table gave other records when it was read again",
            where="the table",
            remedy="Nothing was released. Store the table first, so that every reading gives the same records.",
        )


def reading_of(batch: pa.RecordBatch, keyed: KeyedDraws, first_row: int = 1) -> Reading:
    """Of the ids if the batch has them, otherwise of all its cells."""
    if keyed.column in batch.schema.names:
        return Reading(len(batch), _summed(keyed.hashes(batch.column(keyed.column), first_row)))
    found = Reading(len(batch))
    for place, column in enumerate(batch.columns):
        found += Reading(0, _cells(column, place, keyed))
    return found


def _cells(column: pa.Array, place: int, keyed: KeyedDraws) -> tuple[int, int]:
    values, numbers = indexed(column)
    texts = as_text(values)
    told = pa.array([f"{place} {MISSING if text is None else f'={text}'}" for text in texts.to_pylist()])
    times = np.bincount(numbers, minlength=len(values)).astype(np.uint64)
    return _summed(keyed.hashes(told) * times[:, None])


def _summed(hashes: Words) -> tuple[int, int]:
    low, high = hashes.sum(axis=0, dtype=np.uint64)
    return int(low), int(high)
