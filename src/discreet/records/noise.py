"""A private prior: counts with discrete Laplace noise, drawn in integers (theory 5.4).

P(Z = z) ∝ a^|z| with a = e^(−ε0/2). Replacing one record moves two cells by one each, so the noisy table is ε0-DP.
Drawn after C. Canonne, G. Kamath, T. Steinke, *The Discrete Gaussian for Differential Privacy*, NeurIPS 2020,
Algorithms 1 and 2: coins of probability e^−γ from uniform integers, no floating point anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attribute import Attribute
from discreet.exceptions import DistributionError, ParameterError
from discreet.joint import Joint

Words = Callable[[int], NDArray[np.uint64]]
"""So many uniform 64-bit words, each handed out once."""
WORD_BITS = 64
WORDS_AT_ONCE = 1024
FINEST = 10**12
"""ε0 has at most twelve decimals."""


@dataclass(frozen=True)
class Noise:
    """Discrete Laplace noise that makes a table of counts ε0-differentially private, one record per person.

    Arguments:
        epsilon: ε0, with at most twelve decimals.
        ledger: the file that remembers the draw for a table in memory; a table in a file has one beside it.
        again: take what was drawn before in place of a draw.
    Raises:
        ParameterError: a number that is not positive, or has more decimals.
    Example:
        >>> import discreet as dc, pyarrow as pa
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> letters = {"s": ["a", "b"], "x": ["p", "q"]}
        >>> table = pa.table({name: column * 500 for name, column in letters.items()})
        >>> with TemporaryDirectory() as folder:
        ...     noise = dc.Noise(1.0, ledger=Path(folder, "draws.json"))
        ...     dc.Joint.from_table(table, secret="s", release="x", letters=letters, private=noise).noise.epsilon
        1.0
    """

    epsilon: float
    ledger: str | PathLike[str] | None = field(default=None, compare=False, repr=False)
    again: bool = field(default=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.epsilon) and self.epsilon > 0 and self.exact.denominator <= FINEST):
            raise ParameterError(
                "noise without a positive ε0 of at most twelve decimals", where="Noise", remedy="Try Noise(1.0)."
            )

    @property
    def exact(self) -> Fraction:
        """ε0 as it is written in decimals."""
        return Fraction(repr(float(self.epsilon)))

    @property
    def size_is_public(self) -> bool:
        """Whether n of a joint with this noise is the true number of records."""
        return True

    def added(self, counts: ArrayLike, words: Words) -> NDArray[np.int64]:
        """counts + Z, Z drawn once for every cell of the declared alphabet, empty cells included."""
        table = np.asarray(counts)
        if table.dtype.kind not in "iu" or (table.size and int(table.min()) < 0):
            raise DistributionError("counts that are not whole numbers ≥ 0", where="Noise", remedy="Count records.")
        source = _Uniform(words)
        drawn = [_laplace(self.exact / 2, source) for _ in range(table.size)]
        return np.asarray(table.astype(np.int64) + np.array(drawn, dtype=np.int64).reshape(table.shape))


@dataclass(frozen=True)
class StratumNoise(Noise):
    """The noise of one stratum of a table with given columns: the number of its records is not public, and its n is
    what the noisy counts add up to, one at least. The noise of all strata together was paid for once."""

    @property
    def size_is_public(self) -> bool:
        return False


def projected(noisy: ArrayLike) -> NDArray[np.float64]:
    """The probabilities nearest to the shares of noisy counts: max(counts − τ, 0), scaled to sum to one.

    τ is a fraction, so everything is multiplied by its denominator and stays whole: one result on every machine.
    """
    values = np.asarray(noisy, dtype=np.int64)
    total = max(int(values.sum()), 1)
    descending = np.sort(values, axis=None)[::-1]
    numbers, excess = np.arange(1, values.size + 1), np.cumsum(descending) - total
    last = int(np.flatnonzero(descending * numbers > excess)[-1])
    positive = np.maximum(values * numbers[last] - excess[last], 0)
    return np.asarray(positive / positive.sum())


def noisy_joint(
    noisy: ArrayLike,
    n: int,
    secrets: tuple[Attribute, ...],
    releases: tuple[Attribute, ...],
    noise: Noise,
    *,
    include_secret: bool = False,
) -> Joint:
    """The joint of noisy counts of n records: they may be negative, and P is their projection."""
    shape = (-1, *(len(one) for one in releases))
    counts = np.array(noisy, dtype=np.int64).reshape(shape)
    plain = type(noise)(noise.epsilon)
    return Joint(projected(counts), secrets, releases, n, include_secret, counts=counts, noise=plain)


def noisy_size(noisy: ArrayLike) -> int:
    """The number of records of a stratum, as far as anybody may know it."""
    return max(int(np.asarray(noisy).sum()), 1)


class _Uniform:
    """Uniform whole numbers from 64-bit words, by rejection."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._waiting: list[int] = []

    def below(self, size: int) -> int:
        """Uniform on 0, …, size − 1."""
        bits = (size - 1).bit_length()
        while True:
            drawn = self._bits(bits)
            if drawn < size:
                return drawn

    def _bits(self, bits: int) -> int:
        value = 0
        for _ in range(-(-bits // WORD_BITS)):
            if not self._waiting:
                self._waiting = self._words(WORDS_AT_ONCE).tolist()
            value = value << WORD_BITS | self._waiting.pop()
        return value & ((1 << bits) - 1)


def _laplace(rate: Fraction, source: _Uniform) -> int:
    """P(z) ∝ e^(−rate·|z|): a geometric number of unit steps of size 1/denominator, divided and rounded down; a sign;
    minus zero is drawn again."""
    step, size = rate.numerator, rate.denominator
    while True:
        part = source.below(size)
        if not _exponential_coin(part, size, source):
            continue
        whole = 0
        while _exponential_coin(1, 1, source):
            whole += 1
        magnitude = (part + size * whole) // step
        negative = source.below(2) == 1
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def _exponential_coin(numerator: int, denominator: int, source: _Uniform) -> bool:
    """True with probability e^−γ, γ = numerator/denominator ≤ 1: the first k at which a coin of probability γ/k shows
    tails is odd with this probability."""
    k = 1
    while source.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
