"""Draws that repeat: a keyed pseudo-random function of person, protocol and letter instead of fresh randomness.

Releasing a record again then gives the identical cell, which tells nothing new (theory 4). With K the secret of the key
file, D the digest of the protocol and z the number of the record's letter, the word that decides a draw is

    h    = CBC-MAC of the person's id under AES-256 with key B(K, "identity")
    word = the first 64 bits of AES-256( h xor z ) with key B(K, "draws", D),            B a keyed BLAKE2b (RFC 7693).

*Ids.* A whole number is one block, its 64 bits and the mark 1. Any other text is its length and first bytes with the
mark 2, then further blocks. A whole number written as text in the one shortest way is that number, so that CSV and
Parquet give the same draws, and so is a decimal fraction of that value in a column of such; spaces around a text do not
count. The texts `07` and `7.0` are other people than `7`, and the digest of the ids says so.

*Why it is safe.* No encoded id begins another (the mark tells numbers from text, the length texts from each other), and
CBC-MAC over such a set is pseudo-random if AES is (Petrank and Rackoff 2000); so the h of different ids are independent
and uniform, the inputs h xor z of different (id, z) are different but for q²/2^128 after q records, and AES under
another key makes of different inputs words that nobody without K tells from independent uniform ones, again but for
q²/2^128. Different protocols have different keys. Assumed: AES-256 and keyed BLAKE2b are pseudo-random, K is secret.

*What the ledger remembers* is the construction, the column of the ids and a digest of the set of ids, the sum of all h
modulo 2^64 in each half and of the second halves of all AES( h xor z ), hashed under K: it depends on no order, and
parts of a table can be summed anywhere. Other ids under the same key, or other values of the same people, are another
draw.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from discreet.arrays import Codes
from discreet.exceptions import ParameterError, ReleaseError, TableError
from discreet.records.cells import as_text, plain
from discreet.records.persons import Rule, asked_again
from discreet.release.given import named_path

Words = NDArray[np.uint64]

KEY_BYTES: Final = 32
LARGEST_KEY: Final = 1 << 16
"""A key has at least the 32 bytes that AES-256 takes; a file may hold more, up to 64 KiB, and all of it is hashed."""
BLOCK_BYTES: Final = 16  # of AES
FIRST_TEXT_BYTES: Final = 12  # of a block of 16, three are the length and one the mark
LONGEST_TEXT: Final = 1 << 24  # what three bytes of length can say
NUMBER_MARK, TEXT_MARK = 1, 2  # so that the number of an id and a text of the same bytes are two ids
CLOSE_TOGETHER = 8  # a table of so many bytes for each number takes no more room than the numbers themselves
ENVIRONMENT: Final = "env:"
SHORTEST_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"  # at most 18 digits: every such number fits into 64 bits
CONSTRUCTION = "AES-256 CBC-MAC of the id, AES-256 of it and the letter (2)"


@dataclass(eq=False)
class IdentityDigest:
    """The set of ids that went through, as a sum that depends on no order, and whether one came twice.

    Eight bytes a record are remembered: a whole number as it is, of any other id the first half of its hash. Two
    different ones among n texts share that with probability below n²/2^65, and would then be taken for a repeated id.
    Where a table is read in parts, by others, they look for repeated ids and nothing is remembered here.
    """

    count: int = 0
    sums: tuple[int, int] = (0, 0)
    values: int = 0
    remembers: bool = True
    latest: Words | None = field(default=None, repr=False)
    _numbers: list[NDArray[np.int64]] = field(default_factory=list, repr=False)
    _texts: list[Words] = field(default_factory=list, repr=False)

    def add(self, hashes: Words, numbers: NDArray[np.int64], is_number: NDArray[np.bool_] | None = None) -> None:
        """The hashes of some ids; `numbers` are those that are whole numbers, `is_number` says which, or None: all."""
        low, high = hashes.sum(axis=0, dtype=np.uint64)
        self.count += len(hashes)
        self.sums = (self.sums[0] + int(low)) % 2**64, (self.sums[1] + int(high)) % 2**64
        self.latest = hashes
        if self.remembers and len(numbers):
            self._numbers.append(numbers.copy())
        if self.remembers and is_number is not None:
            self._texts.append(hashes[~is_number, 0])

    def add_values(self, halves: Words) -> None:
        """The other half of what decided each draw: it depends on the letter too, and no draw depends on it."""
        self.values = (self.values + int(halves.sum(dtype=np.uint64))) % 2**64

    def repeated(self) -> int:
        """How many records carry an id that an earlier record carries too."""
        return _repeats(self._numbers) + _repeats(self._texts)

    def rows_per_id(self) -> NDArray[np.int64]:
        """How many records each id has, in no order that tells anything."""
        each = [np.unique(np.concatenate(seen), return_counts=True)[1] for seen in (self._numbers, self._texts) if seen]
        return np.concatenate([np.zeros(0, np.int64), *each]).astype(np.int64)


def _repeats(seen: list[NDArray[np.int64]] | list[Words]) -> int:
    """How many of these occurred before. Numbers that lie close together are marked in a table, others sorted."""
    parts = [part for part in seen if len(part)]
    if not parts:
        return 0
    count = sum(map(len, parts))
    least, most = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
    if most - least < CLOSE_TOGETHER * count:
        marks = np.zeros(most - least + 1, bool)
        for part in parts:
            marks[part - part.dtype.type(least)] = True
        return count - int(np.count_nonzero(marks))
    ordered = np.concatenate(parts)
    ordered.sort()
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


@dataclass(frozen=True)
class KeyedDraw:
    """What makes two keyed releases the same draw: key, construction and protocol, the column of ids, and the people.

    Before the records were read `people` is None: not yet known.
    """

    key: str
    identity: str
    people: str | None = None


@dataclass(frozen=True, eq=False)
class KeyedDraws:
    """`column` holds the person's id. A key that is not `kept` serves one release, whose draws never come again."""

    column: str
    _key: bytes = field(repr=False)
    protocol_digest: str
    identities: IdentityDigest = field(default_factory=IdentityDigest)
    kept: bool = True

    @classmethod
    def from_file(cls, path: Path, column: str, protocol_digest: str) -> KeyedDraws:
        return cls(column, read_key(path), protocol_digest)

    @property
    def name(self) -> str:
        """Tells keys apart without telling anything about them."""
        key = blake2b(self.protocol_digest.encode(), key=self._key, person=b"discreet draws").digest()
        return blake2b(CONSTRUCTION.encode(), key=key, digest_size=8, person=b"discreet name").hexdigest()

    @property
    def draw(self) -> KeyedDraw:
        """What the ledger remembers, once every record has gone through."""
        return KeyedDraw(self.name, self.column, self.identity_digest)

    @property
    def identity_digest(self) -> str:
        """Tells sets of ids apart, for whoever has the key."""
        told = repr((self.column, self.identities.count, self.identities.sums, self.identities.values)).encode()
        return blake2b(told, key=self._key, digest_size=16, person=b"discreet ids").hexdigest()

    def derived(self, purpose: bytes, nonce: bytes) -> bytes:
        """A key for something else, in one release only; it tells nothing about this one."""
        return blake2b(nonce, key=self._key, digest_size=KEY_BYTES, person=purpose).digest()

    @cached_property
    def _hash(self) -> Callable[[bytes], bytes]:
        return _encryptor(blake2b(key=self._key, digest_size=KEY_BYTES, person=b"discreet people").digest())

    @cached_property
    def _word(self) -> Callable[[bytes], bytes]:
        key = blake2b(self.protocol_digest.encode(), key=self._key, digest_size=KEY_BYTES, person=b"discreet draws 2")
        return _encryptor(key.digest())

    def words(self, ids: pa.Array, codes: Codes, first_row: int) -> Words:
        """One uniform word for every record; `first_row` numbers the first of them in messages."""
        hashes, numbers, is_number = self._hashed(ids, first_row)
        self.identities.add(hashes, numbers, is_number)
        blocks = hashes.copy()
        blocks[:, 0] ^= codes.astype(np.uint64)
        drawn = _encrypted(self._word, blocks)
        self.identities.add_values(drawn[:, 1])
        return drawn[:, 0].copy()

    def hashes(self, ids: pa.Array, first_row: int = 1) -> Words:
        """h of every id, as two words."""
        return self._hashed(ids, first_row)[0]

    def _hashed(self, ids: pa.Array, first_row: int) -> tuple[Words, NDArray[np.int64], NDArray[np.bool_] | None]:
        """h of every id, the ids that are whole numbers, and which those are if not all."""
        people = plain(ids)
        people = people.combine_chunks() if isinstance(people, pa.ChunkedArray) else people
        if pa.types.is_integer(people.type) and people.type != pa.uint64():
            self._refuse_empty(people.is_null(), first_row)
            whole = people.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return self._numbers(whole), whole, None
        texts = as_text(people)
        self._refuse_empty(pc.or_(texts.is_null(), pc.fill_null(pc.equal(texts, ""), False)), first_row)
        short = pc.match_substring_regex(texts, SHORTEST_NUMBER)
        if pc.all(short).as_py():
            whole = texts.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return self._numbers(whole), whole, None
        found = np.empty((len(texts), 2), np.uint64)
        number = short.to_numpy(zero_copy_only=False)
        whole = texts.filter(short).cast(pa.int64()).to_numpy(zero_copy_only=False)
        found[number] = self._numbers(whole)
        found[~number] = self._texts(texts.filter(pc.invert(short)))
        return found, whole, number

    def _numbers(self, numbers: NDArray[np.int64]) -> Words:
        blocks = np.empty((len(numbers), 2), np.uint64)
        blocks[:, 0] = numbers.view(np.uint64)
        blocks[:, 1] = NUMBER_MARK << 56
        return _encrypted(self._hash, blocks)

    def _texts(self, texts: pa.Array) -> Words:
        """CBC-MAC of the UTF-8 of every text, grouped by how many blocks they need."""
        lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.uint64)
        if len(lengths) and int(lengths.max()) >= LONGEST_TEXT:
            raise TableError(
                "an id of 16 MiB or more", where=f"column {self.column}", remedy="Give ids, not documents."
            )
        beyond = np.maximum(lengths, FIRST_TEXT_BYTES) - FIRST_TEXT_BYTES
        further = -(-beyond.astype(np.int64) // BLOCK_BYTES)
        found = np.empty((len(texts), 2), np.uint64)
        for count in np.unique(further):
            rows = np.flatnonzero(further == count)
            found[rows] = self._chained(texts.take(pa.array(rows)), lengths[rows], int(count))
        return found

    def _chained(self, texts: pa.Array, lengths: Words, further: int) -> Words:
        """The MAC of texts that need a first block and so many further ones."""
        width = FIRST_TEXT_BYTES + further * BLOCK_BYTES
        padded = pc.ascii_rpad(texts.cast(pa.large_string()), width, "\0")
        octets = np.frombuffer(padded.buffers()[2], np.uint8, len(texts) * width).reshape(-1, width)
        first = np.zeros((len(texts), BLOCK_BYTES), np.uint8)
        first[:, :FIRST_TEXT_BYTES] = octets[:, :FIRST_TEXT_BYTES]
        first.view(np.uint64)[:, 1] |= lengths << 32 | TEXT_MARK << 56
        chained = _encrypted(self._hash, first.view(np.uint64))
        for start in range(FIRST_TEXT_BYTES, width, BLOCK_BYTES):
            block = np.ascontiguousarray(octets[:, start : start + BLOCK_BYTES]).view(np.uint64)
            chained = _encrypted(self._hash, chained ^ block)
        return chained

    def check_repeated(self) -> None:
        """ReleaseError if an id came twice: draws of one id and one letter are one draw, not independent ones."""
        if repeated := self.identities.repeated():
            self.refuse_repeated(repeated)

    def refuse_repeated(self, repeated: int) -> None:
        raise ReleaseError(
            f"{repeated} records carry an id that another record carries too",
            where=f"column {self.column}",
            remedy="Equal values under one id are released alike, all or none of them true. If rows of one id belong "
            f"to one person: {asked_again('person', self.column, Rule.tied)}. If every row is a person of its own, say "
            "--several-rows --one-row-per-person (several_rows=, one_row_per_person=); or give every row its own id.",
        )

    def _refuse_empty(self, empty: pa.Array, first_row: int) -> None:
        """Nothing, NaN and spaces are no ids, of whatever type: they would all be one person."""
        if pc.any(empty).as_py():
            row = first_row + int(pc.index(empty, True).as_py())
            raise TableError(
                "a record has no id",
                where=f"row {row}, column {self.column}",
                remedy="A draw can only repeat for a person who has an id; give every record one.",
            )


def keyed_draws(key: str | os.PathLike[str] | None, identity: str | None, digest: str) -> KeyedDraws | None:
    """Draws that repeat, where a key and a column of ids are given."""
    if (key is None) != (identity is None):
        raise ParameterError("a key and an id go together", where="key, identity", remedy="Give both, or neither.")
    return None if key is None or identity is None else KeyedDraws.from_file(named_path(key, "key"), identity, digest)


def _encryptor(key: bytes) -> Callable[[bytes], bytes]:
    """AES-256 block by block, each on its own: what goes in is never a message, only blocks that are all different."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update


def _encrypted(encrypt: Callable[[bytes], bytes], blocks: Words) -> Words:
    return np.frombuffer(encrypt(np.ascontiguousarray(blocks, "<u8").tobytes()), "<u8").reshape(-1, 2)


def read_key(path: Path) -> bytes:
    """At least 32 bytes that only their owner can read: a file, or for `env:NAME` a variable of the environment, which
    holds them in hexadecimal digits."""
    if str(path).startswith(ENVIRONMENT):
        return _key_in_environment(str(path).removeprefix(ENVIRONMENT))
    remedy = f"Make one with: (umask 077; head -c {KEY_BYTES} /dev/urandom > {path.name})"
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(LARGEST_KEY + 1)
    except (OSError, ValueError) as error:
        what = f"the key cannot be read ({getattr(error, 'strerror', None) or 'a name that no file can have'})"
        raise ReleaseError(what, where=str(path), remedy=remedy) from None
    found = _secret_of(key, str(path), remedy)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ReleaseError("others can read the key", where=str(path), remedy=f"chmod 600 {path.name}")
    return found


def _secret_of(key: bytes, where: str, remedy: str) -> bytes:
    if len(key) < KEY_BYTES or len(set(key)) < KEY_BYTES // 4:
        raise ReleaseError(f"the key is shorter than {KEY_BYTES} bytes, or not random", where=where, remedy=remedy)
    if len(key) > LARGEST_KEY:
        raise ReleaseError(f"a key above {LARGEST_KEY // 1024} KiB", where=where, remedy=remedy)
    return blake2b(key, person=b"discreet key").digest()


def _key_in_environment(name: str) -> bytes:
    remedy = f"Set it from a secret, in hexadecimal digits: {name}=$(head -c {KEY_BYTES} /dev/urandom | xxd -p -c 64)"
    try:
        key = bytes.fromhex(os.environ[name])
    except (KeyError, ValueError):
        what = "the key is not in the environment, or not in hexadecimal digits"
        raise ReleaseError(what, where=name, remedy=remedy) from None
    return _secret_of(key, name, remedy)
