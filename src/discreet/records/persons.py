"""Whose rows they are: counting persons, or households, instead of rows (theory 7.3).

A person with k rows counts once: each of them weighs 1/k. What is promised is the person's, so a table in which persons
have several rows needs a rule for them:

    one           one row of each person, at random, is released: the level of a person is that of a row
    tied          the rows of a person, all with one value, share one draw: again the level of a row
    independent   every row is drawn by itself: the level of k rows is computed, and the row's follows from the person's

Rows of a person share the secret, or nothing can be promised about it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.arrays import Integers
from discreet.exceptions import AlphabetError, DistributionError, ParameterError, ReleaseError, TableError
from discreet.phrases import rounded_up
from discreet.records.cells import as_text, indexed, plain
from discreet.records.letters import Alphabet

MOST_ROWS: Final = 100_000_000
"""Eight bytes and a few letters of each are held."""
NOT_CHECKED: Final = "one row per person: stated by the steward, not checked"
NOT_COUNTED: Final = (
    "several rows per person: stated by the steward, not counted; the promise is a row's, and what different rows of "
    "one person tell together has no bound"
)
PLURALS: Final = {"person": "persons", "household": "households"}


class Rule(StrEnum):
    """What happens to the rows of one person; `single` is a table where nobody has two."""

    single = "single"
    one = "one"
    tied = "tied"
    independent = "independent"


@dataclass(frozen=True)
class WhoseRows:
    """Whose rows a table has: so many units (persons, households), told apart by a column, at most `most` rows each.

    `epsilon` is what all rows of a unit may tell together, where they are drawn independently. `drawn` are counts of
    one row of each unit, chosen without looking at it: what a confidence set counts.
    """

    unit: str
    column: str
    rule: Rule
    units: int
    rows: int
    most: int
    epsilon: float | None = None
    drawn: Integers | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        numbers = (self.units, self.rows, self.most)
        sound = all(type(n) is int and 0 < n < 2**53 for n in numbers)
        sound = sound and self.units + self.most - 1 <= self.rows <= self.units * self.most
        sound = sound and (self.epsilon is None or self.rule is Rule.independent)
        if self.unit not in PLURALS or not sound or (self.rule is Rule.single) != (self.most == 1):
            raise ParameterError("not a statement about whose rows they are", where="rows", remedy="Count a table.")

    @property
    def facts(self) -> dict[str, str | int]:
        """As files state it."""
        said = {name: getattr(self, name) for name in ("unit", "column", "units", "rows", "most")}
        epsilon = {} if self.epsilon is None else {"epsilon": repr(self.epsilon)}
        return {**said, "rule": str(self.rule), **epsilon}

    def __str__(self) -> str:
        several = PLURALS[self.unit]
        if self.rule is Rule.single:
            return f"one row per {self.unit}: checked in the column {self.column}"
        if self.rule is Rule.one:
            return f"one row of each {self.unit}, chosen at random; {several} by the column {self.column}"
        if self.rule is Rule.tied:
            return f"rows of one {self.unit} share one draw: all are released alike; {several} by {self.column}"
        together = "" if self.epsilon is None else f", together at most {rounded_up(self.epsilon)}"
        share = "" if self.unit == "person" else " and if all of a household share it"
        return (
            f"up to {self.most} rows of a {self.unit}, each drawn by itself{together} if they are independent given "
            f"the secret, however many there are{share}; {several} by the column {self.column}"
        )

    def over(self, moved: Callable[[Any], Any]) -> WhoseRows:
        """The same about letters that were merged or left out."""
        return self if self.drawn is None else replace(self, drawn=moved(self.drawn))

    def holding(self, epsilon: float) -> WhoseRows:
        return replace(self, epsilon=epsilon)


def rule_of(given: str | None) -> Rule | None:
    if given is None:
        return None
    if given not in ("one", "tied", "independent"):
        raise ParameterError("a rule nobody knows", where="rows", remedy="Use one, tied or independent.")
    return Rule(given)


@dataclass(frozen=True)
class Unit:
    """Whom the promise is made to, and the columns that tell one from another."""

    name: str
    column: str
    person: str | None = None

    @classmethod
    def asked(cls, person: str | None, household: str | None) -> Unit | None:
        if household is not None:
            return cls("household", household, person)
        return None if person is None else cls("person", person)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,) if self.person is None else (self.column, self.person)


def unit_codes(cells: Sequence[pa.Array], name: str) -> Integers:
    """A number for every record, the same for equal ids; TableError where an id is missing."""
    if sum(map(len, cells)) > MOST_ROWS:
        raise TableError(f"more than {MOST_ROWS:,} rows", where=f"column {name}", remedy="Cut the table by persons.")
    texts = pa.chunked_array([as_text(plain(one)).cast(pa.large_string()) for one in cells], pa.large_string())
    missing = pc.or_(texts.is_null(), pc.fill_null(pc.equal(texts, ""), True))
    if found := int(pc.sum(missing).as_py() or 0):
        raise TableError(
            f"{found:,} records have no id", where=f"column {name}", remedy="Give every record one, or leave it out."
        )
    encoded = texts.dictionary_encode().combine_chunks()
    encoded = encoded.chunk(0) if isinstance(encoded, pa.ChunkedArray) else encoded
    return np.asarray(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64))


def differing(units: Integers, values: Integers) -> int:
    """How many units have two different values."""
    first = np.zeros(int(units.max(initial=-1)) + 1, np.int64)
    first[units[::-1]] = values[::-1]
    return len(np.unique(units[values != first[units]]))


def chosen_rows(units: Integers, words: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """One row of each unit, uniformly: the one whose word is the smallest."""
    order = np.lexsort((words, units))
    first = np.ones(len(units), bool)
    first[1:] = np.diff(units[order]) > 0
    found = np.zeros(len(units), bool)
    found[order[first]] = True
    return found


def check_shared(units: Integers, secrets: Integers, unit: str, columns: str) -> None:
    """DistributionError where a unit has rows with different secrets."""
    if found := differing(units, secrets):
        promised = "supposes that all of a household share it" if unit == "household" else "is about one secret each"
        raise DistributionError(
            f"{found:,} {PLURALS[unit]} have rows with different values of the secret",
            where=columns,
            remedy=f"The promise to a {unit} {promised}: choose a secret that its rows share, or other rows.",
        )


@dataclass(eq=False)
class PersonTally:
    """Counts letters by persons; `whose` says what was met."""

    unit: Unit
    rule: Rule | None
    secrets: int
    given: int = 0
    whose: WhoseRows | None = None

    def tabulated(
        self, batches: Iterable[pa.RecordBatch], columns: Sequence[Alphabet], check: Callable[[Sequence[Any]], None]
    ) -> tuple[Any, Any]:
        """Weights[i1, …, ik] that add up to the units, whole numbers where each has one value; and counts of one row of
        each. `check` refuses too many combinations."""
        letters: list[list[Integers]] = [[] for _ in columns]
        ids: list[list[pa.Array]] = [[] for _ in self.unit.columns]
        for batch in batches:
            for place, column in enumerate(columns):
                values, indices = indexed(batch.column(column.name))
                letters[place].append(column.numbers(values).astype(np.int64).take(indices))
            check(columns)
            for place, name in enumerate(self.unit.columns):
                ids[place].append(batch.column(name))
        codes = [np.concatenate(one) if one else np.zeros(0, np.int64) for one in letters]
        units = unit_codes(ids[0], self.unit.column)
        if len(ids) > 1:
            _check_single(unit_codes(ids[1], self.unit.columns[1]), self.unit.columns[1])
        shape = [len(column) for column in columns]
        cells = np.ravel_multi_index(codes, shape) if len(units) else np.zeros(0, np.int64)
        if not len(units):
            return np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        weights, drawn = self._weighed(units, codes, cells, columns)
        return weights.reshape(shape), drawn.reshape(shape)

    def _weighed(
        self, units: Integers, codes: list[Integers], cells: Integers, columns: Sequence[Alphabet]
    ) -> tuple[Any, Any]:
        unit, size = self.unit, int(np.prod([len(column) for column in columns]))
        of_secret = np.ravel_multi_index(codes[: self.secrets], [len(one) for one in columns[: self.secrets]])
        check_shared(units, of_secret, unit.name, ", ".join(one.name for one in columns[: self.secrets]))
        rows = np.bincount(units)
        most, different = int(rows.max()), differing(units, cells)
        if most > 1 and self.rule is None:
            raise ReleaseError(
                f"{int((rows > 1).sum()):,} of {len(rows):,} {PLURALS[unit.name]} have several rows, up to {most}",
                where=f"column {unit.column}",
                remedy=offered(unit.name, len(rows), len(units), most, different),
            )
        if self.rule is Rule.tied and different:
            raise refused_tied(unit.name, unit.column, different)
        if self.rule is not Rule.one and most > 1 and self.given:
            self._check_given(units, codes, columns)
        rule = Rule.single if most == 1 or self.rule is None else self.rule
        # the same rows whenever this table is counted, for confidence limits only: a release chooses anew, secretly
        chosen = chosen_rows(units, np.random.default_rng(0).random(len(units)))
        drawn = np.bincount(cells[chosen], minlength=size)
        self.whose = WhoseRows(unit.name, unit.column, rule, len(rows), len(units), most)
        if rule in (Rule.single, Rule.tied) or not different:
            return drawn, drawn
        return np.bincount(cells, weights=1.0 / rows[units], minlength=size), drawn

    def _check_given(self, units: Integers, codes: list[Integers], columns: Sequence[Alphabet]) -> None:
        for place in range(self.secrets, self.secrets + self.given):
            if found := differing(units, codes[place]):
                raise AlphabetError(
                    f"{found:,} {PLURALS[self.unit.name]} have rows in different strata",
                    where=columns[place].name,
                    remedy="Release one row of each (--rows one), or give columns that do not change.",
                )


def person_tally(
    person: str | None, household: str | None, rows: str | None, secrets: int, given: int, weight: str | None
) -> PersonTally | None:
    """How persons are counted, if they are."""
    unit, rule = Unit.asked(person, household), rule_of(rows)
    if unit is None and rule is not None:
        raise ParameterError(
            "a rule for rows without a column that says whose they are",
            where="rows",
            remedy="Give --person or --household (person=, household=).",
        )
    if unit is not None and weight is not None:
        raise ParameterError(
            "survey weights and a column of persons", where=weight, remedy="Weigh one row of each person, or none."
        )
    return None if unit is None else PersonTally(unit, rule, secrets, given)


def _check_single(people: Integers, column: str) -> None:
    if (several := int((np.bincount(people) > 1).sum())) > 0:
        raise ReleaseError(
            f"{several:,} persons have several rows within the households",
            where=f"column {column}",
            remedy="Bring the table to one row per person, or count the rows of a household (--household alone).",
        )


def asked_again(unit: str, column: str, rule: Rule | None = None) -> str:
    """How a protocol is designed that counts these persons, or households, as it is typed and as it is called."""
    rows = "" if rule is None else f" --rows {rule}"
    called = f"{unit}=" if rule is None else f"{unit}=, rows="
    return f"Design again with --{unit} {shlex.quote(column)}{rows} ({called})"


def refused_tied(unit: str, column: str, different: int) -> ReleaseError:
    return ReleaseError(
        f"{different:,} {PLURALS[unit]} have rows with different values, which no single draw can serve",
        where=f"column {column}",
        remedy="Use --rows one or --rows independent (rows=).",
    )


def offered(
    unit: str, units: int, rows: int, most: int, different: int, level: str = "", without: str = "", *, now: str = "ε"
) -> str:
    """What each rule would give for this table, for whoever has to choose."""
    tied = f"refused, {different:,} have different values" if different else f"all {rows:,} rows, level {now}"
    each = level or f"all {rows:,} rows; for a level of ε each row gets between ε/{2 * most} and ε/{most}"
    return (
        f"Choose with --rows (rows=). one: {units:,} of {rows:,} rows, one of each {unit} at random, level {now}. "
        f"tied: {tied}. independent: {each}{without}."
    )
