"""What a table is read once more for: whether its strata are known, and whether it is the table that was counted.

LDP, LIP and what is like them hold at the distribution in the file. Where the letters of a table have another law than
chance explains, the promise at that table is measured if the secret is in it, with exact confidence limits (theory
5.2), and a release is refused where even the lower limit exceeds ε.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Integers
from discreet.audit.level_limits import level_limits
from discreet.exceptions import AlphabetError, ReleaseError
from discreet.files.atomic_file import PIPE
from discreet.notions.notion import words_of
from discreet.phrases import percent, rounded_up
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, promise_of, strata_of
from discreet.records.letters import LetterReader
from discreet.records.persons import WhoseRows
from discreet.records.source import open_records
from discreet.release.batches import BatchSanitiser
from discreet.release.law_change import by_chance, law_of
from discreet.release.whose_rows import RowsInForce

MOST_CELLS: Final = 20_000
"""Cells of a stratum whose confidence limits are computed: some seconds."""
DOUBT: Final = 0.05
"""A lower limit is wrong for one table in twenty, which then is refused, or passes, without need."""


class OtherTable(UserWarning):
    """A table that is not the one that the promise was proven for."""


def readable_twice(table: Any) -> bool:
    """Whether a table can be read before it is released: not a pipe, not a stream."""
    if isinstance(table, str | PathLike):
        return str(table) != PIPE and Path(table).is_file()
    return not isinstance(table, pa.RecordBatchReader) and not isinstance(table, Iterator)


def check_known_strata(kernel: BatchSanitiser, table: Any, encoding: str | None) -> None:
    """Every stratum has a mechanism, before anything is drawn. A pipe or a stream is checked batch by batch as it is
    read: nothing of it is published if a stratum is unknown."""
    if not isinstance(kernel.protocol, StratifiedProtocol) or not readable_twice(table):
        return
    with open_records(table, kernel.given, encoding=encoding, in_order=False) as source:
        unknown = sum(int((kernel.stratum_numbers(batch) < 0).sum()) for batch in source)
    kernel.refuse_strata(unknown)


def check_same_law(
    table: Any, protocol: AnyProtocol, met: Integers | None, rows: RowsInForce, encoding: str | None, anyway: bool
) -> None:
    """ReleaseError where letters that were met, stratum by stratum, have another law than those counted and the promise
    is broken at this table for certain; a warning where they only have another law. `anyway` allows both."""
    if met is None or not rests_on_law(protocol):
        return
    letters = met.reshape(len(strata_of(protocol)), -1)[:, :-1]
    prior = law_of(protocol, [one.joint.prior for one in strata_of(protocol)])
    if not letters.sum():
        return
    distance = float(np.abs(letters / letters.sum() - prior).sum() / 2)
    if distance <= by_chance(protocol, prior, int(letters.sum())):
        return
    there = _counted(table, protocol, rows, encoding) if readable_twice(table) else None
    level, limit = (None, None) if there is None else levels_there(protocol, there)
    if limit is not None and not anyway:
        refuse_law(protocol, level, limit)
    told = "what that means for the promise depends on the secret, which was not read"
    if there is not None:
        told = "what that means for this promise was not measured; `dc.audit(protocol, joint)` tells"
    if level is not None:
        told = (
            f"at this table the level is {rounded_up(level)}, where {rounded_up(protocol.notion.epsilon)} is promised"
        )
    warnings.warn(
        f"not the law that was counted, changed by {distance:.3g}: {told}. RLDP and RLIP hold for other tables too",
        OtherTable,
        stacklevel=4,
    )


def rests_on_law(protocol: AnyProtocol) -> bool:
    """Whether the promise holds at a distribution alone, for rows that are counted as they are released: weighted
    records stand for a population that the table does not show."""
    rows = protocol.statement.rows
    return (
        not protocol.joint.weight
        and words_of(protocol.notion).at_prior
        and not (isinstance(rows, WhoseRows) and rows.rule != "one")
    )


def refuse_law(protocol: AnyProtocol, level: float | None, limit: float) -> None:
    """ReleaseError where the level of a table exceeds ε even at its lower limit."""
    if limit <= protocol.notion.epsilon:
        return
    measured = "" if level is None else f"{rounded_up(level)}, "
    raise ReleaseError(
        f"not the table that was counted: here the level is {measured}at least {limit:.3g} with confidence "
        f"{percent(1 - DOUBT)}, and {rounded_up(protocol.notion.epsilon)} is promised",
        where="the table",
        remedy="Design on this table, or promise RLIP or RLDP, which hold for other tables too; or release it all the "
        "same (--law-anyway, law_anyway=True).",
    )


def levels_there(protocol: AnyProtocol, counts: Integers) -> tuple[float | None, float | None]:
    """The level at a table with these counts of secret and release, a row for each stratum, and its lower limit at the
    distribution it was drawn from, in all strata at once; None where neither is known."""
    strata, found = strata_of(protocol), []
    if protocol.joint.probabilities.size > MOST_CELLS:
        return None, None
    for one, mine in zip(strata, counts, strict=True):
        table = mine.reshape(one.joint.probabilities.shape)
        for promise in promise_of(protocol).promises if mine.any() else ():
            sure = 1 - DOUBT / len(strata)
            known = level_limits(one.channel, one.joint, promise, table, sure)
            found += [] if known is None else [(known.measured, known.low)]
    return (max(level for level, _ in found), max(low for _, low in found)) if found else (None, None)


def limit_there(protocol: AnyProtocol, counts: Integers) -> float | None:
    """The lower limit at a table whose law changed, for the rehearsal; None where `sanitise` asks for none."""
    return levels_there(protocol, counts)[1] if rests_on_law(protocol) else None


def _counted(table: Any, protocol: AnyProtocol, rows: RowsInForce, encoding: str | None) -> Integers | None:
    """Records by stratum, secret and release; None where the table has no secret."""
    joint, strata = protocol.joint, strata_of(protocol)
    reader = LetterReader((*joint.secrets, *joint.releases))
    given = LetterReader(protocol.given) if isinstance(protocol, StratifiedProtocol) else None
    columns = list(dict.fromkeys((*reader.columns, *(given.columns if given else ()))))
    if joint.probabilities.size > MOST_CELLS:
        return None
    met = np.zeros((len(strata), reader.size + 1), np.int64)
    try:
        with open_records(table, columns, encoding=encoding, in_order=rows.judged is not None) as source:
            for batch in rows.of(source, rows.judged):
                codes = _codes(reader, batch)
                place = np.zeros(len(batch), np.int64)
                if given is not None and isinstance(protocol, StratifiedProtocol):
                    place = np.maximum(protocol.numbers.take(_codes(given, batch)), 0)
                np.add.at(met, (place, codes), 1)
    except AlphabetError:
        return None
    return met[:, :-1]


def _codes(reader: LetterReader, batch: pa.RecordBatch) -> Integers:
    return reader.codes([batch.column(name) for name in reader.columns]).astype(np.int64)
