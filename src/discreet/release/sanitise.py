"""From a table to a released table: read, sanitise, shuffle, write, enter in the ledger, publish.

Two doors over the same steps. `sanitise_file` is for files and pipes of any size, in bounded memory; what it publishes
appears whole or not at all. `sanitise` is for a table that is to stay in memory: the same kind of table comes out.

Every release says what it is, so that anyone can check it (`manifest`): files beside them, tables where they have a
place for it.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from discreet.exceptions import InOwnWords, ReleaseError
from discreet.files.atomic_file import PIPE, alone_in, check_writable, open_target, uninterrupted
from discreet.files.outputs import check_outputs
from discreet.policy import VARIABLE as POLICY_VARIABLE
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol
from discreet.randomness import Keystream
from discreet.records.held_table import HeldTable
from discreet.records.kinds import Draft, Progress, batches_of, counted, finished
from discreet.records.read_ahead import ahead
from discreet.records.source import Format, RecordSource, format_of, open_records
from discreet.records.writer import check_cells_fit, write_records
from discreet.release.batches import BatchSanitiser
from discreet.release.companions import MANIFEST, beside, described, published, unpublished_beside, written_files
from discreet.release.draws_together import draws_told
from discreet.release.given import kept_names
from discreet.release.in_passing import InPassing
from discreet.release.kept_columns import check_kept
from discreet.release.keyed_draws import KeyedDraw, KeyedDraws, keyed_draws
from discreet.release.ledger import Account, Ledger, ledger_of
from discreet.release.manifest import account_of, manifest, statement
from discreet.release.refusals import Rules, check_suffix, load_shown, policy_in_force
from discreet.release.released_table import check_kind, like
from discreet.release.shuffle import shuffled
from discreet.release.table_checks import check_same_law, check_table, readable_twice
from discreet.release.whose_rows import RowsAsked, RowsInForce, rows_in_force

# ---- files and pipes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """One release: where from, where to, and how.

    Arguments:
        protocol: the path of its file.
        source, target: paths; "-" is standard input or output.
        format: "csv", "parquet" or "arrow", where the target's name does not say it.
        rows: whose rows they are, a `RowsAsked`.
        digest: that of the protocol that was looked at; a file of other rules is refused.
        …: those of `discreet.release.sanitise`.
    Example:
        >>> from pathlib import Path
        >>> from discreet.release import Job
        >>> Job(Path("protocol.json"), "table.csv", "released.csv").keep_order
        False
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
    rows: RowsAsked = field(default_factory=RowsAsked)
    repeat: bool = False
    law_anyway: bool = False
    digest: str | None = None


@dataclass(frozen=True)
class Outcome:
    """For the steward. The counts of records without a letter are about the raw data: they are not published.

    Attributes:
        target, manifest: where they are.
        records, unreadable: how many, and how many of them had a wrong number of fields.
        without_letter, unknown: records with no letter at all, and with values outside of the alphabet.
        draws, epsilon: how often these people were drawn, and what all of it tells.
        account: the same with every promise, as it was entered in the ledger.
    Example:
        >>> from discreet.release import Outcome
        >>> Outcome("released.csv", None, 1000, 0, 0, draws=1, epsilon=0.5).unknown
        0
    """

    target: str
    manifest: str | None
    records: int
    without_letter: int
    unreadable: int
    draws: int
    epsilon: float
    unknown: int = 0
    account: Account | None = None


def broken_off(error: Exception) -> ReleaseError:
    """Messages of other libraries quote the data."""
    return ReleaseError(f"broken off by an error inside ({type(error).__name__})", remedy="Nothing was released.")


NO_VALUES: Final = InOwnWords(broken_off, pa.ArrowException, ArithmeticError, LookupError, TypeError, ValueError)


@NO_VALUES
def sanitise_file(
    job: Job,
    announce: Callable[[Account], None] = lambda account: None,
    progress: Progress = lambda stage, records: None,
) -> Outcome:
    """Release a file. `announce` is told what the release comes to before anything is written: with a key that drew
    before, the least that it can be. What was entered is the account of the `Outcome`.

    Arguments:
        job: the release.
        announce: a function of the account.
        progress: a function of the stage and the records done.
    Returns:
        An `Outcome`.
    Raises:
        ReleaseError: whatever stops a release; nothing was published.
        BudgetError: a release that would tell more than the budget.
        ProtocolError: a protocol file that is damaged.
    Example:
        >>> import discreet as dc, pyarrow.csv
        >>> from discreet.datasets import adult
        >>> from discreet.release import Job, sanitise_file
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     protocol, table, target = (Path(folder, name) for name in ("p.json", "table.csv", "released.csv"))
        ...     pyarrow.csv.write_csv(adult().slice(0, 2000), table)
        ...     joint = dc.Joint.from_table(table, secret="sex", release="education")
        ...     dc.design(joint, dc.LIP(0.5)).protocol.save(protocol)
        ...     sanitise_file(Job(protocol, str(table), str(target))).records
        2000
    """
    rules = Rules(policy_in_force(job.policy), job.unknown_anyway)
    check_target(job)
    protocol = load_shown(job.protocol, job.digest)
    rules.before(protocol)
    keyed = keyed_draws(job.key, job.identity, protocol.digest)
    ledger = Ledger.beside(job.protocol, protocol, job.data, repeat=job.repeat).under(rules.policy)
    expected = KeyedDraw(keyed.name, keyed.column) if keyed else None
    ledger.foretold(expected, job.budget)
    randomness = Keystream.testing() if job.testing else Keystream.fresh()
    held = HeldTable.of(job.source)
    whose = rows_in_force(
        job.source, protocol, job.rows, randomness, identity=job.identity, encoding=job.encoding,
        twice=readable_twice(job.source), several_rows=job.several_rows,
    )  # fmt: skip
    rules.before(protocol, whose.drawn)
    ledger = ledger.of_rows(whose.drawn, whose.one_of)
    announce(ledger.foretold(expected, job.budget))
    kernel = BatchSanitiser(protocol, randomness, job.keep, whose.draws(keyed, protocol, randomness))
    public = None if job.target == PIPE else protocol.public()
    check_table(kernel, job.source, job.encoding)
    if kernel.keep and readable_twice(job.source):
        check_kept(job.source, protocol, kernel.keep, job.identity, job.keep_anyway, job.encoding, whose)
    with (
        _opened(kernel, job.source, job.keep_order, job.encoding, whose) as source,
        open_target(job.target) as target,
    ):
        kind = job.format or format_of(job.target) or source.format
        check_cells_fit(kernel.schema(source.schema), kernel.keep, kind)
        passing = InPassing.of(protocol, kernel.keep, source, whose, readable_twice(job.source))
        batches = rules.watching(passing.watching(whose.released(ahead(source))), kernel)
        drafts: Iterator[Draft] = counted((kernel.draft(batch) for batch in batches), "read", progress)
        if not job.keep_order:
            drafts = shuffled(drafts, kernel.randomness, None if job.target == PIPE else Path(job.target).parent)
        released = ahead(finished(drafts, kernel.finish))
        write_records(target.sink, counted(released, "written", progress), kernel.schema(source.schema), kind)
        passing.ids.check()
        rules.after(protocol, kernel.tally)
        passing.kept.check(job.identity, job.keep_anyway)
        met = kernel.tally.met
        broken = check_same_law(job.source, protocol, met, whose, job.encoding, job.law_anyway, passing.law)
        rules.at(broken.stated if broken else {}, protocol)
        ledger = ledger.at(rules.there)
        held.check()
        alike = job.several_rows or whose.tied is not None
        draw = _settled(keyed, alike)
        if public is None:
            account = ledger.enter(draw, job.budget)
            target.publish()
        else:
            with uninterrupted(), alone_in(Path(job.target).parent):
                with unpublished_beside(job.target) as files:
                    contents = described(public, kernel.schema(source.schema), kind, target, job.target, rules.law)
                    account = ledger.enter(draw, job.budget)
                    said = manifest(kernel, account, target, job.keep_order, job.target, alike)
                    said |= {"rows": whose.told, **rules.statement()}
                    published(files, {**contents, MANIFEST: (json.dumps(said, indent=2) + "\n").encode()}, job.target)
                target.publish()
    tally = kernel.tally
    return Outcome(
        job.target, str(beside(job.target, MANIFEST)) if public else None, tally.records, tally.without_letter,
        source.unreadable, account.draws, account.epsilon, tally.unknown, account,
    )  # fmt: skip


def _opened(
    kernel: BatchSanitiser, source: Any, keep_order: bool, encoding: str | None, whose: RowsInForce
) -> RecordSource:
    """The columns that are needed; public ones are shuffled as numbers of few values where they can be."""
    coded = (*kernel.reading.columns, *(() if keep_order else kernel.keep))
    plain = [name for name in kernel.needs if name not in coded]
    in_order = keep_order or whose.chosen is not None
    secrets = [] if readable_twice(source) else kernel.hidden
    return open_records(
        source, coded, plain, optional=secrets, others=whose.asked_places, encoding=encoding, in_order=in_order
    )


def _settled(keyed: KeyedDraws | None, several_rows: bool) -> KeyedDraw | None:
    """What the ledger remembers of keyed draws, once all records were read; refused if ids repeat unannounced."""
    if keyed is None:
        return None
    if not several_rows:
        keyed.check_repeated()
    return keyed.draw


def inputs_of(job: Job) -> list[Path]:
    """Every file that a release reads."""
    named = (job.protocol, job.key, job.policy, os.environ.get(POLICY_VARIABLE), job.source)
    return [Path(one) for one in named if one]


def check_target(job: Job) -> None:
    """A release never replaces what it reads or remembers, nor has a name that promises a format it is not in."""
    if job.target == PIPE:
        return
    check_outputs(written_files(job.target), inputs_of(job))
    check_suffix(job.target, job.format)
    for path in written_files(job.target):
        check_writable(path)


# ---- tables in memory -----------------------------------------------------------------------------------------------


class NotPrivate(UserWarning):
    """A release for tests, from a fixed stream."""


class DrawnAgain(UserWarning):
    """One more draw of the same records, on purpose: what one, two and three of them tell."""


@NO_VALUES
def sanitise(
    table: Any,
    protocol: AnyProtocol,
    *,
    keep: Sequence[str] = (),
    keep_anyway: bool = False,
    keep_order: bool = False,
    key: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    several_rows: bool = False,
    ledger: str | os.PathLike[str] | None = None,
    people: str | None = None,
    data: str | None = None,
    budget: float | None = None,
    encoding: str | None = None,
    testing: bool = False,
    policy: Policy | str | os.PathLike[str] | None = None,
    unknown_anyway: bool = False,
    person: str | None = None,
    household: str | None = None,
    rows: str | None = None,
    one_row_per_person: bool = False,
    repeat: bool = False,
    law_anyway: bool = False,
) -> Any:
    """Release a table: the same kind comes out, with the released column and the public columns named in `keep`.

    What was done is stated in the schema's metadata of Arrow tables and in `attrs` of pandas frames, under "discreet
    release"; polars and duckdb frames have no place for it.

    Arguments:
        table: a frame, or a path, from which an Arrow table comes; `sanitise_file` makes a file of a file.
        protocol: what was proven.
        keep: public columns to publish as they are.
        keep_anyway: keep columns that tell more about the secret than is promised; they are refused otherwise.
        keep_order: records come in random order unless this is said.
        key, identity: a secret file and the column of ids: draws then repeat for the same person.
        several_rows: ids may occur twice, and equal values are then released alike, as one draw.
        ledger: the file that counts releases; without one nothing does.
        people: a name for those it is about (`data` is the old word).
        data: the old word for `people`.
        budget: the most that all releases may tell together.
        repeat: one more draw of the same records on purpose; a warning says before what one, two and three tell.
        encoding: that of a CSV file without byte order mark.
        testing: draw from a fixed stream, for tests only: not private, and it says so.
        policy: a file of rules that may refuse; the one that DISCREET_POLICY names if not given.
        unknown_anyway: release although the protocol does not know most of it: as noise.
        law_anyway: release although the promise is broken for certain at the law of this table, at the levels there.
        person, household: the column that says whose rows these are.
        rows: where one has several: "one", "tied" or "independent".
        one_row_per_person: nobody has two; a table with a column that looks like an id with repeats is refused
            until this, or one of the columns, is said.
    Returns:
        A table of the kind that came in.
    Raises:
        AlphabetError: columns of the protocol that the table does not have.
        BudgetError: a release that would tell more than the budget.
        ReleaseError: anything else that `check` foretells; nothing was drawn.
    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> from discreet.release import sanitise
        >>> protocol = dc.design(dc.Joint.from_table(adult(), secret="sex", release="education"), dc.LIP(0.5)).protocol
        >>> sanitise(adult(), protocol).num_rows
        32561
    """
    rules = Rules(policy_in_force(policy), unknown_anyway)
    rules.before(protocol)
    keyed = keyed_draws(key, identity, protocol.digest)
    book = ledger_of(ledger, protocol, data if people is None else people, budget, repeat)
    book = book and book.under(rules.policy)
    if testing:
        warnings.warn("drawn from a fixed stream: not private, for tests only", NotPrivate, stacklevel=4)
    if book:
        book.foretold(KeyedDraw(keyed.name, keyed.column) if keyed else None, budget)
    if repeat:
        warnings.warn(draws_told(protocol), DrawnAgain, stacklevel=4)
    randomness = Keystream.testing() if testing else Keystream.fresh()
    held = HeldTable.of(table)
    whose = rows_in_force(
        held.records, protocol, RowsAsked(person, household, rows, one_row_per_person), randomness, identity=identity,
        encoding=encoding, twice=readable_twice(held.records), several_rows=several_rows,
    )  # fmt: skip
    rules.before(protocol, whose.drawn)
    book = book and book.of_rows(whose.drawn, whose.one_of)
    kernel = BatchSanitiser(protocol, randomness, kept_names(keep), whose.draws(keyed, protocol, randomness))
    check_table(kernel, held.records, encoding)
    if kernel.keep and readable_twice(held.records):
        check_kept(held.records, protocol, kernel.keep, identity, keep_anyway, encoding, whose)
    with _opened(kernel, held.records, keep_order, encoding, whose) as source:
        schema = kernel.schema(source.schema)
        check_kind(table, schema)
        passing = InPassing.of(protocol, kernel.keep, source, whose, readable_twice(held.records))
        batches = rules.watching(passing.watching(whose.released(source)), kernel)
        drafts: Iterator[Draft] = (kernel.draft(batch) for batch in batches)
        ordered = drafts if keep_order else shuffled(drafts, kernel.randomness)
        parts = [part for draft in finished(ordered, kernel.finish) for part in batches_of(draft)]
    passing.ids.check()
    rules.after(protocol, kernel.tally)
    passing.kept.check(identity, keep_anyway)
    broken = check_same_law(held.records, protocol, kernel.tally.met, whose, encoding, law_anyway, passing.law)
    rules.at(broken.stated if broken else {}, protocol)
    book = book and book.at(rules.there)
    held.check()
    alike = several_rows or whose.tied is not None
    draw = _settled(keyed, alike)
    told = like(table, pa.Table.from_batches(parts, schema))
    account = account_of(book.enter(draw, budget)) if book else {}
    said = {**statement(kernel, keep_order, alike), "rows": whose.told, **account, **rules.statement()}
    return told(said)
