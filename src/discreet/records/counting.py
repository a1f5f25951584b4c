"""From a source of records to counts of letters, in bounded memory.

The joint distribution that a design starts from is counted here, and so are the outputs of a release that an estimate
starts from: counts[i1, …, ik] of the records whose column j has the letter number ij. Columns are counted batch by
batch; while letters are still being met, the table grows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from math import prod
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from discreet.arrays import Indices, Integers
from discreet.exceptions import AlphabetError, DistributionError, ParameterError, TableError
from discreet.files.atomic_file import PIPE
from discreet.given_columns import StratifiedJoint
from discreet.joint import Attribute, Joint
from discreet.records.grouping import ColumnGrouping, Grouping
from discreet.records.kinds import Progress, counted
from discreet.records.letters import Alphabet, indexed
from discreet.records.source import open_records

MOST_CELLS: Final = 10_000_000
"""80 MB of counts; a design or an estimate of more letters than that would not finish."""
CHUNK: Final = 1 << 14
"""Records counted at a time: what they need stays in the processor's cache."""


class UnreadableRecords(UserWarning):
    """Records of a CSV file with too many or too few fields, which count as missing in every column."""


class Numbering(Protocol):
    """Numbers the letters of one column: `Alphabet` as they are met, `LabelReader` those it knows."""

    @property
    def name(self) -> str: ...

    def __len__(self) -> int: ...

    def numbers(self, values: pa.Array) -> Indices: ...


def count(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    *,
    encoding: str | None = None,
    group: Grouping | None = None,
    progress: Progress = lambda stage, records: None,
) -> tuple[tuple[Attribute, ...], tuple[Attribute, ...], Integers]:
    """The attributes of S and of X, and counts[s, x1, …, xm]; several secret columns share the first axis, in C order.

    `source` is whatever `open_records` opens, `Alphabet` says which letters a column has. A grouping that is learnt
    takes a pass of its own.
    """
    secret, release = _names(secret, "secret"), _names(release, "release")
    groupings = fitted_groupings(source, secret + release, group or Grouping(), encoding, progress)
    with open_records(source, secret + release, encoding=encoding, in_order=False) as records:
        for name in set(records.mixed) - set(groupings):
            raise TableError("values of several types", where=name, remedy="Turn the column into text or numbers.")
        alphabets = [
            Alphabet.grouped(name, groupings[name]) if name in groupings else Alphabet.of(records.schema.field(name))
            for name in secret + release
        ]
        counts = tabulated(counted(records, "counted", progress), alphabets)
    if not counts.any():
        raise TableError("the table has no records", where=records.name, remedy="Count at least one record.")
    if records.unreadable:
        told = f"{records.unreadable:,} records with too many or too few fields, which count as missing"
        warnings.warn(f"{records.name}: {told}", UnreadableRecords, stacklevel=3)
    attributes = []
    for axis, alphabet in enumerate(alphabets):
        others = tuple(other for other in range(counts.ndim) if other != axis)
        attribute, numbers = alphabet.finished(counts.sum(axis=others) > 0)
        attributes.append(attribute)
        counts = counts.take(numbers, axis=axis)
    for attribute in attributes[: len(secret)]:
        if len(attribute) < 2:
            raise DistributionError(
                "a secret with one value",
                where=attribute.name,
                remedy="There is nothing to hide; choose another secret, or declare the values it could have had.",
            )
    secrets, releases = tuple(attributes[: len(secret)]), tuple(attributes[len(secret) :])
    return secrets, releases, counts.reshape(-1, *counts.shape[len(secret) :])


def fitted_groupings(
    source: Any, columns: Sequence[str], group: Grouping, encoding: str | None, progress: Progress
) -> dict[str, ColumnGrouping]:
    """The steps for every column that is grouped; the table is read only where they depend on it."""
    if unknown := sorted(group.columns - set(columns)):
        raise ParameterError(
            "a grouping of a column that is not used",
            where=", ".join(unknown),
            remedy="Group columns that are secret or released.",
        )
    learnt = [name for name in columns if group.learns(name)]
    if learnt and ((isinstance(source, str) and source == PIPE) or isinstance(source, pa.RecordBatchReader)):
        raise ParameterError(
            "a grouping that is learnt reads the table twice, a stream can be read once",
            where=", ".join(learnt),
            remedy="Give a file, or the edges of the bins and the values to merge.",
        )
    found = {name: group.fitted(name, pa.array([], pa.large_string()), np.zeros(0, np.int64))
             for name in columns if name not in learnt}  # fmt: skip
    if learnt:
        met = [Alphabet.of_texts(name) for name in learnt]
        totals = value_totals(source, met, encoding, progress)
        for alphabet, counts in zip(met, totals, strict=True):
            found[alphabet.name] = group.fitted(alphabet.name, pa.array(alphabet.met, pa.large_string()), counts)
    return {name: steps for name, steps in found.items() if steps is not None}


def value_totals(
    source: Any, columns: Sequence[Alphabet], encoding: str | None = None, progress: Progress = lambda stage, n: None
) -> list[Integers]:
    """How many records have each value, column by column: as many counts as there are values, not as combinations."""
    totals = [np.zeros(0, np.int64) for _ in columns]
    with open_records(source, [column.name for column in columns], encoding=encoding, in_order=False) as records:
        batches: Iterable[pa.RecordBatch] = counted(records, "read", progress)
        for batch in batches:
            for place, column in enumerate(columns):
                values, indices = indexed(batch.column(column.name))
                numbers = column.numbers(values)
                grown = np.zeros(len(column), np.int64)
                grown[: len(totals[place])] = totals[place]
                np.add.at(grown, numbers, np.bincount(indices, minlength=len(numbers)))
                totals[place] = grown
    return totals


def count_strata(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    given: str | Sequence[str],
    *,
    include_secret: bool = False,
    encoding: str | None = None,
    group: Grouping | None = None,
    progress: Progress = lambda stage, records: None,
) -> StratifiedJoint:
    """A joint for every stratum of the given columns."""
    names, others = _names(given, "given"), (*_names(secret, "secret"), *_names(release, "release"))
    for name in names:
        if name in others or names.count(name) > 1:
            raise AlphabetError(
                "a column that is given cannot be secret or released as well",
                where=name,
                remedy="Given columns are published as they are: name each column once.",
            )
    secrets, columns, counts = count(
        source, secret, (*names, *_names(release, "release")), encoding=encoding, group=group, progress=progress
    )
    cut = len(names)
    return StratifiedJoint.from_counts(counts, secrets, columns[:cut], columns[cut:], include_secret=include_secret)


def joint_of_file(
    path: str,
    *,
    secret: Sequence[str],
    release: Sequence[str],
    include_secret: bool = False,
    encoding: str | None = None,
    group: Grouping | None = None,
    progress: Progress = lambda stage, records: None,
) -> Joint:
    """`Joint.from_table` for a command, which tells its progress: a file, or standard input for "-"."""
    secrets, releases, counts = count(path, secret, release, encoding=encoding, group=group, progress=progress)
    return Joint.from_counts(counts, secrets, releases, include_secret=include_secret)


def tabulated(batches: Iterable[pa.RecordBatch], columns: Sequence[Numbering]) -> Integers:
    """How many records have these letters, with one axis per column; empty where there are no records."""
    counts = np.zeros([0] * len(columns), np.int64)
    for batch in batches:
        cells = [indexed(batch.column(column.name)) for column in columns]
        numbers = [column.numbers(values) for column, (values, _) in zip(columns, cells, strict=True)]
        counts = _grown(counts, columns)
        _add(counts, numbers, [indices for _, indices in cells])
    return _grown(counts, columns)


def _grown(counts: Integers, columns: Sequence[Numbering]) -> Integers:
    sizes = tuple(len(column) for column in columns)
    if counts.shape == sizes:
        return counts
    if prod(sizes) > MOST_CELLS:
        raise AlphabetError(
            f"{prod(sizes):,} combinations of letters, more than {MOST_CELLS:,}",
            where=", ".join(f"{column.name}: {len(column)}" for column in columns),
            remedy="Use fewer columns, or group their values: --bins, --merge, dc.Grouping.",
        )
    larger = np.zeros(sizes, np.int64)
    larger[tuple(slice(size) for size in counts.shape)] = counts
    return larger


def _add(counts: Integers, numbers: list[Indices], indices: list[np.ndarray[Any, Any]]) -> None:
    """Count a batch, of which record i has the letter `numbers[j][indices[j][i]]` in column j."""
    if len(numbers) == 1:
        np.add.at(counts, numbers[0], np.bincount(indices[0], minlength=len(numbers[0])))
        return
    strides = np.cumprod([1, *counts.shape[:0:-1]])[::-1]
    parts = [letters * stride for letters, stride in zip(numbers, strides, strict=True)]
    flat = counts.reshape(-1)
    for start in range(0, len(indices[0]), CHUNK):
        chunk = slice(start, start + CHUNK)
        cells = parts[0].take(indices[0][chunk])
        for part, each in zip(parts[1:], indices[1:], strict=True):
            cells += part.take(each[chunk])
        if counts.size <= CHUNK:
            flat += np.bincount(cells, minlength=counts.size)
        else:
            np.add.at(flat, cells, 1)


def _names(given: str | Sequence[str], role: str) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise AlphabetError("no column name", where=role, remedy="Give the name of a column, or a list of names.")
    return names
