"""A private prior (theory 5.4): a table of counts with noise in the place of the counts, which are dropped at once.

Everything that could come from looking at the table must be said beforehand: the columns, their letters, what is
grouped, ε0. The number of records is public. The noise is drawn once: the ledger of the table is charged on disk before
the noisy counts are handed out, keeps them, and refuses a second draw. Designs from one draw are free.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from discreet.arrays import Integers
from discreet.attribute import Attribute, distinct_names
from discreet.exceptions import AlphabetError, BudgetError, ParameterError, TableError
from discreet.files.ledger_book import OpenBooks, common_book, locked
from discreet.given_columns import AnyJoint, StratifiedJoint, check_number_of_strata
from discreet.randomness import Keystream
from discreet.records.grouping import Grouping
from discreet.records.held_table import HeldTable
from discreet.records.letters import LetterReader
from discreet.records.noise import Noise, StratumNoise, noisy_joint, noisy_size
from discreet.records.source import open_records

MOST_CELLS: Final = 1 << 15
"""As many as exact confidence limits are computed for."""
LARGEST_ALPHABETS: Final = 1 << 24
"""16 MiB of letters from a codebook; more would not fit into what can be designed for."""
LONGEST_INTEGER: Final = 18
"""Digits of a letter that is a number; the hashes of such numbers differ."""
EVENT: Final = "private prior"
LARGEST_SUM: Final = 1 << 53
"""Noisy counts that were entered add up to less, whatever their signs."""
BLOCK: Final = 1 << 20
"""Bytes of a file that are hashed at a time."""

CODEBOOK: Final = 'Write {"column": ["letter", …], …} from a codebook, never from the table.'
Letters = Mapping[str, Sequence[Hashable]]


def read_letters(path: str | os.PathLike[str]) -> dict[str, list[Hashable]]:
    """letters.json: {column: [letters]}, from a codebook."""
    try:
        with Path(path).open("rb") as file:
            found = json.loads(file.read(LARGEST_ALPHABETS), object_pairs_hook=_distinct, parse_int=_short)
    except ParameterError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise ParameterError(
            f"the letters cannot be read ({type(error).__name__})", where=str(path), remedy=CODEBOOK
        ) from None
    plain = str | int | bool | None
    if not isinstance(found, dict) or not all(
        isinstance(one, list) and all(isinstance(letter, plain) for letter in one) for one in found.values()
    ):
        raise ParameterError("not letters by column", where=str(path), remedy=CODEBOOK)
    if max(map(len, found.values()), default=0) > MOST_CELLS:
        raise ParameterError(f"more than {MOST_CELLS:,} letters of a column", where=str(path), remedy=CODEBOOK)
    return found


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A column that is declared twice would count by its last letters alone."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ParameterError("a column is declared twice", where="letters", remedy=CODEBOOK)
    return found


def _short(digits: str) -> int:
    """Longer numbers can be chosen so that all have one hash, and telling them apart takes for ever."""
    if len(digits) > LONGEST_INTEGER:
        raise ParameterError("a letter with too many digits", where="letters", remedy=f"At most {LONGEST_INTEGER}.")
    return int(digits)


def private_joint(
    source: Any,
    secret: Sequence[str],
    release: Sequence[str],
    noise: Noise,
    letters: Letters | None,
    *,
    given: Sequence[str] = (),
    include_secret: bool = False,
    encoding: str | None = None,
    group: Grouping | None = None,
) -> AnyJoint:
    """Count, add noise, forget the counts. With given columns one noisy table is counted for all of their strata."""
    secrets, givens, releases = (_declared(names, letters, group or Grouping()) for names in (secret, given, release))
    columns = (*givens, *releases)
    cells = prod(len(one) for one in (*secrets, *columns))
    if cells > MOST_CELLS:
        raise ParameterError(
            f"{cells:,} cells, more than {MOST_CELLS:,}", where="letters", remedy="Declare fewer letters or columns."
        )
    distinct_names((*secrets, *columns))
    check_number_of_strata(givens, prod(len(one) for one in givens))
    asked = _asked(secrets, columns, noise)
    held = HeldTable.of(source, [one.name for one in (*secrets, *columns)])
    _check_ledger(source, noise)
    counts, n, told = _counted(held.records, secrets, columns, encoding)
    with _books(source, noise, told) as books:
        held.check()
        found = _drawn_before(books, asked, noise, cells)
        if found is None:
            found = noise.added(counts, Keystream.fresh().words).reshape(-1), n
            del counts
            _charge(books, {**asked, "counts": found[0].tolist(), "n": n})
    if not givens:
        return noisy_joint(*found, secrets, releases, noise, include_secret=include_secret)
    return _strata(found[0], secrets, givens, releases, noise, include_secret)


def _strata(
    noisy: Integers,
    secrets: tuple[Attribute, ...],
    givens: tuple[Attribute, ...],
    releases: tuple[Attribute, ...],
    noise: Noise,
    include_secret: bool,
) -> StratifiedJoint:
    """A joint for every stratum that was declared, also where nobody seems to be: to leave one out would be a choice
    made by looking, which the confidence of all of them together does not allow for."""
    tables = np.moveaxis(noisy.reshape(prod(map(len, secrets)), prod(map(len, givens)), -1), 1, 0)
    each = StratumNoise(noise.epsilon)
    return StratifiedJoint(
        givens,
        {
            key: noisy_joint(table, noisy_size(table), secrets, releases, each, include_secret=include_secret)
            for key, table in zip(product(*(one.letters for one in givens)), tables, strict=True)
        },
    )


def _declared(names: Sequence[str], letters: Letters | None, group: Grouping) -> tuple[Attribute, ...]:
    for name in names:
        if not letters or name not in letters:
            raise ParameterError(
                "a private prior needs the letters of every column, declared beforehand",
                where=name,
                remedy="Take them from a codebook (letters={…}, --letters letters.json): those met in the table tell.",
            )
        if group.learns(name):
            raise ParameterError(
                "a grouping that is learnt from the table tells about it",
                where=name,
                remedy="Give the edges of the bins, or the values to merge.",
            )
    assert letters is not None
    none, zero = pa.array([], pa.large_string()), np.zeros(0, np.int64)
    return tuple(Attribute(name, tuple(letters[name]), grouping=group.fitted(name, none, zero)) for name in names)


def _counted(
    source: Any, secrets: tuple[Attribute, ...], releases: tuple[Attribute, ...], encoding: str | None
) -> tuple[Integers, int, bytes]:
    """counts[s, x1, …] of the records whose values are letters, the number of all records, and what tells these records
    from others."""
    columns = (*secrets, *releases)
    reader = LetterReader(columns)
    counts, n, told = np.zeros(reader.size + 1, np.int64), 0, hashlib.sha256()
    with open_records(source, reader.columns, encoding=encoding, in_order=True) as records:
        reader.check(records.schema)
        for batch in records:
            codes = reader.codes([batch.column(name) for name in reader.columns])
            counts += np.bincount(codes.astype(np.int64), minlength=len(counts))
            told.update(codes.astype("<i8").tobytes())
            n += len(batch)
    if not n:
        raise TableError("the table has no records", where=records.name, remedy="Count at least one record.")
    return counts[:-1].reshape(-1, *(len(one) for one in releases)), n, told.digest()


# ---- the ledger of a table -------------------------------------------------------------------------------------------


def _asked(secrets: tuple[Attribute, ...], releases: tuple[Attribute, ...], noise: Noise) -> dict[str, Any]:
    """What was drawn, without a value of the table: columns, a digest of their letters and groupings, ε0."""
    told = repr([(one.name, one.letters, one.grouping) for one in (*secrets, *releases)])
    return {
        "event": EVENT,
        "columns": [one.name for one in (*secrets, *releases)],
        "letters": hashlib.sha256(told.encode()).hexdigest(),
        "secrets": len(secrets),
        "epsilon": repr(float(noise.epsilon)),
    }


def _check_ledger(source: Any, noise: Noise) -> None:
    path = source if isinstance(source, str | os.PathLike) else None
    if path is not None and not os.path.isfile(path):
        raise TableError("no such file", where=str(path), remedy="A private prior is drawn from a file, once.")
    if path is None and noise.ledger is None:
        raise ParameterError(
            "noise for a table in memory without a ledger",
            where="Noise",
            remedy="Name a file that remembers the draw: dc.Noise(1.0, ledger=…).",
        )


@contextmanager
def _books(source: Any, noise: Noise, told: bytes) -> Iterator[OpenBooks]:
    """The ledger beside the table, whatever that contains, and the common one of these very contents: of all copies of
    a file, or of these records of a table in memory under the ledger that is named."""
    path = source if isinstance(source, str | os.PathLike) else None
    beside = Path(noise.ledger) if noise.ledger is not None else Path(f"{path}.ledger")
    told = os.path.realpath(beside).encode() + told if path is None else _content(Path(path))
    with locked(common_book(f"table-{hashlib.sha256(told).hexdigest()}"), beside) as books:
        yield books


def _content(path: Path) -> bytes:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.digest()


def _drawn_before(books: OpenBooks, asked: dict[str, Any], noise: Noise, cells: int) -> tuple[Integers, int] | None:
    """The noisy counts of so many cells that were drawn, where they are asked for again; BudgetError for a second
    draw. What the common book does not have was drawn for other contents."""
    these = set(books.written[0].lines())
    for line in books.lines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            event = None
        if not isinstance(event, dict) or not isinstance(event.get("event"), str):
            raise _unreadable(books)
        if event["event"] != EVENT:
            continue
        if line not in these:
            raise BudgetError(
                f"noise was drawn under this name before, at ε0 = {event.get('epsilon')}, and for other records or "
                "letters, for all that is known here",
                where=books.name,
                remedy="A second draw would cost as much again for whoever is in both. Design from the protocol that "
                "holds the first (dc.load_protocol(…).joint); or, if nobody is in both, give this table another name, "
                "or another ledger where it is in memory.",
            )
        if noise.again and all(event.get(key) == value for key, value in asked.items()):
            return _drawn(event, books, cells)
        raise BudgetError(
            f"noise was drawn for this table before, at ε0 = {event.get('epsilon')}",
            where=books.name,
            remedy="A second draw would cost as much again. Design from the protocol that holds the first "
            "(dc.load_protocol(…).joint), or ask for the same columns and letters again: Noise(…, again=True), "
            "--same-noise.",
        )
    if noise.again:
        raise AlphabetError("no noise was drawn for this table yet", where=books.name, remedy="Draw it first.")
    return None


def _drawn(event: dict[str, Any], books: OpenBooks, cells: int) -> tuple[Integers, int]:
    """The noisy counts of an event and the number of records; whole numbers that can be added up, as they were
    entered."""
    counts, n = event.get("counts"), event.get("n")
    if not isinstance(counts, list) or len(counts) != cells or any(type(one) is not int for one in (*counts, n)):
        raise _unreadable(books)
    if not isinstance(n, int) or not 0 < n < LARGEST_SUM or sum(map(abs, counts)) >= LARGEST_SUM:
        raise _unreadable(books)
    return np.array(counts, dtype=np.int64), n


def _unreadable(books: OpenBooks) -> BudgetError:
    return BudgetError(
        "a line that cannot be read, and may have been a draw",
        where=books.name,
        remedy="Mend it from the other book, or design from the protocol that holds what was drawn.",
    )


def _charge(books: OpenBooks, event: dict[str, Any]) -> None:
    """On disk before anybody sees the noisy counts."""
    books.append(
        json.dumps({**event, "time": datetime.now(UTC).isoformat(timespec="seconds")}, sort_keys=True).encode()
    )
