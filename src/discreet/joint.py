"""The joint distribution P(S, X): what discreet knows about the secret and the rest, with named letters.

A mechanism reads an *input letter* z and is judged by what it tells about a *target* T = f(z):

    form                 z        T        where
    funnel               X        X        funnel-1, funnel-2
    include_secret       (S, U)   (S, U)   robust-1, robust-2
    sees_secret          (S, X)   X        the curator, as in Conditional Reporting

Letters are in C order of the probability array, secret-major when z contains the secret.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import information
from discreet.arrays import Floats, Integers, unchanging
from discreet.attribute import REQUIRED, Attribute, Form, attributes_for, distinct_names, form_of, letters_of
from discreet.exceptions import DistributionError, ParameterError
from discreet.task_column import TaskColumn, task_named

if TYPE_CHECKING:
    from discreet.given_columns import StratifiedJoint
    from discreet.records.grouping import Grouping
    from discreet.records.noise import Noise
    from discreet.records.persons import WhoseRows


@dataclass(frozen=True, eq=False, init=False)
class Joint:
    """P(S, X) with named letters: `probabilities[s, x1, …, xm]` sums to one.

    Arguments:
        probabilities: P(s, x1, …, xm). From data, use `Joint.from_table` or `Joint.from_counts`.
        secrets, releases: the attributes of S and of X; letters alone will do, and are numbered if left out.
        n, counts: how much data the estimate rests on; both are None when only P is known.
        form: what the mechanism reads and releases.
        include_secret, sees_secret: if true, other ways to write two of the forms.
        weight: the column that records were weighted by: then there are no counts, and n is the effective number.
        tasks: columns that a release may be useful for, without being released.
        rows: whose rows were counted, where a column told.
        noise: which noise the counts have, if any: they may then be negative, and P is their projection.
    Raises:
        DistributionError: numbers that are no distribution, or counts that do not fit to it.
        AlphabetError: not one letter for every entry of an axis, or a column named twice.
    Example:
        >>> import discreet as dc
        >>> dc.Joint([[0.4, 0.1], [0.1, 0.4]]).letters
        (0, 1)
    """

    probabilities: Floats
    secrets: tuple[Attribute, ...]
    releases: tuple[Attribute, ...]
    n: int | None
    form: Form
    counts: Integers | None
    weight: str
    tasks: tuple[TaskColumn, ...]
    rows: WhoseRows | None
    noise: Noise | None

    def __init__(
        self,
        probabilities: ArrayLike,
        secrets: Any = (),
        releases: Any = (),
        n: int | None = None,
        include_secret: bool | None = None,
        sees_secret: bool | None = None,
        counts: ArrayLike | None = None,
        form: Form = Form.FUNNEL,
        weight: str = "",
        tasks: Sequence[TaskColumn] = (),
        rows: WhoseRows | None = None,
        noise: Noise | None = None,
    ) -> None:
        cells = information.checked_probabilities(probabilities)
        cells.setflags(write=False)
        table = None if counts is None else information.checked_counts(counts, noisy=noise is not None)
        values = {
            "probabilities": cells,
            "secrets": attributes_for(secrets, cells.shape[:1], "secret"),
            "releases": attributes_for(releases, cells.shape[1:], "release"),
            "n": None if n is None else information.checked_records(n),
            "form": form_of(Form(form), include_secret, sees_secret),
            "counts": None if table is None else unchanging(table),
            "weight": weight,
            "tasks": tuple(tasks),
            "rows": rows,
            "noise": noise,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        distinct_names(self.secrets + self.releases)
        if self.counts is not None and self.counts.shape != cells.shape:
            raise DistributionError("counts and probabilities differ in shape", remedy="Use Joint.from_counts.")
        for task in self.tasks:
            task.check(cells)

    # ---- building -------------------------------------------------------------------------------------------

    @classmethod
    def from_counts(
        cls,
        counts: ArrayLike,
        secrets: Any = (),
        releases: Any = (),
        *,
        include_secret: bool = False,
        rows: WhoseRows | None = None,
    ) -> Joint:
        """The empirical distribution of `counts[s, x1, …, xm]`: counts divided by n (errata: robust-2 forgot the n).

        Where persons with several rows were counted (`rows`) the counts may be weights that add up to the persons.
        """
        if rows is not None and (table := np.asarray(counts)).dtype.kind == "f":
            weight = float(table.sum())
            return cls(table / weight, secrets, releases, round(weight), include_secret, rows=rows)
        table = information.checked_counts(counts)
        n = int(table.sum())
        return cls(table / n, secrets, releases, n=n, include_secret=include_secret, counts=table, rows=rows)

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
        task: str | Sequence[str] = (),
        include_secret: bool = False,
        encoding: str | None = None,
        group: Grouping | None = None,
        weight: str | None = None,
        force: bool = False,
        person: str | None = None,
        household: str | None = None,
        rows: str | None = None,
        letters: Mapping[str, Sequence[Hashable]] | None = None,
        private: Noise | None = None,
    ) -> Joint | StratifiedJoint:
        """Count a table: pandas, polars, pyarrow, duckdb, or the path of a CSV, Parquet or Arrow file.

        `encoding` is that of a CSV file without byte order mark; UTF-8 if not given. `given` names columns that are
        published as they are: then there is a joint for each of their strata (theory 7.2). `group` says which values
        become one letter; what is grouped is protected as one, and grouped alike wherever the column is read. `weight`
        names a column of survey weights: then P is the weighted one, and confidence limits are approximate. A column
        with more values than half of the records names people, and is refused unless `force` is said. `task` names
        columns that the release shall be useful for (`utility=Task("income")`); they are not released.

        `person` or `household` names the column that says whose rows these are: then persons are counted, and with
        several rows of one of them `rows` says what happens to them: "one", "tied" or "independent" (theory 7.3).

        `private` adds noise to the counts and drops them (theory 5.4): `letters` then declares those of every column.

        Returns:
            A `Joint` with `counts`, `n` and `probabilities`; with `given`, a `StratifiedJoint`.

        Raises:
            TableError: the table cannot be read, or has no records.
            AlphabetError: no such column, one named twice, or one that names people.
            DistributionError: a stratum with too few records of a secret.
            ParameterError: options that do not go together.

        Example:
            >>> import pyarrow, discreet
            >>> table = pyarrow.table({"ill": ["yes", "no", "no", "no"], "town": ["A", "A", "B", "B"]})
            >>> joint = discreet.Joint.from_table(table, secret="ill", release="town", force=True)
            >>> joint.n, joint.release_letters
            (4, ('A', 'B'))
        """
        from discreet.records.counting import count_privately, count_strata, joint_of_file
        from discreet.records.task_counts import count_tasks

        options: Any = {
            "include_secret": include_secret, "encoding": encoding, "group": group, "weight": weight, "force": force,
            "person": person, "household": household, "rows": rows,
        }  # fmt: skip
        if private is not None or letters is not None:
            return count_privately(table, secret, release, private, letters, given=given, task=task, **options)
        if task:
            return count_tasks(table, secret, release, given, task, **options)
        if given:
            return count_strata(table, secret, release, given, **options)
        return joint_of_file(table, secret, release, **options)

    def one_row_each(self) -> Joint:
        """The same from one row of each person, chosen without looking: whole numbers, as confidence sets need them."""
        if self.counts is not None or self.rows is None or self.rows.drawn is None:
            return self
        counts = np.asarray(self.rows.drawn)
        return replace(self, probabilities=counts / counts.sum(), n=int(counts.sum()), counts=counts)

    def task(self, name: str) -> TaskColumn:
        """P(s, x, t) of a column that the release shall be useful for."""
        return task_named(self.tasks, name)

    def curator(self) -> Joint:
        """The same distribution for a mechanism that reads (S, X) and is judged by I(X;Y)."""
        return replace(self, form=form_of(self.form, self.include_secret, sees_secret=True))

    def observed(self) -> Joint:
        """The same joint without the secrets that have probability zero. A choice, never made silently."""
        self._require_exact("observed")
        keep = np.flatnonzero(self.secret_prior > 0)
        letters = tuple(self.secret_letters[i] for i in keep)
        name = "×".join(attribute.name for attribute in self.secrets)
        counts = None if self.counts is None else self.counts[keep]
        steps = self.secrets[0].grouping if len(self.secrets) == 1 else None
        secrets = (Attribute(name, letters, grouping=steps),)
        tasks = tuple(task.changed(lambda cells: cells[keep]) for task in self.tasks)
        rows = None if self.rows is None else self.rows.over(lambda drawn: drawn[keep])
        return replace(
            self, probabilities=self.probabilities[keep], secrets=secrets, counts=counts, tasks=tasks, rows=rows
        )

    def merge_secrets(self, letters: Sequence[Hashable], into: Hashable) -> Joint:
        """The same joint with these secrets as one. A choice, never made silently: what is merged is protected as one,
        and not hidden from each other. Tables are merged alike wherever they are read, if the secret is one column of
        text and `into` is text; otherwise recode the table before it is released."""
        from discreet.records.grouping import merging

        self._require_exact("merge_secrets")
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
        steps = merging(self.secrets, letters, into)
        counts = None if self.counts is None else together(self.counts)
        return replace(
            self,
            probabilities=together(self.probabilities) if counts is None else counts / self.n,
            secrets=(Attribute(name, (*names, into), grouping=steps),),
            counts=counts,
            tasks=tuple(task.changed(together) for task in self.tasks),
            rows=None if self.rows is None else self.rows.over(together),
        )

    def _require_exact(self, who: str) -> None:
        """Cells with noise cannot be put together or left out afterwards: their limits are those of one noise each."""
        if self.noise is not None:
            raise DistributionError(
                "noisy counts stay as they were drawn", where=who, remedy="Declare other letters before the draw."
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
            what, remedy = REQUIRED[form]
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
        return unchanging(np.arange(len(self.letters)) % len(self.target_letters))

    # ---- distributions --------------------------------------------------------------------------------------

    @cached_property
    def table(self) -> Floats:
        """P(s, x) as a c × a matrix, the attributes of X in one axis."""
        return self.probabilities.reshape(len(self.probabilities), -1)

    @cached_property
    def secret_prior(self) -> Floats:
        """p_S"""
        return unchanging(self.table.sum(axis=1))

    @cached_property
    def seen(self) -> NDArray[np.intp]:
        """The secrets of positive probability: only these have a conditional distribution."""
        return unchanging(np.flatnonzero(self.secret_prior > 0))

    @cached_property
    def release_given_secret(self) -> Floats:
        """P(x | s) a row for every *seen* secret, in the order of `seen`."""
        return unchanging(self.table[self.seen] / self.secret_prior[self.seen, None])

    @cached_property
    def matrix(self) -> Floats:
        """P(s, z) as a c × |z| matrix."""
        if not self.reads_secret:
            return self.table
        c, k = self.table.shape
        blocks = np.zeros((c, c, k))
        blocks[np.arange(c), np.arange(c)] = self.table
        return unchanging(blocks.reshape(c, c * k))

    @cached_property
    def letter_given_secret(self) -> Floats:
        """P(z | s), a row for every *seen* secret."""
        return unchanging(self.matrix[self.seen] / self.secret_prior[self.seen, None])

    @cached_property
    def prior(self) -> Floats:
        """p_Z over the input letters."""
        return self.table.reshape(-1) if self.reads_secret else unchanging(self.table.sum(axis=0))

    @cached_property
    def target_prior(self) -> Floats:
        """p_T over the target letters."""
        return unchanging(np.bincount(self.target_of, self.prior, len(self.target_letters)).astype(float))

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
