"""The two doors of a rehearsal: `rehearse` for tables, `rehearse_file` for files, with the options of a release."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol
from discreet.records.source import format_of
from discreet.release.check import Check, Finding, refused_into
from discreet.release.given import kept_names
from discreet.release.keyed_draws import keyed_draws
from discreet.release.ledger import Ledger, ledger_of
from discreet.release.refusals import load_shown, policy_in_force
from discreet.release.rehearsal import Rehearsal
from discreet.release.sanitise import NO_VALUES, Job, check_target
from discreet.release.whose_rows import RowsAsked


@NO_VALUES
def rehearse(
    table: Any,
    protocol: AnyProtocol,
    *,
    keep: Sequence[str] = (),
    keep_order: bool = False,
    key: str | PathLike[str] | None = None,
    identity: str | None = None,
    several_rows: bool = False,
    ledger: str | PathLike[str] | None = None,
    people: str | None = None,
    data: str | None = None,
    budget: float | None = None,
    encoding: str | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    unknown_anyway: bool = False,
    keep_anyway: bool = False,
    law_anyway: bool = False,
    person: str | None = None,
    household: str | None = None,
    rows: str | None = None,
    one_row_per_person: bool = False,
    repeat: bool = False,
) -> Check:
    """What `sanitise` with the same options would do, without doing any of it; `ledger` is read where there is one.

    Arguments:
        table: a frame, or a path.
        protocol: what was proven.
        …: those of `discreet.release.sanitise`.

    Returns:
        A `Check`: `refusals`, `warnings` and the figures behind them.

    Raises:
        TableError: a table that cannot be read as one.

    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> from discreet.release import rehearse
        >>> protocol = dc.design(dc.Joint.from_table(adult(), secret="sex", release="education"), dc.LIP(0.5)).protocol
        >>> [one.what for one in rehearse(adult().drop(["education"]), protocol).refusals]
        ['no such column']
    """
    refusals: list[Finding] = []
    asked: dict[str, Any] = {}
    with refused_into(refusals):
        asked["policy"] = policy_in_force(policy)
    with refused_into(refusals):
        asked["keyed"] = keyed_draws(key, identity, protocol.digest)
    with refused_into(refusals):
        asked["ledger"] = ledger_of(ledger, protocol, data if people is None else people, budget, repeat)
    with refused_into(refusals):
        asked["keep"] = kept_names(keep)
    options = Rehearsal(
        protocol, keep_order=keep_order, encoding=encoding, several_rows=several_rows,
        unknown_anyway=unknown_anyway, keep_anyway=keep_anyway, law_anyway=law_anyway,
        budget=budget, refusals=refusals, rows=RowsAsked(person, household, rows, one_row_per_person), **asked,
    )  # fmt: skip
    return options.run(table)


@NO_VALUES
def rehearse_file(job: Job) -> Check:
    """What `sanitise_file` would do with this job; where there is no target, the rules for targets are left out.

    Arguments:
        job: the release.

    Returns:
        A `Check`; a protocol file that cannot be read is among its refusals.

    Raises:
        TableError: a table that cannot be read as one.

    Example:
        >>> from pathlib import Path
        >>> from discreet.release import Job, rehearse_file
        >>> len(rehearse_file(Job(Path("nowhere.json"), "table.csv", "")).refusals)
        1
    """
    refusals: list[Finding] = []
    asked: dict[str, Any] = {}
    with refused_into(refusals):
        asked["policy"] = policy_in_force(job.policy)
    if job.target:
        with refused_into(refusals):
            check_target(job)
    protocol = None
    with refused_into(refusals):
        protocol = load_shown(job.protocol, job.digest)
    if protocol is None:
        return Check(refusals=tuple(refusals))
    with refused_into(refusals):
        asked["keyed"] = keyed_draws(job.key, job.identity, protocol.digest)
    known = job.format or (format_of(job.target) if job.target else None)
    options = Rehearsal(
        protocol, job.keep, job.keep_order, job.encoding, several_rows=job.several_rows,
        unknown_anyway=job.unknown_anyway, keep_anyway=job.keep_anyway, law_anyway=job.law_anyway,
        ledger=Ledger.beside(job.protocol, protocol, job.data, repeat=job.repeat), budget=job.budget,
        format=known or "csv", written=known or ("as read" if job.target else ""), refusals=refusals,
        rows=job.rows, **asked,
    )  # fmt: skip
    return options.run(job.source)
