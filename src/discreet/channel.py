"""A mechanism as a matrix: Q[y, x] = P(Y = y | X = x). The papers say protocol; here a protocol is a proven channel.

Outputs can be merged, which is post-processing and never raises a level, and named: by what seeing the output suggests
about the released data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.exceptions import AlphabetError, ChannelError, InOwnWords
from discreet.information import mutual_information, target_with_output
from discreet.joint import Joint

SUM_TOLERANCE = 1e-9
"""How far columns may be from adding up to one: what linear programs leave, far above the rounding of sums."""
PROPORTIONAL = 1e-12
"""Rows that agree to this share of their largest entry are proportional."""
CERTAIN, MOSTLY, MOST_NAMED = 0.999, 0.6, 3
"""An output is named after one letter that is this certain, or after the few that are together this likely."""
COMPARED_ENTRIES, TARGET_GROUPS = 100_000_000, 64
"""Comparing every two outputs on every target takes a second for so many entries; beyond, on so many groups."""
NOTHING = 1e-9
"""Smaller chances, and smaller changes of them, are not worth a word."""


@dataclass(frozen=True, eq=False)
class Channel:
    """Q[y, z] with a name for every output (row) and every input letter (column)."""

    matrix: NDArray[np.float64]
    inputs: tuple[Hashable, ...] = field(default=())
    outputs: tuple[Hashable, ...] = field(default=())

    def __post_init__(self) -> None:
        matrix = _stochastic(self.matrix)
        matrix.setflags(write=False)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "inputs", _named(self.inputs, matrix.shape[1], "inputs"))
        object.__setattr__(self, "outputs", _named(self.outputs, matrix.shape[0], "outputs"))

    def product(self, other: Channel) -> Channel:
        """Both channels side by side on a pair of inputs, drawn independently; letters in C order."""
        return Channel(
            np.kron(self.matrix, other.matrix).astype(float),
            _pairs(self.inputs, other.inputs),
            _pairs(self.outputs, other.outputs),
        )

    def then(self, post: Channel) -> Channel:
        """Post-processing: `post` reads this channel's output."""
        if post.matrix.shape[1] != len(self.outputs):
            raise ChannelError(
                f"{len(self.outputs)} outputs, then a channel that reads {post.matrix.shape[1]}",
                remedy="The second channel needs one column per output of the first.",
            )
        return Channel(post.matrix @ self.matrix, self.inputs, post.outputs)

    def merged(self) -> Channel:
        """Proportional rows as one, empty rows left out: the same information in fewer outputs.

        Rows are compared where a weighted sum of their entries agrees; those that differ there cannot be proportional.
        """
        totals = self.matrix.sum(axis=1)
        kept = np.flatnonzero(totals > 0)
        directions = self.matrix[kept] / totals[kept, None]
        weights = np.linspace(1.0, 2.0, directions.shape[1])
        sums, room = directions @ weights, PROPORTIONAL * directions.max(axis=1) * weights.sum()
        order = np.argsort(sums, kind="stable")
        first = np.searchsorted(sums[order], sums - room - PROPORTIONAL)
        last = np.searchsorted(sums[order], sums + room + PROPORTIONAL, side="right")
        groups: dict[int, list[int]] = {}
        for i, direction in enumerate(directions):
            near = sorted(int(j) for j in order[first[i] : last[i]] if j in groups)
            for j in near:
                if np.abs(direction - directions[j]).max() <= PROPORTIONAL * direction.max():
                    groups[j].append(i)
                    break
            else:
                groups[i] = [i]
        rows = np.array([self.matrix[kept[group]].sum(axis=0) for group in groups.values()])
        return Channel(rows, self.inputs, tuple(self.outputs[kept[head]] for head in groups))

    def restricted(self, letters: Sequence[Hashable]) -> Channel:
        """The channel on some of its input letters."""
        remedy = "Use letters from `inputs`."
        what = "a letter that this channel does not read"
        with InOwnWords(lambda _: AlphabetError(what, where="restricted", remedy=remedy), ValueError):
            columns = [self.inputs.index(letter) for letter in letters]
        return Channel(self.matrix[:, columns], tuple(letters), self.outputs)


def _stochastic(given: object) -> NDArray[np.float64]:
    remedy = "Give a numeric matrix Q[y, x]."
    with InOwnWords(lambda _: ChannelError("entries are not numbers", remedy=remedy), TypeError, ValueError):
        matrix = np.array(given, dtype=float)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ChannelError(f"shape {matrix.shape}", remedy="One row per output and one column per letter.")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        y, x = np.argwhere(~np.isfinite(matrix) | (matrix < 0))[0]
        raise ChannelError(f"the entry at row {y}, column {x} is not a probability")
    wrong = np.flatnonzero(np.abs(matrix.sum(axis=0) - 1) > SUM_TOLERANCE)
    if len(wrong):
        hint = " The rows add up to one: transpose it." if np.allclose(matrix.sum(axis=1), 1) else ""
        raise ChannelError(f"column {wrong[0]} does not add up to one", remedy=f"Q[y, x]: one column per letter.{hint}")
    return matrix


def _named(names: Sequence[Hashable], size: int, what: str) -> tuple[Hashable, ...]:
    given = tuple(names) if len(names) else tuple(range(size))
    if len(given) != size or len(set(given)) != size:
        raise AlphabetError(f"{len(set(given))} different names for {size} {what}", remedy="Name each one once.")
    return given


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


def named_outputs(joint: Joint, matrix: Floats) -> tuple[str, ...]:
    """A different name for every row of Q[y, z], from the posterior P(t | y)."""
    labels = [label(letter) for letter in joint.target_letters]
    names = [_name(row, joint.target_prior, labels) for row in posteriors(joint, matrix)]
    total, seen = Counter(names), Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if total[name] == 1 else f"{name} #{seen[name]}")
    return tuple(unique)


def posteriors(joint: Joint, matrix: Floats) -> Floats:
    """P(t | y), one row per output; the prior for an output that never occurs."""
    masses = np.zeros((len(matrix), len(joint.target_letters)))
    np.add.at(masses.T, joint.target_of, (matrix * joint.prior).T)
    totals = masses.sum(axis=1, keepdims=True)
    return np.where(totals > 0, masses / np.where(totals > 0, totals, 1), joint.target_prior)


def label(letter: Hashable) -> str:
    """A letter in words; the parts of a product joined by a slash."""
    if isinstance(letter, tuple):
        return " / ".join(label(part) for part in letter)
    return "missing" if letter is None else str(letter)


def _name(posterior: Floats, prior: Floats, labels: list[str]) -> str:
    if np.abs(posterior - prior).max() <= NOTHING:
        return "no information"
    likeliest, left = [], posterior.copy()
    for _ in range(min(MOST_NAMED, len(labels))):
        likeliest.append(int(left.argmax()))
        left[likeliest[-1]] = -1.0
    support = int((posterior > NOTHING).sum())
    needed = int(np.searchsorted(np.cumsum(posterior[likeliest]), MOSTLY)) + 1
    if posterior[likeliest[0]] >= CERTAIN:
        return labels[likeliest[0]]
    if support <= MOST_NAMED:
        return _either([labels[i] for i in likeliest[:support]])
    chosen = [labels[i] for i in likeliest[:needed]]
    return "mostly " + _either(chosen) if needed <= MOST_NAMED else "often " + _either(chosen)


def _either(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " or " + labels[-1]
