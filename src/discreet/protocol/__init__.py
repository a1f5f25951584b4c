"""Protocols: channels that were proven, and the file that lets anyone prove them again.

Problem: from a designed matrix to integer weights that are proven to satisfy their notion, and a file that says so.
Theorem: mixing with the output distribution mends what rounding broke; the same protocol is the same bytes.
Entrance: `Protocol.make`, `save` and `load`; making and loading both prove.
Size: files up to 64 MiB, 24 attributes, weights of up to 60 bits.
Proves: nothing by itself; `certify` proves, and no `Protocol` exists that it did not prove.
"""

from discreet.protocol.file import FORMAT, VERSION
from discreet.protocol.protocol import Protocol, Source

__all__ = ["FORMAT", "VERSION", "Protocol", "Source"]
