"""Draws that repeat: a keyed pseudo-random function of person, protocol and letter instead of fresh randomness.

Releasing a record again then gives the identical cell, which tells nothing new (theory 4). With K the secret of the key
file, D the digest of the protocol and z the number of the record's letter, the word that decides a draw is

    h    = CBC-MAC of the person's id under AES-256 with key B(K, "identity")
    word = the first 64 bits of AES-256( h xor z ) with key B(K, "draws", D),            B a keyed BLAKE2b (RFC 7693).

*Ids.* A whole number is one block, its 64 bits and the mark 1. Any other text is its length and first bytes with the
mark 2, then further blocks. A whole number written as text in the one shortest way is that number, so that CSV and
Parquet give the same draws; `07` and `7.0` are other people than `7`, and the digest of the ids says so.

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
from discreet.records.letters import as_text, plain

Words = NDArray[np.uint64]

KEY_BYTES: Final = 32
LARGEST_KEY: Final = 1 << 16
BLOCK_BYTES: Final = 16
FIRST_TEXT_BYTES: Final = 12  # of a block of 16, three are the length and one the mark
LONGEST_TEXT: Final = 1 << 24
NUMBER_MARK, TEXT_MARK = 1, 2
SHORTEST_NUMBER = r"^(0|-?[1-9][0-9]{0,17})$"  # at most 18 digits: every such number fits into 64 bits
CONSTRUCTION = "AES-256 CBC-MAC of the id, AES-256 of it and the letter (2)"


@dataclass(eq=False)
class IdentityDigest:
    """The set of ids that went through, as a sum that depends on no order, and whether one came twice.

    Of every id the first half of its hash is remembered, eight bytes a record: two different ids among n share one with
    probability below n²/2^65, and would then be taken for a repeated id.
    """

    count: int = 0
    sums: tuple[int, int] = (0, 0)
    values: int = 0
    _seen: list[Words] = field(default_factory=list, repr=False)

    def add(self, hashes: Words) -> None:
        low, high = hashes.sum(axis=0, dtype=np.uint64)
        self.count += len(hashes)
        self.sums = (self.sums[0] + int(low)) % 2**64, (self.sums[1] + int(high)) % 2**64
        self._seen.append(hashes[:, 0].copy())

    def add_values(self, halves: Words) -> None:
        """The other half of what decided each draw: it depends on the letter too, and no draw depends on it."""
        self.values = (self.values + int(halves.sum(dtype=np.uint64))) % 2**64

    def repeated(self) -> int:
        """How many records carry an id that an earlier record carries too."""
        ordered = np.sort(np.concatenate(self._seen)) if self._seen else np.empty(0, np.uint64)
        return int(np.count_nonzero(ordered[1:] == ordered[:-1]))

    def rows_per_id(self) -> NDArray[np.int64]:
        """How many records each id has, in no order that tells anything."""
        seen = np.concatenate(self._seen) if self._seen else np.empty(0, np.uint64)
        return np.unique(seen, return_counts=True)[1].astype(np.int64)


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
    """`column` holds the person's id."""

    column: str
    _key: bytes = field(repr=False)
    protocol_digest: str
    identities: IdentityDigest = field(default_factory=IdentityDigest)

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

    @cached_property
    def _hash(self) -> Callable[[bytes], bytes]:
        return _encryptor(blake2b(key=self._key, digest_size=KEY_BYTES, person=b"discreet people").digest())

    @cached_property
    def _word(self) -> Callable[[bytes], bytes]:
        key = blake2b(self.protocol_digest.encode(), key=self._key, digest_size=KEY_BYTES, person=b"discreet draws 2")
        return _encryptor(key.digest())

    def words(self, ids: pa.Array, codes: Codes, first_row: int) -> Words:
        """One uniform word for every record; `first_row` numbers the first of them in messages."""
        people = plain(ids)
        people = people.combine_chunks() if isinstance(people, pa.ChunkedArray) else people
        self._check(people, first_row)
        hashes = self.hashes(people)
        self.identities.add(hashes)
        blocks = hashes.copy()
        blocks[:, 0] ^= codes.astype(np.uint64)
        drawn = _encrypted(self._word, blocks)
        self.identities.add_values(drawn[:, 1])
        return drawn[:, 0].copy()

    def hashes(self, people: pa.Array) -> Words:
        """h of every id, as two words."""
        if pa.types.is_integer(people.type) and people.type != pa.uint64():
            return self._numbers(people.cast(pa.int64()).to_numpy(zero_copy_only=False))
        texts = as_text(people)
        short = pc.match_substring_regex(texts, SHORTEST_NUMBER)
        if pc.all(short).as_py():
            return self._numbers(texts.cast(pa.int64()).to_numpy(zero_copy_only=False))
        found = np.empty((len(texts), 2), np.uint64)
        number = short.to_numpy(zero_copy_only=False)
        found[number] = self._numbers(texts.filter(short).cast(pa.int64()).to_numpy(zero_copy_only=False))
        found[~number] = self._texts(texts.filter(pc.invert(short)))
        return found

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
        repeated = self.identities.repeated()
        if repeated:
            raise ReleaseError(
                f"{repeated} records carry an id that another record carries too",
                where=f"column {self.column}",
                remedy="Equal values under one id are released alike, all or none of them true. If several rows "
                "really belong to one person, say so (--several-rows); otherwise give every record its own id.",
            )

    def _check(self, people: pa.Array, first_row: int) -> None:
        empty = people.is_null()
        if pa.types.is_string(people.type) or pa.types.is_large_string(people.type):
            empty = pc.or_(empty, pc.fill_null(pc.equal(people, ""), False))
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
    return None if key is None or identity is None else KeyedDraws.from_file(Path(key), identity, digest)


def _encryptor(key: bytes) -> Callable[[bytes], bytes]:
    """AES-256 block by block, each on its own: what goes in is never a message, only blocks that are all different."""
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update


def _encrypted(encrypt: Callable[[bytes], bytes], blocks: Words) -> Words:
    return np.frombuffer(encrypt(np.ascontiguousarray(blocks, "<u8").tobytes()), "<u8").reshape(-1, 2)


def read_key(path: Path) -> bytes:
    """At least 32 bytes that only their owner can read."""
    remedy = f"Make one with: (umask 077; head -c {KEY_BYTES} /dev/urandom > {path.name})"
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(LARGEST_KEY + 1)
    except OSError as error:
        what = f"the key cannot be read ({os.strerror(error.errno or 0)})"
        raise ReleaseError(what, where=str(path), remedy=remedy) from None
    if len(key) < KEY_BYTES or len(set(key)) < KEY_BYTES // 4:
        raise ReleaseError(f"the key is shorter than {KEY_BYTES} bytes, or not random", where=str(path), remedy=remedy)
    if len(key) > LARGEST_KEY:
        raise ReleaseError(f"a key above {LARGEST_KEY // 1024} KiB", where=str(path), remedy=remedy)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ReleaseError("others can read the key", where=str(path), remedy=f"chmod 600 {path.name}")
    return blake2b(key, person=b"discreet key").digest()
