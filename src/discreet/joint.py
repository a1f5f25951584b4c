"""The joint distribution P(S, X): what discreet knows about the secret and the rest.

A mechanism reads an *input letter* z and is judged by what it tells about a *target* T = f(z):

    form                 z        T        where
    funnel               X        X        funnel-1, funnel-2
    include_secret       (S, U)   (S, U)   robust-1, robust-2
    sees_secret          (S, X)   X        the curator, as in Conditional Reporting

Letters are in C order of the probability array, secret-major when z contains the secret.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import information
from discreet.alphabet import Attribute, attributes_for, distinct_names, letters_of
from discreet.checks import checked_counts, checked_probabilities
from discreet.exceptions import DistributionError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Joint:
    """P(S, X) with named letters: `probabilities[s, x1, …, xm]` sums to one.

    `secrets` and `releases` are the attributes of S and of X; letters alone will do, and are numbered if left out.
    `counts` and `n` say how much data the estimate rests on; both are None when only P is known.
    """

    probabilities: Floats
    secrets: tuple[Attribute, ...] = ()
    releases: tuple[Attribute, ...] = ()
    n: int | None = None
    include_secret: bool = False
    sees_secret: bool = False
    counts: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        cells = checked_probabilities(self.probabilities)
        cells.setflags(write=False)
        object.__setattr__(self, "probabilities", cells)
        object.__setattr__(self, "secrets", attributes_for(self.secrets, cells.shape[:1], "secret"))
        object.__setattr__(self, "releases", attributes_for(self.releases, cells.shape[1:], "release"))
        distinct_names(self.secrets + self.releases)
        if self.n is not None and self.n <= 0:
            raise DistributionError("n is not positive", where="n", remedy="Give the number of records, or None.")
        if self.counts is not None and self.counts.shape != cells.shape:
            raise DistributionError("counts and probabilities differ in shape", remedy="Use Joint.from_counts.")

    # ---- building -------------------------------------------------------------------------------------------

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        secrets: Any = (),
        releases: Any = (),
        *,
        include_secret: bool = False,
    ) -> Joint:
        """The empirical distribution of `counts[s, x1, …, xm]`: counts divided by n (errata: robust-2 forgot the n)."""
        table = checked_counts(counts)
        n = int(table.sum())
        return cls(table / n, secrets, releases, n=n, include_secret=include_secret, counts=table)

    @classmethod
    def from_table(
        cls, table: Any, *, secret: str | Sequence[str], release: str | Sequence[str], include_secret: bool = False
    ) -> Joint:
        """Count a table: pandas, polars, pyarrow, duckdb, or the path of a CSV, Parquet or Arrow file."""
        from discreet.tables import count_table

        secrets, releases, counts = count_table(table, secret, release)
        return cls.from_counts(counts, secrets, releases, include_secret=include_secret)

    def curator(self) -> Joint:
        """The same distribution for a mechanism that reads (S, X) and is judged by I(X;Y)."""
        return replace(self, include_secret=False, sees_secret=True)

    def observed(self) -> Joint:
        """The same joint without the secrets that have probability zero. A choice, never made silently."""
        keep = np.flatnonzero(self.secret_prior > 0)
        letters = tuple(self.secret_letters[i] for i in keep)
        name = "×".join(attribute.name for attribute in self.secrets)
        counts = None if self.counts is None else self.counts[keep]
        return replace(self, probabilities=self.probabilities[keep], secrets=(Attribute(name, letters),), counts=counts)

    def merge_secrets(self, letters: Sequence[Hashable], into: Hashable) -> Joint:
        """The same joint with these secrets as one. A choice, never made silently: what is merged is protected as one,
        and not hidden from each other. Recode the table the same way before it is released."""
        merged = [self.secret_letters.index(letter) for letter in letters if letter in self.secret_letters]
        kept = [s for s in range(len(self.secret_letters)) if s not in merged]
        names = tuple(self.secret_letters[s] for s in kept)
        if len(merged) != len(letters) or len(set(merged)) != len(merged) or len(merged) < 2 or into in names:
            raise DistributionError(
                "secrets that cannot be merged",
                where="merge_secrets",
                remedy="Give two or more different letters of `secret_letters`, and a name that no other secret has.",
            )

        def together(cells: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate([cells[kept], cells[merged].sum(axis=0, keepdims=True)])

        name = "×".join(attribute.name for attribute in self.secrets)
        return replace(
            self,
            probabilities=together(self.probabilities) if self.counts is None else together(self.counts) / self.n,
            secrets=(Attribute(name, (*names, into)),),
            counts=None if self.counts is None else together(self.counts),
        )

    # ---- sizes and letters ----------------------------------------------------------------------------------

    @property
    def reads_secret(self) -> bool:
        return self.include_secret or self.sees_secret

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the released attributes."""
        return self.probabilities.shape[1:]

    @cached_property
    def secret_letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.secrets)

    @cached_property
    def release_letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.releases)

    @cached_property
    def letters(self) -> tuple[Hashable, ...]:
        """The input letters z, one a column of Q."""
        return letters_of(self.secrets + self.releases) if self.reads_secret else self.release_letters

    @cached_property
    def target_letters(self) -> tuple[Hashable, ...]:
        return self.letters if self.include_secret else self.release_letters

    @cached_property
    def target_of(self) -> NDArray[np.intp]:
        """f: the index of the target letter of every input letter."""
        return np.arange(len(self.letters)) % len(self.target_letters)

    # ---- distributions --------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> Floats:
        """P(s, x) as a c × a matrix, the attributes of X in one axis."""
        return self.probabilities.reshape(len(self.probabilities), -1)

    @cached_property
    def secret_prior(self) -> Floats:
        """p_S"""
        return np.asarray(self.table.sum(axis=1))

    @cached_property
    def seen(self) -> NDArray[np.intp]:
        """The secrets of positive probability: only these have a conditional distribution."""
        return np.flatnonzero(self.secret_prior > 0)

    @cached_property
    def release_given_secret(self) -> Floats:
        """P(x | s) a row for every *seen* secret, in the order of `seen`."""
        return self.table[self.seen] / self.secret_prior[self.seen, None]

    @cached_property
    def matrix(self) -> Floats:
        """P(s, z) as a c × |z| matrix."""
        if not self.reads_secret:
            return self.table
        c, k = self.table.shape
        blocks = np.zeros((c, c, k))
        blocks[np.arange(c), np.arange(c)] = self.table
        return blocks.reshape(c, c * k)

    @cached_property
    def letter_given_secret(self) -> Floats:
        """P(z | s), a row for every *seen* secret."""
        return self.matrix[self.seen] / self.secret_prior[self.seen, None]

    @cached_property
    def prior(self) -> Floats:
        """p_Z over the input letters."""
        return self.table.reshape(-1) if self.reads_secret else np.asarray(self.table.sum(axis=0))

    @cached_property
    def target_prior(self) -> Floats:
        """p_T over the target letters."""
        return np.bincount(self.target_of, weights=self.prior, minlength=len(self.target_letters)).astype(float)

    @property
    def entropy(self) -> float:
        """H(T) in nats, the most that any mechanism can keep."""
        return information.entropy(self.target_prior)

    def expand(self, rows: ArrayLike) -> Floats:
        """Rows over z as rows over (s, x): shape (…, c, a). A mechanism that reads X only treats every s alike."""
        rows = np.asarray(rows, dtype=float)
        c, k = self.table.shape
        if self.reads_secret:
            return rows.reshape(*rows.shape[:-1], c, k)
        return np.broadcast_to(rows[..., None, :], (*rows.shape[:-1], c, k))
