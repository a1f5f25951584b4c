"""`look`: what is in a table, what tells about the secret, what to group."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from discreet.arrays import Indices
from discreet.exceptions import AlphabetError, ParameterError
from discreet.information import entropy
from discreet.look.column_kinds import histogram, kind_of, marks_of, warnings_of
from discreet.look.findings import ColumnKind, ColumnLook, Look, Telling, ValueCount
from discreet.look.proposals import next_command, next_lines, proposed_grouping, proposed_release
from discreet.look.scanned_table import ScannedColumn, ScannedTable, scan
from discreet.records.csvheader import nearest_columns
from discreet.records.kinds import Progress
from discreet.release.check import Finding

FEWEST: Final = 50
"""Records that a value must have to be shown, unless somebody asks for more."""
MOST_SHOWN: Final = 30
"""Values of a column that are listed: what a page shows at one look."""


def look(
    table: Any,
    *,
    secret: str | Sequence[str] = (),
    release: str | Sequence[str] = (),
    k: int = FEWEST,
    encoding: str | None = None,
    progress: Progress = lambda stage, records: None,
) -> Look:
    """What is in a table: pandas, polars, pyarrow, duckdb, or the path of a CSV, Parquet or Arrow file.

    Arguments:
        table: the table, or its path.
        secret: the columns to protect: then every other column is held against them.
        release: what is to be published, where that is settled.
        k: no value with fewer records is in what comes back; 1 asks for all.
        encoding: that of a CSV file without byte order mark; UTF-8 if not given.
        progress: is told what is read.
    Returns:
        A `Look`: `records`, `columns` with their kinds and what they tell, a proposed `release` and `command`.
    Raises:
        AlphabetError: a column that the table does not have.
        TableError: a table that cannot be read.
    Example:
        >>> import discreet
        >>> from discreet.datasets import adult
        >>> discreet.look(adult(), secret="race").records
        32561
    """
    secrets, released = _listed(secret), _listed(release)
    if k < 1:
        raise ParameterError("not a number of records", where="k", remedy="Give a whole number from 1, such as 50.")
    scanned = scan(table, encoding, progress)
    for name in (*secrets, *released):
        known = [column.name for column in scanned.columns]
        if name not in known:
            raise AlphabetError("no such column", where=name, remedy=nearest_columns(name, known))
    about = _together([scanned[name] for name in secrets]) if secrets else None
    columns = [
        _seen(column, k, None if about is None or column.name in secrets else about) for column in scanned.columns
    ]
    columns += [_unusable(name, kind, scanned.records) for name, kind in scanned.unusable.items()]
    chosen = released or proposed_release(columns, secrets)
    found = Look(
        table=scanned.name,
        records=scanned.records,
        whole=scanned.whole,
        unreadable=scanned.unreadable,
        k=k,
        columns=tuple(columns),
        secret=secrets,
        secret_entropy=None if about is None else entropy(np.bincount(about) / len(about)),
        release=chosen if secrets else (),
        command=next_command(scanned.name, columns, secrets, chosen),
        python=next_lines(scanned.name, columns, secrets, chosen),
    )
    return replace(found, warnings=tuple(_about_table(scanned, found)))


def telling(codes: Indices, about: Indices) -> Telling:
    """I(X;S) of these two columns of numbers, and of the same two after one of them was shuffled."""
    nats = shared_information(codes, about)
    known = entropy(np.bincount(about) / len(about))
    chance = shared_information(codes, np.random.default_rng(0).permutation(about))
    return Telling(nats, min(1.0, nats / known) if known > 0 else 0.0, chance)


def shared_information(codes: Indices, about: Indices) -> float:
    """H(X) + H(S) − H(X, S); only the combinations that occur are counted."""
    pairs = codes.astype(np.int64) * (int(about.max()) + 1) + about
    counts = np.bincount(codes), np.bincount(about), np.unique(pairs, return_counts=True)[1]
    first, second, both = (entropy(each / len(codes)) for each in counts)
    return max(0.0, first + second - both)


def _seen(column: ScannedColumn, k: int, about: Indices | None) -> ColumnLook:
    kind, counts = kind_of(column), column.counts
    order = np.argsort(-counts, kind="stable")
    top = [int(i) for i in order[:MOST_SHOWN] if counts[i] >= k]
    group = proposed_grouping(column, kind, k)
    if group is not None and about is not None:
        group = replace(group[0], telling=telling(group[1], about)), group[1]
    letters = np.bincount(column.letters)
    return ColumnLook(
        name=column.name,
        kind=kind,
        records=len(column.codes),
        missing=column.missing,
        distinct=len(counts),
        rare=int((counts < k).sum()),
        rare_records=int(counts[counts < k].sum()),
        entropy=entropy(letters[letters > 0] / len(column.codes)),
        top=tuple(ValueCount(column.values[i].as_py(), int(counts[i])) for i in top),
        others=len(counts) - len(top),
        other_records=int(counts.sum() - counts[top].sum()),
        histogram=histogram(column, k) if kind is ColumnKind.NUMBER else (),
        telling=None if about is None else telling(column.letters, about),
        grouping=None if group is None else group[0],
        warnings=tuple(warnings_of(column, kind, k)),
        marks=tuple(ValueCount(mark, times) for mark, times in marks_of(column)),
    )


def _unusable(name: str, kind: str, records: int) -> ColumnLook:
    said = Finding(f"cells of type {kind}", name, "Turn the column into text or numbers, or leave it out.")
    return ColumnLook(name, ColumnKind.UNUSABLE, records, 0, 0, 0, 0, 0.0, warnings=(said,))


def _together(columns: Sequence[ScannedColumn]) -> Indices:
    """Several columns as one, numbered by the combinations that occur."""
    total = columns[0].letters
    for column in columns[1:]:
        _, total = np.unique(total.astype(np.int64) * (len(column.values) + 1) + column.letters, return_inverse=True)
    return np.asarray(np.unique(total, return_inverse=True)[1])


def _about_table(scanned: ScannedTable, found: Look) -> list[Finding]:
    said = []
    if not scanned.whole:
        said.append(Finding(f"only the first {scanned.records:,} records were looked at", scanned.name))
    if scanned.unreadable:
        told = f"{scanned.unreadable:,} records with too many or too few fields, which count as missing"
        said.append(Finding(told, scanned.name, "Look at separators and quotes in these lines."))
    if scanned.repeated:
        said.append(Finding(f"{scanned.repeated} columns without a name of their own", scanned.name, "Name them."))
    for name in found.secret:
        column = found.column(name)
        if not column.kind.usable:
            said.append(
                Finding(f"a secret that is {column.kind}", name, "Choose a column with few values, or code it.")
            )
        elif column.rare:
            remedy = (
                f"Group them: {column.grouping.option}."
                if column.grouping
                else f"Merge: --merge {shlex.quote(f'{name}: A, B -> C')}."
            )
            said.append(
                Finding(
                    f"{column.distinct} values of the secret, {column.rare} with fewer than {found.k} records: rare "
                    "values cost what can be told about all others",
                    name,
                    remedy,
                )
            )
    return said


def _listed(names: str | Sequence[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)
