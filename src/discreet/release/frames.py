"""Data frames in, the same kind of frame out: pandas, polars, pyarrow, duckdb, through narwhals."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from discreet.exceptions import ParameterError, TableError
from discreet.protocol import Protocol
from discreet.release.kernel import Kernel
from discreet.release.keyed import Keyed
from discreet.release.ledger import ANY_DATA, Ledger
from discreet.release.letters import as_letters
from discreet.release.manifest import FORMAT, account_of, statement
from discreet.release.numbered import batches_of, finished
from discreet.release.randomness import Keystream
from discreet.release.read import BATCH_ROWS
from discreet.release.shuffle import shuffled
from discreet.tables import read_table


class NotPrivate(UserWarning):
    """A release for tests, from a fixed stream."""


def sanitise(
    table: Any,
    protocol: Protocol,
    *,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    key: str | PathLike[str] | None = None,
    identity: str | None = None,
    ledger: str | PathLike[str] | None = None,
    data: str | None = None,
    budget: float | None = None,
    testing: bool = False,
) -> Any:
    """Release a table: the same kind comes out, with the released column and the public columns named in `keep`.

    Records come in random order unless `keep_order`. With `key` (a file) and `identity` (a column) the draws repeat.
    With `ledger` (a file) the release is counted there before it is returned, and refused where `discreet sanitise`
    would refuse it; `data` names the people, `budget` declares a limit. Without a ledger nothing counts how often a
    table was released.

    What was done is stated in the schema's metadata of Arrow tables and in `attrs` of pandas frames, under "discreet
    release"; polars and duckdb frames have no place for it. `testing` draws from a fixed stream, for tests only: such a
    table is not private, its statement says so, and a warning as well.
    """
    if isinstance(table, str | PathLike):
        raise TableError("a path, not a table", remedy="Use discreet.release.sanitise_file, or `discreet sanitise`.")
    if (key is None) != (identity is None):
        raise ParameterError("a key and an id go together", where="key, identity", remedy="Give both, or neither.")
    if ledger is None and (data is not None or budget is not None):
        raise ParameterError("a budget or a name without a ledger", where="ledger", remedy="Name a file for it.")
    if testing:
        warnings.warn("drawn from a fixed stream: not private, for tests only", NotPrivate, stacklevel=3)
    keyed = Keyed.from_file(Path(key), identity, protocol.digest) if key is not None and identity is not None else None
    kernel = Kernel(protocol, Keystream.testing() if testing else Keystream.fresh(), tuple(keep), keyed)
    book = Ledger(Path(ledger), protocol, data or ANY_DATA) if ledger is not None else None
    name = keyed.name if keyed else None
    counted = account_of(book.account(name, budget)) if book else {}
    records = _records(table, kernel.needs)
    schema = kernel.schema(records.schema)
    drafts = (kernel.draft(batch) for batch in records.to_batches(max_chunksize=BATCH_ROWS))
    ordered = drafts if keep_order else shuffled(drafts, kernel.randomness)
    parts = [part for draft in finished(ordered, kernel.finish) for part in batches_of(draft)]
    if book:
        book.enter(name, budget)
    return _like(table, pa.Table.from_batches(parts, schema), {**statement(kernel, keep_order), **counted})


def _records(table: Any, names: Sequence[str]) -> pa.Table:
    try:
        return read_table(table, names)
    except TableError:
        frame = nw.from_native(table, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            raise
        return pa.table({name: as_letters(frame.get_column(name).to_list()) for name in names})


def _like(original: Any, released: pa.Table, said: dict[str, Any]) -> Any:
    """The table as the kind that came in, with what is said about it where that kind has a place for it."""
    released = released.replace_schema_metadata({FORMAT: json.dumps(said)})
    if isinstance(original, pa.Table):
        return released
    if isinstance(original, pa.RecordBatchReader):
        return released.to_reader()
    if isinstance(original, pa.RecordBatch):
        return (
            released.combine_chunks().to_batches()[0]
            if len(released)
            else pa.RecordBatch.from_pylist([], released.schema)
        )
    frame = nw.from_native(original, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
        return nw.from_arrow(released, backend="polars").lazy().to_native()
    if isinstance(frame, nw.LazyFrame):
        return nw.from_native(released).lazy(backend=frame.implementation).to_native()
    if not isinstance(frame, nw.DataFrame):
        return released
    native = nw.from_arrow(released, backend=frame.implementation).to_native()
    if frame.implementation.is_pandas():
        native.attrs[FORMAT] = said
    return native
