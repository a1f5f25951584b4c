"""Given columns (theory 7.2): a distribution P(S, X | k) for every stratum k of columns that are published as they are.

K is published, so strata do not interact: whoever knows k compares people of that stratum only. The best mechanism of
the whole is the best one of each stratum, its value I(X;Y|K) = Σ_k P(k) I(X;Y|K=k), and its bound the same mean.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Integers
from discreet.exceptions import AlphabetError, DistributionError
from discreet.joint import Attribute, Joint, distinct_names

MOST_STRATA = 200
FEW_RECORDS, FEW_WITH_A_SECRET = 200, 30
"""Below so many, what a stratum seems to say about a secret is mostly noise."""

Stratum = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class StratifiedJoint:
    """A joint for every combination of letters of the given columns that occurs; all have the same letters."""

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
        sizes = [len(attribute) for attribute in given]
        each = np.moveaxis(counts.reshape(len(counts), -1, *counts.shape[1 + len(given) :]), 1, 0)
        found = {}
        for number in np.flatnonzero(each.reshape(len(each), -1).any(axis=1)):
            place = np.unravel_index(int(number), sizes)
            key = tuple(attribute.letters[i] for attribute, i in zip(given, place, strict=True))
            found[key] = Joint.from_counts(each[number], secrets, releases, include_secret=include_secret)
        return cls(given, found)

    @property
    def first(self) -> Joint:
        """Any of them: letters and names are the same in all."""
        return next(iter(self.strata.values()))

    @cached_property
    def n(self) -> int:
        return sum(joint.n or 0 for joint in self.strata.values())

    @property
    def entropy(self) -> float:
        """H(X | K)"""
        return averaged({key: (joint, joint.entropy) for key, joint in self.strata.items()})

    def curator(self) -> StratifiedJoint:
        """The same for mechanisms that read (S, X) and are judged by I(X;Y|K)."""
        return replace(self, strata={key: joint.curator() for key, joint in self.strata.items()})

    def check_sizes(self) -> None:
        """DistributionError that names the first stratum too small to design on, with the merge that would help."""
        for key, joint in self.strata.items():
            if (joint.n or 0) < FEW_RECORDS:
                raise DistributionError(
                    f"a stratum with {joint.n} records, fewer than {FEW_RECORDS}",
                    where=named_stratum(self.given, key),
                    remedy=f"{self._merge(key)} Or design it all the same with --force (force=True).",
                )
            counts = joint.counts if joint.counts is not None else np.zeros((1, 1), np.int64)
            rare = counts.reshape(len(counts), -1).sum(axis=1)
            few = np.flatnonzero((rare > 0) & (rare < FEW_WITH_A_SECRET))
            if len(few):
                s = int(few[rare[few].argmin()])
                raise DistributionError(
                    f"a secret with {int(rare[s])} records in its stratum, fewer than {FEW_WITH_A_SECRET}",
                    where=f"{named_stratum(self.given, key)}: {joint.secret_letters[s]!r}",
                    remedy=f"Merge it with another value of the secret. {self._merge(key)} "
                    "Or design it all the same with --force (force=True).",
                )

    def _merge(self, key: Stratum) -> str:
        """The letter of one given column whose stratum, with all else equal, is the smallest that makes this large."""
        size, found = self.strata[key].n or 0, []
        for place, attribute in enumerate(self.given):
            for letter in attribute.letters:
                other = (*key[:place], letter, *key[place + 1 :])
                if letter != key[place] and other in self.strata:
                    more = (self.strata[other].n or 0) + size
                    found.append((more < FEW_RECORDS, more if more >= FEW_RECORDS else -more, attribute.name, letter))
        if not found:
            return "Give fewer columns."
        *_, name, letter = min(found, key=lambda one: one[:2])
        return f"Merge {name} = {key[[a.name for a in self.given].index(name)]!r} with {letter!r}."


def check_strata(given: tuple[Attribute, ...], strata: Mapping[Stratum, Any]) -> None:
    """Strata of these columns, not too many, each with a joint on the same letters and a number of records."""
    if not given or not strata:
        raise AlphabetError("no given columns", where="given", remedy="Name a column that is kept as it is.")
    if len(strata) > MOST_STRATA:
        raise AlphabetError(
            f"{len(strata):,} strata, more than {MOST_STRATA}",
            where=", ".join(f"{attribute.name}: {len(attribute)}" for attribute in given),
            remedy="Give fewer columns, or merge their values before designing.",
        )
    joints = [getattr(one, "joint", one) for one in strata.values()]
    first = joints[0]
    if any((one.secrets, one.releases, one.form) != (first.secrets, first.releases, first.form) for one in joints):
        raise AlphabetError("strata with different letters", where="given", remedy="Count them from one table.")
    if any(one.n is None for one in joints):
        raise DistributionError("a stratum without its number of records", where="given", remedy="Count a table.")
    for key in strata:
        if len(key) != len(given) or any(x not in a.letters for x, a in zip(key, given, strict=True)):
            raise AlphabetError("a stratum that the given columns do not have", where="given")
    distinct_names((*given, *first.secrets, *first.releases))


def averaged(values: Mapping[Stratum, tuple[Joint, float]]) -> float:
    """Σ_k P(k) value_k"""
    return sum((joint.n or 0) * value for joint, value in values.values()) / sum(
        joint.n or 0 for joint, _ in values.values()
    )


def named_stratum(given: tuple[Attribute, ...], key: Stratum) -> str:
    return ", ".join(f"{attribute.name} = {letter!r}" for attribute, letter in zip(given, key, strict=True))


def strata_numbers(given: tuple[Attribute, ...], strata: Iterator[Stratum]) -> Integers:
    """For every combination of letters in C order the number of its stratum, −1 where there is none; −1 at the end."""
    sizes = [len(attribute) for attribute in given]
    numbers = np.full(int(np.prod(sizes)) + 1, -1, np.int64)
    for number, key in enumerate(strata):
        place = [attribute.letters.index(letter) for attribute, letter in zip(given, key, strict=True)]
        numbers[np.ravel_multi_index(place, sizes)] = number
    return numbers
