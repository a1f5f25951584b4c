"""What a steward has decided so far: one frozen value, changed by named steps that are checked.

Everything is plain data, because it is kept in the project's file. Neither what comes from a browser nor what stands in
the file is trusted: a change names a field, and the field's own check turns the value into what it may be, or raises;
`FIELDS` says what a field can hold at all, whoever wrote it. A result belongs to its question (`question`, `asked`), so
it no longer holds once that is another one.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from discreet.exceptions import ParameterError

ROLES: Final = ("secret", "release", "given", "out")
PURPOSES: Final = ("values", "statistics", "information")
NOTIONS: Final = ("lip", "ldp", "srlip", "rldp", "rlip")
ROWS: Final = ("person", "visit", "household")
RULES: Final = ("one", "tied")
SMALLEST, LARGEST = 0.05, 2.0
"""Ends of the epsilon slider."""
LARGEST_NUMBER: Final = 1e300
LONGEST_NAME: Final = 200
MOST_VALUES: Final = 5000
MOST_RECORDS: Final = 10**9
ANY_LENGTH: Final = sys.maxsize
"""Where the size of the file is the limit."""
STEPS: Final = 6
"""From the table to the release."""


@dataclass(frozen=True)
class Choices:
    """`row` is what a row is, `person` the column that says whose, `rule` what happens to several rows of one; `roles`
    are by column; `bins` the edges of a column's bins, as decimal text; `merge` new names and what they stand for;
    `by_need` whether the level is the smallest that gives the need; `rare` below how many records a value becomes
    "other"; `missing` the marks that mean "no value", with the columns that have them; `read` the warnings ticked as
    read; `repeat` whether one more draw of these people is meant; `reached` the furthest step."""

    table: str
    name: str
    row: str = "person"
    person: str = ""
    rule: str = "one"
    roles: Mapping[str, str] = field(default_factory=dict)
    bins: Mapping[str, list[str]] = field(default_factory=dict)
    merge: Mapping[str, Mapping[str, list[str]]] = field(default_factory=dict)
    rare: Mapping[str, int] = field(default_factory=dict)
    missing: Mapping[str, list[str]] = field(default_factory=dict)
    purpose: str = "values"
    by_need: bool = False
    need: float = 0.8
    epsilon: float = 0.69
    notion: str = "lip"
    sees_secret: bool = False
    read: tuple[str, ...] = ()
    people: str = ""
    repeat: bool = False
    reached: int = 1

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> Choices:
        """From plain data, each field checked; ParameterError where one cannot be what it states."""
        return cls(**{key: FIELDS[key](value) for key, value in stated.items() if key in FIELDS})

    def plain(self) -> dict[str, Any]:
        """As it comes back from a file: lists, no tuples."""
        return {**asdict(self), "read": list(self.read)}

    def columns(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, given in self.roles.items() if given == role)

    @property
    def secret(self) -> tuple[str, ...]:
        return self.columns("secret")

    @property
    def release(self) -> tuple[str, ...]:
        return self.columns("release")

    @property
    def given(self) -> tuple[str, ...]:
        return self.columns("given")

    @property
    def used(self) -> tuple[str, ...]:
        return (*self.secret, *self.release, *self.given)

    @property
    def complete(self) -> bool:
        """Whether there is something to hide and something to tell."""
        return bool(self.secret and self.release)

    def grouping(self) -> dict[str, Any]:
        """Bins and merges of the columns in use: the others are forgotten only when the project is."""
        return {
            "bins": {name: list(edges) for name, edges in self.bins.items() if name in self.used and edges},
            "merge": {name: made for name in self.used if (made := self._merged(name))},
            "rare": {name: few for name, few in self.rare.items() if name in self.used and few},
        }

    def marks(self, column: str) -> list[str]:
        """What means "no value" in this column."""
        return [mark for mark, columns in self.missing.items() if column in columns]

    def _merged(self, column: str) -> dict[str, list[str]]:
        """The merges of a column, marks for missing values first: under no name. In bins they are no numbers anyway."""
        marks = [] if self.bins.get(column) else self.marks(column)
        return {**({"": marks} if marks else {}), **self.merge.get(column, {})}

    def question(self) -> dict[str, Any]:
        """What a design is asked for, without its level: equal questions have equal curves."""
        return {
            "table": self.table,
            "secret": list(self.secret),
            "release": list(self.release),
            "given": list(self.given),
            "group": self.grouping(),
            "notion": self.notion,
            "sees_secret": self.sees_secret,
            "whose": self.whose(),
        }

    def whose(self) -> dict[str, Any]:
        """Whose rows they are, in the words of the package; empty where rows are persons or nobody knows the column."""
        if self.row == "person" or not self.person or self.person in self.used:
            return {}
        return {"household" if self.row == "household" else "person": self.person, "rows": self.rule}

    @property
    def several_rows(self) -> bool:
        """Whether a person, or a household, has several rows and no column says which: the promise is a row's."""
        return self.row != "person" and not self.whose()

    def stated(self) -> dict[str, Any]:
        """The same for a release, where it is also stated that nobody has two rows."""
        return {"one_row_per_person": True} if self.row == "person" else self.whose()

    def asked(self) -> dict[str, Any]:
        """A design: the question, for which purpose and at which level."""
        return {**self.question(), "purpose": self.purpose, "epsilon": self.epsilon}

    def wanted(self) -> dict[str, Any]:
        """The smallest level for a need: the question, for which purpose and how much of it."""
        return {**self.question(), "purpose": self.purpose, "need": self.need}

    def changed(self, key: str, value: Any) -> Choices:
        """With one decision changed; ParameterError where it cannot be that."""
        if key not in CHECKS:
            raise ParameterError("a decision that the studio does not have", where="change", remedy="Reload the page.")
        return CHECKS[key](self, value)


def _text(value: Any, most: int = LONGEST_NAME) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise ParameterError("not a short text", where="change", remedy=f"At most {most} signs.")
    return value


def _one_of(allowed: tuple[str, ...]) -> Callable[[Any], str]:
    def checked(value: Any) -> str:
        if value not in allowed:
            raise ParameterError("not one of the choices", where="change", remedy="Reload the page.")
        return str(value)

    return checked


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < LARGEST_NUMBER:
        raise ParameterError("not a number", where="change", remedy="Reload the page.")
    return float(value)


def _between(value: Any, low: float, high: float) -> float:
    return min(high, max(low, _number(value)))


def _whole(value: Any, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise ParameterError("not a whole number in its range", where="change", remedy="Reload the page.")
    return value


def _yes(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ParameterError("neither yes nor no", where="change", remedy="Reload the page.")
    return value


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list | tuple):
        raise ParameterError("not a list of texts", where="change", remedy="Reload the page.")
    return [_text(one, ANY_LENGTH) for one in value]


def _by_name(held: Callable[[Any], Any]) -> Callable[[Any], dict[str, Any]]:
    """Of columns, marks or groups, each with what it has."""

    def checked(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise ParameterError("nothing by name", where="change", remedy="Reload the page.")
        return {_text(name, ANY_LENGTH): held(one) for name, one in value.items()}

    return checked


def _path(value: Any) -> str:
    if not (path := _text(value, ANY_LENGTH)) or "\0" in path:
        raise ParameterError("a name that no file can have", where="change", remedy="Reload the page.")
    return path


def _role(self: Choices, value: Any) -> Choices:
    """{"column": …, "role": …}; there is one secret at least while it is being chosen, and every column one role."""
    name, role = _text(_field(value, "column"), 10_000), _one_of(ROLES)(_field(value, "role"))
    if name not in self.roles:
        raise ParameterError("a column that the table does not have", where="role", remedy="Reload the page.")
    return replace(self, roles={**self.roles, name: role})


def _bins(self: Choices, value: Any) -> Choices:
    """{"column": …, "edges": ["25", …]}; no edges leave the column as it is."""
    name, edges = _text(_field(value, "column"), 10_000), _field(value, "edges")
    if name not in self.roles or not isinstance(edges, list) or len(edges) > 200:
        raise ParameterError("bins of a column that the table does not have", where="bins", remedy="Reload the page.")
    written = [_decimal(edge, 30) for edge in edges]
    if any(float(low) >= float(high) for low, high in pairwise(written)):
        raise ParameterError("borders that do not rise", where="bins", remedy="Move one of them.")
    return replace(self, bins={**self.bins, name: written})


def _borders(edges: Any) -> list[str]:
    return [_decimal(edge, ANY_LENGTH) for edge in _texts(edges)]


def _decimal(edge: Any, most: int) -> str:
    try:
        number = float(_text(edge, most))
    except ValueError:
        raise ParameterError("a border that is no number", where="bins", remedy="Type a number.") from None
    if not math.isfinite(number):
        raise ParameterError("a border that is not finite", where="bins", remedy="Type a number.")
    return str(edge).strip()


def _merge(self: Choices, value: Any) -> Choices:
    """{"column": …, "groups": {"name": [values]}}: all merges of a column, each value in one of them at most."""
    name, groups = _text(_field(value, "column"), 10_000), _field(value, "groups")
    if name not in self.roles or not isinstance(groups, dict):
        raise ParameterError(
            "merges of a column that the table does not have", where="merge", remedy="Reload the page."
        )
    made: dict[str, list[str]] = {}
    met: set[str] = set()
    for new, old in groups.items():
        if not _text(new).strip() or not isinstance(old, list) or not 1 <= len(old) <= MOST_VALUES:
            raise ParameterError("a group without a name or without values", where="merge", remedy="Name it.")
        listed = [_text(one, 100_000) for one in old]
        if met & set(listed):
            raise ParameterError("a value in two groups", where="merge", remedy="Choose values once.")
        met |= set(listed)
        made[new] = listed
    return replace(self, merge={**self.merge, name: made})


def _rare(self: Choices, value: Any) -> Choices:
    """{"column": …, "records": 50}; 0 leaves rare values as they are."""
    name, few = _text(_field(value, "column"), 10_000), _field(value, "records")
    if name not in self.roles:
        raise ParameterError("a column that the table does not have", where="rare", remedy="Reload the page.")
    return replace(self, rare={**self.rare, name: _records(few)})


def _records(value: Any) -> int:
    return _whole(value, 0, MOST_RECORDS)


def _missing(self: Choices, value: Any) -> Choices:
    """{"mark": "?", "columns": [...]}; without columns the mark is a value of its own."""
    mark, columns = _text(_field(value, "mark"), 20), _field(value, "columns")
    if not mark or not isinstance(columns, list):
        raise ParameterError("not a mark for missing values", where="missing", remedy="Reload the page.")
    others = {one: names for one, names in self.missing.items() if one != mark}
    named = [_text(name, 10_000) for name in columns]
    return replace(self, missing={**others, mark: named} if named else others)


def _read(self: Choices, value: Any) -> Choices:
    """{"warning": …, "read": true}"""
    which, ticked = _text(_field(value, "warning")), bool(_field(value, "read"))
    others = tuple(one for one in self.read if one != which)
    return replace(self, read=(*others, which) if ticked else others)


def _field(value: Any, name: str) -> Any:
    if not isinstance(value, dict) or name not in value:
        raise ParameterError("a change without what it changes", where=name, remedy="Reload the page.")
    return value[name]


CHECKS: Final[dict[str, Callable[[Choices, Any], Choices]]] = {
    "role": _role,
    "bins": _bins,
    "merge": _merge,
    "rare": _rare,
    "missing": _missing,
    "read": _read,
    "name": lambda self, value: replace(self, name=_text(value, 100).strip() or self.name),
    "people": lambda self, value: replace(self, people=_text(value, 100).strip(), repeat=False),
    "repeat": lambda self, value: replace(self, repeat=value is True),
    "row": lambda self, value: replace(self, row=_one_of(ROWS)(value)),
    "person": lambda self, value: replace(self, person=_one_of(("", *self.roles))(value)),
    "rule": lambda self, value: replace(self, rule=_one_of(RULES)(value)),
    "purpose": lambda self, value: replace(self, purpose=_one_of(PURPOSES)(value)),
    "notion": lambda self, value: replace(self, notion=_one_of(NOTIONS)(value)),
    "sees_secret": lambda self, value: replace(self, sees_secret=value is True),
    "need": lambda self, value: replace(self, need=_between(value, 0.01, 0.999), by_need=True),
    "epsilon": lambda self, value: replace(self, epsilon=round(_between(value, SMALLEST, LARGEST), 4), by_need=False),
}
FIELDS: Final[dict[str, Callable[[Any], Any]]] = {
    "table": _path,
    "name": lambda value: _text(value, ANY_LENGTH),
    "row": _one_of(ROWS),
    "person": lambda value: _text(value, ANY_LENGTH),
    "rule": _one_of(RULES),
    "roles": _by_name(_one_of(ROLES)),
    "bins": _by_name(_borders),
    "merge": _by_name(_by_name(_texts)),
    "rare": _by_name(_records),
    "missing": _by_name(_texts),
    "purpose": _one_of(PURPOSES),
    "by_need": _yes,
    "need": _number,
    "epsilon": _number,
    "notion": _one_of(NOTIONS),
    "sees_secret": _yes,
    "read": lambda value: tuple(_texts(value)),
    "people": lambda value: _text(value, ANY_LENGTH),
    "repeat": _yes,
    "reached": lambda value: _whole(value, 1, STEPS),
}
"""What a field can hold: the shapes that everything else relies on. How much a page may send of it, `CHECKS` says."""
