"""Protocols: channels that were proven, and the file that lets anyone prove them again."""

from discreet.protocol.file import FORMAT, VERSION
from discreet.protocol.protocol import Protocol, Source

__all__ = ["FORMAT", "VERSION", "Protocol", "Source"]
