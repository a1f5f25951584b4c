"""Exact draws from integer weights: Walker's alias method, in integers.

A letter's weights w_y ≥ 0 add up to 2^bits. Cut [0, 2^bits) into 2^k slots of equal size C = 2^(bits − k) and fill
each with at most two outputs, the first up to a threshold t, the second from there on (Vose). All of it is integer
arithmetic, so one uniform word of 64 bits, read as a number u < 2^bits, gives output y with probability exactly
w_y / 2^bits: the slot is the top k bits of u, and the word itself is compared with the threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
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

    @property
    def bits(self) -> int:
        start, end = self._columns.indptr[:2]
        return int(self._columns.data[start:end].sum()).bit_length() - 1

    @cached_property
    def slot_bits(self) -> Integers:
        """k for every letter: it has 2^k slots."""
        outputs = self._columns.shape[0]
        used = np.diff(self._columns.indptr) if self.compressed else np.full(self.letters, outputs)
        return np.array([max(1, (int(size) - 1).bit_length()) for size in used], np.int64)

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
        columns = self._columns
        for z, k in enumerate(self.slot_bits.tolist()):
            bits = max(self.bits, k)
            scale, capacity, spare = 1 << (bits - self.bits), 1 << (bits - k), WORD_BITS - bits
            part = slice(columns.indptr[z], columns.indptr[z + 1])
            names = columns.indices[part] if self.compressed else np.arange(columns.shape[0])
            column = [0] * (1 << k)
            places = range(len(names)) if self.compressed else columns.indices[part].tolist()
            for place, weight in zip(places, columns.data[part].tolist(), strict=True):
                column[place] = scale * weight
            start = int(self._starts[z])
            for j, (threshold, first, second) in enumerate(_slots(column, capacity)):
                last[start + j] = ((j * capacity + threshold) << spare) - 1
                outputs[start + j] = names[first], names[second]
        return last, outputs.reshape(-1)

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
    used = np.diff(weights.indptr)
    totals = {sum(weights.data[a:b].tolist()) for a, b in pairwise(weights.indptr.tolist())} if used.all() else {0}
    total = totals.pop()
    if totals or total.bit_count() != 1 or total > 1 << MOST_BITS:
        raise ChannelError(
            "a letter's weights do not add up to the power of two of the others",
            where="weights",
            remedy=f"Every column adds up to the same 2^bits, with bits at most {MOST_BITS}.",
        )
    weights.data.setflags(write=False)
    return weights
