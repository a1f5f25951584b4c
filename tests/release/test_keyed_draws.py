"""Keyed draws: the construction against a plain one, test vectors, ids that must not meet, the digest of a set."""

from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.exceptions import TableError
from discreet.release.keyed_draws import IdentityDigest, KeyedDraws

KEY, DIGEST = bytes(range(64)), "5" * 64
TEXTS = ["é" * 7, "a", "x" * 12, "x" * 13, "日本" * 20, "07", "7.0", "a\0", "x" * 28, "x" * 29, "-0", "+7", "1" * 19]
NUMBERS = [7, 0, -3, 10**17, -(10**18) + 1]
VECTORS = {  # (id, letter): the word, as another implementation must find it
    (7, 0): 0xCC43F3305D2DC815,
    ("ab-12", 3): 0xD1574EFBAFA641EF,
    ("a much longer id than one block", 15): 0xCC9CFB0AF996AAB0,
}


def keyed() -> KeyedDraws:
    return KeyedDraws("id", KEY, DIGEST)


def word(person: int | str, letter: int) -> int:
    """The construction in its own words, one record at a time."""

    def aes(key: bytes, block: bytes) -> bytes:
        return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)

    identity = blake2b(key=KEY, digest_size=32, person=b"discreet people").digest()
    draws = blake2b(DIGEST.encode(), key=KEY, digest_size=32, person=b"discreet draws 2").digest()
    if isinstance(person, int):
        blocks = [person.to_bytes(8, "little", signed=True) + bytes(7) + b"\x01"]
    else:
        text = person.encode()
        blocks = [text[:12].ljust(12, b"\0") + len(text).to_bytes(3, "little") + b"\x02"]
        blocks += [text[i : i + 16].ljust(16, b"\0") for i in range(12, len(text), 16)]
    h = bytes(16)
    for block in blocks:
        h = aes(identity, bytes(a ^ b for a, b in zip(h, block, strict=True)))
    mixed = int.from_bytes(h[:8], "little") ^ letter
    return int.from_bytes(aes(draws, mixed.to_bytes(8, "little") + h[8:])[:8], "little")


@pytest.mark.parametrize("people", [TEXTS, NUMBERS, [str(n) for n in NUMBERS], [*TEXTS, *map(str, NUMBERS)]])
def test_it_is_what_it_says(people: list[int | str]) -> None:
    codes = np.arange(len(people)) % 5
    found = keyed().words(pa.array(people), codes, 1)
    meant = [int(p) if str(p) in map(str, NUMBERS) else p for p in people]
    assert found.tolist() == [word(p, int(z)) for p, z in zip(meant, codes, strict=True)]


def test_vectors() -> None:
    assert {(p, z): word(p, z) for p, z in VECTORS} == VECTORS


def test_other_ids_letters_keys_and_protocols_are_other_words() -> None:
    people = pa.array(TEXTS)
    codes = np.zeros(len(TEXTS), np.uint8)
    words = {
        *keyed().words(people, codes, 1).tolist(),
        *keyed().words(people, codes + 1, 1).tolist(),
        *KeyedDraws("id", KEY[::-1], DIGEST).words(people, codes, 1).tolist(),
        *KeyedDraws("id", KEY, "6" * 64).words(people, codes, 1).tolist(),
    }
    assert len(words) == 4 * len(TEXTS)


def test_the_digest_of_a_set_knows_no_order_and_no_batches() -> None:
    people = [*TEXTS, *map(str, NUMBERS)]

    def digest(*batches: list[str]) -> str:
        draws = keyed()
        for batch in batches:
            draws.words(pa.array(batch), np.zeros(len(batch), np.uint8), 1)
        return draws.identity_digest

    assert digest(people) == digest(people[::-1]) == digest(people[3:], people[:3])
    assert digest(people) != digest(people[1:])
    assert digest(people) != digest([*people[1:], "somebody else"])
    assert digest(["7"]) != digest(["07"])


def test_repeated_ids_are_counted_across_batches() -> None:
    draws = keyed()
    for batch in (["a", "b"], ["c", "a"], ["a", "7"], ["7"]):
        draws.words(pa.array(batch), np.zeros(len(batch), np.uint8), 1)
    assert draws.identities.repeated() == 3
    assert IdentityDigest().repeated() == 0


def test_words_are_uniform_and_letters_of_one_person_independent() -> None:
    """Bits of a million words; the same count on a construction that forgets the key's second use must fail."""
    people = pa.array(np.arange(1 << 17))

    def worst(words: np.ndarray) -> float:
        bits = np.unpackbits(words.view(np.uint8)).reshape(len(words), 64).mean(axis=0)
        return float(np.abs(bits - 0.5).max() * 2 * np.sqrt(len(words)))

    one, two = (keyed().words(people, np.full(1 << 17, z, np.uint8), 1) for z in (0, 1))
    assert worst(one) < 6
    assert worst(one ^ two) < 6
    hashes = keyed().hashes(people)[:, 0]
    assert worst(hashes ^ (hashes ^ np.uint64(1))) > 6  # h xor z alone would tell letters apart


def test_a_missing_id_is_named_by_its_row() -> None:
    with pytest.raises(TableError, match="row 12"):
        keyed().words(pa.array(["a", "", None]), np.zeros(3, np.uint8), 11)
    with pytest.raises(TableError, match="row 3"):
        keyed().words(pa.array([1, 2, None]), np.zeros(3, np.uint8), 1)


@pytest.mark.parametrize(
    ("batches", "repeated"),
    [
        ([[1, 2, 3], [4, 5]], 0),
        ([[1, 2, 3], [3, 2, 9]], 2),
        ([[5, 5, 5]], 2),
        ([[-(2**62), 2**62, 0], [2**62]], 1),
        ([["7", "07"], ["7"]], 1),
        ([["7", "a"], ["8", "a"], ["b", "7"]], 2),
        ([["7", "8"], [], ["8"]], 1),
        ([[7], ["7", "x"]], 1),
        ([["x" * 40, "y"], ["x" * 40]], 1),
        ([[2**63 - 1, -(2**63)]], 0),
    ],
)
def test_repeated_ids_close_together_far_apart_and_mixed(batches: list[list[int | str]], repeated: int) -> None:
    draws = keyed()
    for batch in batches:
        kind = pa.int64() if batch and isinstance(batch[0], int) else pa.string()
        draws.words(pa.array(batch, kind), np.zeros(len(batch), np.uint8), 1)
    assert draws.identities.repeated() == repeated
    rows = draws.identities.rows_per_id()
    assert rows.sum() == sum(map(len, batches))
    assert (rows - 1).sum() == repeated
