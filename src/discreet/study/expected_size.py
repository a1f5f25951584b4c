"""How large a design will be, before it is searched for: letters, time, memory and the size of its file.

The numbers come from measured designs on two cores and are good to a factor of three: enough to tell a minute from a
day. What is above the limits here is refused with what would work instead, and what that keeps of H(X).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from discreet.arrays import Floats
from discreet.exceptions import ParameterError
from discreet.given_columns import AnyJoint, StratifiedJoint
from discreet.information import entropy
from discreet.joint import Joint
from discreet.notions.ldp import LDP
from discreet.notions.lip import LIP
from discreet.notions.notion import Notion, words_of
from discreet.phrases import names
from discreet.protocol.file import LARGEST_FILE
from discreet.solvers.methods import plan
from discreet.uncertainty.confidence import has_limits

MOST_SECONDS: Final = 900.0
"""Without a time limit; a search that would take longer wants one, and then ends with its best and the gap."""
MOST_MEMORY: Final = 6 << 30
BASE_MEMORY, CELL_MEMORY, CELL_BYTES = 350 << 20, 250, 18
"""Of the program, and for every letter and output: measured 160 to 250 while searching, 13 to 18 in the file."""
QUADRATIC: Final = 700.0
"""Letters times secrets of a search that takes a second; it grows with the square. Measured from 240 to 5,040."""
PAIRS: Final = 5000.0
"""The same for two secrets and one column generation over pairs, which grows linearly."""
PAIR_BYTES: Final = 500
"""Of a letter, where outputs are letters and pairs of them."""
LINEAR: Final = ("wide", "product-safe")
WIDE_SECONDS, WIDE_WORK, WIDE_MEMORY, WIDE_BYTES = 30.0, 2000.0, 4096, 100
"""Methods for many letters end by themselves, with a gap; their outputs have few letters, and their files are small:
measured 23 to 94 bytes a letter from 720 to 30,240 letters."""
ROBUST: Final = 30.0
"""Seconds that a robust search takes at least to settle, and for every thousand letters times secrets."""
FEW: Final = 5
"""Records in a cell, below which what it seems to say is chance."""
MANY_SPARSE: Final = 0.05
RARE: Final = (50, 200, 1000, 5000)
MOST_ADVICE: Final = 3
"""Merging values with fewer records than each of RARE is tried; of what helps three are told, not a list."""


@dataclass(frozen=True)
class Sparseness:
    """Combinations of secret and released value that occur, and those of them with fewer than `FEW` records."""

    cells: int
    few: int
    records: float
    """The share of all records that are in such cells."""

    def __str__(self) -> str:
        if self.records < MANY_SPARSE:
            return ""
        return (
            f"{self.few:,} of the {self.cells:,} combinations of secret and released value that occur have fewer than "
            f"{FEW} records, {self.records:.0%} of all. What is promised holds for the proportions in this table; for "
            "people like these the level can be far higher, because so few records say little about a combination. "
            "A set around the estimate (--notion rlip or rldp) holds for them too, and coarser letters "
            "(--bins with edges, --merge by name) leave fewer such cells and keep more under it."
        )


@dataclass(frozen=True)
class Remedy:
    """One way to make a design smaller, the letters it leaves, and what it keeps of H(X)."""

    words: str
    letters: int
    keeps: float


@dataclass(frozen=True)
class ExpectedSize:
    """What a design will take, about; `remedies` are there where that is too much."""

    letters: int
    secrets: int
    seconds: float
    memory: int
    file_bytes: int
    sparseness: Sparseness | None
    remedies: tuple[Remedy, ...] = ()

    @property
    def words(self) -> str:
        return (
            f"{self.letters:,} letters, {self.secrets:,} secrets; about {duration(self.seconds)}, "
            f"{amount(self.memory)} of memory and a file of {amount(self.file_bytes)}, within a factor of three"
        )

    def too_much(self, time_limit: float | None) -> str:
        """Why it is not sensible, in words; empty where it is."""
        if self.file_bytes > LARGEST_FILE:
            return f"a file of about {amount(self.file_bytes)}, more than the {amount(LARGEST_FILE)} that can be read"
        if self.memory > MOST_MEMORY:
            return f"about {amount(self.memory)} of memory"
        if self.seconds > MOST_SECONDS and time_limit is None:
            return f"about {duration(self.seconds)}, and no time limit"
        return ""

    def check(self, time_limit: float | None, *, force: bool = False) -> None:
        """ParameterError that says what would work instead, before any of the work is done."""
        why = self.too_much(time_limit)
        if force or not why:
            return
        limited = "" if "no time limit" not in why else " Or take the best found in time: --time-limit 300."
        instead = "; ".join(
            f"{one.words} ({one.letters:,} letters, keeps {one.keeps:.0%} of what they tell)" for one in self.remedies
        )
        raise ParameterError(
            f"{self.letters:,} letters and {self.secrets:,} secrets would take {why}",
            where="the size of the design",
            remedy=f"What would work: {instead or 'fewer columns, or coarser ones'}.{limited} --force tries it anyway.",
        )


def expected_size(joint: AnyJoint, notion: Notion, *, time_limit: float | None = None) -> ExpectedSize:
    """What a design for this joint will take. Strata are searched one after the other, and kept in one file."""
    strata = list(joint.strata.values()) if isinstance(joint, StratifiedJoint) else [joint]
    first = strata[0]
    method = plan(first, notion).method
    linear = method in LINEAR
    sizes = [one.size if linear else _cells(one) for one in strata]
    found = ExpectedSize(
        letters=first.size,
        secrets=len(first.secret_prior),
        seconds=sum(_seconds(one.size, len(one.seen), one.reads_secret, notion, linear) for one in strata),
        memory=BASE_MEMORY + (WIDE_MEMORY if linear else CELL_MEMORY) * max(sizes),
        file_bytes=PAIR_BYTES * sum(one.size for one in strata)
        if method == "pairs"
        else (WIDE_BYTES if linear else CELL_BYTES) * sum(sizes),
        sparseness=_sparseness(strata),
    )
    if not found.too_much(time_limit):
        return found
    remedies = (
        tuple(_remedies(first, notion, len(strata), time_limit)) if not isinstance(joint, StratifiedJoint) else ()
    )
    return ExpectedSize(**{**vars(found), "remedies": remedies})


def _cells(joint: Joint) -> int:
    """Letters times outputs: about one output for every released value that occurs."""
    return joint.size * int((joint.target_prior > 0).sum())


def _seconds(letters: int, secrets: int, reads_secret: bool, notion: Notion, linear: bool = False) -> float:
    work = letters * secrets
    if linear:
        return WIDE_SECONDS + work / WIDE_WORK
    if not words_of(notion).at_prior:
        return ROBUST * (1 + work / 1000)
    if secrets == 2 and not reads_secret and isinstance(notion, LDP | LIP):
        return work / PAIRS
    return (work / QUADRATIC) ** 2


def _sparseness(strata: list[Joint]) -> Sparseness | None:
    tables = [one.counts for one in strata if one.counts is not None]
    if len(tables) < len(strata):
        return None
    counts = np.concatenate([table.reshape(-1) for table in tables])
    few = (counts > 0) & (counts < FEW)
    return Sparseness(int((counts > 0).sum()), int(few.sum()), float(counts[few].sum() / counts.sum()))


def _remedies(joint: Joint, notion: Notion, strata: int, time_limit: float | None) -> Iterator[Remedy]:
    """Ways that bring the design below the limits, those that keep most first."""
    whole = entropy(joint.target_prior)
    table = joint.probabilities.sum(axis=0)
    ways = [way for way in _smaller(joint, table, has_limits(notion)) if way[1].size < table.size]
    found = []
    for words, law in ways:
        factor = law.size / table.size
        letters = max(1, round(joint.size * factor))
        cells = letters * int((law > 0).sum())
        size = ExpectedSize(
            letters, len(joint.secret_prior),
            _seconds(letters, len(joint.seen), joint.reads_secret, notion) * strata,
            BASE_MEMORY + CELL_MEMORY * cells, CELL_BYTES * cells * strata, None,
        )  # fmt: skip
        if not size.too_much(time_limit):
            found.append(Remedy(words, letters, entropy(law.ravel()) / whole if whole > 0 else 1.0))
    yield from sorted(found, key=lambda one: -one.keeps)[:MOST_ADVICE]


def _smaller(joint: Joint, table: Floats, counted: bool) -> Iterator[tuple[str, Floats]]:
    """Rare values as one, unless these counts must not choose them; the largest columns left out one after the other;
    and both."""
    records = 0 if counted else joint.n or 0
    grouped = {rare: _merged(table, rare / records) for rare in RARE} if records else {}
    for rare, law in grouped.items():
        yield f"--merge rare:{rare}", law
    laws = {"": table, **{f" with --merge rare:{rare}": law for rare, law in grouped.items()}}
    for also, law in laws.items():
        left, columns = law, list(joint.releases)
        dropped = []
        while len(columns) > 1:
            place = int(np.argmax(left.shape))
            dropped.append(columns.pop(place))
            left = left.sum(axis=place)
            yield f"without {names(dropped)}{also}", left


def _merged(table: Floats, least: float) -> Floats:
    """The law with the values of every column that are rarer than `least` as one."""
    for axis in range(table.ndim):
        margin = table.sum(axis=tuple(other for other in range(table.ndim) if other != axis))
        rare = np.flatnonzero(margin < least)
        if len(rare) > 1:
            kept = np.delete(np.arange(len(margin)), rare)
            rest = table.take(rare, axis=axis).sum(axis=axis, keepdims=True)
            table = np.concatenate([table.take(kept, axis=axis), rest], axis=axis)
    return table


def duration(seconds: float) -> str:
    for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def amount(octets: int) -> str:
    for unit, power in (("GiB", 30), ("MiB", 20)):
        if octets >= 1 << power:
            return f"{octets / (1 << power):,.1f} {unit}"
    return f"{max(1, octets >> 10)} KiB"
