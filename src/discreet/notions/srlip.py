"""ε-SRLIP (funnel-2, Definition 3): LIP that survives an attacker who already knows some of the attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.channel import Channel
from discreet.joint import Joint
from discreet.notions.lip import LIP, information_rows
from discreet.notions.notion import Cone, Level, Notion, Witness, Words, check_fits, log_ratio, registered
from discreet.phrases import names, times

LISTED_ENTRIES = 20_000_000
CHUNK_ENTRIES = 4_000_000
CUTS_AT_ONCE = 50
"""Conditions are listed where they have at most so many entries (160 MB), and computed in blocks of 32 MB; beyond, the
worst 50 of one round are added."""


def _promise(_: SRLIP, joint: Joint, epsilon: float) -> str:
    return (
        f"Whoever sees a released record, and even knows some of the original {names(joint.releases)}, finds no value "
        f"of {names(joint.secrets)} more than {times(epsilon)} times as likely, or as unlikely, as before."
    )


@registered
@dataclass(frozen=True)
class SRLIP(Notion):
    """LIP under P( · | x_J) for every set J of released attributes and every value x_J of positive probability.

    J = ∅ is LIP itself. J = all attributes says nothing about a mechanism that reads X only, and much about one that
    reads the secret too.

    Arguments:
        epsilon: the largest |ln P(s | y, x_J) / P(s | x_J)|, in nats.
    Raises:
        ParameterError: an epsilon that is not a positive number.
    Example:
        >>> import discreet as dc
        >>> joint = dc.Joint.from_counts([[[30, 10], [10, 5]], [[5, 10], [20, 40]]])  # S, X1, X2
        >>> safe, plain = dc.design(joint, dc.SRLIP(0.5)), dc.design(joint, dc.LIP(0.5))
        >>> safe.utility < plain.utility
        True
    """

    epsilon: float
    words = Words(
        name="SRLIP",
        command="srlip",
        title="side-channel resistant local information privacy",
        row="with side channels (SRLIP)",
        symbol="ε-SRLIP",
        over="and secret s, and everything x_J that may be known beforehand",
        formula="e^{−ε} ≤ P(y|{s,x_J})/P(y|x_J) ≤ e^ε",
        promise=_promise,
    )

    def cone(self, joint: Joint) -> Cone:
        """The LIP rows under every side channel: all of them while they fit, otherwise those that a row violates."""
        conditions = 2 * len(joint.seen) * int(np.prod(np.array(joint.shape) + 1))
        if conditions * len(joint.letters) <= LISTED_ENTRIES:
            rows = [_rows(joint, known, values, self.epsilon) for known, values in _all_side_channels(joint)]
            return Cone(np.vstack(rows))
        return Cone(LIP(self.epsilon).cone(joint).rows, lambda v: _violated(joint, v, self.epsilon))

    def level(self, channel: Channel, joint: Joint) -> Level:
        check_fits(channel, joint)
        worst = Level(-1.0)
        for known in side_channels(joint):
            found = _worst_move(joint, known, channel)
            if found.moved > worst.epsilon:
                attributes = [joint.releases[j] for j in known]
                told = tuple((a.name, a.letters[i]) for a, i in zip(attributes, found.values, strict=True))
                witness = Witness(channel.outputs[found.output], joint.secret_letters[found.secret], side_channel=told)
                worst = Level(found.moved, witness)
        return worst


class Move(NamedTuple):
    """|ln P(y | s, x_J) / P(y | x_J)| and where it is."""

    moved: float
    output: int
    secret: int
    values: tuple[int, ...]


def _worst_move(joint: Joint, known: tuple[int, ...], channel: Channel) -> Move:
    """The largest over outputs, secrets and values of the known attributes."""
    if not isinstance(channel.rows, np.ndarray):
        return _worst_sparse_move(joint, known, channel.rows)
    worst = Move(-1.0, 0, 0, ())
    for start, moves in _moves(joint, known, channel.rows):
        place = tuple(int(i) for i in np.unravel_index(int(moves.argmax()), moves.shape))
        if moves[place] > worst.moved:
            worst = Move(float(moves[place]), place[0] + start, place[1], place[2:])
    return worst


def _worst_sparse_move(joint: Joint, known: tuple[int, ...], rows: sparse.csr_array) -> Move:
    """The same from the entries that are not zero: without one, an output says nothing beside x_J."""
    c, k = joint.table.shape
    sizes = [joint.shape[j] for j in known]
    axes = np.unravel_index(np.arange(k), joint.shape)
    side = np.ravel_multi_index([axes[j] for j in known], sizes) if known else np.zeros(k, np.intp)
    masses = np.array([np.bincount(side, row, minlength=int(np.prod(sizes, dtype=int))) for row in joint.table])
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    letter = rows.indices % k
    keys, group = np.unique(owner * masses.shape[1] + side[letter], return_inverse=True)
    weighted = [
        rows.data * joint.table[s, letter] * (not joint.reads_secret or rows.indices // k == s) for s in range(c)
    ]
    together = np.array([np.bincount(group, one, minlength=len(keys)) for one in weighted])
    mine = masses[:, keys % masses.shape[1]]
    with np.errstate(divide="ignore", invalid="ignore"):
        moves = np.abs(log_ratio(together / mine, together.sum(axis=0) / mine.sum(axis=0)))
    moves = np.where(mine > 0, moves, 0.0)
    s, place = (int(i) for i in np.unravel_index(int(moves.argmax()), moves.shape))
    output, at = divmod(int(keys[place]), masses.shape[1])
    return Move(float(moves[s, place]), output, s, tuple(int(i) for i in np.unravel_index(at, sizes)) if known else ())


def side_channels(joint: Joint) -> Iterator[tuple[int, ...]]:
    """Every set J of released attributes that an attacker may know and that says something."""
    m = len(joint.shape)
    for size in range(m + 1 if joint.reads_secret else m):
        yield from combinations(range(m), size)


def _all_side_channels(joint: Joint) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    for known in side_channels(joint):
        for values in product(*(range(joint.shape[j]) for j in known)):
            yield known, values


def _rows(joint: Joint, known: tuple[int, ...], values: tuple[int, ...], epsilon: float) -> Floats:
    """The LIP rows under P( · | x_J = values); none if that never happens."""
    place: list[slice | int] = [slice(None)] * (1 + len(joint.shape))
    for j, value in zip(known, values, strict=True):
        place[1 + j] = value
    cells = np.zeros_like(joint.probabilities)
    cells[tuple(place)] = joint.probabilities[tuple(place)]
    table = cells.reshape(len(cells), -1)
    masses = table.sum(axis=1)
    seen = np.flatnonzero(masses > 0)
    if len(seen) == 0:
        return np.zeros((0, len(joint.letters)))
    if joint.reads_secret:
        spread = np.zeros((len(seen), *table.shape))
        spread[np.arange(len(seen)), seen] = table[seen]
        by_secret = spread.reshape(len(seen), -1)
    else:
        by_secret = table[seen]
    return information_rows(by_secret / masses[seen, None], by_secret.sum(axis=0) / masses.sum(), epsilon)


def _moves(joint: Joint, known: tuple[int, ...], rows: Floats) -> Iterator[tuple[int, Floats]]:
    """|ln P(y | s, x_J) / P(y | x_J)| as arrays [y, s, x_J], a block of rows at a time, with the block's first row."""
    cells = joint.probabilities
    summed_axes = tuple(2 + j for j in range(len(joint.shape)) if j not in known)
    masses = cells.sum(axis=tuple(axis - 1 for axis in summed_axes))
    block = max(1, CHUNK_ENTRIES // cells.size)
    for start in range(0, len(rows), block):
        expanded = joint.expand(rows[start : start + block])
        weighted = expanded.reshape(-1, *cells.shape) * cells
        together = weighted.sum(axis=summed_axes)
        with np.errstate(divide="ignore", invalid="ignore"):
            moves = np.abs(log_ratio(together / masses, together.sum(axis=1, keepdims=True) / masses.sum(axis=0)))
        yield start, np.where(masses > 0, moves, 0.0)


def _violated(joint: Joint, v: Floats, epsilon: float) -> Floats:
    """The rows that v violates most, a few at a time."""
    found: list[tuple[float, tuple[int, ...], tuple[int, ...]]] = []
    for known in side_channels(joint):
        for _, moves in _moves(joint, known, v[None, :]):
            worst = np.asarray(moves[0].max(axis=0))
            for values in np.argwhere(worst > epsilon * (1 + 1e-13)):
                found.append((float(worst[tuple(values)]), known, tuple(int(i) for i in values)))
    found.sort(key=lambda item: -item[0])
    rows = [_rows(joint, known, values, epsilon) for _, known, values in found[:CUTS_AT_ONCE]]
    kept = [block[block @ v > 0] for block in rows]
    return np.vstack(kept) if kept else np.zeros((0, len(v)))
