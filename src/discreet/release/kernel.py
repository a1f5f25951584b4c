"""The one kernel under every release: a batch of records in, a batch of sanitised records out.

cells → letters z (`letters`) → one exact draw from Q[·, z] (`sampling`) → the number of the output. Until the very end
a released cell is that number, next to the public columns that were asked for; nothing else of the record goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.alphabet import Attribute
from discreet.exceptions import AlphabetError
from discreet.joint import Joint
from discreet.naming import label
from discreet.protocol import Protocol
from discreet.release.keyed import Keyed
from discreet.release.letters import Codes, Reading, is_text, readable
from discreet.release.randomness import Keystream
from discreet.release.sampling import Sampler


@dataclass
class Tally:
    """What went through: about the raw data, so for the steward only."""

    records: int = 0
    without_letter: int = 0


@dataclass(frozen=True, eq=False)
class Kernel:
    """Sanitises batches. `keep` names the public columns; with `keyed` the draw repeats, otherwise it is fresh."""

    protocol: Protocol
    randomness: Keystream
    keep: tuple[str, ...] = ()
    keyed: Keyed | None = None
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        taken = {*self.reading.columns, *self.hidden, self.column}
        for name in self.keep:
            if name in taken or self.keep.count(name) > 1:
                raise AlphabetError(
                    "this column cannot be kept as it is",
                    where=name,
                    remedy="Keep public columns only, each once: not the secret, not what is released sanitised.",
                )

    @cached_property
    def reading(self) -> Reading:
        joint = self.protocol.joint
        return Reading((*(joint.secrets if joint.reads_secret else ()), *joint.releases))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The secret columns. Several that `Joint.observed` joined into one are named a×b: each of them counts."""
        names = [attribute.name for attribute in self.protocol.joint.secrets]
        return (*names, *(part for name in names for part in name.split("×")))

    @property
    def column(self) -> str:
        """The name of the released column: the columns that it tells about."""
        return column_of(self.protocol.joint)

    @property
    def needs(self) -> tuple[str, ...]:
        """The columns to read; no other column of the table is touched."""
        identity = (self.keyed.column,) if self.keyed else ()
        return tuple(dict.fromkeys((*self.reading.columns, *identity, *self.keep)))

    @cached_property
    def sampler(self) -> Sampler:
        """The protocol's law, and that of its outputs for a record that has no letter."""
        return Sampler(np.column_stack([self.protocol.weights, self.protocol.marginal]))

    @cached_property
    def labels(self) -> pa.Array:
        return pa.array([label(output) for output in self.protocol.outputs], pa.string())

    def schema(self, source: pa.Schema) -> pa.Schema:
        """The released table's columns, from the source's. Refuses what cannot be letters before reading any value."""
        self.reading.check(source)
        released = pa.dictionary(pa.from_numpy_dtype(_signed(len(self.labels))), pa.string())
        return pa.schema(
            [(self.column, released), *((name, _readable_type(source.field(name).type)) for name in self.keep)]
        )

    def draft(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch sanitised: numbers of outputs, then the kept columns."""
        codes = self.reading.codes([batch.column(name) for name in self.reading.columns])
        drawn = self._draw(codes, batch).astype(_signed(len(self.labels)), copy=False)
        self.tally.records += len(codes)
        self.tally.without_letter += int(np.count_nonzero(codes == self.reading.size))
        return pa.record_batch(
            [pa.array(drawn), *(batch.column(name) for name in self.keep)], names=[self.column, *self.keep]
        )

    def _draw(self, codes: Codes, batch: pa.RecordBatch) -> Codes:
        if self.keyed is None:
            return self.sampler.sample(codes, self.randomness)
        ids = batch.column(self.keyed.column)
        return self.sampler.draw(codes, self.keyed.words(ids, codes, first_row=self.tally.records + 1))

    def finish(self, draft: pa.RecordBatch) -> pa.RecordBatch:
        """Numbers replaced by the labels of the outputs."""
        released = pa.DictionaryArray.from_arrays(draft.column(0), self.labels)
        return pa.record_batch([released, *map(readable, draft.columns[1:])], names=draft.schema.names)


def column_of(joint: Joint) -> str:
    attributes: Sequence[Attribute] = (*(joint.secrets if joint.include_secret else ()), *joint.releases)
    return "×".join(attribute.name for attribute in attributes)


def _signed(size: int) -> np.dtype[Any]:
    """The smallest signed type that numbers so many: Arrow's dictionaries want signed ones."""
    return np.min_scalar_type(-size)


def _readable_type(kind: pa.DataType) -> pa.DataType:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.large_string() if is_text(kind) else kind
