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

from discreet.exceptions import ChannelError, ProofError
from discreet.release.randomness import Keystream

WORD_BITS: Final = 64
MOST_BITS: Final = 62
CHUNK: Final = 1 << 14

Integers = NDArray[np.int64]
Codes = NDArray[np.unsignedinteger]


@dataclass(frozen=True, eq=False)
class Sampler:
    """Draws an output for every input code. `weights[y, z]` has columns that each add up to 2^bits."""

    weights: Integers

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _checked(self.weights))
        if not np.array_equal(self.law(), self.weights):
            raise ProofError("the sampling table does not reproduce the weights", where="sampler")

    @property
    def bits(self) -> int:
        return int(self.weights[:, 0].sum()).bit_length() - 1

    @property
    def slot_bits(self) -> int:
        return max(1, (len(self.weights) - 1).bit_length())

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest type that numbers the outputs."""
        return np.min_scalar_type(len(self.weights) - 1)

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint64], Codes]:
        """For slot j of letter z, at index i = z·2^k + j: the last word of its first output, and its two outputs."""
        k = self.slot_bits
        bits = max(self.bits, k)
        scale, capacity, spare = 1 << (bits - self.bits), 1 << (bits - k), WORD_BITS - bits
        letters = self.weights.shape[1]
        last = np.empty(letters << k, np.uint64)
        outputs = np.empty((letters << k, 2), self.dtype)
        for z in range(letters):
            column = [scale * int(w) for w in self.weights[:, z]] + [0] * ((1 << k) - len(self.weights))
            for j, (threshold, first, second) in enumerate(_slots(column, capacity)):
                i = (z << k) + j
                last[i] = ((j * capacity + threshold) << spare) - 1
                outputs[i] = first, second
        return last, outputs.reshape(-1)

    def law(self) -> Integers:
        """The weights that the table draws from, counted slot by slot from its thresholds."""
        last, outputs = self._table
        k, letters = self.slot_bits, self.weights.shape[1]
        bits = max(self.bits, k)
        ends = (last >> np.uint64(WORD_BITS - bits)).astype(np.int64) + 1
        capacity = 1 << (bits - k)
        first = ends - np.tile(np.arange(1 << k) * capacity, letters)
        masses = np.stack([first, capacity - first], axis=1).reshape(-1)
        where = outputs.astype(np.int64) * letters + np.repeat(np.arange(letters), 2 << k)
        law = np.zeros(self.weights.size, np.int64)
        np.add.at(law, where, masses)
        return law.reshape(self.weights.shape) >> (bits - self.bits)

    def draw(self, codes: Codes, words: NDArray[np.uint64]) -> Codes:
        """The output of every code, decided by one word each."""
        last, outputs = self._table
        k = np.intp(self.slot_bits)
        index = np.left_shift(codes, k, dtype=np.intp)
        index += (words >> np.uint64(WORD_BITS - self.slot_bits)).view(np.intp)
        beyond = words > last.take(index)
        index <<= 1
        index += beyond
        return outputs.take(index)

    def sample(self, codes: Codes, randomness: Keystream) -> Codes:
        """A fresh draw for every code."""
        if len(codes) and int(codes.max()) >= self.weights.shape[1]:
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


def _checked(given: Integers) -> Integers:
    weights = np.array(given, dtype=np.int64)
    if weights.ndim != 2 or 0 in weights.shape or (weights < 0).any():
        raise ChannelError("weights are not a table of whole numbers", remedy="Give weights[outputs, inputs].")
    totals = {sum(int(w) for w in column) for column in weights.T}
    total = totals.pop()
    if totals or total.bit_count() != 1 or total > 1 << MOST_BITS:
        raise ChannelError(
            "a letter's weights do not add up to the power of two of the others",
            where="weights",
            remedy=f"Every column adds up to the same 2^bits, with bits at most {MOST_BITS}.",
        )
    weights.setflags(write=False)
    return weights
