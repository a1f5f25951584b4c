"""Given columns (theory 7.2): a distribution P(S, X | k) for every stratum k of columns that are published as they are.

K is published, so strata do not interact: whoever knows k compares people of that stratum only. The best mechanism of
the whole is the best one of each stratum, its value I(X;Y|K) = Σ_k P(k) I(X;Y|K=k), and its bound the same mean.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Union, overload

import numpy as np

from discreet.arrays import Integers
from discreet.attribute import Attribute, Form, distinct_names
from discreet.exceptions import AlphabetError, DistributionError
from discreet.joint import Joint
from discreet.phrases import few_as_one

MOST_STRATA = 200
FEW_RECORDS, FEW_WITH_A_SECRET = 200, 30
"""Below so many, what a stratum seems to say about a secret is mostly noise."""

NAMED = 50
"""A value is named by an error if so many records of the whole table have it."""

Stratum = tuple[Hashable, ...]
AnyJoint = Union[Joint, "StratifiedJoint"]
"""One distribution, or one for every stratum of given columns."""


@dataclass(frozen=True, eq=False)
class StratifiedJoint:
    """A joint for every combination of letters of the given columns that occurs; all have the same letters.

    Arguments:
        given: the given columns.
        strata: by their letters, a `Joint`.
    Raises:
        AlphabetError: strata with different letters, or letters that the given columns do not have.
        DistributionError: a stratum without the number of its records.
    Example:
        >>> import discreet as dc
        >>> strata = {(k,): dc.Joint.from_counts(n) for k, n in (("k", [[30, 10], [10, 30]]), ("m", [[9, 8], [7, 9]]))}
        >>> dc.StratifiedJoint((dc.Attribute("given", ("k", "m")),), strata).n
        113
    """

    given: tuple[Attribute, ...]
    strata: Mapping[Stratum, Joint]

    def __post_init__(self) -> None:
        check_strata(self.given, self.strata)

    @classmethod
    def from_counts(
        cls,
        counts: Integers,
        secrets: tuple[Attribute, ...],
        given: tuple[Attribute, ...],
        releases: tuple[Attribute, ...],
        *,
        include_secret: bool = False,
    ) -> StratifiedJoint:
        """From counts[s, k1, …, x1, …]."""
        return cls.from_cells(
            lambda cells, _: Joint.from_counts(cells, secrets, releases, include_secret=include_secret), given, counts
        )

    @classmethod
    def from_cells(
        cls, joint_of: Callable[[Any, Any], Joint], given: tuple[Attribute, ...], cells: Any, others: Any = None
    ) -> StratifiedJoint:
        """What `joint_of` makes of the cells[s, k1, …, x1, …] of every stratum, and of those of another such array."""
        sizes = [len(attribute) for attribute in given]

        def by_stratum(array: Any) -> Any:
            return np.moveaxis(array.reshape(len(array), -1, *array.shape[1 + len(given) :]), 1, 0)

        each, beside = by_stratum(cells), None if others is None else by_stratum(others)
        found, seen = {}, np.flatnonzero(each.reshape(len(each), -1).any(axis=1))
        check_number_of_strata(given, len(seen))
        for number in seen:
            place = np.unravel_index(int(number), sizes)
            key = tuple(attribute.letters[i] for attribute, i in zip(given, place, strict=True))
            found[key] = joint_of(each[number], None if beside is None else beside[number])
        return cls(given, found)

    @property
    def first(self) -> Joint:
        """Any of them: letters and names are the same in all."""
        return next(iter(self.strata.values()))

    @property
    def secrets(self) -> tuple[Attribute, ...]:
        return self.first.secrets

    @property
    def releases(self) -> tuple[Attribute, ...]:
        return self.first.releases

    @property
    def released(self) -> tuple[Attribute, ...]:
        return self.first.released

    @property
    def form(self) -> Form:
        return self.first.form

    @cached_property
    def n(self) -> int:
        return sum(joint.n or 0 for joint in self.strata.values())

    @property
    def entropy(self) -> float:
        """H(X | K)"""
        return averaged({key: (joint, joint.entropy) for key, joint in self.strata.items()})

    def curator(self) -> StratifiedJoint:
        """The same for mechanisms that read (S, X) and are judged by I(X;Y|K)."""
        return replace(self, strata={key: one.curator() for key, one in self.strata.items()})

    def check_sizes(self, *, by_name: bool = False) -> None:
        """DistributionError if a stratum is too small to design on, with the merge that would help. Which one it is,
        and which values are rare, is not said: a stratum of one record is that record. Confidence in the counts wants
        groups `by_name`.

        Strata with noise pass: what is promised over exact limits holds for the smallest, and costs utility."""
        counted = [joint for joint in self.strata.values() if joint.noise is None]
        anyway, columns = "Or design it all the same with --force (force=True).", [one.name for one in self.given]
        small = sum((joint.n or 0) < FEW_RECORDS for joint in counted)
        if small:
            merged = " ".join(few_as_one(name, FEW_RECORDS, by_name=by_name) for name in columns)
            raise DistributionError(
                f"{small} of {len(self.strata)} strata with fewer than {FEW_RECORDS} records",
                where=", ".join(columns),
                remedy=f"Merge values that few have ({merged}), or give fewer columns. {anyway}",
            )
        sizes = np.array([joint.secret_prior * (joint.n or 0) for joint in counted])
        rare = (np.rint(sizes) > 0) & (np.rint(sizes) < FEW_WITH_A_SECRET)
        if rare.any():
            s = int(np.where(rare, sizes, np.inf).min(axis=0).argmin())
            names = ", ".join(one.name for one in self.secrets)
            raise DistributionError(
                f"a value of the secret with fewer than {FEW_WITH_A_SECRET} records, in "
                f"{int(rare.any(axis=1).sum())} of {len(self.strata)} strata",
                where=f"{names} beside {', '.join(columns)}",
                remedy=f"{self._merge_secret(s, by_name)} {anyway}",
            )

    def _merge_secret(self, s: int, by_name: bool) -> str:
        """The value of the secret that, with this one, is common enough in all strata, and is most like it there."""
        joints = list(self.strata.values())
        tables = np.array([one.table * (one.n or 0) for one in joints])
        sizes, whole = tables.sum(axis=2), tables.sum(axis=0)
        laws = whole / np.maximum(whole.sum(axis=1, keepdims=True), 1)
        together = sizes + sizes[:, [s]]
        short = ((together > 0) & (together < FEW_WITH_A_SECRET - 0.5)).any(axis=0)
        others = [t for t in np.flatnonzero(whole.sum(axis=1) > 0).tolist() if t != s]
        if len(others) < 2:  # merged, there would be one value, and nothing to hide
            return "Give fewer columns."
        t = min(others, key=lambda other: (short[other], np.abs(laws[other] - laws[s]).sum()))
        names = joints[0].secret_letters
        if min(whole[s].sum(), whole[t].sum()) < NAMED - 0.5:
            column = ", ".join(one.name for one in self.secrets)
            return f"Merge values that few have ({few_as_one(column, NAMED, by_name=by_name)}), or give fewer columns."
        return (
            f"Merge {names[s]!r} with {names[t]!r}, which is most like it{', or more' if short[t] else ''} (--merge)."
        )


@overload
def in_form(joint: Joint, form: Form) -> Joint: ...
@overload
def in_form(joint: StratifiedJoint, form: Form) -> StratifiedJoint: ...
def in_form(joint: AnyJoint, form: Form) -> AnyJoint:
    """The same distribution for mechanisms that read or release other columns."""
    if isinstance(joint, StratifiedJoint):
        return replace(joint, strata={key: replace(one, form=form) for key, one in joint.strata.items()})
    return replace(joint, form=form)


def check_strata(given: tuple[Attribute, ...], strata: Mapping[Stratum, Any]) -> None:
    """Strata of these columns, not too many, each with a joint on the same letters and a number of records."""
    check_keys_of_strata(given, strata)
    joints = [getattr(one, "joint", one) for one in strata.values()]
    first = joints[0]
    if any((one.secrets, one.releases, one.form) != (first.secrets, first.releases, first.form) for one in joints):
        raise AlphabetError("strata with different letters", where="given", remedy="Count them from one table.")
    if any(one.n is None for one in joints):
        raise DistributionError("a stratum without its number of records", where="given", remedy="Count a table.")
    distinct_names((*given, *first.secrets, *first.releases))
    if any(one.noise != first.noise for one in joints):
        raise DistributionError("strata with different noise", where="given", remedy="Draw it for one table.")
    if first.noise is not None and len(joints) != prod(len(attribute) for attribute in given):
        raise AlphabetError(
            "strata with noise that were left out",
            where="given",
            remedy="Keep every stratum that was declared: their confidence is that of all of them together.",
        )


def check_keys_of_strata(given: tuple[Attribute, ...], strata: Mapping[Stratum, Any]) -> None:
    """Strata of these columns, and not too many."""
    if not given or not strata:
        raise AlphabetError("no given columns", where="given", remedy="Name a column that is kept as it is.")
    check_number_of_strata(given, len(strata))
    for key in strata:
        if len(key) != len(given) or any(x not in a.letters for x, a in zip(key, given, strict=True)):
            raise AlphabetError("a stratum that the given columns do not have", where="given")


def check_number_of_strata(given: tuple[Attribute, ...], number: int) -> None:
    if number > MOST_STRATA:
        raise AlphabetError(
            f"{number:,} strata, more than {MOST_STRATA}",
            where=", ".join(f"{attribute.name}: {len(attribute)}" for attribute in given),
            remedy="Give fewer columns, or merge their values before designing.",
        )


def averaged(values: Mapping[Stratum, tuple[Joint, float]]) -> float:
    """Σ_k P(k) value_k"""
    return sum((joint.n or 0) * value for joint, value in values.values()) / sum(
        joint.n or 0 for joint, _ in values.values()
    )


def strata_numbers(given: tuple[Attribute, ...], strata: Iterator[Stratum]) -> Integers:
    """For every combination of letters in C order the number of its stratum, −1 where there is none; −1 at the end."""
    sizes = [len(attribute) for attribute in given]
    numbers = np.full(int(np.prod(sizes)) + 1, -1, np.int64)
    for number, key in enumerate(strata):
        place = [attribute.letters.index(letter) for attribute, letter in zip(given, key, strict=True)]
        numbers[np.ravel_multi_index(place, sizes)] = number
    return numbers
