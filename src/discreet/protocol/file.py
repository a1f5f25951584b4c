"""The protocol file as bytes: canonical JSON, read within limits.

Canonical means sorted keys, no white space, ASCII: the same protocol is the same bytes. Version 2 is identified by the
SHA-256 of its bytes, and read in its canonical form only; it also writes `<`, `>` and `&` as escapes, so that a page
can carry it. Version 1 carries a hash of its content, which is checked. Reading parses plain data only and rebuilds the
protocol, which proves it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.exceptions import InputError, ProofError, ProtocolError
from discreet.protocol.document import from_document, to_document
from discreet.protocol.document_2 import from_document_2, to_document_2, too_many_cells

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol


FORMAT, VERSION = "discreet protocol", 2
LARGEST_FILE = 64 * 2**20
"""Room for 2,000 outputs of 2,000 letters; with ROOM below, no file takes more than 1.3 GB to read."""
DEEPEST = 8
"""A letter may be a tuple of tuples; what is deeper would only test the parser."""
TO_NEXT_MARK = re.compile(rb'(?:[^"\[\]{}:]++|"(?:[^"\\]++|\\.)*+"?)*+([\[\]{}:]|\Z)', re.DOTALL)
"""Up to the next bracket or colon outside text. It never fails and never goes back, so a scan is linear."""
ROOM = {b"[": 8, b"{": 10, b":": 20}
"""So many bytes a file has on average for each of them: those of a protocol have more, and a shorter one would take
more than 20 times its own bytes of memory."""
TEXT_ROOM = 6
"""The same for each text, quotes and comma included."""
FEW = 1 << 16
"""A file this small may be as dense as it likes."""
OPENING, CLOSING = (b"[", b"{"), (b"]", b"}")
AT_ONCE = 1 << 12
"""Entries of a list that are written at once."""
REMEDY = "Ask for the file again from where it came from; do not edit it."


ESCAPED = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}


def encode(protocol: Protocol) -> bytes:
    """The bytes of the protocol file, in version 2."""
    data = b"".join(_written(protocol))
    try:
        _check_size(data)
        _check_marks(data)
        if (found := too_many_cells(protocol, len(data))) is not None:
            raise found
    except ProtocolError as error:
        raise ProtocolError(
            f"a protocol too large to be read again: {error.what}",
            where=f"{len(protocol.outputs):,} outputs of {len(protocol.inputs):,} letters",
            remedy="Merge rare letters before designing, or choose fewer columns.",
        ) from None
    return data


def digest(protocol: Protocol) -> str:
    """The SHA-256 of the file's bytes, or of its content in version 1 if that is where it was first written."""
    return _hash(pieces(content_1(protocol)) if protocol.version == 1 else _written(protocol))


def decode(data: bytes) -> Protocol:
    """The protocol in these bytes, proven again."""
    content = _parsed(data)
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ProtocolError("not a discreet protocol file", remedy="Choose a file that Protocol.save has written.")
    version = content.pop("version", None)
    if type(version) is not int or version not in (1, VERSION):
        raise ProtocolError("another version of the protocol file", remedy=f"This release reads 1 and {VERSION}.")
    try:
        return _decoded_1(content) if version == 1 else _decoded_2(content, data)
    except ProtocolError:
        raise
    except (InputError, ProofError) as error:
        raise ProtocolError(error.what, where=error.where, remedy=REMEDY) from error
    except ArithmeticError as error:
        raise ProtocolError("a number beyond what the proof can handle", remedy=REMEDY) from error


def _decoded_1(content: dict[str, Any]) -> Protocol:
    stated = content.pop("sha256", None)
    if stated != _hash(pieces({**content, "format": FORMAT, "version": 1})):
        raise ProtocolError("the content does not match its hash", where="sha256", remedy=REMEDY)
    protocol = from_document(content)
    if protocol.digest != stated:
        raise ProtocolError("a value that is not written in its canonical form", where="sha256", remedy=REMEDY)
    return protocol


def _decoded_2(content: dict[str, Any], data: bytes) -> Protocol:
    """Written again it must be the same bytes: then their hash is its identity."""
    protocol = from_document_2(content, len(data))
    content.clear()
    if _hash(_written(protocol)) != hashlib.sha256(data).hexdigest():
        raise ProtocolError("a file that is not in its canonical form", where="the file", remedy=REMEDY)
    return protocol


def read_limited(path: Path) -> bytes:
    """The file's bytes, never more than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ProtocolError("the protocol file cannot be read", where=type(error).__name__) from error
    _check_size(data)
    return data


def canonical(content: Any) -> bytes:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ProtocolError("a number that JSON cannot carry", remedy=REMEDY) from error
    return text.encode("ascii")


def content_1(protocol: Protocol) -> dict[str, Any]:
    """What version 1 of the file says, without its hash."""
    return {"format": FORMAT, "version": 1, **to_document(protocol)}


def _written(protocol: Protocol) -> Iterator[bytes]:
    """The bytes of version 2, piece by piece."""
    for piece in pieces({"format": FORMAT, "version": VERSION, **to_document_2(protocol)}):
        for sign, escape in ESCAPED.items():
            piece = piece.replace(sign, escape)
        yield piece
    yield b"\n"


def _hash(parts: Iterator[bytes]) -> str:
    found = hashlib.sha256()
    for piece in parts:
        found.update(piece)
    return found.hexdigest()


def pieces(content: Any) -> Iterator[bytes]:
    """`canonical` in pieces: a text of the whole would take nine times its own bytes on the way."""
    if isinstance(content, dict) and all(isinstance(key, str) for key in content):
        yield b"{"
        for i, key in enumerate(sorted(content)):
            yield (b"," if i else b"") + canonical(key) + b":"
            yield from pieces(content[key])
        yield b"}"
    elif isinstance(content, list) and any(isinstance(item, list) and len(item) > AT_ONCE for item in content):
        yield b"["
        for i, item in enumerate(content):
            yield b"," if i else b""
            yield from pieces(item)
        yield b"]"
    elif isinstance(content, list) and len(content) > AT_ONCE:
        yield b"["
        for start in range(0, len(content), AT_ONCE):
            yield (b"," if start else b"") + canonical(content[start : start + AT_ONCE])[1:-1]
        yield b"]"
    else:
        yield canonical(content)


def _parsed(data: bytes) -> Any:
    _check_size(data)
    _check_marks(data)
    try:
        content = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_distinct,
            parse_constant=_refuse,
            parse_float=_canonical_float,
            parse_int=_canonical_integer,
        )
    except (ValueError, RecursionError):
        content = _NOT_JSON
    if content is _NOT_JSON:
        raise ProtocolError("not JSON", remedy=REMEDY)
    return content


_NOT_JSON = object()
"""Raised outside the handler: the error of another library carries the whole file."""


def _check_size(data: bytes) -> None:
    if len(data) > LARGEST_FILE:
        raise ProtocolError(f"a protocol file above {LARGEST_FILE // 2**20} MiB", remedy=REMEDY)


def _check_marks(data: bytes) -> None:
    """Not nested too deep, and not so dense with lists, objects and keys that reading it takes all memory."""
    depth, room = 0, max(len(data), FEW)
    if data.count(b'"') // 2 * TEXT_ROOM > room:
        raise ProtocolError("more texts than a protocol of its size has", remedy=REMEDY)
    for found in TO_NEXT_MARK.finditer(data):
        mark = found[1]
        room -= ROOM.get(mark, 0)
        depth += (mark in OPENING) - (mark in CLOSING)
        if depth < 0:
            raise ProtocolError("not JSON", remedy=REMEDY)
        if depth > DEEPEST:
            raise ProtocolError(f"nested deeper than {DEEPEST}", remedy=REMEDY)
        if room < 0:
            raise ProtocolError("more lists and objects than a protocol of its size has", remedy=REMEDY)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ProtocolError("a key occurs twice", remedy=REMEDY)
    return dict(pairs)


def _refuse(constant: str) -> NoReturn:
    raise ProtocolError("a number that is not finite", remedy=REMEDY)


def _canonical_float(text: str) -> float:
    value = float(text)
    if repr(value) != text:
        raise ProtocolError("a number that is not written in its canonical form", remedy=REMEDY)
    return value


def _canonical_integer(text: str) -> int:
    if text == "-0":
        raise ProtocolError("a number that is not written in its canonical form", remedy=REMEDY)
    return int(text)
