"""What a check of a release says: figures, warnings, and what it would be refused for.

Everything here is about the raw data: for the steward, not for publication.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from discreet.attribute import Attribute
from discreet.exceptions import DiscreetError
from discreet.protocol.strata import AnyProtocol, strata_of
from discreet.records.letters import NUMBER, writings
from discreet.release.identity_risk import BestGuess, IdentityRisk
from discreet.release.ledger import Account
from discreet.release.record_counts import RecordCounts
from discreet.utilities.accuracy import Accuracy

MOSTLY: Final = 0.9
"""The share of unknown values from which on all of them are taken to be codes, or labels."""
FINE, WARNED, REFUSED = 0, 3, 4
"""Exit codes of a check."""


@dataclass(frozen=True)
class Finding:
    """One thing to know: what, where, and what to do."""

    what: str
    where: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.what}{f' ({self.where})' if self.where else ''}.{f' {self.remedy}' if self.remedy else ''}"


@dataclass(frozen=True)
class ColumnCount:
    """Cells of a column that are no letter of the protocol: unknown values, and missing where missing is no letter."""

    name: str
    unknown: int
    missing: int
    looks_like: str = ""


@dataclass(frozen=True)
class LawChange:
    """The law of the table against the protocol's: total variation, what chance explains, the level at the new law."""

    distance: float
    by_chance: float
    level: float | None
    of: str


@dataclass(frozen=True)
class People:
    """Rows per person, where a column says whose they are."""

    column: str
    persons: int
    most_rows: int


@dataclass(frozen=True)
class Check:
    """What a release would be. `refusals` are what `sanitise` would refuse it for; `code` is that of the command.

    Attributes:
        records, unreadable: how many, and how many of them had a wrong number of fields.
        promise: the level, in words and numbers.
        columns: cells that are no letter of the protocol, a `ColumnCount` each.
        unknown, without_letter: records with values outside of the alphabet, and with no letter at all.
        law: how far the table's law is from the protocol's.
        level_beside_kept: the level beside the kept columns, where they tell something.
        people, account: rows per person, and what was released before.
        size, seconds: what the release will have and take.
        identity, guess: who could be found, and how often the best guess of the secret is right.
        policy: the file of rules.
        warnings, refusals: what to know, and what it would be refused for.
    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> joint = dc.Joint.from_table(adult(), secret="sex", release="education")
        >>> check = dc.design(joint, dc.LIP(0.5)).protocol.check(adult())
        >>> check.records, check.refusals
        (32561, ())
    """

    records: int = 0
    promise: dict[str, Any] = field(default_factory=dict)
    columns: tuple[ColumnCount, ...] = ()
    unknown: int = 0
    without_letter: int = 0
    unreadable: int = 0
    law: LawChange | None = None
    level_beside_kept: float | None = None
    people: People | None = None
    account: Account | None = None
    size: int | None = None
    seconds: float | None = None
    identity: IdentityRisk | None = None
    guess: BestGuess | None = None
    policy: str | None = None
    warnings: tuple[Finding, ...] = ()
    refusals: tuple[Finding, ...] = ()

    @property
    def code(self) -> int:
        return REFUSED if self.refusals else WARNED if self.warnings else FINE

    def facts(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "code": self.code}


@contextmanager
def refused_into(refusals: list[Finding]) -> Iterator[None]:
    """What is refused is written down; what follows in the block does not happen."""
    try:
        yield
    except DiscreetError as error:
        refusals.append(Finding(error.what, error.where, error.remedy))


def column_count(counts: RecordCounts, attribute: Attribute) -> ColumnCount:
    found = counts.outside(attribute)
    unknown = found["texts"] + found["numbers"]
    numeric = [any(NUMBER.fullmatch(text) for text in writings(letter)) for letter in attribute.letters if letter]
    looks = ""
    if unknown and found["numbers"] >= MOSTLY * unknown and not any(numeric):
        looks = "codes, where the protocol has labels"
    elif unknown and found["texts"] >= MOSTLY * unknown and numeric and all(numeric):
        looks = "labels, where the protocol has codes"
    return ColumnCount(attribute.name, unknown, found["missing"], looks)


# What a release is good for, from its protocol alone: what a record is worth to analysts.


MOST_LETTERS = 500
"""The design effects of more letters take longer than reading most tables."""


def worths(protocol: AnyProtocol) -> dict[str, float]:
    """For every released column the share of clean records that a released one is worth, for the frequencies of its
    values among whoever passes the mechanism; the worst stratum's. Zero where the release does not determine them."""
    found: dict[str, float] = {}
    for one in strata_of(protocol):
        if len(one.joint.target_letters) > MOST_LETTERS:
            return {}
        for column in one.joint.released:
            try:
                worth = Accuracy(estimands=[column.name]).of(one.joint, one.channel)
            except DiscreetError:
                continue
            found[column.name] = min(worth, found.get(column.name, 1.0))
    return found
