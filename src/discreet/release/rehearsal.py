"""The rehearsal of a release: everything is read, nothing is drawn, entered or written.

A draw can never be repeated, so what would spoil it is found before. A check says what a release would be refused for,
what somebody should know before it, and the figures behind both. They are about the raw data: for the steward, not for
publication. Where the table has the columns of the secret, the level of the promise is measured at the table's own law,
and so is the chance that the best guess of the secret is right (`identity_risk`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Final

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.channel import label
from discreet.exceptions import AlphabetError, visible
from discreet.files.atomic_file import PIPE
from discreet.information import share_kept
from discreet.joint import Joint
from discreet.notions.notion import words_of
from discreet.phrases import names, rounded_up
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, load_protocol
from discreet.randomness import Keystream
from discreet.records.source import RecordSource, ahead, format_of, open_records
from discreet.release.batches import BatchSanitiser
from discreet.release.check import Check, ColumnCount, Finding, LawChange, People, column_count, refused_into
from discreet.release.identity_risk import BestGuess, IdentityRisk, best_guess, identity_risk
from discreet.release.keyed_draws import KeyedDraws, keyed_draws
from discreet.release.law_change import law_change
from discreet.release.ledger import Account, Ledger, ledger_of
from discreet.release.record_counts import LetterColumn, RecordCounts, ValueColumn
from discreet.release.refusals import (
    MOST_UNKNOWN,
    check_policy,
    check_unknown,
    circumstances,
    policy_in_force,
)
from discreet.release.sanitise import Job, check_known_strata, check_target
from discreet.wording import guarantee

SANITISE_PER_READ: Final = 2.5
"""Seconds of a release for a second of reading its table, measured on tables of a million records."""
ROUNDING: Final = 1e-9


@dataclass(eq=False)
class Rehearsal:
    """A check under way: what is found is written down, and what cannot go on stops."""

    protocol: AnyProtocol
    keep: tuple[str, ...] = ()
    keep_order: bool = False
    encoding: str | None = None
    keyed: KeyedDraws | None = None
    several_rows: bool = False
    policy: Policy | None = None
    unknown_anyway: bool = False
    ledger: Ledger | None = None
    budget: float | None = None
    format: str = "csv"
    warnings: list[Finding] = field(default_factory=list)
    refusals: list[Finding] = field(default_factory=list)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        with refused_into(self.refusals):
            yield

    def warn(self, what: str, where: str = "", remedy: str = "") -> None:
        self.warnings.append(Finding(what, where, remedy))

    def run(self, table: Any) -> Check:
        """Read the table once."""
        joint = self.protocol.joint
        counts: RecordCounts | None = None
        unreadable, spent = 0, 0.0
        with self.refusing():
            kernel = BatchSanitiser(self.protocol, Keystream.testing(), self.keep, self.keyed)
            self.keep = kernel.keep
            check_known_strata(kernel, table, self.encoding)
            started = time.perf_counter()
            with self._opened(kernel, table) as source:
                kernel.schema(source.schema)
                counts = self._read(source, kernel)
                unreadable = source.unreadable
            spent = time.perf_counter() - started
        if counts is None:
            static = circumstances(self.protocol, None)
            with self.refusing():
                check_policy(self.policy, static, k_known=False)
            return self._check(promise=self._promise())
        return self._judged(counts, joint, unreadable, spent)

    def _opened(self, kernel: BatchSanitiser, table: Any) -> RecordSource:
        """The columns of a release, and those of the secret if the table has them."""
        coded = (*kernel.reading.columns, *self.keep)
        plain = [name for name in kernel.needs if name not in coded]
        secret = [a.name for a in self.protocol.joint.secrets if a.name not in (*coded, *plain)]

        def opened(more: Sequence[str]) -> RecordSource:
            return open_records(table, (*coded, *more), plain, encoding=self.encoding, in_order=self.keep_order)

        if not secret or (isinstance(table, str) and table == PIPE):
            return opened(())
        try:
            return opened(secret)
        except AlphabetError as error:
            if error.where not in secret:
                raise
            return opened(())

    def _read(self, source: RecordSource, kernel: BatchSanitiser) -> RecordCounts:
        joint, there = self.protocol.joint, source.schema.names
        secrets = joint.secrets if all(a.name in there for a in joint.secrets) else ()
        letters = {a.name: LetterColumn(a) for a in (*joint.reads, *secrets)}
        stratified = isinstance(self.protocol, StratifiedProtocol)
        counts = RecordCounts(tuple(letters.values()), tuple(map(ValueColumn, self.keep)), stratified)
        for batch in ahead(source):
            if self.keyed is not None:
                ids = batch.column(self.keyed.column)
                self.keyed.words(ids, np.zeros(len(batch), np.int64), first_row=counts.records + 1)
            strata = kernel.strata(batch) if stratified else None
            counts.add(kernel.published(batch), strata)
        return counts

    # ---- what follows from the counts -----------------------------------------------------------------------

    def _judged(self, counts: RecordCounts, joint: Joint, unreadable: int, spent: float) -> Check:
        read = [column.attribute for column in counts.letters]
        secrets = joint.secrets if all(a in read for a in joint.secrets) else ()
        unknown = counts.unknown(joint.reads)
        columns = tuple(column_count(counts, attribute) for attribute in joint.reads)
        letters = counts.codes(joint.reads)
        secret = counts.codes(secrets) if secrets else None
        lost = int(counts.counts[letters == len(joint.letters)].sum())
        people = self._people()
        law, guess, identity = None, None, None
        if counts.complete:
            identity = identity_risk(self.keep, counts.kept(), counts.counts, secret) if self.keep else None
            law = law_change(self.protocol, counts, letters, secrets)
            guess = self._guess(counts, letters, secret)
        k = counts.records if not self.keep else identity.smallest if identity else 1
        with self.refusing():
            check_policy(self.policy, circumstances(self.protocol, k), k_known=True)
        with self.refusing():
            check_unknown(unknown, counts.records, self.unknown_anyway)
        account = self._account()
        self._warn(counts, columns, unreadable, law, identity)
        if account is not None and account.draws > 1:
            self.warn(f"this would be draw number {account.draws}: together {rounded_up(account.epsilon)}", "ledger")
        return self._check(
            records=counts.records,
            promise=self._promise(),
            columns=columns,
            unknown=unknown,
            without_letter=lost,
            unreadable=unreadable,
            law=law,
            people=people,
            account=account,
            size=self._size(counts, letters),
            seconds=spent * SANITISE_PER_READ,
            identity=identity,
            guess=guess,
        )

    def _check(self, **figures: Any) -> Check:
        digest = self.policy.digest if self.policy else None
        return Check(**figures, policy=digest, warnings=tuple(self.warnings), refusals=tuple(self.refusals))

    def _promise(self) -> dict[str, Any]:
        protocol, joint = self.protocol, self.protocol.joint
        return {
            "secret": names(joint.secrets),
            "released": names(joint.released),
            "kept": [visible(name) for name in self.keep],
            "notion": words_of(protocol.notion).name,
            "epsilon": protocol.epsilon,
            "in_words": guarantee(protocol),
            "value_kept": _share(protocol),
            "protocol": protocol.digest,
        }

    def _account(self) -> Account | None:
        with self.refusing():
            if self.keyed is not None and not self.several_rows:
                self.keyed.check_repeated()
            if self.ledger is not None:
                return self.ledger.foretold(self.keyed.draw if self.keyed else None, self.budget)
        return None

    def _people(self) -> People | None:
        if self.keyed is None:
            return None
        rows = self.keyed.identities.rows_per_id()
        return People(self.keyed.column, len(rows), int(rows.max(initial=0)))

    def _guess(self, counts: RecordCounts, letters: Integers, secret: Integers | None) -> BestGuess | None:
        if secret is None:
            return None
        known = secret < len(self.protocol.joint.secret_letters)
        kept = [row[known] for row in counts.kept()]
        columns = self._drawn(counts, letters)[known]
        return best_guess(kept, secret[known], columns, counts.counts[known], self._outputs())

    def _drawn(self, counts: RecordCounts, letters: Integers) -> Integers:
        """The column of `_outputs` that every kind is drawn from."""
        return counts.strata() * (len(self.protocol.joint.letters) + 1) + letters

    def _outputs(self) -> Floats:
        """P(y | z), one column per letter and one for records without a letter, stratum by stratum."""
        if isinstance(self.protocol, StratifiedProtocol):
            return np.asarray(self.protocol.law / 2.0**self.protocol.first.bits)
        return np.column_stack([self.protocol.weights, self.protocol.marginal]) / 2.0**self.protocol.bits

    def _size(self, counts: RecordCounts, letters: Integers) -> int | None:
        """Of a CSV file, as it is expected; no other format is written cell by cell."""
        if self.format != "csv" or not counts.complete:
            return None
        lengths = np.array([len(label(output).encode()) + 3 for output in self.protocol.outputs])
        cells = (lengths @ self._outputs())[self._drawn(counts, letters)]
        for column, numbers in zip(counts.values, counts.kept(), strict=True):
            cells = cells + np.array([_written(value) for value in column.values])[numbers]
        return round(float(cells @ counts.counts))

    def _warn(
        self,
        counts: RecordCounts,
        columns: Sequence[ColumnCount],
        unreadable: int,
        law: LawChange | None,
        identity: IdentityRisk | None,
    ) -> None:
        if not counts.records:
            self.warn("the table has no records")
        for one in columns:
            where = f"column {visible(one.name)}"
            if one.unknown:
                told = f"; {one.looks_like}" if one.looks_like else ""
                self.warn(f"{one.unknown:,} of {counts.records:,} values are unknown to the protocol{told}", where)
            if one.missing > MOST_UNKNOWN * counts.records:
                self.warn(f"{one.missing:,} of {counts.records:,} values are missing: they become noise", where)
        if unreadable:
            self.warn(f"{unreadable:,} records have too many or too few fields: they become noise")
        if not counts.complete:
            self.warn(
                "nearly every record is unique in the kept columns",
                remedy="Too many combinations to count: keep fewer.",
            )
        elif identity is not None and identity.unique:
            self.warn(
                f"{identity.unique:,} records are unique in the kept columns, {identity.below_5:,} share theirs with "
                "fewer than 4 others",
                ", ".join(map(visible, identity.columns)),
                "Keep fewer columns, or coarser ones; those that add most come first in the figures.",
            )
        if law is not None and law.distance > law.by_chance:
            self.warn(
                f"the law of the {law.of} changed by {law.distance:.3g}, where chance explains {law.by_chance:.3g}",
                remedy="" if law.level is not None else "What that means for the promise depends on the secret's law.",
            )
        if law is not None and law.level is not None and law.level > self.protocol.epsilon + ROUNDING:
            promised = rounded_up(self.protocol.epsilon)
            self.warn(
                f"at the law of this table the level is {rounded_up(law.level)}, not {promised}",
                remedy="The promise holds at the distribution in the file. Design on this table, or promise a robust "
                "notion.",
            )


def _share(protocol: AnyProtocol) -> float:
    if isinstance(protocol, StratifiedProtocol):
        return protocol.utility / protocol.entropy if protocol.entropy else 0.0
    return share_kept(protocol.joint, protocol.utility)


def _written(value: object) -> int:
    """The bytes of a kept cell in CSV, with its separator and its quotes."""
    if value is None:
        return 1
    text = value if isinstance(value, bytes) else str(value).encode()
    return len(text) + (3 if isinstance(value, str | bytes) else 1)


# ---- doors ----------------------------------------------------------------------------------------------------------


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
    data: str | None = None,
    budget: float | None = None,
    encoding: str | None = None,
    policy: Policy | str | PathLike[str] | None = None,
    unknown_anyway: bool = False,
) -> Check:
    """What `sanitise` with the same options would do, without doing any of it; `ledger` is read where there is one."""
    refusals: list[Finding] = []
    asked: dict[str, Any] = {}
    with refused_into(refusals):
        asked["policy"] = policy_in_force(policy)
    with refused_into(refusals):
        asked["keyed"] = keyed_draws(key, identity, protocol.digest)
    with refused_into(refusals):
        asked["ledger"] = ledger_of(ledger, protocol, data, budget)
    options = Rehearsal(
        protocol, tuple(keep), keep_order, encoding, several_rows=several_rows, unknown_anyway=unknown_anyway,
        budget=budget, refusals=refusals, **asked,
    )  # fmt: skip
    return options.run(table)


def rehearse_file(job: Job) -> Check:
    """What `sanitise_file` would do with this job; where there is no target, the rules for targets are left out."""
    refusals: list[Finding] = []
    asked: dict[str, Any] = {}
    with refused_into(refusals):
        asked["policy"] = policy_in_force(job.policy)
    if job.target:
        with refused_into(refusals):
            check_target(job)
    protocol = None
    with refused_into(refusals):
        protocol = load_protocol(job.protocol)
    if protocol is None:
        return Check(refusals=tuple(refusals))
    with refused_into(refusals):
        asked["keyed"] = keyed_draws(job.key, job.identity, protocol.digest)
    options = Rehearsal(
        protocol, job.keep, job.keep_order, job.encoding, several_rows=job.several_rows,
        unknown_anyway=job.unknown_anyway, ledger=Ledger.beside(job.protocol, protocol, job.data), budget=job.budget,
        format=job.format or (format_of(job.target) if job.target else None) or "csv", refusals=refusals, **asked,
    )  # fmt: skip
    return options.run(job.source)
