"""Whose rows a release has (theory 7.3): the rule for persons with several rows, checked before anything is drawn.

The table is read once for it, the column of ids and what the rule depends on. Nothing of what is found is published but
the rule itself. Without a column the manifest says that one row per person was stated, not checked; and where a column
looks like an id with repeats, a release stops and asks.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.arrays import Integers
from discreet.exceptions import AlphabetError, ParameterError, ReleaseError
from discreet.notions.rows_together import unassumed_level
from discreet.phrases import rounded_up
from discreet.protocol import Protocol
from discreet.protocol.strata import AnyProtocol, StratifiedProtocol
from discreet.randomness import Keystream
from discreet.records.letters import LetterReader
from discreet.records.persons import (
    NOT_CHECKED,
    NOT_COUNTED,
    PLURALS,
    Rule,
    Unit,
    WhoseRows,
    check_shared,
    chosen_rows,
    differing,
    offered,
    refused_tied,
    rule_of,
    unit_codes,
)
from discreet.records.source import RecordSource, open_records
from discreet.release.counted_units import ONE_EACH, counts_units, differing_values, not_counted
from discreet.release.id_columns import IdQuestion, SeenIds, check_single_rows, id_question, suspected_ids
from discreet.release.keyed_draws import KEY_BYTES, KeyedDraws
from discreet.release.rows_law import RowMask, Shares, law_of_persons, law_of_weights
from discreet.release.secret_cells import secret_columns, secrets_in, with_secrets

KEYED = "rows of one person with equal values share one draw; persons by the column"
SHARED = "rows of one id with equal values share one draw; ids by the column"


@dataclass(frozen=True)
class RowsAsked:
    """What somebody says about whose rows they are: a column and a rule, or that nobody has two.

    Arguments:
        person, household: the column that names them.
        rows: where one has several: "one", "tied" or "independent".
        one_row_per_person: nobody has two.
    Example:
        >>> from discreet.release import RowsAsked
        >>> RowsAsked(person="id", rows="one").person
        'id'
    """

    person: str | None = None
    household: str | None = None
    rows: str | None = None
    one_row_per_person: bool = False

    @property
    def unit(self) -> Unit | None:
        return Unit.asked(self.person, self.household)


@dataclass(frozen=True, eq=False)
class RowsInForce:
    """What a release does about them: `told` is published; `chosen` are the rows that are released, if not all;
    `tied` is the column of persons whose rows share a draw."""

    told: str = NOT_CHECKED
    chosen: RowMask | None = None
    tied: str | None = None
    units: int | None = None
    most: int = 1
    drawn: int = 1
    """Rows of one person that are drawn by themselves, at most."""
    judged: RowMask | None = None
    """Rows with the law that is promised about, one of each person, chosen alike by every check and release, so that
    one foretells the other."""
    shares: Shares | None = None
    """Of the rows of the table, where they do not all count the same."""
    persons: Integers | None = None
    """Whose every row is, where one of them is chosen."""
    asks: IdQuestion | None = None
    """Nobody said whose rows these are: what is still to be judged while they are read."""

    @property
    def as_counted(self) -> bool:
        """Whether the rows that are released have the law that the protocol counted."""
        return self.shares is None or self.chosen is not None

    @property
    def one_of(self) -> int:
        """Among how many rows of one person, at most, the one that is released was chosen."""
        return 1 if self.chosen is None else self.most

    @property
    def asked_places(self) -> Container[int]:
        """The columns that are to be read for the question whose rows they are."""
        return () if self.asks is None else self.asks.places

    def ids(self, source: RecordSource) -> SeenIds:
        """What the question is answered with, as a source is read that was opened with these places."""
        return SeenIds(()) if self.asks is None else self.asks.seen(source)

    def draws(self, keyed: KeyedDraws | None, protocol: AnyProtocol, randomness: Keystream) -> KeyedDraws | None:
        """Draws that rows of one person share: by the key that was given, or by one that nobody keeps."""
        if self.tied is None or (keyed is not None and keyed.column == self.tied):
            return keyed
        if keyed is not None:
            raise ReleaseError(
                "draws are keyed by another column than the one that ties rows",
                where=f"{keyed.column}, {self.tied}",
                remedy="Give the same column twice.",
            )
        return KeyedDraws(self.tied, bytes(randomness.octets(KEY_BYTES)), protocol.digest, kept=False)

    def released(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are released."""
        return self.of(batches, self.chosen)

    def of(self, batches: Iterable[pa.RecordBatch], rows: RowMask | None) -> Iterator[pa.RecordBatch]:
        """These rows, or all; the table must be the one that was looked at, in its order."""
        if rows is None:
            yield from batches
            return
        met = 0
        for batch in batches:
            part = rows[met : met + len(batch)]
            met += len(batch)
            if len(part) != len(batch):
                break
            yield batch.filter(pa.array(part))
        if met != len(rows):
            raise ReleaseError("the table changed while it was read", where="rows", remedy="Release it again.")


def unit_in_force(protocol: AnyProtocol, asked: RowsAsked) -> tuple[Unit | None, Rule | None]:
    """Whose rows they are and what happens to several of them, as it was asked or else as the protocol states it; no
    unit where nobody says it, or somebody says that nobody has two."""
    stated, unit, rule = protocol.statement.rows, asked.unit, rule_of(asked.rows)
    if asked.one_row_per_person and (unit is not None or rule is not None):
        raise ParameterError(
            "one row per person, and a column or a rule for several", where="rows", remedy="Say one of the two."
        )
    if isinstance(stated, WhoseRows):
        if stated.unit == "household" and (asked.one_row_per_person or (unit is not None and unit.name == "person")):
            raise ReleaseError(
                "the promise was made to households, and this release would keep it to persons",
                where=f"column {stated.column}",
                remedy="Give --household COLUMN, or design again for persons.",
            )
        if unit is None and not asked.one_row_per_person:
            unit = Unit(stated.unit, stated.column)
            rule = rule or (None if stated.rule is Rule.single else stated.rule)
    if unit is None and rule is not None:
        raise ParameterError(
            "a rule for rows without a column that says whose they are", where="rows", remedy="Give --person."
        )
    return unit, rule


def rows_in_force(
    table: Any,
    protocol: AnyProtocol,
    asked: RowsAsked,
    randomness: Keystream,
    *,
    identity: str | None,
    encoding: str | None,
    twice: bool,
    later: bool = False,
    several_rows: bool = False,
) -> RowsInForce:
    """The rule that holds for this table; refused where it cannot, with what the others would give. With `later`,
    whether a column that looks like an id has repeats is left to whoever reads the table; of a stream it always is."""
    found = _by_persons(
        table, protocol, asked, randomness, identity=identity, encoding=encoding, twice=twice, later=later,
        several_rows=several_rows,
    )  # fmt: skip
    if not protocol.joint.weight or found.shares is not None or not twice:
        return found
    return replace(found, **law_of_weights(table, protocol.joint.weight, encoding))


def _by_persons(
    table: Any,
    protocol: AnyProtocol,
    asked: RowsAsked,
    randomness: Keystream,
    *,
    identity: str | None,
    encoding: str | None,
    twice: bool,
    later: bool,
    several_rows: bool,
) -> RowsInForce:
    stated = protocol.statement.rows
    unit, rule = unit_in_force(protocol, asked)
    if unit is None and isinstance(stated, WhoseRows) and twice and _has_column(table, stated.column, encoding):
        single = _PersonReading(table, protocol, Unit(stated.unit, stated.column), None, encoding)
        return single.judged(randomness)
    if unit is None:
        asks = None if asked.one_row_per_person else id_question(protocol, identity)
        if asks is not None and twice:
            suspects = suspected_ids(table, asks, encoding)
            asks = asks.of(suspects if later else ())
            if not later:
                check_single_rows(table, suspects, encoding)
        if several_rows and identity is not None:
            _check_twice(identity, twice)
            reading = _PersonReading(table, protocol, Unit("person", identity), None, encoding)
            if asked.one_row_per_person:
                return replace(reading.sharing(), told=f"{NOT_CHECKED}; {SHARED} {identity}")
            return replace(reading.keyed(), asks=asks)
        return RowsInForce(NOT_COUNTED if several_rows else NOT_CHECKED, asks=asks)
    _check_twice(unit.column, twice)
    found = _PersonReading(table, protocol, unit, rule, encoding).judged(randomness)
    alike = identity == unit.column and (found.chosen is not None or found.tied is not None)
    if identity is None or not several_rows or alike:
        return found
    shared = _PersonReading(table, protocol, Unit("person", identity), None, encoding).sharing()
    if shared.most > 1 and found.drawn > 1:
        raise ReleaseError(
            "rows are to be drawn by themselves, and rows of one id with equal values would share a draw",
            where=f"columns {unit.column}, {identity}",
            remedy="Give every row an id of its own, or leave the key out.",
        )
    return found if shared.most == 1 else replace(found, told=f"{found.told}; {shared.told}")


def _has_column(table: Any, column: str, encoding: str | None) -> bool:
    with open_records(table, (), optional=(column,), encoding=encoding, sample=True) as source:
        return column in source.schema.names


def _check_twice(column: str, twice: bool) -> None:
    """ReleaseError where a table cannot be read before it is released."""
    if not twice:
        raise ReleaseError(
            "whose rows they are is read before anything is drawn, and a stream can be read once",
            where=column,
            remedy="Give a file, or, where nobody has two rows, say --one-row-per-person (one_row_per_person=True).",
        )


@dataclass(frozen=True, eq=False)
class _PersonReading:
    table: Any
    protocol: AnyProtocol
    unit: Unit
    rule: Rule | None
    encoding: str | None

    def judged(self, randomness: Keystream) -> RowsInForce:
        units, values, strata, secrets = self._read()
        unit, column = self.unit.name, self.unit.column
        rows = np.bincount(units) if len(units) else np.ones(1, np.int64)
        most, different = int(rows.max()), differing(units, values)
        if secrets is not None:
            names = ", ".join(one.name for one in self.protocol.joint.secrets)
            check_shared(units, secrets, unit, names)
        if most == 1:
            return RowsInForce(f"one row per {unit}: checked in the column {column}", units=len(rows))
        if not counts_units(self.protocol, self.unit):
            choice = offered(unit, len(rows), len(units), most, different)
            raise not_counted(self.protocol, self.unit, most, choice)
        if self.rule is None:
            raise self._undecided(len(rows), len(units), most, int((rows > 1).sum()), different)
        if self.rule is Rule.one:
            found = WhoseRows(unit, column, Rule.one, len(rows), len(units), most)
            chosen = chosen_rows(units, randomness.words(len(units)))
            return RowsInForce(str(found), chosen, None, len(rows), most, **law_of_persons(units), persons=units)
        if different := different or differing(units, strata):
            if self.rule is Rule.tied:
                raise refused_tied(unit, column, different)
            if differing(units, strata):
                raise AlphabetError(
                    f"{differing(units, strata):,} {PLURALS[unit]} have rows in different strata",
                    where=column,
                    remedy="Release one row of each (--rows one).",
                )
        if self.rule is Rule.tied:
            found = WhoseRows(unit, column, Rule.tied, len(rows), len(units), most)
            return RowsInForce(str(found), None, column, len(rows), most, **law_of_persons(units))
        return replace(self._independent(len(rows), len(units), most), **law_of_persons(units))

    def sharing(self) -> RowsInForce:
        """Rows of one id, drawn with a key: equal values share a draw. Where somebody's values differ, cells that are
        alike show which of them are equal, and nothing bounds what that tells about the secret (theory 7.3)."""
        return self._shared(*self._read()[:3])

    def _shared(self, units: Integers, values: Integers, strata: Integers) -> RowsInForce:
        column, most = self.unit.column, int(np.bincount(units).max()) if len(units) else 1
        if most == 1:
            told = f"one row per person: checked in the column {column}"
            return RowsInForce(told, units=int(units.max(initial=-1)) + 1)
        kinds = np.unique(np.stack([strata, values]), axis=1, return_inverse=True)[1].reshape(-1)
        if different := differing(units, kinds.astype(np.int64)):
            raise differing_values(self.protocol, different, column)
        return RowsInForce(f"{SHARED} {column}", units=int(units.max()) + 1, most=most)

    def keyed(self) -> RowsInForce:
        """The same where an id is a person's, who has the promise as well if the protocol counted persons."""
        units, values, strata, secrets = self._read()
        found, column = self._shared(units, values, strata), self.unit.column
        if found.most == 1:
            return found
        if secrets is not None and differing(units, secrets):
            return RowsInForce(f"{KEYED} {column}; their secrets differ: the promise is a row's", most=found.most)
        if not counts_units(self.protocol, self.unit):
            raise not_counted(self.protocol, self.unit, found.most, ONE_EACH, Rule.tied)
        return replace(found, told=f"{KEYED} {column}, all with one value", **law_of_persons(units))

    def _independent(self, persons: int, rows: int, most: int) -> RowsInForce:
        unit, promised = self.unit, self.protocol.statement.to_a_unit(self.protocol.notion.epsilon)
        level = self._together(most)
        if level > promised:
            raise ReleaseError(
                f"up to {most} rows of a {unit.name}, independent given the secret, have level {_shown(level)}, and "
                f"{rounded_up(promised)} is promised",
                where=f"column {unit.column}",
                remedy=f"Design again with --{unit.name} {unit.column} --rows independent on a table with as many rows "
                f"of a {unit.name}, or use --rows one.",
            )
        found = WhoseRows(unit.name, unit.column, Rule.independent, persons, rows, most, level)
        without = _shown(self._without(most))
        return RowsInForce(f"{found}; without that, {without}", units=persons, most=most, drawn=most)

    def _undecided(self, persons: int, rows: int, most: int, several: int, different: int) -> ReleaseError:
        unit, now = self.unit, rounded_up(self.protocol.epsilon)
        together, without = _shown(self._together(most)), _shown(self._without(most))
        level = f"all {rows:,} rows, level {together} if they are independent given the secret they share, however many"
        return ReleaseError(
            f"{several:,} of {persons:,} {PLURALS[unit.name]} have several rows, up to {most}",
            where=f"column {unit.column}",
            remedy=offered(unit.name, persons, rows, most, different, level, f", without that {without}", now=now),
        )

    def _together(self, most: int) -> float:
        return max(one.rows_level(most) for one in _strata(self.protocol))

    def _without(self, most: int) -> float:
        return max(unassumed_level(one.channel, one.joint, most) for one in _strata(self.protocol))

    def _read(self) -> tuple[Integers, Integers, Integers, Integers | None]:
        """Units, letters, strata and secrets of all rows; no secrets where the table does not have them."""
        joint = self.protocol.joint
        letters, secret = LetterReader(joint.reads), LetterReader(joint.secrets)
        given = LetterReader(self.protocol.given) if isinstance(self.protocol, StratifiedProtocol) else None
        always = [letters, *([given] if given else [])]
        coded = list(dict.fromkeys(name for reader in always for name in reader.columns))
        extra = [name for name in self.unit.columns if name not in coded]
        ids: list[list[pa.Array]] = [[] for _ in self.unit.columns]
        with open_records(
            self.table, coded, extra, optional=secret_columns(joint), encoding=self.encoding, in_order=True
        ) as source:
            readers = [*always, *([secret] if secrets_in(joint, source.schema.names) is not None else [])]
            codes: list[list[Integers]] = [[] for _ in readers]
            for batch in source:
                for place, name in enumerate(self.unit.columns):
                    ids[place].append(batch.column(name))
                batch = with_secrets(joint, batch) if readers[-1] is secret else batch
                for place, reader in enumerate(readers):
                    cells = [batch.column(name) for name in reader.columns]
                    codes[place].append(reader.codes(cells).astype(np.int64))
        units = unit_codes(ids[0], self.unit.column)
        if len(ids) > 1 and int(np.bincount(unit_codes(ids[1], self.unit.columns[1])).max(initial=0)) > 1:
            raise ReleaseError(
                "persons with several rows within the households",
                where=f"column {self.unit.columns[1]}",
                remedy="Bring the table to one row per person, or give --household alone.",
            )
        every = [np.concatenate(one) if one else np.zeros(0, np.int64) for one in codes]
        strata = every[1] if given else np.zeros(len(units), np.int64)
        return units, every[0], strata, every[-1] if readers[-1] is secret else None


def _strata(protocol: AnyProtocol) -> Sequence[Protocol]:
    return tuple(protocol.strata.values()) if isinstance(protocol, StratifiedProtocol) else (protocol,)


def _shown(level: float) -> str:
    return "no bound" if math.isinf(level) else rounded_up(level)
