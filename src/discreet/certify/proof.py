"""The proof: integer weights, an exact prior, a notion, and a level; accepted or refused, never "about right".

How a notion is proven is said once, in `PROVERS`: by its type, and for a notion about an uncertainty set by its type
and the type of the set. Looking it up takes the very type; a subclass, or a set nobody has a proof for, is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Integers, Weights
from discreet.certify.exact_arithmetic import MAX_BITS
from discreet.exceptions import ChannelError, ParameterError, ProofError
from discreet.joint import Joint
from discreet.notions.notion import AVERAGES, BEFORE, SEVERAL, Notion, Witness

if TYPE_CHECKING:
    from scipy.sparse import csc_array

STEP = 10**9
"""Levels are stated in steps of 1e-9, rounded up."""
MASK = 2**30 - 1
MOST_DENSE, PER_WEIGHT = 1 << 24, 8
"""So many cells any weights may have where a proof needs all of them, 128 MiB, and so many for each that is not zero:
a small file never makes its reader fill the memory."""
BLOCK_CELLS = 1 << 18
"""Cells that are written out at once where a proof goes output by output."""


@dataclass(frozen=True)
class Proof:
    """`notion` holds at `epsilon`, for these weights and this prior."""

    notion: Notion
    epsilon: float


@dataclass(frozen=True, eq=False)
class ProofAttempt:
    """What a proof attempt found: per output by how much "high ≤ e^ε low" fails (0 where it is proven), and where.

    `mixing` is how much of a mechanism that tells nothing mends an average that fails.
    """

    holds: NDArray[np.bool_]
    violation: NDArray[np.float64]
    witness: Callable[[int], Witness]
    mixing: float = 0.0

    @property
    def proven(self) -> bool:
        return bool(self.holds.all())

    def words(self, y: int) -> str:
        """The output by its number, and what is compared: letters are values of the data, and no message has any."""
        found = self.witness(y)
        known = "".join(f", given {name}" for name, _ in found.side_channel)
        against = "the population" if found.other is BEFORE else "another"
        return f"output number {y}, one value of the secret against {against}{known}"


def all_of(found: Sequence[ProofAttempt]) -> ProofAttempt:
    """Several conditions at once, with what breaks them most."""
    violation = np.stack([one.violation for one in found])
    worst = violation.argmax(axis=0)
    holds = np.asarray(np.stack([one.holds for one in found]).all(axis=0), dtype=np.bool_)
    mixing = max(one.mixing for one in found)
    return ProofAttempt(holds, violation.max(axis=0), lambda y: found[worst[y]].witness(y), mixing)


class Prover(Protocol):
    """How a notion is proven, all in exact arithmetic. A wrong guess anywhere may fail a proof, never make one."""

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        """Every condition of the notion at this level."""
        ...

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        """The smallest multiple of 1e-9 that can be proven; infinite if there is none."""
        ...


PROVERS: dict[type | tuple[type, type], Prover] = {}
"""By type of notion, or by type of notion and type of its uncertainty set."""


@dataclass(frozen=True)
class EveryPart:
    """The proof of several promises at once: the first at the level asked for, the others at their own."""

    def check(self, weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
        levels = [epsilon, *(Fraction(one.epsilon) for one in notion.promises[1:])]
        return all_of([check(weights, bits, joint, one, at) for one, at in zip(notion.promises, levels, strict=True)])

    def level(self, weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
        first, *others = notion.promises
        held = all(check(weights, bits, joint, one, Fraction(one.epsilon)).proven for one in others)
        return prover_of(first).level(weights, bits, joint, first) if held else math.inf


def prover_of(notion: Notion) -> Prover:
    """ParameterError where no proof is known; what is not proven is not released."""
    kind: type[Notion] = type(notion)
    if kind in SEVERAL or (kind in AVERAGES.values() and len(notion.promises) > 1):
        return EveryPart()
    about = getattr(notion, "uncertainty", None)
    found = PROVERS.get(kind if about is None else (kind, type(about)))
    if found is None:
        over = "" if about is None else f" over {type(about).__name__}"
        raise ParameterError(
            f"no proof is known for {kind.__name__}{over}", where="PROVERS", remedy="Use LDP, LIP, SRLIP or RLDP."
        )
    return found


def ignores_silent(notion: Notion | None) -> bool:
    """Whether no condition of the notion looks at letters that have no mass under the prior."""
    promises = getattr(notion, "promises", ())
    return bool(promises) and all(getattr(prover_of(one), "ignores_silent", False) for one in promises)


def prove(weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: float | None = None) -> Proof:
    """That the notion holds at `epsilon` (its own, unless another level is claimed); ProofError if not."""
    level = notion.epsilon if epsilon is None else epsilon
    if not (math.isfinite(level) and level >= 0):
        raise ParameterError("the level is not a number ≥ 0", where="epsilon", remedy="State the level as a number.")
    check_weights(weights, bits, joint, notion)
    found = check(weights, bits, joint, notion, Fraction(level))
    if not found.proven:
        y = int(np.flatnonzero(~found.holds)[0])
        raise ProofError(
            f"{notion.words.name} is not proven at {level!r}",
            where=found.words(y),
            remedy="Round and repair the channel again, or state a higher level.",
        )
    return Proof(notion, level)


def level_upper_bound(weights: Weights, bits: int, joint: Joint, notion: Notion) -> float:
    """The smallest level that can be proven, rounded up to a multiple of 1e-9; infinite if there is none."""
    check_weights(weights, bits, joint, notion)
    return prover_of(notion).level(weights, bits, joint, notion)


def check(weights: Weights, bits: int, joint: Joint, notion: Notion, epsilon: Fraction) -> ProofAttempt:
    """Every condition of the notion at this level, in exact arithmetic."""
    return prover_of(notion).check(weights, bits, joint, notion, epsilon)


def check_weights(weights: Weights, bits: int, joint: Joint, notion: Notion | None = None) -> None:
    """Whole numbers ≥ 0, one column per letter, each adding up to 2^bits.

    A column may be empty where nobody has the letter and the notion does not look at it: its records are released like
    values outside the alphabet, by the law of the outputs, which is the same for all of them.
    """
    check_letters(weights, bits, joint.size, (lambda: nobody_has(joint)) if ignores_silent(notion) else None)


def check_letters(
    weights: Weights, bits: int, letters: int, silent: Callable[[], NDArray[np.bool_]] | None = None
) -> None:
    """The same for so many letters, of which those that are `silent` may have none."""
    bits = int(bits)
    if not 1 <= bits <= MAX_BITS or weights.dtype != np.int64 or weights.ndim != 2:
        raise ChannelError("weights are not integers over 2^bits", remedy=f"Use int64 and 1 to {MAX_BITS} bits.")
    if weights.shape[1] != letters or weights.shape[0] == 0:
        raise ChannelError(
            f"weights for {weights.shape[1]} letters, a joint with {letters}",
            remedy="Use the joint these weights were made for.",
        )
    entries = weights if isinstance(weights, np.ndarray) else weights.data
    if (entries < 0).any() or (entries > 1 << bits).any():
        raise ChannelError("a weight outside 0 … 2^bits", remedy="Round the channel again.")
    low = _letter_sums(weights, 0)
    high = _letter_sums(weights, 30)
    high += low >> 30
    low &= MASK
    wrong = np.flatnonzero((high != 1 << bits >> 30) | (low != 1 << bits & MASK))
    if not len(wrong):
        return
    excused = silent is not None and not isinstance(weights, np.ndarray) and silent()[wrong].all()
    if not excused or high[wrong].any() or low[wrong].any():
        raise ChannelError("the weights of a letter do not add up to 2^bits", remedy="Round the channel again.")


def nobody_has(joint: Joint) -> NDArray[np.bool_]:
    """The letters that have no count, or no probability."""
    cells = joint.probabilities if joint.counts is None else joint.counts
    table = cells.reshape(len(cells), -1)
    return np.asarray((table.reshape(-1) if joint.reads_secret else table.max(axis=0)) == 0)


def _letter_sums(weights: Weights, shift: int) -> Integers:
    """For every letter the sum of thirty bits of its weights."""
    if isinstance(weights, np.ndarray):
        return np.asarray((weights >> shift & MASK).sum(axis=0))
    running = np.concatenate([[0], np.cumsum(weights.data >> shift & MASK)])
    return np.asarray(np.diff(running[weights.indptr]))


def dense(weights: Weights) -> Integers:
    """All weights, for a proof that looks at all of them; refused where they would fill the memory."""
    if isinstance(weights, np.ndarray):
        return weights
    check_dense(weights)
    found: Integers = weights.toarray(order="C")
    return found


def dense_blocks(weights: Weights) -> Iterator[Integers]:
    """The same some outputs at a time, in their order."""
    outputs, letters = weights.shape
    step = max(1, BLOCK_CELLS // letters)
    if isinstance(weights, np.ndarray):
        yield from (weights[start : start + step] for start in range(0, outputs, step))
        return
    check_dense(weights)
    rows = weights.tocsr()
    yield from (rows[start : start + step].toarray() for start in range(0, outputs, step))


def check_dense(weights: csc_array) -> None:
    """ProofError where all weights, with those that are zero, are too many."""
    outputs, letters = weights.shape
    if outputs * letters > max(MOST_DENSE, PER_WEIGHT * weights.nnz):
        raise ProofError(
            f"{outputs:,} outputs of {letters:,} letters are too many for this notion",
            remedy="Merge rare letters, or choose LDP or LIP, whose proof looks at the weights that are not zero.",
        )
