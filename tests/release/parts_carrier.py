"""A carrier without machines: parts are slices of a table, carried in this process; faults are planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from discreet.release.parts import PartJob, counted_part, drawn_part, numbered_part, ordered_part
from discreet.release.shared_ids import id_texts, person_kinds

Drafts = list[tuple[int, bytes]]


@dataclass
class TableCarrier:
    """`tamper` changes the drafts on their way; `second` is what the table gives from its second reading on; `jobs` are
    those it was given."""

    table: pa.Table
    parts: int = 3
    buckets: int = 8
    orderers: int = 2
    tamper: Callable[[Drafts], Drafts] = lambda drafts: drafts
    second: pa.Table | None = None
    jobs: list[PartJob] = field(default_factory=list)
    stored: dict[int, list[bytes]] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        return self.table.schema

    def first(self, records: int) -> pa.Table:
        return self.table.slice(0, records)

    def repeated(self, columns: Sequence[str]) -> str | None:
        for name in columns:
            texts = pa.Table.from_batches(id_texts(self.table.select([name]).to_batches()))["id"]
            if len(texts.unique()) < len(texts):
                return name
        return None

    def differing(self, job: PartJob, columns: Sequence[str]) -> int:
        kinds = pa.Table.from_batches(person_kinds(job, self.table.select(list(columns)).to_batches()))
        different = kinds.group_by(["person", "kind"]).aggregate([]).group_by("person").aggregate([("kind", "count")])
        return int((different["kind_count"].to_numpy() > 1).sum())

    def _slices(self, columns: Sequence[str]) -> Iterable[tuple[int, list[pa.RecordBatch]]]:
        step = -(-len(self.table) // self.parts) or 1
        for number in range(self.parts):
            yield number, self.table.slice(number * step, step).select(list(columns)).to_batches(max_chunksize=777)

    def number(self, job: PartJob, columns: Sequence[str], folder: Path) -> None:
        self.stored = {number: list(numbered_part(job, batches, number)) for number, batches in self._slices(columns)}
        self._was_read()

    def _was_read(self) -> None:
        self.table = self.table if self.second is None else self.second

    def count(self, job: PartJob, columns: Sequence[str]) -> Iterable[bytes]:
        for number, batches in self._slices(columns):
            yield counted_part(job, batches, number)
        self._was_read()

    def carry(self, job: PartJob, columns: Sequence[str], numbered: Path | None) -> Iterable[bytes]:
        self.jobs.append(job)
        drafts: Drafts = []
        for number, batches in self._slices(columns) if numbered is None else self._stored():
            drafts += drawn_part(job, batches, number)
        drafts = sorted(self.tamper(drafts), key=lambda one: one[0])
        for orderer in range(self.orderers):
            yield from ordered_part(job, [one for one in drafts if one[0] % self.orderers == orderer])

    def _stored(self) -> Iterable[tuple[int, list[pa.RecordBatch]]]:
        for number, sealed in self.stored.items():
            yield number, [pa.record_batch([pa.array(sealed, pa.binary())], names=["sealed"])]
