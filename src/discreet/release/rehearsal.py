"""The rehearsal of a release: everything is read, nothing is drawn, entered or written.

A draw can never be repeated, so what would spoil it is found before. A check says what a release would be refused for,
what somebody should know before it, and the figures behind both. They are about the raw data: for the steward, not for
publication. Where the table has the columns of the secret, the level of the promise is measured at the table's own law,
and so is the chance that the best guess of the secret is right (`identity_risk`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

import numpy as np
from scipy import sparse

from discreet.arrays import Integers
from discreet.channel import label
from discreet.exceptions import visible
from discreet.information import share_kept
from discreet.notions.notion import words_of
from discreet.phrases import names
from discreet.policy import Policy
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol, population_of, share_unchanged, strata_of
from discreet.randomness import Keystream
from discreet.records.held_table import HeldTable
from discreet.records.no_numbers import read_as_missing
from discreet.records.persons import Unit, WhoseRows
from discreet.records.read_ahead import ahead
from discreet.records.source import Format, RecordSource, open_records
from discreet.records.writer import check_cells_fit
from discreet.release.batches import BatchSanitiser, Tally
from discreet.release.cautions import cautions
from discreet.release.check import Check, Finding, People, column_count, refused_into, worths
from discreet.release.chosen_cells import ChosenCells
from discreet.release.draws_together import draws_told
from discreet.release.identity_risk import BestGuess, best_guess, identity_risk
from discreet.release.kept_columns import (
    beyond_judgement,
    counted_apart,
    counted_together,
    judgement,
    not_given,
    refuse_kept,
    too_many,
)
from discreet.release.keyed_draws import KeyedDraws
from discreet.release.law_change import CountedLaw, law_change
from discreet.release.ledger import Account, Ledger
from discreet.release.record_counts import LetterColumn, RecordCounts, ValueColumn
from discreet.release.refusals import check_policy, check_unknown
from discreet.release.released_table import check_kind
from discreet.release.secret_cells import merged_away, secret_columns, secrets_in, with_secrets
from discreet.release.table_checks import levels_there, readable_twice, refuse_law, rests_on_law
from discreet.release.whose_rows import RowsAsked, RowsInForce, rows_in_force
from discreet.wording import guarantee

SANITISE_PER_READ: Final = 2.5
"""Seconds of a release for a second of reading its table, measured on tables of a million records."""


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
    keep_anyway: bool = False
    law_anyway: bool = False
    ledger: Ledger | None = None
    budget: float | None = None
    format: str = "csv"
    written: Format | Literal["", "as read"] = ""
    rows: RowsAsked = field(default_factory=RowsAsked)
    whose: RowsInForce = field(default_factory=RowsInForce)
    warnings: list[Finding] = field(default_factory=list)
    refusals: list[Finding] = field(default_factory=list)
    there: dict[str, float] = field(default_factory=dict)
    chosen: ChosenCells | None = None
    held: HeldTable = field(default_factory=lambda: HeldTable(None))

    @contextmanager
    def refusing(self) -> Iterator[None]:
        with refused_into(self.refusals):
            yield

    def warn(self, what: str, where: str = "", remedy: str = "") -> None:
        self.warnings.append(Finding(what, where, remedy))

    def run(self, given: Any) -> Check:
        """Read the table, as a release would."""
        with self.refusing():
            self.held = HeldTable.of(given)
        table = self.held.records
        if table is None:
            return self._check(promise=self._promise())
        self._twice = readable_twice(table)
        counts, tally = None, Tally()
        unreadable, spent = 0, 0.0
        with self.refusing():
            identity = self.keyed.column if self.keyed else None
            self.whose = rows_in_force(
                table, self.protocol, self.rows, Keystream.testing(), identity=identity, encoding=self.encoding,
                twice=self._twice, later=True, several_rows=self.several_rows,
            )  # fmt: skip
        with self.refusing():
            draws = self.whose.draws(self.keyed, self.protocol, Keystream.testing())
            kernel = BatchSanitiser(self.protocol, Keystream.testing(), self.keep, draws)
            self.keep = kernel.keep
            started = time.perf_counter()
            with self._opened(kernel, table) as source:
                schema, kind = kernel.schema(source.schema), self.written
                with self.refusing():
                    check_kind(given, schema)
                with self.refusing():
                    if kind:
                        check_cells_fit(schema, self.keep, source.format if kind == "as read" else kind)
                counts, tally = self._read(source, kernel), kernel.tally
                unreadable = source.unreadable
            spent = time.perf_counter() - started
            self.chosen = self._chosen_cells(kernel, table)
        if counts is None:
            with self.refusing():
                self._check_ids(table)
            with self.refusing():
                check_policy(self.policy, self.protocol, self.whose.drawn, k_known=False)
            return self._check(promise=self._promise())
        return self._judged(counts, tally, table, unreadable, spent)

    def _opened(self, kernel: BatchSanitiser, table: Any) -> RecordSource:
        """The columns of a release, and those of the secret if the table has them."""
        coded = (*kernel.reading.columns, *self.keep)
        plain = [name for name in kernel.needs if name not in coded]
        secret = secret_columns(self.protocol.joint)
        in_order = self.keep_order or self.whose.shares is not None
        return open_records(
            table, coded, plain, optional=secret, others=self.whose.asked_places, encoding=self.encoding,
            in_order=in_order,
        )  # fmt: skip

    def _check_ids(self, table: Any) -> None:
        """Of a table that could not be read for anything else; where no column looks like one, nothing is read."""
        if self._twice and self.whose.asks is not None and self.whose.asked_places:
            with open_records(table, (), others=self.whose.asked_places, encoding=self.encoding) as source:
                ids = self.whose.ids(source)
                for batch in source:
                    ids.add(batch)
            ids.check()

    def _chosen_cells(self, kernel: BatchSanitiser, table: Any) -> ChosenCells | None:
        """What k may be, where it depends on which rows are chosen and a policy asks for it."""
        if self.policy is None or self.policy.k is None or not self.keep or self.whose.persons is None:
            return None
        with self._opened(kernel, table) as source:
            return ChosenCells.of(map(kernel.published, source), self.keep, self.whose.persons)

    def _read(self, source: RecordSource, kernel: BatchSanitiser) -> RecordCounts:
        joint, there = self.protocol.joint, source.schema.names
        secrets = joint.secrets if secrets_in(joint, there) is not None else ()
        letters = {a.name: LetterColumn(a) for a in (*joint.reads, *secrets)}
        stratified = isinstance(self.protocol, StratifiedProtocol)
        counts = RecordCounts(tuple(letters.values()), tuple(map(ValueColumn, self.keep)), stratified)
        ids, unknown, tally = self.whose.ids(source), 0, kernel.tally
        self._law = CountedLaw(self.protocol, secrets, self.whose.shares)
        for batch in self.whose.released(self._law.watching(ids.watching(ahead(source)))):
            strata = kernel.stratum_numbers(batch) if stratified else None
            tally.unknown += kernel.unknown(batch, kernel.letters(batch))
            unknown += 0 if strata is None else int(np.count_nonzero(strata < 0))
            if self.keyed is not None and not unknown:
                cells, codes = batch.column(self.keyed.column), kernel.in_strata(kernel.letters(batch), batch)
                self.keyed.words(cells, codes, first_row=counts.records + 1)
            if not unknown:
                counts.add(kernel.published(with_secrets(joint, batch) if secrets else batch), strata)
        kernel.refuse_strata(unknown)
        with self.refusing():
            ids.check()
        return counts

    # ---- what follows from the counts -----------------------------------------------------------------------

    def _judged(self, counts: RecordCounts, tally: Tally, table: Any, unreadable: int, spent: float) -> Check:
        joint = self.protocol.joint
        read = [column.attribute for column in counts.letters]
        secrets = joint.secrets if all(a in read for a in joint.secrets) else ()
        columns = tuple(column_count(counts, attribute) for attribute in joint.reads)
        letters = counts.codes(joint.reads)
        secret = counts.codes(secrets) if secrets else None
        lost = int(counts.counts[letters == len(joint.letters)].sum())
        people = self._people()
        law, guess, identity = None, None, None
        if counts.complete:
            identity = identity_risk(self.keep, counts.kept(), counts.counts, secret) if self.keep else None
            if secrets and merged_away(joint, counts.unknown(joint.secrets), counts.records):
                self.warn("the law is not compared: secrets that were joined and merged cannot be read in a table")
            elif joint.weight and self.whose.shares is None:
                self.warn(
                    f"the law is not compared: the protocol counted weights of {joint.weight}, which was not read"
                )
            else:
                law = law_change(self._law if self.whose.shares is not None else self._law.counted(counts))
                self._judge_law(counts, secret)
            guess = self._guess(counts, letters, secret)
        beside = self._beside_kept(counts, table) if secrets else None
        k = counts.records if not self.keep else identity.smallest if identity else 1
        k = k if self.chosen is None else self.chosen.most
        with self.refusing():
            check_policy(self.policy, self.protocol, self.whose.drawn, k, k_known=True, there=self.there)
        if self.chosen is not None and self.policy is not None and self.chosen.least < (self.policy.k or 0) <= k:
            self.warn(
                f"which row of a person is released is chosen then: k is {self.chosen.told}, and the policy says "
                f"k = {self.policy.k}",
                "policy",
                "The release is refused where it comes out too small. Keep fewer columns, or coarser ones.",
            )
        with self.refusing():
            check_unknown(tally.unknown, counts.records, self.unknown_anyway)
        account = self._account()
        for name, cells in tally.no_numbers.items():
            self.warn(read_as_missing(cells, counts.records), f"column {visible(name)}")
        self.warnings += cautions(self.protocol, counts, columns, unreadable, law, identity)
        if account is not None and account.draws > 1:
            told = f"this would be draw number {account.draws}: {account.total}"
            self.warn(told, "ledger", draws_told(self.protocol))
        return self._check(
            records=counts.records,
            promise=self._promise(),
            columns=columns,
            unknown=tally.unknown,
            without_letter=lost,
            unreadable=unreadable,
            law=law,
            level_beside_kept=beside,
            people=people,
            account=account,
            size=self._size(counts, letters),
            seconds=spent * SANITISE_PER_READ,
            identity=identity,
            guess=guess,
        )

    def _judge_law(self, counts: RecordCounts, secret: Integers | None) -> None:
        """Refused where `sanitise` refuses a table whose letters have another law."""
        if secret is None or not rests_on_law(self.protocol) or not self.whose.as_counted:
            return
        law = law_change(CountedLaw(self.protocol, ()).counted(counts))
        if law is None or law.distance <= law.by_chance:
            return
        joint, strata = self.protocol.joint, len(strata_of(self.protocol))
        cells = counts.codes((*joint.secrets, *joint.releases))
        met = np.zeros((strata, joint.probabilities.size + 1), np.int64)
        np.add.at(met, (counts.strata(), cells), counts.counts)
        with self.refusing():
            found = levels_there(self.protocol, met[:, :-1])
            if refuse_law(found, anyway=self.law_anyway) and found is not None:
                self.there = found.stated

    def _beside_kept(self, counts: RecordCounts, table: Any) -> float | None:
        """The level beside the kept columns; refused where `sanitise` refuses it, which judges the same counts."""
        asked, counted = not_given(self.protocol, self.keep), [counts]
        if self._twice and not self.whose.as_counted:
            counted = counted_together(table, self.protocol, asked, self.encoding, self.whose)
        elif too_many(counts) and self._twice:
            counted = counted_apart(table, self.protocol, asked, self.encoding, self.whose)
        found = judgement(counted, self.protocol, asked, self.keyed.column if self.keyed else None)
        beyond = beyond_judgement(self.protocol, self.whose) if asked else []
        for told in (*found.not_judged, *beyond):
            self.warn(f"kept columns are not judged: {told}")
        if found.levels is None:
            return None
        with self.refusing():
            if not self.keep_anyway:
                refuse_kept(found.levels, self.protocol)
        return max(found.levels.alone, found.levels.beside)

    def _check(self, **figures: Any) -> Check:
        with self.refusing():
            self.held.check()
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
            "rows": self.whose.told,
            "value_kept": share_kept(population_of(protocol), protocol.utility),
            "unchanged": share_unchanged(protocol),
            "worth": worths(protocol),
            "protocol": protocol.digest,
        }

    def _account(self) -> Account | None:
        with self.refusing():
            if self.keyed is not None and not self.several_rows and self.whose.tied is None:
                self.keyed.check_repeated()
            if self.ledger is not None:
                ledger = self.ledger.of_rows(self.whose.drawn, self.whose.one_of).under(self.policy).at(self.there)
                return ledger.foretold(self.keyed.draw if self.keyed else None, self.budget)
        return None

    def _people(self) -> People | None:
        if self.whose.units is not None and (unit := self.rows.unit or self._stated_unit()):
            return People(unit.column, self.whose.units, self.whose.most)
        if self.keyed is None:
            return None
        rows = self.keyed.identities.rows_per_id()
        return People(self.keyed.column, len(rows), int(rows.max(initial=0)))

    def _stated_unit(self) -> Unit | None:
        stated = self.protocol.statement.rows
        return Unit(stated.unit, stated.column) if isinstance(stated, WhoseRows) else None

    def _guess(self, counts: RecordCounts, letters: Integers, secret: Integers | None) -> BestGuess | None:
        if secret is None:
            return None
        known = secret < len(self.protocol.joint.secret_letters)
        kept = [row[known] for row in counts.kept()]
        columns = self._drawn(counts, letters)[known]
        return best_guess(kept, secret[known], columns, counts.counts[known], self._outputs)

    def _drawn(self, counts: RecordCounts, letters: Integers) -> Integers:
        """The column of `_outputs` that every kind is drawn from; letters without one share the last."""
        columns = counts.strata() * (len(self.protocol.joint.letters) + 1) + letters
        silent = np.diff(self._outputs.indptr)[columns] == 0
        return np.where(silent, self._outputs.shape[1] - 1, columns)

    @cached_property
    def _outputs(self) -> sparse.csc_array:
        """P(y | z), one column per letter and one for records without a letter, stratum by stratum."""
        if isinstance(self.protocol, StratifiedProtocol):
            return sparse.csc_array(self.protocol.law / 2.0**self.protocol.first.bits)
        columns = [self.protocol.columns, sparse.csc_array(self.protocol.marginal[:, None])]
        return sparse.csc_array(sparse.hstack(columns, format="csc") / 2.0**self.protocol.bits)

    def _size(self, counts: RecordCounts, letters: Integers) -> int | None:
        """Of a CSV file, as it is expected; no other format is written cell by cell."""
        if self.format != "csv" or not counts.complete:
            return None
        lengths = np.array([len(label(output).encode()) + 3 for output in self.protocol.outputs])
        cells = (self._outputs.T @ lengths)[self._drawn(counts, letters)]
        for column, numbers in zip(counts.values, counts.kept(), strict=True):
            cells = cells + np.array([_written(value) for value in column.values])[numbers]
        return round(float(cells @ counts.counts))


def _written(value: object) -> int:
    """The bytes of a kept cell in CSV, with its separator and its quotes."""
    if value is None:
        return 1
    text = value if isinstance(value, bytes) else str(value).encode()
    return len(text) + (3 if isinstance(value, str | bytes) else 1)
