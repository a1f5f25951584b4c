"""What a look at a table finds, as plain facts. Nothing in here is a value with fewer than `k` records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from discreet.release.check import Finding


class ColumnKind(StrEnum):
    """What a column seems to hold. The words are those that people read."""

    NUMBER = "number"
    CATEGORY = "category"
    TRUTH = "yes or no"
    DATE = "date"
    IDENTIFIER = "identifier"
    TEXT = "free text"
    CONSTANT = "one value"
    EMPTY = "empty"
    UNUSABLE = "not readable as letters"

    @property
    def usable(self) -> bool:
        """Whether a column of this kind can be secret or released, perhaps grouped."""
        return self in (ColumnKind.NUMBER, ColumnKind.CATEGORY, ColumnKind.TRUTH, ColumnKind.DATE)


@dataclass(frozen=True)
class ValueCount:
    """A value that at least k records have."""

    value: str
    records: int


@dataclass(frozen=True)
class Bar:
    """Records with a number in [low, high); None where the bar is open. A bar has at least k records, or none."""

    low: float | None
    high: float | None
    records: int


@dataclass(frozen=True)
class Telling:
    """I(X;S): what one column tells about the secret, in nats and as a share of H(S).

    Shuffled, so that neither says anything about the other, the two columns still show `by_chance` nats: that many
    values and so few records look telling.
    """

    nats: float
    share: float
    by_chance: float

    @property
    def beyond_chance(self) -> float:
        """The share of H(S) that chance does not explain."""
        return self.share * max(0.0, 1 - self.by_chance / self.nats) if self.nats > 0 else 0.0


@dataclass(frozen=True)
class ProposedGrouping:
    """How the values of a column could become fewer letters, and what that keeps.

    `option` is what a command line says (`--bins age=20,30,40`, `--merge city:rare:50`); exactly one of `bins` and
    `rare` is there. `keeps` is H(grouped) / H(column); `telling` is what the grouped column tells about the secret.
    """

    column: str
    option: str
    letters: int
    keeps: float
    bins: tuple[str, ...] = ()
    rare: int = 0
    telling: Telling | None = None


@dataclass(frozen=True)
class ColumnLook:
    """One column. `distinct` and `rare` count values, missing not included; `rare` are those with fewer than k records.

    `top` are the commonest values with at least k records; `others` counts the values that are not in it and
    `other_records` their records. `histogram` is there for numbers. `telling` is None for the secret itself and where
    no secret was named. `marks` are values that people write where there is none, however rare.
    """

    name: str
    kind: ColumnKind
    records: int
    missing: int
    distinct: int
    rare: int
    rare_records: int
    entropy: float
    top: tuple[ValueCount, ...] = ()
    others: int = 0
    other_records: int = 0
    histogram: tuple[Bar, ...] = ()
    telling: Telling | None = None
    grouping: ProposedGrouping | None = None
    warnings: tuple[Finding, ...] = ()
    marks: tuple[ValueCount, ...] = ()

    @property
    def letters(self) -> int:
        """How many letters a design would see, grouped as proposed, missing as one of them."""
        values = self.distinct if self.grouping is None else self.grouping.letters
        return values + (self.missing > 0)

    @property
    def is_identifier(self) -> bool:
        """More different values than half of the records: refused by a design unless it is forced or grouped."""
        return self.distinct > 0 and 2 * self.distinct > self.records - self.missing


@dataclass(frozen=True)
class Look:
    """A table, column by column. `records` were looked at; `whole` says whether these are all of them.

    `secret` are the columns asked about, `secret_entropy` their H(S) in nats, `release` those of the proposed command.
    `command` and `python` say the next step in both languages.

    Attributes:
        table: how it is called.
        records, whole, unreadable: how many were looked at, whether all, and how many had a wrong number of fields.
        k: values that fewer records have are not shown.
        columns: one `ColumnLook` each; `column(name)` finds one.
        secret, secret_entropy: the columns asked about, and H(S) in nats.
        release: those of the proposed command.
        command, python: the next step in both languages.
        warnings: what to know before it.
    Example:
        >>> import discreet as dc
        >>> from discreet.datasets import adult
        >>> found = dc.look(adult(), secret="race")
        >>> found.column("age").kind.value
        'number'
    """

    table: str
    records: int
    whole: bool
    unreadable: int
    k: int
    columns: tuple[ColumnLook, ...]
    secret: tuple[str, ...] = ()
    secret_entropy: float | None = None
    release: tuple[str, ...] = ()
    command: str = ""
    python: str = ""
    warnings: tuple[Finding, ...] = ()

    def column(self, name: str) -> ColumnLook:
        return next(column for column in self.columns if column.name == name)

    @property
    def telling(self) -> tuple[ColumnLook, ...]:
        """The columns that were held against the secret, the most telling first."""
        held = [column for column in self.columns if column.telling is not None]
        return tuple(sorted(held, key=_beyond_chance, reverse=True))

    @property
    def groupings(self) -> tuple[ProposedGrouping, ...]:
        return tuple(column.grouping for column in self.columns if column.grouping is not None)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All warnings, those about the whole table first."""
        return self.warnings + tuple(one for column in self.columns for one in column.warnings)

    def facts(self) -> dict[str, Any]:
        """What `--json` prints."""
        return asdict(self)


def _beyond_chance(column: ColumnLook) -> float:
    return column.telling.beyond_chance if column.telling is not None else 0.0
