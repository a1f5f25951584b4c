"""The one kernel under every release: a batch of records in, a batch of sanitised records out.

Cells → letters z (`letters`) → one exact draw from Q[·, z] (`sampling`) → the number of the output. Until the very end
a released cell is that number, next to the public columns that were asked for; nothing else of the record goes on.

Draws are fresh, or they repeat (`keyed_draws`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from discreet.arrays import Codes, Integers
from discreet.attribute import Attribute
from discreet.exceptions import AlphabetError
from discreet.protocol.seal import check_seal
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, strata_of
from discreet.randomness import Keystream
from discreet.records.cells import (
    one_way,
    one_writing,
    readable,
    readable_type,
    rebuilt,
    text_of_one,
    value_type,
    without_views,
)
from discreet.records.letters import LetterReader, column_of, released_columns
from discreet.records.no_numbers import CellsInBins
from discreet.release.keyed_draws import KeyedDraws
from discreet.release.record_counts import unknown_records
from discreet.release.sampling import Sampler


@dataclass
class Tally:
    """What went through: about the raw data, so for the steward only."""

    records: int = 0
    without_letter: int = 0
    unknown: int = 0
    no_numbers: dict[str, int] = field(default_factory=dict)
    """Cells in bins that count as missing because they are no numbers, by column."""
    met: Integers | None = None
    """Letters by stratum, as they were read; the last of each stratum is for records without one."""


@dataclass(frozen=True, eq=False)
class ReleaseLaw:
    """What drawing needs of a protocol: letters, weights, names; no counts and no prior. Other machines get this.

    `weights` has one column per letter and one for records without a letter, stratum by stratum of the `given` columns.
    """

    digest: str
    reads: tuple[Attribute, ...]
    given: tuple[Attribute, ...]
    numbers: Integers
    weights: Integers | sparse.csc_array
    compressed: bool
    column: str
    columns: tuple[tuple[str, tuple[str, ...]], ...]
    hidden: tuple[str, ...]
    outputs: int

    @classmethod
    def of(cls, protocol: AnyProtocol) -> ReleaseLaw:
        """Protocols from version 1 of the file keep the table they had, so that keyed draws stay what they were."""
        for one in strata_of(protocol):
            check_seal(one)
        joint = protocol.joint
        if isinstance(protocol, StratifiedProtocol):
            given, numbers, weights, compressed = protocol.given, protocol.numbers, protocol.law, False
        else:
            weights = sparse.hstack([protocol.columns, sparse.csc_array(protocol.marginal[:, None])], format="csc")
            given, numbers, compressed = (), np.zeros(0, np.int64), protocol.version > 1
        names = [attribute.name for attribute in joint.secrets]
        return cls(
            digest=protocol.digest,
            reads=joint.reads,
            given=given,
            numbers=numbers,
            weights=weights,
            compressed=compressed,
            column=column_of(joint),
            columns=released_columns(joint, protocol.outputs),
            hidden=(*names, *(part for name in names for part in name.split("×"))),
            outputs=len(protocol.outputs),
        )


@dataclass(frozen=True, eq=False)
class BatchSanitiser:
    """Sanitises batches. `keep` names the public columns; with `keyed` the draw repeats, otherwise it is fresh."""

    protocol: AnyProtocol | ReleaseLaw
    randomness: Keystream
    keep: tuple[str, ...] = ()
    keyed: KeyedDraws | None = None
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", tuple(dict.fromkeys((*self.given, *self.keep))) if self.given else self.keep)
        taken = {*self.reading.columns, *self.hidden, self.column, *(name for name, _ in self.columns)}
        for name in self.keep:
            if name in taken or self.keep.count(name) > 1:
                raise AlphabetError(
                    "this column cannot be kept as it is",
                    where=name,
                    remedy="Keep public columns only, each once: not the secret, not what is released sanitised.",
                )

    @cached_property
    def law(self) -> ReleaseLaw:
        return self.protocol if isinstance(self.protocol, ReleaseLaw) else ReleaseLaw.of(self.protocol)

    @cached_property
    def reading(self) -> LetterReader:
        return LetterReader(self.law.reads)

    @property
    def given(self) -> tuple[str, ...]:
        """The columns whose strata have mechanisms of their own; they are kept."""
        return tuple(one.name for one in self.law.given)

    @property
    def hidden(self) -> tuple[str, ...]:
        """The secret columns. Several that `Joint.observed` joined into one are named a×b: each of them counts."""
        return self.law.hidden

    @property
    def column(self) -> str:
        """The name of what is released: the columns that it tells about."""
        return self.law.column

    @cached_property
    def columns(self) -> tuple[tuple[str, pa.Array], ...]:
        """The released columns, each with the label of every output in it."""
        return tuple((name, pa.array(labels, pa.string())) for name, labels in self.law.columns)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns to read; no other column of the table is touched."""
        identity = (self.keyed.column,) if self.keyed else ()
        return tuple(dict.fromkeys((*self.reading.columns, *identity, *self.keep)))

    @cached_property
    def sampler(self) -> Sampler:
        """The protocol's law, and that of its outputs for a record that has no letter."""
        weights = self.law.weights
        weights = weights if isinstance(weights, np.ndarray) else weights[:, np.flatnonzero(np.diff(weights.indptr))]
        return Sampler(weights, compressed=self.law.compressed)

    @cached_property
    def _column_of(self) -> Codes | None:
        """The sampler's column of every code, where letters without weights share the last, that of no letter."""
        weights = self.law.weights
        if isinstance(weights, np.ndarray) or (drawn := np.diff(weights.indptr) > 0).all():
            return None
        places = np.cumsum(drawn) - 1
        return np.where(drawn, places, places[-1]).astype(np.uint64)

    def schema(self, source: pa.Schema) -> pa.Schema:
        """The released table's columns, from the source's. Refuses what cannot be letters before reading any value."""
        self.reading.check(source)
        released = pa.dictionary(pa.from_numpy_dtype(_signed(self.law.outputs)), pa.string())
        return pa.schema(
            [
                *((name, released) for name, _ in self.columns),
                *((name, self._kept_type(name, source)) for name in self.keep),
            ]
        )

    def draft(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch sanitised: numbers of outputs, then the kept columns."""
        codes = self.letters(batch)
        columns = self.in_strata(codes, batch)
        drawn = self._draw(columns, batch).astype(_signed(self.law.outputs), copy=False)
        self.tally.records += len(codes)
        met = np.bincount(columns.astype(np.int64), minlength=self.law.weights.shape[1])
        self.tally.met = met if self.tally.met is None else self.tally.met + met
        self.tally.without_letter += int(np.count_nonzero(codes == self.reading.size))
        self.tally.unknown += self.unknown(batch, codes)
        return pa.record_batch(
            [pa.array(drawn), *(self._kept(name, batch) for name in self.keep)], names=[self.column, *self.keep]
        )

    @cached_property
    def _readers(self) -> dict[str, LetterReader]:
        return {one.name: LetterReader((one,)) for one in self.law.given}

    def _kept(self, name: str, batch: pa.RecordBatch) -> pa.Array:
        """Of a given column the letter is published: what has one letter is one stratum, whose records are promised
        to be alike, however their cells are written."""
        cells = batch.column(name)
        if name not in self._readers:
            return without_views(cells)
        if not self._in_letters(name, cells.type):
            return one_writing(cells)
        [attribute] = self._readers[name].attributes
        texts = [text_of_one(letter) for letter in attribute.letters]
        codes = self._readers[name].codes([cells]).astype(np.int64)
        return pa.array([*texts, None], pa.large_string()).take(pa.array(codes))

    def _in_letters(self, name: str, kind: pa.DataType) -> bool:
        """Whether several values may have one letter; a number or a moment is written in one way."""
        [attribute] = self._readers[name].attributes
        return attribute.grouping is not None or bool(attribute.missing) or not one_way(value_type(kind))

    def published(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch with its given columns as they will be published."""
        for name in self.given:
            batch = batch.set_column(batch.schema.get_field_index(name), name, self._kept(name, batch))
        return batch

    def _kept_type(self, name: str, source: pa.Schema) -> pa.DataType:
        kind = source.field(name).type
        return pa.large_string() if name in self._readers and self._in_letters(name, kind) else readable_type(kind)

    def letters(self, batch: pa.RecordBatch) -> Codes:
        """The number of every record's letter; one more than the last where it has none."""
        return self.reading.codes([batch.column(name) for name in self.reading.columns])

    @cached_property
    def _in_bins(self) -> CellsInBins:
        return replace(CellsInBins.of((*self.law.reads, *self.law.given)), found=self.tally.no_numbers)

    def unknown(self, batch: pa.RecordBatch, codes: Codes) -> int:
        """Records with a value that is no letter, or no number where it is read in bins; missing ones do not count."""
        found, lost = self._in_bins.add(batch), codes == self.reading.size
        if lost.any():
            chosen = pa.array(lost)
            cells = [batch.column(name).filter(chosen) for name in self.reading.columns]
            found[lost] |= unknown_records(self.reading.attributes, cells)
        return int(np.count_nonzero(found))

    def in_strata(self, codes: Codes, batch: pa.RecordBatch) -> Codes:
        """The code among the columns of all strata; refused before any draw where a stratum has no mechanism."""
        if not self.given:
            return codes
        return self.strata(batch).astype(np.uint64) * np.uint64(self.reading.size + 1) + codes

    def strata(self, batch: pa.RecordBatch) -> Integers:
        """The number of every record's stratum; AlphabetError with the count if the protocol does not have it."""
        numbers = self.stratum_numbers(batch)
        self.refuse_strata(int(np.count_nonzero(numbers < 0)))
        return numbers

    def stratum_numbers(self, batch: pa.RecordBatch) -> Integers:
        """The same with −1 where the protocol does not have the stratum."""
        reader = LetterReader(self.law.given)
        return np.asarray(self.law.numbers.take(reader.codes([batch.column(name) for name in reader.columns])))

    def refuse_strata(self, unknown: int) -> None:
        """AlphabetError if there are records of strata that the protocol does not have."""
        if unknown:
            raise AlphabetError(
                f"{unknown:,} records of a stratum that the protocol does not have",
                where=", ".join(self.given),
                remedy="Design on a table that has these strata, or leave such records out.",
            )

    def _draw(self, codes: Codes, batch: pa.RecordBatch) -> Codes:
        columns = codes if self._column_of is None else self._column_of.take(codes)
        if self.keyed is None:
            return self.sampler.sample(columns, self.randomness)
        ids = batch.column(self.keyed.column)
        return self.sampler.draw(columns, self.keyed.words(ids, codes, first_row=self.tally.records + 1))

    def finish(self, draft: pa.RecordBatch) -> pa.RecordBatch:
        """Numbers replaced by the labels of the outputs."""
        released = [_labelled(draft.column(0), labels) for _, labels in self.columns]
        names = [name for name, _ in self.columns]
        kept = [rebuilt(readable(column)) for column in draft.columns[1:]]
        return pa.record_batch([*released, *kept], names=[*names, *self.keep])


def _labelled(numbers: pa.Array, labels: pa.Array) -> pa.Array:
    """Numbers as a dictionary in which every label stands once."""
    different = labels.unique()
    if len(different) == len(labels):
        return pa.DictionaryArray.from_arrays(numbers, labels)
    places = pc.index_in(labels, value_set=different).cast(numbers.type)
    return pa.DictionaryArray.from_arrays(places.take(numbers), different)


def _signed(size: int) -> np.dtype[Any]:
    """The smallest signed type that numbers so many: Arrow's dictionaries want signed ones."""
    return np.min_scalar_type(-size)
