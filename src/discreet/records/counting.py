"""From a source of records to counts of letters, in bounded memory.

The joint distribution that a design starts from is counted here, and so are the outputs of a release that an estimate
starts from: counts[i1, …, ik] of the records whose column j has the letter number ij. Columns are counted batch by
batch; while letters are still being met, the table grows.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from discreet.arrays import Floats, Indices, Integers
from discreet.attribute import Attribute, Form
from discreet.exceptions import AlphabetError, DistributionError, ParameterError, TableError
from discreet.files.atomic_file import PIPE
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.joint import Joint
from discreet.records.cells import indexed
from discreet.records.grouping import ColumnGrouping, Grouping
from discreet.records.held_table import HeldTable
from discreet.records.kinds import Progress, counted
from discreet.records.letters import Alphabet
from discreet.records.no_numbers import CellsInBins
from discreet.records.noise import Noise
from discreet.records.persons import WhoseRows, person_tally
from discreet.records.private_prior import private_joint
from discreet.records.source import open_records, times_of
from discreet.records.weights import weighted_cells, weighted_joint

MOST_CELLS: Final = 10_000_000
"""80 MB of counts; a design or an estimate of more letters than that would not finish."""
FEWEST_RECORDS: Final = 50
"""In fewer records than this any column has many values for their number."""
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


@dataclass(frozen=True)
class Cells:
    """The attributes of S and of X, and counts[s, x1, …, xm]; several secret columns share the first axis, in C order.

    With weights the sums of weights are in the place of counts, and `squares` are the sums of their squares. `whose`
    says whose rows they were, where persons were counted: a row of k then weighs 1/k.
    """

    secrets: tuple[Attribute, ...]
    releases: tuple[Attribute, ...]
    counts: Any
    squares: Floats | None = None
    whose: WhoseRows | None = None


def cells_of(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    *,
    encoding: str | None = None,
    group: Grouping | None = None,
    weight: str | None = None,
    force: bool = False,
    person: str | None = None,
    household: str | None = None,
    rows: str | None = None,
    given: int = 0,
    progress: Progress = lambda stage, records: None,
) -> Cells:
    """Count, or weigh, a table.

    `source` is whatever `open_records` opens, `Alphabet` says which letters a column has. A grouping that is learnt
    takes a pass of its own. A column that names people is refused unless `force` is said. With a `person` or a
    `household` persons are counted (`persons`); the first `given` of the released columns are given ones.
    """
    secret, release = _names(secret, "secret"), _names(release, "release")
    names = secret + release
    if weight is not None and weight in names:
        raise AlphabetError("a weight that is secret or released", where=weight, remedy="Name each column once.")
    by_person = not (person is None and household is None and rows is None)
    tally = person_tally(person, household, rows, len(secret), given, weight) if by_person else None
    plain = tuple(n for n in ((weight,) if tally is None else tally.unit.columns) if n is not None and n not in names)
    held = HeldTable.of(source, (*names, *plain))
    groupings = {} if group is None else fitted_groupings(held.records, names, group, encoding, progress)
    with open_records(held.records, names, plain, encoding=encoding, in_order=tally is not None) as records:
        for name in set(records.mixed) & set(names) - set(groupings):
            raise TableError("values of several types", where=name, remedy="Turn the column into text or numbers.")
        alphabets = [
            Alphabet.grouped(name, groupings[name]) if name in groupings else Alphabet.of(records.schema.field(name))
            for name in names
        ]
        size, in_bins = _Size(alphabets, force), CellsInBins.counted(groupings)
        batches = in_bins.watched(size.watched(counted(records, "counted", progress)))
        try:
            arrays: list[Any] = (
                [*tally.tabulated(batches, alphabets, checked_size)]
                if tally is not None
                else [tabulated(batches, alphabets)]
                if weight is None
                else [*weighted_cells(batches, alphabets, weight, checked_size)]
            )
        except AlphabetError:
            size.check()  # rather than too many combinations: a column that has no place among them
            raise
    held.check()
    if not arrays[0].any():
        remedy = "Count at least one record." if weight is None else "Give some record a weight above zero."
        raise TableError("the table has no records", where=records.name, remedy=remedy)
    size.check()
    if records.unreadable:
        told = f"{records.unreadable:,} records with too many or too few fields, which count as missing"
        warnings.warn(f"{records.name}: {told}", UnreadableRecords, stacklevel=4)
    attributes = []
    for axis, alphabet in enumerate(alphabets):
        attribute, numbers = alphabet.finished(arrays[0].sum(axis=tuple({*range(len(names))} - {axis})) > 0)
        attributes.append(attribute)
        arrays = [array.take(numbers, axis=axis) for array in arrays]
    in_bins.check(attributes, size.records, force)
    for attribute in attributes[: len(secret)]:
        if len(attribute) < 2:
            raise DistributionError(
                "a secret with one value",
                where=attribute.name,
                remedy="There is nothing to hide; choose another secret, or declare the values it could have had.",
            )
    secrets, releases = tuple(attributes[: len(secret)]), tuple(attributes[len(secret) :])
    arrays = [array.reshape(-1, *array.shape[len(secret) :]) for array in arrays]
    if tally is None or tally.whose is None:
        return Cells(secrets, releases, *arrays)
    return Cells(secrets, releases, arrays[0], whose=replace(tally.whose, drawn=arrays[1]))


@dataclass
class _Size:
    """How many records were read, and whether columns have as many values as people have names."""

    columns: Sequence[Numbering]
    force: bool
    records: int = 0

    def watched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same batches."""
        for batch in batches:
            times = times_of(batch)
            self.records += len(batch) if times is None else int(times.sum())
            yield batch

    def check(self) -> None:
        """AlphabetError for a column with more values than half of the records."""
        if self.force or self.records < FEWEST_RECORDS:
            return
        for column in self.columns:
            if 2 * len(column) > self.records:
                raise AlphabetError(
                    f"{len(column):,} different values in {self.records:,} records: it names people, or records",
                    where=column.name,
                    remedy="Leave it out, or group it (--bins, --merge, dc.Grouping); --force (force=True) takes it.",
                )


def joint_of_file(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    *,
    include_secret: bool = False,
    weight: str | None = None,
    **options: Any,
) -> Joint:
    """The joint of a table; `options` are those of `cells_of`.

    Arguments:
        source: the table, or a path.
        secret, release: the columns of S and of X.
        include_secret: X contains the secret as well.
        weight: a column of survey weights.
        options: `encoding`, `group`, `person`, `household`, `rows`, as in `Joint.from_table`.
    Returns:
        A `Joint`.
    Raises:
        TableError: a table that cannot be read, or without records.
        AlphabetError: a column that it does not have, or that names people.
    Example:
        >>> from discreet.datasets import adult
        >>> from discreet.release import joint_of_file
        >>> joint_of_file(adult(), "sex", "education").n
        32561
    """
    cells = cells_of(source, secret, release, weight=weight, **options)
    if weight is None or cells.squares is None:
        return Joint.from_counts(
            cells.counts, cells.secrets, cells.releases, include_secret=include_secret, rows=cells.whose
        )
    form = Form.RELEASES_SECRET if include_secret else Form.FUNNEL
    return weighted_joint(cells.counts, cells.squares, cells.secrets, cells.releases, weight, form=form)


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
                np.add.at(grown, numbers, np.bincount(indices, times_of(batch), len(numbers)).astype(np.int64))
                totals[place] = grown
    return totals


def count_strata(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    given: str | Sequence[str],
    *,
    include_secret: bool = False,
    weight: str | None = None,
    **options: Any,
) -> StratifiedJoint:
    """A joint for every stratum of the given columns; `options` are those of `cells_of`."""
    names, others = _names(given, "given"), (*_names(secret, "secret"), *_names(release, "release"))
    for name in names:
        if name in others or names.count(name) > 1:
            raise AlphabetError(
                "a column that is given cannot be secret or released as well",
                where=name,
                remedy="Given columns are published as they are: name each column once.",
            )
    cells = cells_of(source, secret, (*names, *_names(release, "release")), weight=weight, given=len(names), **options)
    columns, releases = cells.releases[: len(names)], cells.releases[len(names) :]
    form = Form.RELEASES_SECRET if include_secret else Form.FUNNEL

    def stratum(counts: Any, others: Any) -> Joint:
        if weight is None:
            whose = None if cells.whose is None else replace(cells.whose, drawn=others)
            return Joint.from_counts(counts, cells.secrets, releases, include_secret=include_secret, rows=whose)
        return weighted_joint(counts, others, cells.secrets, releases, weight, form=form)

    beside = cells.squares if cells.whose is None else cells.whose.drawn
    return StratifiedJoint.from_cells(stratum, columns, cells.counts, beside)


def count_privately(
    source: Any,
    secret: str | Sequence[str],
    release: str | Sequence[str],
    private: Noise | None,
    letters: Any,
    *,
    include_secret: bool = False,
    encoding: str | None = None,
    group: Grouping | None = None,
    given: str | Sequence[str] = (),
    force: bool = False,
    **others: Any,
) -> AnyJoint:
    """`private_joint`, refused together with everything that would look at the table, or count other things in it."""
    if private is None:
        raise ParameterError(
            "letters are declared for a private prior", where="letters", remedy="Add private=Noise(1.0)."
        )
    if beside := [name for name, value in others.items() if value]:
        raise ParameterError(
            "not together with a private prior",
            where=", ".join(beside),
            remedy="The noise protects one record of each person, in one table of counts: leave them out.",
        )
    names = _names(secret, "secret"), _names(release, "release")
    return private_joint(
        source, *names, private, letters, given=_names(given, "given") if given else (),
        include_secret=include_secret, encoding=encoding, group=group,
    )  # fmt: skip


def tabulated(batches: Iterable[pa.RecordBatch], columns: Sequence[Numbering]) -> Integers:
    """How many records have these letters, with one axis per column; empty where there are no records."""
    counts = np.zeros([0] * len(columns), np.int64)
    for batch in batches:
        cells = [indexed(batch.column(column.name)) for column in columns]
        numbers = [column.numbers(values) for column, (values, _) in zip(columns, cells, strict=True)]
        counts = _grown(counts, columns)
        _add(counts, numbers, [indices for _, indices in cells], times_of(batch))
    return _grown(counts, columns)


def _grown(counts: Integers, columns: Sequence[Numbering]) -> Integers:
    sizes = tuple(len(column) for column in columns)
    if counts.shape == sizes:
        return counts
    checked_size(columns)
    larger = np.zeros(sizes, np.int64)
    larger[tuple(slice(size) for size in counts.shape)] = counts
    return larger


def checked_size(columns: Sequence[Numbering]) -> None:
    """AlphabetError where the combinations of letters are too many to count."""
    sizes = [len(column) for column in columns]
    if prod(sizes) > MOST_CELLS:
        raise AlphabetError(
            f"{prod(sizes):,} combinations of letters, more than {MOST_CELLS:,}",
            where=", ".join(f"{column.name}: {len(column)}" for column in columns),
            remedy=fewer_combinations({column.name: len(column) for column in columns}, MOST_CELLS),
        )


def fewer_combinations(letters: Mapping[str, int], most: int) -> str:
    """What would make the combinations of these columns fewer: leave out or group the largest."""
    largest = sorted(letters, key=lambda name: -letters[name])
    others = prod(letters.values()) // letters[largest[0]]
    if others and most // others >= 2:
        return f"Use fewer columns, or group {largest[0]} into at most {most // others:,} letters (--bins, --merge)."
    return f"Use fewer columns: leave out {largest[0]} and others, or group them (--bins, --merge)."


def _add(
    counts: Integers, numbers: list[Indices], indices: list[np.ndarray[Any, Any]], times: Integers | None = None
) -> None:
    """Count a batch, of which record i has the letter `numbers[j][indices[j][i]]` in column j."""
    if times is not None:
        np.add.at(counts, tuple(part.take(each) for part, each in zip(numbers, indices, strict=True)), times)
        return
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
    names = (given,) if isinstance(given, str) or not isinstance(given, Iterable) else tuple(given)
    if not names or not all(isinstance(name, str) for name in names):
        raise AlphabetError("no column name", where=role, remedy="Give the name of a column, or a list of names.")
    return names
