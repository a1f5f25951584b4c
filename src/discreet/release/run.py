"""From a file to a released file: read, sanitise, shuffle, write, enter in the ledger, publish."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from discreet.exceptions import ParameterError, ReleaseError
from discreet.protocol import Protocol
from discreet.release.kernel import Kernel
from discreet.release.keyed import Keyed
from discreet.release.ledger import Account, Ledger
from discreet.release.manifest import manifest
from discreet.release.numbered import Draft, Progress, counted, finished
from discreet.release.prefetch import ahead
from discreet.release.publish import uninterrupted, unpublished
from discreet.release.randomness import Keystream
from discreet.release.read import PIPE, Format, Source, format_of, open_source
from discreet.release.shuffle import shuffled
from discreet.release.target import open_target
from discreet.release.write import write_records


@dataclass(frozen=True)
class Job:
    """One release: where from, where to, and how. "-" is standard input or output.

    `testing` draws from a fixed stream, for tests only: such a release is not private, and its manifest says so.
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
    data: str | None = None
    budget: float | None = None
    testing: bool = False


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


def sanitise_file(
    job: Job,
    announce: Callable[[Account], None] = lambda account: None,
    progress: Progress = lambda stage, records: None,
) -> Outcome:
    """Release a file. `announce` is told what the release comes to before anything is written."""
    _check_paths(job)
    protocol = Protocol.load(job.protocol)
    keyed = _keyed(job, protocol)
    key = keyed.name if keyed else None
    ledger = Ledger.beside(job.protocol, protocol, job.data)
    account = ledger.account(key, job.budget)
    announce(account)
    kernel = Kernel(protocol, Keystream.testing() if job.testing else Keystream.fresh(), job.keep, keyed)
    coded = (*kernel.reading.columns, *(() if job.keep_order else job.keep))
    plain = tuple(name for name in kernel.needs if name not in coded)
    with (
        open_source(job.source, coded, plain, encoding=job.encoding, in_order=job.keep_order) as source,
        open_target(job.target) as target,
    ):
        kind = job.format or format_of(job.target) or source.format
        released = ahead(_released(kernel, source, job, progress))
        write_records(target.sink, counted(released, "written", progress), kernel.schema(source.schema), kind)
        statement = json.dumps(manifest(kernel, account, target, job.keep_order, job.target), indent=2) + "\n"
        beside = None if job.target == PIPE else Path(f"{job.target}.manifest.json")
        if beside is None:
            ledger.enter(key, job.budget)
            target.publish()
        else:
            with uninterrupted():
                with unpublished(beside) as file:
                    file.write(statement.encode())
                    ledger.enter(key, job.budget)
                    file.publish()
                target.publish()
    tally = kernel.tally
    return Outcome(
        job.target, str(beside) if beside else None, tally.records, tally.without_letter, source.unreadable,
        account.draws, account.epsilon,
    )  # fmt: skip


def _released(kernel: Kernel, source: Source, job: Job, progress: Progress) -> Iterator[Draft]:
    drafts: Iterator[Draft] = counted((kernel.draft(batch) for batch in ahead(source)), "read", progress)
    if not job.keep_order:
        drafts = shuffled(drafts, kernel.randomness, None if job.target == PIPE else Path(job.target).parent)
    return finished(drafts, kernel.finish)


def _keyed(job: Job, protocol: Protocol) -> Keyed | None:
    if (job.key is None) != (job.identity is None):
        raise ParameterError("a key and an id go together", where="key, id", remedy="Give both, or neither.")
    if job.key is None or job.identity is None:
        return None
    return Keyed.from_file(job.key, job.identity, protocol.digest)


def _check_paths(job: Job) -> None:
    """A release never replaces what it reads."""
    if job.target == PIPE:
        return
    target = Path(job.target)
    for path in (job.protocol, *([Path(job.source)] if job.source != PIPE else []), *([job.key] if job.key else [])):
        if target.exists() and path.exists() and target.samefile(path):
            raise ReleaseError("the output would replace an input", where=job.target, remedy="Give it another name.")
    if target.is_dir():
        raise ReleaseError("the output is a folder", where=job.target, remedy="Give the name of a file.")
