"""A mechanism as a matrix: Q[y, x] = P(Y = y | X = x). The papers say protocol; here a protocol is a proven channel.

Outputs can be merged, which is post-processing and never raises a level, and named: by what seeing the output suggests
about the released data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.arrays import Floats, Indices, Rows, unchanging, unmasked
from discreet.exceptions import AlphabetError, ChannelError, InOwnWords
from discreet.information import NOT_NUMBERS, mutual_information, target_masses, target_with_output
from discreet.joint import Joint

SUM_TOLERANCE = 1e-9
"""How far columns may be from adding up to one: what linear programs leave, far above the rounding of sums."""
PROPORTIONAL = 1e-12
"""Rows that agree to this share of their largest entry are proportional."""
NO_INFORMATION = "no information"
LONGEST_NAME = 60
"""Characters of a name that fit into a cell; what would be longer is told column by column."""
CERTAIN, MOSTLY, MOST_NAMED = 0.999, 0.6, 3
"""An output is named after one letter that is this certain, or after the few that are together this likely."""
COMPARED_ENTRIES, TARGET_GROUPS = 100_000_000, 64
"""Comparing every two outputs on every target takes a second for so many entries; beyond, on so many groups."""
MOST_ENTRIES = 1 << 20
"""A channel of more entries holds only those that are not zero."""
BLOCK_ENTRIES = 4_000_000
"""Entries of rows that are written out together: 32 MB."""
NOTHING = 1e-9
"""Smaller chances, and smaller changes of them, are not worth a word."""


@dataclass(frozen=True, eq=False, init=False)
class Channel:
    """Q[y, z] with a name for every output (row) and every input letter (column).

    `rows` are its rows as they were given: all entries, or in a sparse array those that are not zero. `matrix` is the
    whole of it and `entries` what is not zero, whichever was given. A sparse column may be empty: it belongs to a
    letter that nobody has, which is released like a value outside the alphabet (theory 10.1).

    Arguments:
        matrix: Q, an array or a sparse one; every column adds up to one.
        inputs, outputs: names of columns and rows; those of a frame, or numbers, if left out.
    Raises:
        ChannelError: an entry that is no probability, or a column that does not add up to one.
        AlphabetError: not one name for every row or column.
    Example:
        >>> import discreet as dc
        >>> once = dc.Channel([[0.9, 0.2], [0.1, 0.8]])
        >>> once.then(once).matrix.round(2).tolist()
        [[0.83, 0.34], [0.17, 0.66]]
    """

    rows: Rows
    inputs: tuple[Hashable, ...]
    outputs: tuple[Hashable, ...]

    @property
    def unnamed(self) -> bool:
        """Whether nobody named the input letters: their numbers are places, not names."""
        return isinstance(self.inputs, Places)

    def __init__(self, matrix: Any, inputs: Sequence[Hashable] = (), outputs: Sequence[Hashable] = ()) -> None:
        rows = _stochastic_sparse(matrix) if sparse.issparse(matrix) else _stochastic(matrix)
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "inputs", _named(inputs, _columns(matrix), rows.shape[1], "inputs"))
        object.__setattr__(self, "outputs", _named(outputs, _index(matrix), rows.shape[0], "outputs"))

    @cached_property
    def matrix(self) -> Floats:
        """Every entry: as large as outputs times letters."""
        if isinstance(self.rows, np.ndarray):
            return self.rows
        matrix: Floats = self.rows.toarray()
        matrix.setflags(write=False)
        return matrix

    @cached_property
    def entries(self) -> sparse.csr_array:
        """The entries that are not zero, row by row."""
        return sparse.csr_array(self.rows) if isinstance(self.rows, np.ndarray) else self.rows

    def row(self, y: int, prior: Floats) -> Floats:
        """Every entry of one row; a letter without a column of its own is released as outputs are on average."""
        return np.asarray(next(rows for _, rows in self.blocks(prior, np.array([y])))[0])

    def blocks(self, prior: Floats, outputs: Indices | None = None) -> Iterator[tuple[Indices, Floats]]:
        """Every entry of some rows, or of all, as many rows at a time as fit into little memory."""
        places = np.arange(len(self.outputs)) if outputs is None else outputs
        if isinstance(self.rows, np.ndarray):
            yield places, self.rows[places]
            return
        step = max(1, BLOCK_ENTRIES // len(self.inputs))
        for start in range(0, len(places), step):
            mine = places[start : start + step]
            part = self.rows[mine]
            rows: Floats = part.toarray()
            rows[:, self.silent] = np.asarray(part @ prior)[:, None]
            yield mine, rows

    @cached_property
    def silent(self) -> Indices:
        """The letters without a column of their own."""
        return unchanging(np.flatnonzero(np.bincount(self.entries.indices, minlength=len(self.inputs)) == 0))

    def product(self, other: Channel) -> Channel:
        """Both channels side by side on a pair of inputs, drawn independently; letters in C order."""
        return Channel(
            np.kron(self.matrix, other.matrix).astype(float),
            _pairs(self.inputs, other.inputs),
            _pairs(self.outputs, other.outputs),
        )

    def then(self, post: Channel) -> Channel:
        """Post-processing: `post` reads this channel's output."""
        if len(post.inputs) != len(self.outputs):
            raise ChannelError(
                f"{len(self.outputs)} outputs, then a channel that reads {len(post.inputs)}",
                remedy="The second channel needs one column per output of the first.",
            )
        return Channel(post.matrix @ self.matrix, self.inputs, post.outputs)

    def merged(self) -> Channel:
        """Proportional rows as one, empty rows left out: the same information in fewer outputs.

        Rows are compared where a weighted sum of their entries agrees; those that differ there cannot be proportional.
        """
        totals = np.asarray(self.rows.sum(axis=1))
        kept = np.flatnonzero(totals > 0)
        directions = sparse.csr_array(self.entries[kept] / totals[kept, None])
        weights = np.linspace(1.0, 2.0, len(self.inputs))
        largest = np.maximum.reduceat(directions.data, directions.indptr[:-1])
        sums, room = np.asarray(directions @ weights), PROPORTIONAL * largest * weights.sum()
        order = np.argsort(sums, kind="stable")
        first = np.searchsorted(sums[order], sums - room - PROPORTIONAL)
        last = np.searchsorted(sums[order], sums + room + PROPORTIONAL, side="right")
        groups: dict[int, list[int]] = {}
        for i in range(len(kept)):
            near = sorted(int(j) for j in order[first[i] : last[i]] if j in groups) if last[i] - first[i] > 1 else ()
            for j in near:
                if _apart(directions, i, j) <= PROPORTIONAL * largest[i]:
                    groups[j].append(i)
                    break
            else:
                groups[i] = [i]
        heads = list(groups)
        head = np.empty(len(kept), np.intp)
        for place, group in enumerate(groups.values()):
            head[group] = place
        together = sparse.csr_array((np.ones(len(kept)), (head, kept)), shape=(len(heads), len(totals)))
        rows = together @ self.rows
        return Channel(rows, self.inputs, tuple(self.outputs[kept[i]] for i in heads))

    def restricted(self, letters: Sequence[Hashable]) -> Channel:
        """The channel on some of its input letters."""
        remedy = "Use letters from `inputs`."
        what = "a letter that this channel does not read"
        with InOwnWords(lambda _: AlphabetError(what, where="restricted", remedy=remedy), ValueError):
            columns = [self.inputs.index(letter) for letter in letters]
        return Channel(self.matrix[:, columns], tuple(letters), self.outputs)


def float_channel(
    columns: sparse.csc_array, bits: int, matrix: Callable[[], Floats], inputs: tuple[Hashable, ...],
    outputs: tuple[Hashable, ...],
) -> Channel:  # fmt: skip
    """Weights as probabilities: every entry, or where these are many, those that are not zero."""
    few = columns.shape[0] * columns.shape[1] <= MOST_ENTRIES
    return Channel(matrix() if few else sparse.csr_array(columns / 2.0**bits), inputs, outputs)


def _apart(rows: sparse.csr_array, i: int, j: int) -> float:
    """The largest difference of two sparse rows."""
    difference = dict(zip(*_row(rows, i), strict=True))
    for z, value in zip(*_row(rows, j), strict=True):
        difference[z] = difference.get(z, 0.0) - value
    return max(map(abs, difference.values()))


def _row(rows: sparse.csr_array, i: int) -> tuple[list[int], list[float]]:
    part = slice(rows.indptr[i], rows.indptr[i + 1])
    return rows.indices[part].tolist(), rows.data[part].tolist()


def _stochastic(given: object) -> NDArray[np.float64]:
    remedy = "Give a numeric matrix Q[y, x]."
    with InOwnWords(lambda _: ChannelError("entries are not numbers", remedy=remedy), *NOT_NUMBERS):
        matrix = np.array(unmasked(given), dtype=float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ChannelError(f"shape {matrix.shape}", remedy="One row per output and one column per letter.")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        y, x = np.argwhere(~np.isfinite(matrix) | (matrix < 0))[0]
        raise ChannelError(f"the entry at row {y}, column {x} is not a probability")
    wrong = np.flatnonzero(np.abs(matrix.sum(axis=0) - 1) > SUM_TOLERANCE)
    if len(wrong):
        hint = " The rows add up to one: transpose it." if np.allclose(matrix.sum(axis=1), 1) else ""
        raise ChannelError(f"column {wrong[0]} does not add up to one", remedy=f"Q[y, x]: one column per letter.{hint}")
    matrix.setflags(write=False)
    return matrix


def _stochastic_sparse(given: Any) -> sparse.csr_array:
    """The same for a sparse matrix, whose columns may also be empty."""
    rows = sparse.csr_array(unmasked(given), dtype=float, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if 0 in rows.shape:
        raise ChannelError(f"shape {rows.shape}", remedy="One row per output and one column per letter.")
    if not np.isfinite(rows.data).all() or (rows.data < 0).any():
        raise ChannelError("an entry that is not a probability")
    sums = np.bincount(rows.indices, rows.data, rows.shape[1])
    used = np.bincount(rows.indices, minlength=rows.shape[1]) > 0
    wrong = np.flatnonzero(used & (np.abs(sums - 1) > SUM_TOLERANCE))
    if len(wrong):
        raise ChannelError(f"column {wrong[0]} does not add up to one", remedy="Q[y, x]: one column per letter.")
    for part in (rows.data, rows.indices, rows.indptr):
        part.setflags(write=False)
    return rows


class Places(tuple[int, ...]):
    """0, 1, …: the places of letters that nobody named, also in a channel made of theirs."""

    __slots__ = ()


def _named(names: Sequence[Hashable], own: list[Hashable], size: int, what: str) -> tuple[Hashable, ...]:
    names = names if len(names) else own
    given = (names if isinstance(names, Places) else tuple(names)) if len(names) else Places(range(size))
    if len(given) != size or len(set(given)) != size:
        raise AlphabetError(f"{len(set(given))} different names for {size} {what}", remedy="Name each one once.")
    return given


def _columns(matrix: Any) -> list[Hashable]:
    """What a frame or an Arrow table calls its columns; nothing where they are numbered."""
    names = list(getattr(matrix, "column_names", getattr(matrix, "columns", ())))
    numbered = [f"column_{place}" for place in range(len(names))]  # by polars
    return [] if names in (list(range(len(names))), numbered) else names


def _index(matrix: Any) -> list[Hashable]:
    """What a frame of pandas calls its rows; nothing where they are numbered."""
    names = list(matrix.index) if hasattr(matrix, "columns") and hasattr(matrix, "index") else []
    return [] if names == list(range(len(names))) else names


def _pairs(left: tuple[Hashable, ...], right: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple((a, b) for a in left for b in right)


def fewer_outputs(joint: Joint, channel: Channel, share: float, down_to: int = 1) -> Channel:
    """Merge the two outputs whose difference is worth least, again and again, while at most this share is lost and more
    than `down_to` are left. Of very many targets, what is lost is judged by groups of them."""
    masses = target_with_output(joint, channel).T
    allowance = share * mutual_information(masses.T)
    if down_to > 1 and masses.size * len(masses) > COMPARED_ENTRIES:
        masses = np.add.reduceat(masses, np.arange(0, masses.shape[1], -(-masses.shape[1] // TARGET_GROUPS)), axis=1)
    groups = [[y] for y in range(len(masses))]
    alive = np.ones(len(masses), dtype=bool)
    loss = np.array([_loss(masses[y], masses) for y in range(len(masses))])
    np.fill_diagonal(loss, np.inf)
    while alive.sum() > down_to:
        a, b = (int(i) for i in np.unravel_index(int(loss.argmin()), loss.shape))
        if loss[a, b] > allowance:
            break
        allowance -= loss[a, b]
        masses[a] += masses[b]
        groups[a] += groups[b]
        alive[b] = False
        loss[b], loss[:, b] = np.inf, np.inf
        fresh = np.where(alive, _loss(masses[a], masses), np.inf)
        fresh[a] = np.inf
        loss[a], loss[:, a] = fresh, fresh
    kept = np.flatnonzero(alive)
    matrix = np.array([channel.matrix[groups[y]].sum(axis=0) for y in kept])
    return Channel(matrix, channel.inputs, tuple(channel.outputs[y] for y in kept))


def _loss(one: Floats, others: Floats) -> Floats:
    """What merging an output with each of the others loses, from the masses P(t, y)."""
    return np.maximum(output_terms(one) + output_terms(others) - output_terms(one + others), 0.0)


def output_terms(masses: Floats) -> Floats:
    """Σ_t P(t, y) ln P(t | y), the part of an output in the mutual information that merging changes."""
    total = masses.sum(axis=-1)
    return np.asarray(xlogy(masses, masses).sum(axis=-1) - xlogy(total, total))


def named_outputs(joint: Joint, rows: Rows) -> tuple[str, ...]:
    """A different name for every row of Q[y, z], from the posterior P(t | y); a long one column by column."""
    found = posteriors(joint, rows)
    inside, chances = found.indices.astype(np.int64), np.asarray(found.data, float)
    told = [(inside[a:b], chances[a:b]) for a, b in pairwise(found.indptr.tolist())]
    law = _Law.of(joint.target_prior, joint.target_letters)
    names = [_name(one, law) for one in told]
    if len(joint.released) > 1 and any(len(name) > LONGEST_NAME for name in names):
        columns = _column_laws(joint)
        names = [
            name if len(name) <= LONGEST_NAME else _by_column(joint, one, columns)
            for name, one in zip(names, told, strict=True)
        ]
    total, seen = Counter(names), Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if total[name] == 1 else f"{name} #{seen[name]}")
    return tuple(unique)


def posteriors(joint: Joint, rows: Rows) -> sparse.csr_array:
    """P(t | y), one sparse row per output; an empty one for an output that never occurs."""
    masses = target_masses(joint, rows)
    totals = np.repeat(np.asarray(masses.sum(axis=1)), np.diff(masses.indptr))
    return sparse.csr_array((masses.data / totals, masses.indices, masses.indptr), masses.shape)


_Chances = tuple[Indices, Floats]
"""Letters that an output leaves possible, and how likely each is."""


@dataclass(frozen=True, eq=False)
class _Law:
    """Letters with their chances beforehand, and the order from the commonest on."""

    prior: Floats
    letters: tuple[Hashable, ...]
    commonest: Indices

    @classmethod
    def of(cls, prior: Floats, letters: tuple[Hashable, ...]) -> _Law:
        return cls(prior, letters, np.argsort(-prior, kind="stable"))

    def said(self, t: int) -> str:
        return label(self.letters[t])


def label(letter: Hashable) -> str:
    """A letter in words; the parts of a product joined by a slash."""
    if isinstance(letter, tuple):
        return " / ".join(label(part) for part in letter)
    return "missing" if letter is None else str(letter)


def _name(possible: _Chances, law: _Law) -> str:
    """From the letters that an output leaves possible, with their chances."""
    letters, chances = possible
    ruled_out = np.ones(len(law.prior), dtype=bool)
    ruled_out[letters] = False
    excluded = law.prior[law.commonest[int(np.argmax(ruled_out[law.commonest]))]] if ruled_out.any() else 0.0
    if not len(letters) or max(excluded, np.abs(chances - law.prior[letters]).max()) <= NOTHING:
        return NO_INFORMATION
    best = np.lexsort((letters, -chances))[:MOST_NAMED]
    likeliest, support = [law.said(t) for t in letters[best].tolist()], int((chances > NOTHING).sum())
    needed = 1 + sum(sofar < MOSTLY for sofar in accumulate(chances[best].tolist()))
    if chances[best[0]] >= CERTAIN:
        return likeliest[0]
    if support <= MOST_NAMED:
        return _either(likeliest[:support])
    return ("mostly " if needed <= MOST_NAMED else "often ") + _either(likeliest[:needed])


def _column_laws(joint: Joint) -> list[_Law]:
    """The law of every released column by itself."""
    sizes, found = [len(attribute) for attribute in joint.released], []
    for axis, attribute in enumerate(joint.released):
        others = tuple(place for place in range(len(sizes)) if place != axis)
        found.append(_Law.of(joint.target_prior.reshape(sizes).sum(axis=others), attribute.letters))
    return found


def _by_column(joint: Joint, possible: _Chances, laws: list[_Law]) -> str:
    """What an output says about each column by itself; columns that it says nothing about are left out."""
    places = np.unravel_index(possible[0], [len(attribute) for attribute in joint.released])
    parts = []
    for attribute, place, law in zip(joint.released, places, laws, strict=True):
        after, letters = np.zeros(len(law.prior)), np.unique(place)
        np.add.at(after, place, possible[1])
        said = _name((letters, after[letters]), law)
        if said != NO_INFORMATION:
            parts.append(f"{attribute.name}: {said}")
    return "; ".join(parts) or "no single column"


def _either(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " or " + labels[-1]
