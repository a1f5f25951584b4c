"""A mechanism as a matrix: Q[y, x] = P(Y = y | X = x). The papers say protocol; here a protocol is a proven channel."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.exceptions import AlphabetError, ChannelError

SUM_TOLERANCE = 1e-9
PROPORTIONAL = 1e-12


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
                remedy="The second channel needs one column an output of the first.",
            )
        return Channel(post.matrix @ self.matrix, self.inputs, post.outputs)

    def merged(self) -> Channel:
        """Proportional rows as one, empty rows left out: the same information in fewer outputs."""
        totals = self.matrix.sum(axis=1)
        kept = np.flatnonzero(totals > 0)
        directions = self.matrix[kept] / totals[kept, None]
        groups: list[list[int]] = []
        for i, direction in enumerate(directions):
            for group in groups:
                if np.abs(direction - directions[group[0]]).max() <= PROPORTIONAL * direction.max():
                    group.append(i)
                    break
            else:
                groups.append([i])
        rows = np.array([self.matrix[kept[group]].sum(axis=0) for group in groups])
        return Channel(rows, self.inputs, tuple(self.outputs[kept[group[0]]] for group in groups))

    def restricted(self, letters: Sequence[Hashable]) -> Channel:
        """The channel on some of its input letters."""
        try:
            columns = [self.inputs.index(letter) for letter in letters]
        except ValueError:
            raise AlphabetError(
                "a letter that this channel does not read", where="restricted", remedy="Use letters from `inputs`."
            ) from None
        return Channel(self.matrix[:, columns], tuple(letters), self.outputs)


def _stochastic(given: object) -> NDArray[np.float64]:
    try:
        matrix = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ChannelError("entries are not numbers", remedy="Give a numeric matrix Q[y, x].") from None
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ChannelError(f"shape {matrix.shape}", remedy="Give a matrix with a row an output, a column a letter.")
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        y, x = np.argwhere(~np.isfinite(matrix) | (matrix < 0))[0]
        raise ChannelError(f"the entry at row {y}, column {x} is not a probability")
    wrong = np.flatnonzero(np.abs(matrix.sum(axis=0) - 1) > SUM_TOLERANCE)
    if len(wrong):
        hint = " The rows add up to one: transpose it." if np.allclose(matrix.sum(axis=1), 1) else ""
        raise ChannelError(f"column {wrong[0]} does not add up to one", remedy=f"Q[y, x] has a column a letter.{hint}")
    return matrix


def _named(names: Sequence[Hashable], size: int, what: str) -> tuple[Hashable, ...]:
    given = tuple(names) if len(names) else tuple(range(size))
    if len(given) != size or len(set(given)) != size:
        raise AlphabetError(f"{len(set(given))} different names for {size} {what}", remedy="Name each one once.")
    return given


def _pairs(left: tuple[Hashable, ...], right: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return tuple((a, b) for a in left for b in right)
