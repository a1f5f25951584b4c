from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.exceptions import EntropyError
from discreet.randomness import Keystream, cipher


def test_it_is_aes_256_in_counter_mode() -> None:
    """FIPS 197, C.3: the first counter block encrypted is the AES-256 test vector."""
    key = bytes(range(32))
    block = int.from_bytes(bytes.fromhex("00112233445566778899aabbccddeeff"), "big")
    assert cipher(key, block).update(bytes(16)).hex() == "8ea2b7ca516745bfeafc49904b496089"


def test_words_are_the_keystream_in_order_whatever_the_portions() -> None:
    whole = Keystream.testing().words(300_000)
    stream = Keystream.testing()
    parts = np.concatenate([stream.words(size) for size in (1, 2, 131_071, 168_926)])
    assert np.array_equal(whole, parts)
    expected = Cipher(algorithms.AES(bytes(32)), modes.CTR(bytes(16))).encryptor().update(bytes(2_400_000))
    assert whole.tobytes() == expected


def test_runs_differ() -> None:
    assert not np.array_equal(Keystream.fresh().words(4), Keystream.fresh().words(4))


def test_testing_says_so() -> None:
    assert not Keystream.testing().private
    assert Keystream.fresh().private
    assert "testing" in Keystream.testing().source


def _raises(size: int) -> bytes:
    raise OSError("no entropy")


@pytest.mark.parametrize("broken", [_raises, lambda size: bytes(size), lambda size: bytes(range(32)) * (size // 32)])
def test_no_entropy_no_release(broken: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", broken)
    with pytest.raises(EntropyError):
        Keystream.fresh()


FORKING = """
import os
from discreet.exceptions import EntropyError
from discreet.randomness import Keystream

stream = Keystream.fresh()
child = os.fork()
if child == 0:
    try:
        stream.words(1)
    except EntropyError:
        os._exit(42)
    os._exit(0)
os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_fork_cannot_reuse_the_stream() -> None:
    """In a process of its own: one that has run compiled threads is not safe to fork."""
    assert subprocess.run([sys.executable, "-c", FORKING], timeout=60, check=False).returncode == 42
