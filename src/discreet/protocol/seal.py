"""A protocol is what was proven: its numbers are hashed at the proof, and again before anything is drawn or written.

Arrays of numpy and scipy can be changed behind a frozen object. What was changed is not released under the proof of
what it was.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from discreet.exceptions import ProtocolError

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol


def seal_of(protocol: Protocol) -> bytes:
    """A hash of the weights and of the prior: what is drawn from, and what the proof is about."""
    columns, joint = protocol.columns, protocol.joint
    found = hashlib.sha256(repr((columns.shape, protocol.bits)).encode())
    for part in (columns.data, columns.indices, columns.indptr, joint.probabilities, joint.counts):
        if part is not None:
            found.update(np.ascontiguousarray(part).tobytes())
    return found.digest()


def check_seal(protocol: Protocol) -> None:
    """ProtocolError where the weights or the prior are not those that were proven."""
    if seal_of(protocol) != protocol.seal:
        raise ProtocolError(
            "changed after it was proven", where="weights or prior", remedy="Load it again, or make it anew."
        )
