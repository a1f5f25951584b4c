"""Exact draws from integer weights: Walker's alias method, in integers.

A letter's weights w_y ≥ 0 add up to 2^bits. Cut [0, 2^bits) into 2^k slots of equal size C = 2^(bits − k) and fill
each with at most two outputs, the first up to a threshold t, the second from there on (Vose). All of it is integer
arithmetic, so one uniform word of 64 bits, read as a number u < 2^bits, gives output y with probability exactly
w_y / 2^bits: the slot is the top k bits of u, and the word itself is compared with the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.arrays import Codes, Integers
from discreet.exceptions import ChannelError, ProofError
from discreet.randomness import Keystream

WORD_BITS: Final = 64
MOST_BITS: Final = 62
CHUNK: Final = 1 << 14
HALF: Final = 32
MANY: Final = 32
"""Letters with equally many slots whose slots are worth filling together."""
FILLED: Final = 1 << 20
"""Slots filled at a time."""
PARTS = ("indptr", "indices", "data")


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws an output for every input code. `weights[y, z]` has columns that each add up to 2^bits; dense or sparse.

    A letter has slots for all outputs, or if `compressed` only for those that it can draw: then the table is as large
    as the weights that are not zero. Both are exact; the same word may decide for another output.
    """

    weights: Integers | sparse.csc_array
    compressed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _checked(self.weights))
        law = self.law()
        if not all(np.array_equal(getattr(law, part), getattr(self._columns, part)) for part in PARTS):
            raise ProofError("the sampling table does not reproduce the weights", where="sampler")

    @property
    def _columns(self) -> sparse.csc_array:
        assert isinstance(self.weights, sparse.csc_array)
        return self.weights

    @property
    def letters(self) -> int:
        return int(self._columns.shape[1])

    @cached_property
    def bits(self) -> int:
        start, end = self._columns.indptr[:2]
        return int(self._columns.data[start:end].sum()).bit_length() - 1

    @cached_property
    def slot_bits(self) -> Integers:
        """k for every letter: it has 2^k slots."""
        outputs = self._columns.shape[0]
        used = np.diff(self._columns.indptr) if self.compressed else np.full(self.letters, outputs)
        sizes, places = np.unique(used, return_inverse=True)
        return np.array([max(1, (int(size) - 1).bit_length()) for size in sizes], np.int64).take(places)

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest type that numbers the outputs."""
        return np.min_scalar_type(self._columns.shape[0] - 1)

    @cached_property
    def _starts(self) -> Integers:
        """Where the slots of every letter begin."""
        return np.concatenate([[0], np.cumsum(1 << self.slot_bits)])

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint64], Codes]:
        """For slot j of letter z: the last word of its first output, and its two outputs."""
        last = np.empty(self._starts[-1], np.uint64)
        outputs = np.empty((self._starts[-1], 2), self.dtype)
        for k in np.unique(self.slot_bits).tolist():
            letters = np.flatnonzero(self.slot_bits == k)
            step = max(1, FILLED >> k)
            for start in range(0, len(letters), step):
                part = letters[start : start + step]
                slots = self._starts[part][:, None] + np.arange(1 << k)
                last[slots], outputs[slots] = self._filled(part, k)
        return last, outputs.reshape(-1)

    def _filled(self, letters: Integers, k: int) -> tuple[NDArray[np.uint64], Codes]:
        """The slots of letters that have 2^k of them: last words, and pairs of outputs."""
        columns, bits = self._columns, max(self.bits, k)
        scale, capacity, spare = 1 << (bits - self.bits), 1 << (bits - k), WORD_BITS - bits
        sizes = np.diff(columns.indptr)[letters]
        row = np.repeat(np.arange(len(letters)), sizes)
        rank = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        entry = columns.indptr[letters][row] + rank
        weights = np.zeros((len(letters), 1 << k), np.int64)
        names = np.tile(np.arange(1 << k), (len(letters), 1))
        if self.compressed:
            names[row, rank] = columns.indices[entry]
        weights[row, rank if self.compressed else columns.indices[entry]] = scale * columns.data[entry]
        if len(letters) < MANY:
            threshold, first, second = np.array([_slots(one, capacity) for one in weights.tolist()]).transpose(2, 0, 1)
        else:
            threshold, first, second = _slots_of_many(weights, capacity)
        ends = (np.arange(1 << k) * capacity + threshold).astype(np.uint64)
        named = np.stack([np.take_along_axis(names, one, axis=1) for one in (first, second)], axis=2)
        return (ends << np.uint64(spare)) - np.uint64(1), named.astype(self.dtype)

    def law(self) -> sparse.csc_array:
        """The weights that the table draws from, counted slot by slot from its thresholds."""
        last, outputs = self._table
        size = 1 << self.slot_bits
        bits = np.repeat(np.maximum(self.bits, self.slot_bits), size)
        ends = (last >> (WORD_BITS - bits).astype(np.uint64)).astype(np.int64) + 1
        capacity = np.repeat(1 << (np.maximum(self.bits, self.slot_bits) - self.slot_bits), size)
        slot = np.arange(len(last)) - np.repeat(self._starts[:-1], size)
        first = ends - slot * capacity
        masses = np.stack([first, capacity - first], axis=1).reshape(-1)
        letter = np.repeat(np.repeat(np.arange(self.letters), size), 2)
        order = np.lexsort((outputs, letter))
        found = _summed(outputs[order], letter[order], masses[order], self._columns.shape)
        found.data >>= np.repeat(np.maximum(self.bits, self.slot_bits) - self.bits, np.diff(found.indptr))
        return found

    def draw(self, codes: Codes, words: NDArray[np.uint64]) -> Codes:
        """The output of every code, decided by one word each."""
        last, outputs = self._table
        if self._even:
            k = np.intp(self.slot_bits[0])
            index = np.left_shift(codes, k, dtype=np.intp)
            index += (words >> np.uint64(WORD_BITS - int(k))).view(np.intp)
        else:
            index = self._starts.take(codes)
            index += (words >> self._shifts.take(codes)).view(np.intp)
        beyond = words > last.take(index)
        index <<= 1
        index += beyond
        return outputs.take(index)

    @cached_property
    def _even(self) -> bool:
        """Whether all letters have as many slots."""
        return bool((self.slot_bits == self.slot_bits[0]).all())

    @cached_property
    def _shifts(self) -> NDArray[np.uint64]:
        return (WORD_BITS - self.slot_bits).astype(np.uint64)

    def sample(self, codes: Codes, randomness: Keystream) -> Codes:
        """A fresh draw for every code."""
        if len(codes) and int(codes.max()) >= self.letters:
            raise ChannelError("a code without a letter", where="sampler")
        drawn = np.empty(len(codes), self.dtype)
        for start in range(0, len(codes), CHUNK):
            part = codes[start : start + CHUNK]
            drawn[start : start + CHUNK] = self.draw(part, randomness.words(len(part)))
        return drawn


def _slots(weights: list[int], capacity: int) -> list[tuple[int, int, int]]:
    """(threshold, first, second) for every slot; thresholds lie in 1 … capacity."""
    slots = [(capacity, j, j) for j in range(len(weights))]
    left = list(weights)
    small = [j for j, w in enumerate(left) if w < capacity]
    large = [j for j, w in enumerate(left) if w >= capacity]
    while small:
        j, donor = small.pop(), large[-1]
        slots[j] = (left[j], j, donor) if left[j] else (capacity, donor, donor)
        left[donor] -= capacity - left[j]
        if left[donor] < capacity:
            small.append(large.pop())
    return slots


def _slots_of_many(weights: Integers, capacity: int) -> tuple[Integers, Integers, Integers]:
    """The same slots for many letters at once, one row each: `_slots` step by step, all rows together.

    A row of `stacks` has the small ones on its left, the last of them at `small` − 1, and the large ones on its right,
    the last of them at `large`.
    """
    rows, size = weights.shape
    left, second = weights.copy(), np.tile(np.arange(size), (rows, 1))
    threshold, first = np.full((rows, size), capacity), second.copy()
    stacks = np.argsort(left >= capacity, axis=1, kind="stable")
    small, large = np.count_nonzero(left < capacity, axis=1), np.full(rows, size - 1)
    while len(row := np.flatnonzero(small)):
        small[row] -= 1
        j, donor = stacks[row, small[row]], stacks[row, large[row]]
        own = left[row, j]
        threshold[row, j] = np.where(own > 0, own, capacity)
        first[row, j] = np.where(own > 0, j, donor)
        second[row, j] = donor
        left[row, donor] -= capacity - own
        turned = left[row, donor] < capacity
        row, donor = row[turned], donor[turned]
        stacks[row, small[row]] = donor
        small[row] += 1
        large[row] -= 1
    return threshold, first, second


def _summed(outputs: Codes, letters: Integers, masses: Integers, shape: tuple[int, int]) -> sparse.csc_array:
    """Masses added up over equal places, which come in order, as sparse columns without zeros."""
    place = letters * shape[0] + outputs.astype(np.int64)
    starts = np.flatnonzero(np.diff(place, prepend=-1))
    totals = np.add.reduceat(masses, starts)
    kept = starts[totals > 0]
    indptr = np.searchsorted(letters[kept], np.arange(shape[1] + 1))
    return sparse.csc_array((totals[totals > 0], outputs[kept].astype(np.int64), indptr), shape=shape)


def _checked(given: Integers | sparse.csc_array) -> sparse.csc_array:
    """Sparse columns in order and without zeros, each adding up to the same power of two."""
    wrong = ChannelError("weights are not a table of whole numbers", remedy="Give weights[outputs, inputs].")
    if not sparse.issparse(given):
        given = np.array(given, dtype=np.int64)
        if given.ndim != 2 or 0 in given.shape:
            raise wrong
    weights = sparse.csc_array(given, dtype=np.int64, copy=True)
    weights.sum_duplicates()
    weights.eliminate_zeros()
    if 0 in weights.shape or (weights.data < 0).any():
        raise wrong
    totals = _totals(weights) if np.diff(weights.indptr).all() else {0}
    total = totals.pop()
    if totals or total.bit_count() != 1 or total > 1 << MOST_BITS:
        raise ChannelError(
            "a letter's weights do not add up to the power of two of the others",
            where="weights",
            remedy=f"Every column adds up to the same 2^bits, with bits at most {MOST_BITS}.",
        )
    weights.data.setflags(write=False)
    return weights


def _totals(weights: sparse.csc_array) -> set[int]:
    """What columns add up to, exactly: their upper and lower halves are added apart, so that no sum can overflow."""
    starts = weights.indptr[:-1]
    upper = np.add.reduceat(weights.data >> HALF, starts)
    lower = np.add.reduceat(weights.data & ((1 << HALF) - 1), starts)
    return {(high << HALF) + low for high, low in set(zip(upper.tolist(), lower.tolist(), strict=True))}
