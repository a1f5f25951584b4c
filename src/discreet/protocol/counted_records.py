"""Of which records a mechanism keeps the law: those that were counted, and of a public file as many as it states.

Kept is the law of the records themselves. It is not that of rows where persons have several and all are released, nor
of weighted records, nor of counts with noise; a public sample is other people. A law does not say how many records it
is of: one of halves may be that of every even number. So their number is stated, or it is not known.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from discreet.arrays import Floats
from discreet.protocol.protocol import Protocol
from discreet.protocol.public import PublicProtocol
from discreet.protocol.reveals import Prior, prior_of
from discreet.protocol.statement import stated_rows

LAW_KEPT = 2.0**-40
"""A law that differs by less is the same, rounded; a public file states laws to a little less."""
STATED_LAW = 1e-9
"""For a law that a public file states in decimal digits."""


def stated_laws(protocol: Protocol | PublicProtocol) -> tuple[Floats, Floats] | None:
    """The laws of inputs and of targets, where they are stated."""
    if isinstance(protocol, PublicProtocol):
        return None if protocol.law is None else (protocol.law, protocol.law)
    return protocol.joint.prior, protocol.joint.target_prior


def target_places(protocol: Protocol | PublicProtocol) -> dict[Hashable, int]:
    letters = protocol.target_letters if isinstance(protocol, PublicProtocol) else protocol.joint.target_letters
    return {letter: t for t, letter in enumerate(letters)}


def stated_prior(protocol: Protocol | PublicProtocol) -> Prior:
    """Whether the laws are those of the records that were counted, of their weights, or of counts with noise."""
    return protocol.prior if isinstance(protocol, PublicProtocol) else prior_of(protocol.joint)


def keeps_law(protocol: Protocol | PublicProtocol) -> bool:
    """Whether outputs are letters of the target and have its law."""
    place, laws = target_places(protocol), stated_laws(protocol)
    if laws is None or not all(output in place for output in protocol.outputs):
        return False
    law = np.zeros(len(place))
    law[[place[output] for output in protocol.outputs]] = protocol.matrix @ laws[0]
    close = STATED_LAW if isinstance(protocol, PublicProtocol) else LAW_KEPT
    return bool(np.abs(law - laws[1]).max() <= close)


def counted_records(protocol: Protocol | PublicProtocol) -> int | None:
    """How many records were counted whose law the mechanism keeps; None if it keeps none, or nobody says how many."""
    records = protocol.records if isinstance(protocol, PublicProtocol) else protocol.joint.n
    if records is None or protocol.source != "data" or stated_prior(protocol) != "exact":
        return None
    return records if stated_rows(protocol) is None and keeps_law(protocol) else None


def is_counted(protocol: object, records: int) -> bool:
    """Whether so many records may be those that the protocol was counted from and whose law it keeps."""
    return isinstance(protocol, Protocol | PublicProtocol) and counted_records(protocol) == records
