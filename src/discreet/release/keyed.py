"""Draws that repeat: a keyed function of person, protocol and value instead of fresh randomness.

Releasing a record again then gives the identical cell, which tells nothing new (theory 4). The word that decides a draw
is a keyed BLAKE2b (RFC 7693) of the person's id and the record's letter, under a key derived from the key file and the
protocol: whoever lacks the key sees independent uniform words.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.exceptions import ReleaseError, TableError
from discreet.release.letters import Codes, as_text, plain

KEY_BYTES: Final = 32


@dataclass(frozen=True)
class Keyed:
    """`column` holds the person's id."""

    column: str
    _key: bytes = field(repr=False)

    @classmethod
    def from_file(cls, path: Path, column: str, protocol_hash: str) -> Keyed:
        return cls(column, blake2b(protocol_hash.encode(), key=read_key(path), person=b"discreet draws").digest())

    @property
    def name(self) -> str:
        """Tells keys apart without telling anything about them."""
        return blake2b(b"name", key=self._key, digest_size=8, person=b"discreet name").hexdigest()

    def words(self, ids: pa.Array, codes: Codes, first_row: int) -> NDArray[np.uint64]:
        """One uniform word for every record; `first_row` numbers the first of them in messages."""
        people, key = as_text(plain(ids)).to_pylist(), self._key
        if not all(people):
            row = first_row + next(i for i, person in enumerate(people) if not person)
            raise TableError(
                "a record has no id",
                where=f"row {row}, column {self.column}",
                remedy="A draw can only repeat for a person who has an id; give every record one.",
            )
        digests = (
            blake2b(person.encode() + code.to_bytes(4, "little"), digest_size=8, key=key).digest()
            for person, code in zip(people, codes.tolist(), strict=True)
        )
        return np.frombuffer(b"".join(digests), np.uint64)


def read_key(path: Path) -> bytes:
    """At least 32 bytes that only their owner can read."""
    remedy = f"Make one with: (umask 077; head -c {KEY_BYTES} /dev/urandom > {path.name})"
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            key = file.read(1 << 16)
    except OSError as error:
        what = f"the key cannot be read ({os.strerror(error.errno or 0)})"
        raise ReleaseError(what, where=str(path), remedy=remedy) from None
    if len(key) < KEY_BYTES or len(set(key)) < KEY_BYTES // 4:
        raise ReleaseError(f"the key is shorter than {KEY_BYTES} bytes, or not random", where=str(path), remedy=remedy)
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ReleaseError("others can read the key", where=str(path), remedy=f"chmod 600 {path.name}")
    return blake2b(key, person=b"discreet key").digest()
