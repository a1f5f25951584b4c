"""The joint distribution P(S, X): what discreet knows about the secret and the rest, with named letters.

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
from enum import StrEnum
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import information
from discreet.arrays import Floats, Integers
from discreet.exceptions import AlphabetError, DistributionError, ParameterError

if TYPE_CHECKING:
    from discreet.given_columns import StratifiedJoint
    from discreet.records.grouping import ColumnGrouping, Grouping


@dataclass(frozen=True)
class Attribute:
    """One column: its name and its letters, in the order of the array's axis.

    `labels` are words for the letters, in their order; `missing` are codes that mean "no answer"; `grouping` leads from
    the values in a table to the letters. Each is left out where there is none.
    """

    name: str
    letters: tuple[Hashable, ...]
    labels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    grouping: ColumnGrouping | None = None

    def __post_init__(self) -> None:
        for name in ("letters", "labels", "missing"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.labels) not in (0, len(self.letters)):
            raise AlphabetError("not one label for every letter", where=self.name, remedy="Give one each, or none.")
        if not self.letters:
            raise AlphabetError("an attribute without letters", where=self.name, remedy="Give it at least one letter.")
        if len(set(self.letters)) != len(self.letters):
            repeated = len(self.letters) - len(set(self.letters))
            raise AlphabetError(
                f"{repeated} letters occur twice", where=self.name, remedy="Give every letter a name of its own."
            )

    def __len__(self) -> int:
        return len(self.letters)


def numbered(name: str, size: int) -> Attribute:
    """An attribute whose letters are 0, 1, …, size − 1."""
    return Attribute(name, tuple(range(size)))


def letters_of(attributes: Sequence[Attribute]) -> tuple[Hashable, ...]:
    """The letters of a product in C order: plain letters for one attribute, tuples for several."""
    if len(attributes) == 1:
        return attributes[0].letters
    return tuple(product(*(attribute.letters for attribute in attributes)))


def distinct_names(attributes: Sequence[Attribute]) -> None:
    names = [attribute.name for attribute in attributes]
    if len(set(names)) != len(names):
        raise AlphabetError("a column is named twice", where=", ".join(names), remedy="Name every column once.")


def attributes_for(given: Any, sizes: tuple[int, ...], name: str) -> tuple[Attribute, ...]:
    """Attributes as given, or letters turned into attributes, checked against the axes of the array."""
    names = [name] if len(sizes) == 1 else [f"{name}{i + 1}" for i in range(len(sizes))]
    if given is None or len(given) == 0:
        return tuple(numbered(n, size) for n, size in zip(names, sizes, strict=True))
    if all(isinstance(item, Attribute) for item in given):
        attributes = tuple(given)
    elif len(sizes) == 1:
        attributes = (Attribute(name, tuple(given)),)
    elif len(given) != len(sizes) or any(isinstance(item, str) for item in given):
        raise AlphabetError(
            f"{len(given)} lists of letters for {len(sizes)} axes", where=f"{name}s", remedy="Give one list an axis."
        )
    else:
        attributes = tuple(Attribute(n, tuple(letters)) for n, letters in zip(names, given, strict=True))
    found = tuple(len(attribute) for attribute in attributes)
    secret_columns_on_one_axis = name == "secret" and prod(found) == sizes[0]
    if found != sizes and not secret_columns_on_one_axis:
        raise AlphabetError(
            f"{found} letters for axes of {sizes}", where=f"{name}s", remedy="Give one letter an entry of the axis."
        )
    return attributes


# ---- the joint distribution ------------------------------------------------------------------------------------------


class Form(StrEnum):
    """What a mechanism reads and what it is judged by; the values are those of the protocol file."""

    FUNNEL = "funnel"
    """Reads X, judged by X: the papers' funnel."""
    RELEASES_SECRET = "include_secret"
    """Reads (S, U) and is judged by both: X = (S, U), the papers on robust LDP."""
    CURATOR = "sees_secret"
    """Reads (S, X), judged by X: for an owner of the data."""


@dataclass(frozen=True, eq=False, init=False)
class Joint:
    """P(S, X) with named letters: `probabilities[s, x1, …, xm]` sums to one.

    `secrets` and `releases` are the attributes of S and of X; letters alone will do, and are numbered if left out.
    `counts` and `n` say how much data the estimate rests on; both are None when only P is known. `form` says what the
    mechanism reads and releases; `include_secret=True` and `sees_secret=True` are other ways to write two of them.
    """

    probabilities: Floats
    secrets: tuple[Attribute, ...]
    releases: tuple[Attribute, ...]
    n: int | None
    form: Form
    counts: Integers | None

    def __init__(
        self,
        probabilities: ArrayLike,
        secrets: Any = (),
        releases: Any = (),
        n: int | None = None,
        include_secret: bool | None = None,
        sees_secret: bool | None = None,
        counts: Integers | None = None,
        form: Form = Form.FUNNEL,
    ) -> None:
        cells = information.checked_probabilities(probabilities)
        cells.setflags(write=False)
        values = {
            "probabilities": cells,
            "secrets": attributes_for(secrets, cells.shape[:1], "secret"),
            "releases": attributes_for(releases, cells.shape[1:], "release"),
            "n": n,
            "form": _form(Form(form), include_secret, sees_secret),
            "counts": counts,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
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
        table = information.checked_counts(counts)
        n = int(table.sum())
        return cls(table / n, secrets, releases, n=n, include_secret=include_secret, counts=table)

    @overload
    @classmethod
    def from_table(cls, table: Any, *, given: str | Sequence[str], **columns: Any) -> StratifiedJoint: ...

    @overload
    @classmethod
    def from_table(cls, table: Any, **columns: Any) -> Joint: ...

    @classmethod  # type: ignore[misc]
    def from_table(
        cls,
        table: Any,
        *,
        secret: str | Sequence[str],
        release: str | Sequence[str],
        given: str | Sequence[str] = (),
        include_secret: bool = False,
        encoding: str | None = None,
        group: Grouping | None = None,
    ) -> Joint | StratifiedJoint:
        """Count a table: pandas, polars, pyarrow, duckdb, or the path of a CSV, Parquet or Arrow file.

        `encoding` is that of a CSV file without byte order mark; UTF-8 if not given. `given` names columns that are
        published as they are: then there is a joint for each of their strata (theory 7.2). `group` says which values
        become one letter; what is grouped is protected as one, and grouped alike wherever the column is read.
        """
        from discreet.records.counting import count, count_strata

        if given:
            options: Any = {"include_secret": include_secret, "encoding": encoding, "group": group}
            return count_strata(table, secret, release, given, **options)
        secrets, releases, counts = count(table, secret, release, encoding=encoding, group=group)
        return cls.from_counts(counts, secrets, releases, include_secret=include_secret)

    def curator(self) -> Joint:
        """The same distribution for a mechanism that reads (S, X) and is judged by I(X;Y)."""
        return replace(self, form=Form.CURATOR)

    def observed(self) -> Joint:
        """The same joint without the secrets that have probability zero. A choice, never made silently."""
        keep = np.flatnonzero(self.secret_prior > 0)
        letters = tuple(self.secret_letters[i] for i in keep)
        name = "×".join(attribute.name for attribute in self.secrets)
        counts = None if self.counts is None else self.counts[keep]
        steps = self.secrets[0].grouping if len(self.secrets) == 1 else None
        secrets = (Attribute(name, letters, grouping=steps),)
        return replace(self, probabilities=self.probabilities[keep], secrets=secrets, counts=counts)

    def merge_secrets(self, letters: Sequence[Hashable], into: Hashable) -> Joint:
        """The same joint with these secrets as one. A choice, never made silently: what is merged is protected as one,
        and not hidden from each other. Tables are merged alike wherever they are read, if the secret is one column of
        text and `into` is text; otherwise recode the table before it is released."""
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
        steps = _merging(self.secrets, letters, into)
        return replace(
            self,
            probabilities=together(self.probabilities) if self.counts is None else together(self.counts) / self.n,
            secrets=(Attribute(name, (*names, into), grouping=steps),),
            counts=None if self.counts is None else together(self.counts),
        )

    # ---- sizes and letters ----------------------------------------------------------------------------------

    @property
    def reads_secret(self) -> bool:
        """Whether the input letters are pairs (s, x)."""
        return self.form is not Form.FUNNEL

    @property
    def include_secret(self) -> bool:
        """Whether the form is X = (S, U)."""
        return self.form is Form.RELEASES_SECRET

    @property
    def sees_secret(self) -> bool:
        """Whether the form is the curator's."""
        return self.form is Form.CURATOR

    @property
    def reads(self) -> tuple[Attribute, ...]:
        """The attributes of the input z."""
        return self.secrets + self.releases if self.reads_secret else self.releases

    @property
    def released(self) -> tuple[Attribute, ...]:
        """The attributes of the target T, which the release is about."""
        return self.secrets + self.releases if self.include_secret else self.releases

    def require(self, form: Form, who: str) -> None:
        """ParameterError unless the joint has this form: `who` works on no other."""
        if self.form is not form:
            what, remedy = _REQUIRED[form]
            raise ParameterError(what, where=who, remedy=remedy)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the released attributes."""
        return self.probabilities.shape[1:]

    @property
    def size(self) -> int:
        """The number of input letters, counted without making them."""
        return self.probabilities.size if self.reads_secret else prod(self.shape)

    @cached_property
    def secret_letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.secrets)

    @cached_property
    def release_letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.releases)

    @cached_property
    def letters(self) -> tuple[Hashable, ...]:
        """The input letters z, one a column of Q."""
        return letters_of(self.reads)

    @cached_property
    def target_letters(self) -> tuple[Hashable, ...]:
        return letters_of(self.released)

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


def _merging(secrets: tuple[Attribute, ...], letters: Sequence[Hashable], into: Hashable) -> ColumnGrouping | None:
    """What the one column of the secret is to go through so that it has the merged letters, if that can be written."""
    from discreet.records.grouping import ColumnGrouping, Merged

    if len(secrets) > 1 or not isinstance(into, str) or not all(isinstance(letter, str) for letter in letters):
        return None
    before = secrets[0].grouping.steps if secrets[0].grouping else ()
    return ColumnGrouping((*before, Merged(tuple(map(str, letters)), into)))


def _form(form: Form, include_secret: bool | None, sees_secret: bool | None) -> Form:
    """The form in one word, from the two flags where they are given."""
    if include_secret and sees_secret:
        raise ParameterError(
            "a mechanism that releases the secret reads it anyway",
            where="include_secret and sees_secret",
            remedy="Give one of the two.",
        )
    if include_secret or sees_secret:
        return Form.RELEASES_SECRET if include_secret else Form.CURATOR
    withdrawn = (form is Form.RELEASES_SECRET and include_secret is False) or (
        form is Form.CURATOR and sees_secret is False
    )
    return Form.FUNNEL if withdrawn else form


_REQUIRED = {
    Form.FUNNEL: ("this mechanism reads X only", "Build the joint without include_secret and sees_secret."),
    Form.RELEASES_SECRET: ("this mechanism releases X = (S, U)", "Build the joint with include_secret=True."),
    Form.CURATOR: ("this mechanism reads (S, X) and releases X", "Use joint.curator(), or sees_secret=True."),
}
