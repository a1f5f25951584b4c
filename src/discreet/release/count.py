"""The joint distribution of a file, read exactly as a release reads it, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from discreet.exceptions import AlphabetError, TableError
from discreet.joint import Joint
from discreet.release.letters import Reading, as_text, is_text, plain
from discreet.release.numbered import Progress, counted
from discreet.release.read import BATCH_ROWS, open_source
from discreet.tables import count_table

COUNT = "number of records"


def joint_of_file(
    path: str,
    *,
    secret: Sequence[str],
    release: Sequence[str],
    include_secret: bool = False,
    encoding: str | None = None,
    progress: Progress = lambda stage, records: None,
) -> Joint:
    """Count a CSV, Parquet or Arrow file, or standard input for "-". A cell that cannot be read is a missing value."""
    names = [*secret, *release]
    for name in names:
        if names.count(name) > 1:
            raise AlphabetError("a column is named twice", where=name, remedy="Secret and release share no column.")
    with open_source(path, names, encoding=encoding, in_order=False) as source:
        cells = _distinct(names, map(_cells_of, counted(source, "counted", progress)))
    if not len(cells):
        raise TableError("the table has no records", where=path, remedy="Count at least one record.")
    secrets, releases, shape = count_table(cells.select(names), list(secret), list(release))
    reading = Reading((*secrets, *releases))
    codes = reading.codes([cells[name].combine_chunks() for name in names])
    counts = np.bincount(codes, weights=cells[COUNT].to_numpy(), minlength=reading.size)
    return Joint.from_counts(counts.reshape(shape.shape), secrets, releases, include_secret=include_secret)


def _distinct(names: list[str], tables: Iterator[pa.Table]) -> pa.Table:
    """Every combination of cells once, with the number of its records."""
    counted: pa.Table | None = None
    for table in tables:
        part = table.group_by(names).aggregate([([], "count_all")]).rename_columns([*names, COUNT])
        counted = part if counted is None else pa.concat_tables([counted, part])
        if len(counted) > BATCH_ROWS:
            counted = _merged(names, counted)
    return pa.table({name: pa.nulls(0) for name in [*names, COUNT]}) if counted is None else _merged(names, counted)


def _merged(names: list[str], counted: pa.Table) -> pa.Table:
    return counted.group_by(names).aggregate([(COUNT, "sum")]).rename_columns([*names, COUNT])


def _cells_of(batch: pa.RecordBatch) -> pa.Table:
    return pa.table([_cells(column) for column in batch.columns], names=batch.schema.names)


def _cells(column: pa.Array) -> pa.Array:
    """Text without the spaces around it, null where it is empty; other cells as they are."""
    if pa.types.is_dictionary(column.type) and is_text(column.type.value_type):
        return plain(pa.DictionaryArray.from_arrays(column.indices, _cells(column.dictionary)))
    if not is_text(column.type):
        return plain(column)
    texts = as_text(column)
    return pa.array([text or None for text in texts.to_pylist()], pa.large_string())
