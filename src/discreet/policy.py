"""A policy: what an office allows to be released, in a file that every check and release reads and can say no with.

    notions = ["LIP", "RLDP"]        # the notions that may be promised
    records_per_secret = 30          # every value of the secret has at least so many records
    k = 5                            # every combination of given and kept values is shared by at least so many records
    given = ["sex"]                  # columns within which the promise must hold
    robust = true                    # the promise must hold for a set of distributions, not for one estimate

    [epsilon]                        # the largest level of what a person is told, notion by notion
    LIP = 0.5

Robust is what holds for a set of distributions, however large its protocol states it: a confidence set, a Rényi ball of
a radius that somebody chose, all of them. `RLDP` over `Exactly()`, a set of one, is not.

Every line is optional. Levels are those of all rows of a person that are drawn by themselves, and of all releases that
a ledger has; of several promises, every one is judged that has a level here. A policy that cannot be read refuses
everything: nobody releases because of a typing error. Its digest, the SHA-256 of the file, is in the manifest of
whatever was released under it.
"""

from __future__ import annotations

import hashlib
import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from discreet.exceptions import ParameterError
from discreet.files.toml_file import read_toml
from discreet.notions.by_name import kinds

VARIABLE = "DISCREET_POLICY"
SAYS = "the policy says"


@dataclass(frozen=True)
class Circumstances:
    """What a policy asks about a release."""

    notion: str
    epsilon: float
    robust: bool
    given: tuple[str, ...]
    records_per_secret: int | None
    k: int | None
    beside: tuple[tuple[str, float], ...] = ()
    """Further promises, by notion, with their levels."""


@dataclass(frozen=True)
class Breach:
    """A rule that a release would break: the rule as it stands in the file, and what was found."""

    rule: str
    found: str

    def __str__(self) -> str:
        return f"{SAYS} {self.rule}; here {self.found}"


@dataclass(frozen=True)
class Policy:
    """The rules of one file; None where the file says nothing."""

    notions: tuple[str, ...] | None = None
    records_per_secret: int | None = None
    k: int | None = None
    given: tuple[str, ...] = ()
    robust: bool = False
    epsilon: Mapping[str, float] = field(default_factory=dict)
    digest: str = ""

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Policy:
        stated, data = read_toml(path, "policy", "Nothing is released without it.")
        return cls.of(stated, hashlib.sha256(data).hexdigest())

    @classmethod
    def of(cls, stated: Mapping[str, Any], digest: str = "") -> Policy:
        known = {entry.name for entry in fields(cls)} - {"digest"}
        for key in stated:
            if key not in known:
                raise ParameterError(
                    "a rule that no policy has", where=key, remedy=nearest(key, known) or "See the documentation."
                )
        checked: dict[str, Any] = {key: _CHECKS[key](stated[key], key) for key in stated}
        return cls(**checked, digest=digest)

    @classmethod
    def in_force(cls, path: str | os.PathLike[str] | None = None) -> Policy | None:
        """The policy of this path, or that of the environment, or none."""
        named = os.environ.get(VARIABLE) if path is None else path
        return cls.read(named) if named else None

    def breaches(self, release: Circumstances) -> list[Breach]:
        """Every rule that this release would break."""
        found = []
        if self.notions is not None and release.notion not in self.notions:
            found.append(Breach(f"notions = {list(self.notions)}", f"the notion is {release.notion}"))
        limit = self.epsilon.get(release.notion)
        for notion, level in ((release.notion, release.epsilon), *release.beside):
            if level > (most := self.epsilon.get(notion, math.inf)):
                found.append(Breach(f"epsilon.{notion} = {most:g}", f"epsilon is {level:.6g}"))
        if self.epsilon and limit is None and self.notions is None:
            found.append(Breach(f"epsilon for {sorted(self.epsilon)} only", f"the notion is {release.notion}"))
        missing = [column for column in self.given if column not in release.given]
        if missing:
            found.append(Breach(f"given = {list(self.given)}", f"not given: {', '.join(missing)}"))
        if self.robust and not release.robust:
            found.append(Breach("robust = true", "the promise rests on one estimated distribution"))
        for rule, least, there in (
            ("records_per_secret", self.records_per_secret, release.records_per_secret),
            ("k", self.k, release.k),
        ):
            if least is not None and (there is None or there < least):
                found.append(Breach(f"{rule} = {least}", "unknown" if there is None else f"it is {there}"))
        return found


def nearest(given: str, known: set[str]) -> str | None:
    """A remedy that names what was probably meant."""
    close = get_close_matches(given, sorted(known), n=1)
    return f"Did you mean {close[0]}?" if close else None


def _names(value: Any, key: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ParameterError("not a list of names", where=key, remedy=f'Write {key} = ["…"].')
    return tuple(value)


def _notions(value: Any, key: str) -> tuple[str, ...]:
    return tuple(_notion(name, key) for name in _names(value, key))


def _notion(name: str, key: str) -> str:
    """A rule about a notion that does not exist would rule nothing."""
    known = {kind.words.name for kind in kinds()}
    if name not in known:
        listed = f"One of {', '.join(sorted(known))}."
        raise ParameterError("a notion nobody knows", where=key, remedy=nearest(name, known) or listed)
    return name


def _whole(value: Any, key: str) -> int:
    if type(value) is not int or value < 0:
        raise ParameterError("not a whole number", where=key, remedy=f"Write {key} = 5.")
    return value


def _switch(value: Any, key: str) -> bool:
    if not isinstance(value, bool):
        raise ParameterError("neither true nor false", where=key, remedy=f"Write {key} = true.")
    return value


def _levels(value: Any, key: str) -> dict[str, float]:
    if not isinstance(value, dict) or not all(
        type(e) in (int, float) and 0 <= e <= sys.float_info.max for e in value.values()
    ):
        raise ParameterError("not levels by notion", where=key, remedy="Write [epsilon] and below it LIP = 0.5.")
    return {_notion(name, key): float(level) for name, level in value.items()}


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "notions": _notions,
    "records_per_secret": _whole,
    "k": _whole,
    "given": _names,
    "robust": _switch,
    "epsilon": _levels,
}
