"""Randomness for releases: an AES-256-CTR keystream keyed from the operating system, a new key every run.

There is no seed on the release path. `Keystream.testing()` has a fixed key so that tests can repeat a run;
a manifest records it, and nothing drawn from it may be published.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.exceptions import EntropyError

KEY_BYTES: Final = 32
BLOCK_BYTES: Final = 16
WORD_BYTES: Final = 8
"""Of a key of AES-256, of a block of it, and of a whole number of 64 bits."""
_ZEROS: Final = memoryview(bytes(1 << 20))  # what the cipher turns into the keystream, 1 MiB at a time


def fresh_key() -> bytes:
    """256 bits from the operating system; no entropy, no release."""
    try:
        drawn = os.urandom(2 * KEY_BYTES)
    except (OSError, NotImplementedError) as error:
        raise EntropyError(
            "the operating system gave no randomness", where="os.urandom", remedy="Release on another machine."
        ) from error
    key, other = drawn[:KEY_BYTES], drawn[KEY_BYTES:]
    if len(drawn) != 2 * KEY_BYTES or key == other or len(set(key)) < KEY_BYTES // 4:
        raise EntropyError(
            "the operating system's randomness repeats itself",
            where="os.urandom",
            remedy="Release on another machine; this one's random source is broken.",
        )
    return key


def cipher(key: bytes, block: int = 0) -> CipherContext:
    """AES-256-CTR from a given block of its keystream."""
    return Cipher(algorithms.AES(key), modes.CTR(block.to_bytes(BLOCK_BYTES, "big"))).encryptor()


@dataclass(eq=False)
class Keystream:
    """Uniform 64-bit words. One stream serves one process and one thread: a fork would draw the same words twice."""

    source: str
    _cipher: CipherContext = field(repr=False)
    _process: int = field(default_factory=os.getpid, repr=False)

    @classmethod
    def fresh(cls) -> Keystream:
        return cls("AES-256-CTR keyed by the operating system", cipher(fresh_key()))

    @classmethod
    def testing(cls, number: int = 0) -> Keystream:
        """A fixed stream for tests, never for a release."""
        return cls("testing: fixed key, not private", cipher(number.to_bytes(KEY_BYTES, "big")))

    @property
    def private(self) -> bool:
        return not self.source.startswith("testing")

    def words(self, count: int) -> NDArray[np.uint64]:
        """The next `count` words."""
        return self.octets(WORD_BYTES * count).view(np.uint64)

    def halves(self, count: int) -> NDArray[np.uint16]:
        """The next `count` uniform 16-bit numbers."""
        return self.octets(2 * count).view(np.uint16)

    def octets(self, size: int) -> NDArray[np.uint8]:
        """The next `size` uniform bytes."""
        if os.getpid() != self._process:
            raise EntropyError(
                "a keystream was carried over a fork",
                where="release",
                remedy="Make a new Keystream in every process; two processes must not share one.",
            )
        drawn = np.empty(size + BLOCK_BYTES - 1, np.uint8)
        view = drawn.data
        for start in range(0, size, len(_ZEROS)):
            length = min(len(_ZEROS), size - start)
            self._cipher.update_into(_ZEROS[:length], view[start : start + length + BLOCK_BYTES - 1])
        return drawn[:size]
