"""Batches in, sanitised batches out, for engines that cut a table into parts: DuckDB, Dask, Ray, Beam.

Such engines evaluate a part again when a worker fails, when it is slow, or when a frame is looked at twice. Fresh draws
would then be second draws of the same records, which can tell far more than twice as much (theory 4.3). So draws are
keyed here, always: the same records give the same cells in whatever parts, order and number of attempts.

What a part cannot know is left to the caller: that no id occurs in two parts, that the kept columns together say no
more than is promised, that no other column holds ids of persons with several rows (`discreet check` on the whole table
tells both), the order of the records, and the ledger: `Ledger.of_user(protocol).enter()` counts one release, before
anything of it can be seen. A policy with a rule for kept columns, and a protocol with a rule for several rows of a
person, need the whole table and are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from os import PathLike
from typing import Any, Final

import pyarrow as pa

from discreet.exceptions import InOwnWords, ReleaseError
from discreet.protocol.strata import AnyProtocol
from discreet.randomness import Keystream
from discreet.records.cells import value_type
from discreet.records.csvheader import there
from discreet.records.persons import Rule, WhoseRows
from discreet.release.batches import BatchSanitiser
from discreet.release.given import kept_names
from discreet.release.kept_columns import KeptInPassing
from discreet.release.keyed_draws import keyed_draws
from discreet.release.refusals import Rules, policy_in_force
from discreet.release.sanitise import broken_off

READER = "Give an Arrow table, a reader, or an iterator of Arrow record batches."
WHOLE = "Release the whole table with sanitise, or sanitise_file."
NO_VALUES: Final = InOwnWords(broken_off)
"""Whatever is raised: batches come from programs of any kind, which have errors of their own."""


@NO_VALUES
def sanitise_batches(
    batches: Any,
    protocol: AnyProtocol,
    *,
    key: str | PathLike[str],
    identity: str,
    keep: Iterable[str] = (),
    keep_anyway: bool = False,
    unknown_anyway: bool = False,
) -> pa.RecordBatchReader:
    """Release batches as they come, in their order, with draws that repeat.

    An id that occurs twice in these batches, more than 5 % of values that the protocol does not know (unless
    `unknown_anyway`), and kept columns that give away a secret which is in the batches (unless `keep_anyway`) raise an
    error after the last batch: publish nothing before the stream has ended.

    Arguments:
        batches: an Arrow table, a reader, anything with an Arrow stream (a DuckDB relation, a polars frame), or an
            iterator of record batches.
        protocol: what was proven.
        key: a file of at least 32 secret bytes, or "env:NAME".
        identity: the column that names the person.
        keep: public columns to publish as they are.
        keep_anyway: keep columns that tell more about the secret than is promised.
        unknown_anyway: release although the protocol does not know most of it.
    Returns:
        A reader of batches with the released column and those in `keep`.
    Raises:
        ReleaseError: no such column, an id twice, or a rule that needs the whole table.
    Example:
        >>> import discreet as dc, os, secrets, pyarrow as pa
        >>> from discreet.release import sanitise_batches
        >>> joint = dc.Joint.from_counts([[30, 10], [10, 30]], ["s", "t"], [dc.Attribute("x", ("a", "b"))])
        >>> os.environ["EXAMPLE_KEY"] = secrets.token_hex(32)
        >>> table = pa.table({"id": ["1", "2"], "x": ["a", "b"]})
        >>> protocol = dc.design(joint, dc.LIP(0.5)).protocol
        >>> sanitise_batches(table, protocol, key="env:EXAMPLE_KEY", identity="id").read_all().num_rows
        2
    """
    rules = Rules(policy_in_force(None), unknown_anyway)
    rules.before(protocol)
    stated = protocol.statement.rows
    if isinstance(stated, WhoseRows) and stated.rule is not Rule.single:
        raise ReleaseError("a protocol with a rule for several rows of a person", where="rows", remedy=WHOLE)
    draws = keyed_draws(key, identity, protocol.digest)
    kernel = BatchSanitiser(protocol, Keystream.fresh(), kept_names(keep), draws)
    if rules.watches(kernel):
        raise ReleaseError("a policy with a rule for the kept columns", where="policy", remedy=WHOLE)
    schema, parts = _opened(batches)
    for name in kernel.needs:
        if schema.get_field_index(name) < 0:
            raise ReleaseError("no such column, or several of that name", where=name, remedy="Name each column once.")
    there(kernel.hidden, schema.names)
    kept = KeptInPassing.of(protocol, kernel.keep, schema.names, twice=False)
    released = _released(kernel, kept.watching(parts), rules, protocol, lambda: kept.check(identity, keep_anyway))
    return pa.RecordBatchReader.from_batches(kernel.schema(schema), _UntilBroken(released))


def _released(
    kernel: BatchSanitiser,
    parts: Iterator[pa.RecordBatch],
    rules: Rules,
    protocol: AnyProtocol,
    check_kept: Callable[[], None],
) -> Iterator[pa.RecordBatch]:
    with NO_VALUES:
        for part in parts:
            yield kernel.finish(kernel.draft(part.select(list(kernel.needs))))
        assert kernel.keyed is not None
        kernel.keyed.check_repeated()
        rules.after(protocol, kernel.tally)
        check_kept()


@dataclass(eq=False)
class _UntilBroken:
    """Batches that never look as if they had ended after one that failed."""

    parts: Iterator[pa.RecordBatch]
    broken: bool = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        if self.broken:
            raise ReleaseError("this release was broken off before", remedy="Begin a new one with the same key.")
        self.broken = True
        part = next(self.parts, None)
        self.broken = False
        if part is None:
            raise StopIteration
        return part


def _opened(batches: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema of the batches, and the batches."""
    if isinstance(batches, pa.RecordBatch):
        return batches.schema, iter([batches])
    if hasattr(batches, "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(batches)
        return reader.schema, iter(reader)
    if hasattr(batches, "fetch_record_batch"):  # a DuckDB relation
        reader = batches.fetch_record_batch()
        return reader.schema, iter(reader)
    if not isinstance(batches, Iterable):
        raise ReleaseError(f"a {type(batches).__name__} has no batches", where="batches", remedy=READER)
    parts = iter(batches)
    first = next(parts, None)
    if first is None:
        raise ReleaseError("no batch, and so no columns", where="batches", remedy=READER)
    columns = _columns(first)
    return first.schema, (part for part in chain([first], parts) if _is_like(part, columns))


def _columns(batch: Any) -> dict[str, pa.DataType]:
    if not isinstance(batch, pa.RecordBatch):
        raise ReleaseError(f"a {type(batch).__name__} is no record batch", where="batches", remedy=READER)
    return {field.name: value_type(field.type) for field in batch.schema}


def _is_like(batch: Any, columns: dict[str, pa.DataType]) -> bool:
    """ReleaseError where a batch has other columns than the first."""
    if _columns(batch) != columns:
        remedy = "Nothing of this release is to be published: give all batches the same columns and types."
        raise ReleaseError("a batch with other columns than the first", where="batches", remedy=remedy)
    return True
