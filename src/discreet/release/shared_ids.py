"""Ids of a table that lies in parts: whether they repeat, and whether rows that share one differ. No part can tell.

What a part says is grouped by whoever carries it: the texts of a column that looks like an id; or, for rows that are
said to share ids, two blocks a record. With h the keyed hash of the id, z the number of the letter and N a number made
for this release,

    person = AES-256( h ) under the key B(K, "persons", N),    kind = AES-256( h xor z ) under the key B(K, "kinds", N),

which tell whoever groups them which rows share an id and which of these share a letter, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.exceptions import DiscreetError
from discreet.records.cells import as_text, plain
from discreet.release.keyed_draws import BLOCK_BYTES, KeyedDraws, Words
from discreet.release.parts import NO_VALUES, PartJob

ID, PERSON, KIND = "id", "person", "kind"
PURPOSES: Final = (b"discreet persons", b"discreet kinds")


def id_texts(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The cells of the only column as the text that ids are compared by; none for a missing one."""
    for batch in batches:
        yield pa.record_batch([as_text(plain(batch.column(0))).drop_null().cast(pa.string())], names=[ID])


def person_kinds(job: PartJob, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Person and kind of every record, up to one that cannot be drawn: whoever draws it says why."""
    with NO_VALUES:
        keyed = job.keyed()
        kernel = job.kernel(keyed)
        person, kind = (_encryptor(keyed, purpose, job.nonce) for purpose in PURPOSES)
        for batch in batches:
            try:
                hashes = keyed.hashes(batch.column(keyed.column))
                codes = kernel.in_strata(kernel.letters(batch), batch)
            except DiscreetError:
                return
            kinds = hashes.copy()
            kinds[:, 0] ^= codes.astype(np.uint64)
            yield pa.record_batch([_blocks(person, hashes), _blocks(kind, kinds)], names=[PERSON, KIND])


def _encryptor(keyed: KeyedDraws, purpose: bytes, nonce: bytes) -> Cipher[modes.ECB]:
    """Block by block: equal blocks are to be found, and say nothing else."""
    return Cipher(algorithms.AES(keyed.derived(purpose, nonce)), modes.ECB())


def _blocks(cipher: Cipher[modes.ECB], words: Words) -> pa.Array:
    octets = cipher.encryptor().update(np.ascontiguousarray(words, "<u8").tobytes())
    blocks = pa.FixedSizeBinaryArray.from_buffers(pa.binary(BLOCK_BYTES), len(words), [None, pa.py_buffer(octets)])
    return blocks.cast(pa.binary())
