"""What is judged of a table that can be read once while it is released, before anything of it is entered or published.

Whose its rows are, what its kept columns tell, and which law its secrets have. Of a table that was judged before,
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from discreet.protocol.strata import AnyProtocol
from discreet.records.source import RecordSource
from discreet.release.id_columns import SeenIds
from discreet.release.kept_columns import KeptInPassing
from discreet.release.table_checks import LawMet
from discreet.release.whose_rows import RowsInForce


@dataclass(frozen=True, eq=False)
class InPassing:
    """Of the records of one source."""

    ids: SeenIds
    kept: KeptInPassing
    law: LawMet

    @classmethod
    def of(
        cls, protocol: AnyProtocol, keep: tuple[str, ...], source: RecordSource, rows: RowsInForce, twice: bool
    ) -> InPassing:
        there = source.schema.names
        law = LawMet.nothing(protocol) if twice else LawMet.of(protocol, there)
        return cls(rows.ids(source), KeptInPassing.of(protocol, keep, there, twice), law)

    def watching(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.kept.watching(self.ids.watching(batches)):
            self.law.add(batch)
            yield batch
