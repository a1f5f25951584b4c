"""From a table to a released table: read, sanitise, shuffle, write, enter in the ledger, publish.

Two doors over the same steps. `sanitise_file` is for files and pipes of any size, in bounded memory; what it publishes
appears whole or not at all. `sanitise` is for a table that is to stay in memory: the same kind of table comes out.

Every release says what it is, so that anyone can check it: files in a manifest beside them, tables where they have a
place for it. The statement says nothing about the raw data: a hash of them, or a count of unusual cells, would confirm
a guess about a single person to whoever knows the others.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, Final

import narwhals as nw
import pyarrow as pa

from discreet.exceptions import InOwnWords, ReleaseError
from discreet.files.atomic_file import PIPE, Target, open_target, uninterrupted, unpublished
from discreet.notions.notion import words_of
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, load_protocol
from discreet.randomness import Keystream
from discreet.records.kinds import Draft, Progress, batches_of, counted, finished
from discreet.records.source import Format, RecordSource, ahead, format_of, open_records
from discreet.records.writer import write_records
from discreet.release.batches import BatchSanitiser
from discreet.release.kept_columns import check_kept
from discreet.release.keyed_draws import CONSTRUCTION, KeyedDraw, KeyedDraws, keyed_draws
from discreet.release.ledger import Account, Ledger, ledger_of
from discreet.release.refusals import Rules, check_suffix, check_writable, policy_in_force
from discreet.release.shuffle import shuffled

FORMAT: Final = "discreet release"
VERSION: Final = 1


# ---- files and pipes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One release: where from, where to, and how. "-" is standard input or output.

    `several_rows` says that rows with one id belong to one person: their equal values are then released alike, as one
    draw. `testing` draws from a fixed stream, for tests only: such a release is not private, and its manifest says so.
    """

    protocol: Path
    source: str
    target: str
    keep: tuple[str, ...] = ()
    keep_order: bool = False
    encoding: str | None = None
    format: Format | None = None
    key: Path | None = None
    identity: str | None = None
    several_rows: bool = False
    data: str | None = None
    budget: float | None = None
    testing: bool = False
    keep_anyway: bool = False
    policy: Path | None = None
    unknown_anyway: bool = False


@dataclass(frozen=True)
class Outcome:
    """For the steward. The counts of records without a letter are about the raw data: they are not published."""

    target: str
    manifest: str | None
    records: int
    without_letter: int
    unreadable: int
    draws: int
    epsilon: float
    unknown: int = 0


def _broken_off(error: Exception) -> ReleaseError:
    """Messages of other libraries quote the data."""
    return ReleaseError(f"broken off by an error inside ({type(error).__name__})", remedy="Nothing was released.")


NO_VALUES: Final = InOwnWords(_broken_off, pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError)


@NO_VALUES
def sanitise_file(
    job: Job,
    announce: Callable[[Account], None] = lambda account: None,
    progress: Progress = lambda stage, records: None,
) -> Outcome:
    """Release a file. `announce` is told what the release comes to before anything is written."""
    rules = Rules(policy_in_force(job.policy), job.unknown_anyway)
    check_target(job)
    protocol = load_protocol(job.protocol)
    rules.before(protocol)
    keyed = keyed_draws(job.key, job.identity, protocol.digest)
    ledger = Ledger.beside(job.protocol, protocol, job.data)
    announce(ledger.foretold(KeyedDraw(keyed.name, keyed.column) if keyed else None, job.budget))
    kernel = BatchSanitiser(protocol, Keystream.testing() if job.testing else Keystream.fresh(), job.keep, keyed)
    check_known_strata(kernel, job.source, job.encoding)
    if readable_twice(job.source):
        check_kept(job.source, protocol, kernel.keep, job.identity, job.keep_anyway, job.encoding)
    with (
        _opened(kernel, job.source, job.keep_order, job.encoding) as source,
        open_target(job.target) as target,
    ):
        kind = job.format or format_of(job.target) or source.format
        batches = rules.watching(ahead(source), kernel)
        drafts: Iterator[Draft] = counted((kernel.draft(batch) for batch in batches), "read", progress)
        if not job.keep_order:
            drafts = shuffled(drafts, kernel.randomness, None if job.target == PIPE else Path(job.target).parent)
        released = ahead(finished(drafts, kernel.finish))
        write_records(target.sink, counted(released, "written", progress), kernel.schema(source.schema), kind)
        rules.after(protocol, kernel.tally)
        draw = _settled(keyed, job.several_rows)
        beside = None if job.target == PIPE else Path(f"{job.target}.manifest.json")
        if beside is None:
            account = ledger.enter(draw, job.budget)
            target.publish()
        else:
            with uninterrupted():
                with unpublished(beside) as file:
                    account = ledger.enter(draw, job.budget)
                    said = manifest(kernel, account, target, job.keep_order, job.target, job.several_rows)
                    said = {**said, **rules.statement()}
                    file.write((json.dumps(said, indent=2) + "\n").encode())
                    file.publish()
                target.publish()
    tally = kernel.tally
    return Outcome(
        job.target, str(beside) if beside else None, tally.records, tally.without_letter, source.unreadable,
        account.draws, account.epsilon, tally.unknown,
    )  # fmt: skip


def _opened(kernel: BatchSanitiser, source: Any, keep_order: bool, encoding: str | None) -> RecordSource:
    """The columns that are needed; public ones are shuffled as numbers of few values where they can be."""
    coded = (*kernel.reading.columns, *(() if keep_order else kernel.keep))
    plain = [name for name in kernel.needs if name not in coded]
    return open_records(source, coded, plain, encoding=encoding, in_order=keep_order)


def check_known_strata(kernel: BatchSanitiser, table: Any, encoding: str | None) -> None:
    """Every stratum has a mechanism, before anything is drawn. A pipe or a stream is checked batch by batch as it is
    read: nothing of it is published if a stratum is unknown."""
    if not isinstance(kernel.protocol, StratifiedProtocol) or not readable_twice(table):
        return
    with open_records(table, kernel.given, encoding=encoding, in_order=False) as source:
        met = pa.Table.from_batches(list(source), source.schema).combine_chunks()
    for batch in met.to_batches():
        kernel.strata(batch)


def readable_twice(table: Any) -> bool:
    """Whether a table can be read before it is released: not a pipe, not a stream."""
    if isinstance(table, str | PathLike):
        return str(table) != PIPE and Path(table).is_file()
    return not isinstance(table, pa.RecordBatchReader) and not isinstance(table, Iterator)


def _settled(keyed: KeyedDraws | None, several_rows: bool) -> KeyedDraw | None:
    """What the ledger remembers of keyed draws, once all records were read; refused if ids repeat unannounced."""
    if keyed is None:
        return None
    if not several_rows:
        keyed.check_repeated()
    return keyed.draw


def check_target(job: Job) -> None:
    """A release never replaces what it reads, and never has a name that promises a format it is not in."""
    if job.target == PIPE:
        return
    target = Path(job.target)
    for path in (job.protocol, *([Path(job.source)] if job.source != PIPE else []), *([job.key] if job.key else [])):
        if target.exists() and path.exists() and target.samefile(path):
            raise ReleaseError("the output would replace an input", where=job.target, remedy="Give it another name.")
    if target.is_dir():
        raise ReleaseError("the output is a folder", where=job.target, remedy="Give the name of a file.")
    check_suffix(job.target, job.format)
    check_writable(target)


# ---- tables in memory -----------------------------------------------------------------------------------------------


class NotPrivate(UserWarning):
    """A release for tests, from a fixed stream."""


@NO_VALUES
def sanitise(
    table: Any,
    protocol: AnyProtocol,
    *,
    keep: Sequence[str] = (),
    keep_anyway: bool = False,
    keep_order: bool = False,
    key: str | PathLike[str] | None = None,
    identity: str | None = None,
    several_rows: bool = False,
    ledger: str | PathLike[str] | None = None,
    data: str | None = None,
    budget: float | None = None,
    encoding: str | None = None,
    testing: bool = False,
    policy: Policy | str | PathLike[str] | None = None,
    unknown_anyway: bool = False,
) -> Any:
    """Release a table: the same kind comes out, with the released column and the public columns named in `keep`.

    A path is read like any other table, a CSV file in its `encoding`, and an Arrow table comes out of it; a file comes
    out of `sanitise_file`.

    Kept columns that tell more about the secret than is promised are refused where the table has the secret, unless
    `keep_anyway` (`kept_columns`).

    Records come in random order unless `keep_order`. With `key` (a file) and `identity` (a column) the draws repeat;
    ids that occur twice are refused unless `several_rows` says that such rows belong to one person.
    With `ledger` (a file) the release is counted there before it is returned, and refused where `discreet sanitise`
    would refuse it; `data` names the people, `budget` declares a limit. Without a ledger nothing counts how often a
    table was released. A table most of which the protocol does not know is refused unless `unknown_anyway`, and so is
    what breaks a rule of the `policy` (a file, or the one that DISCREET_POLICY names); `check` foretells both.

    What was done is stated in the schema's metadata of Arrow tables and in `attrs` of pandas frames, under "discreet
    release"; polars and duckdb frames have no place for it. `testing` draws from a fixed stream, for tests only: such a
    table is not private, its statement says so, and a warning as well.
    """
    rules = Rules(policy_in_force(policy), unknown_anyway)
    rules.before(protocol)
    keyed = keyed_draws(key, identity, protocol.digest)
    book = ledger_of(ledger, protocol, data, budget)
    if testing:
        warnings.warn("drawn from a fixed stream: not private, for tests only", NotPrivate, stacklevel=4)
    kernel = BatchSanitiser(protocol, Keystream.testing() if testing else Keystream.fresh(), tuple(keep), keyed)
    if book:
        book.foretold(KeyedDraw(keyed.name, keyed.column) if keyed else None, budget)
    check_known_strata(kernel, table, encoding)
    if readable_twice(table):
        check_kept(table, protocol, kernel.keep, identity, keep_anyway, encoding)
    with _opened(kernel, table, keep_order, encoding) as source:
        schema = kernel.schema(source.schema)
        drafts: Iterator[Draft] = (kernel.draft(batch) for batch in rules.watching(source, kernel))
        ordered = drafts if keep_order else shuffled(drafts, kernel.randomness)
        parts = [part for draft in finished(ordered, kernel.finish) for part in batches_of(draft)]
    rules.after(protocol, kernel.tally)
    draw = _settled(keyed, several_rows)
    account = account_of(book.enter(draw, budget)) if book else {}
    said = {**statement(kernel, keep_order, several_rows), **account, **rules.statement()}
    return _like(table, pa.Table.from_batches(parts, schema), said)


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


# ---- what a release says about itself -------------------------------------------------------------------------------


def _released(kernel: BatchSanitiser) -> str | list[str]:
    names = [name for name, _ in kernel.columns]
    return names[0] if len(names) == 1 else names


def statement(kernel: BatchSanitiser, keep_order: bool, several_rows: bool = False) -> dict[str, Any]:
    """What every release says about itself."""
    protocol = kernel.protocol
    given = {"given": list(kernel.given)} if kernel.given else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "records": kernel.tally.records,
        "columns": {"released": _released(kernel), "kept": list(kernel.keep), **given},
        "order": "as in the source" if keep_order else "random",
        "protocol": {
            "sha256": protocol.digest,
            "notion": words_of(protocol.notion).name,
            "epsilon": protocol.epsilon,
        },
        "randomness": "; ".join(_sources(kernel)),
        **_people(kernel, several_rows),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _people(kernel: BatchSanitiser, several_rows: bool) -> dict[str, Any]:
    """Whose rows these are, as far as keyed draws depend on it."""
    if not kernel.keyed:
        return {}
    shared = "rows of one id with equal values share one draw: all of them are released alike"
    rows = shared if several_rows else "one row per id: checked"
    return {"identity": {"column": kernel.keyed.column, "rows": rows}}


def _sources(kernel: BatchSanitiser) -> list[str]:
    """Where the draws come from, and the order, if it is not the operating system's."""
    if not kernel.keyed:
        return [kernel.randomness.source]
    return [f"keyed, repeatable: {CONSTRUCTION}", *([] if kernel.randomness.private else [kernel.randomness.source])]


def account_of(account: Account) -> dict[str, Any]:
    return {"independent_draws": account.draws, "total_epsilon": account.epsilon}


def manifest(
    kernel: BatchSanitiser, account: Account, target: Target, keep_order: bool, name: str, several_rows: bool = False
) -> dict[str, Any]:
    file = {"name": Path(name).name, "bytes": target.size, "sha256": target.sha256()}
    return {**statement(kernel, keep_order, several_rows), "file": file, **account_of(account)}
