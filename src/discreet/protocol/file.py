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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.exceptions import InputError, ProofError, ProtocolError
from discreet.protocol.document import AT_ONCE, from_document, to_document
from discreet.protocol.document_2 import from_document_2, to_document_2, too_many_cells

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol


FORMAT = "discreet protocol"
"""What the file says it is, under "format".

Example:
    >>> from discreet.protocol import FORMAT
    >>> FORMAT
    'discreet protocol'
"""
VERSION = 2
"""The version that is written; all earlier ones are read.

Example:
    >>> from discreet.protocol import VERSION
    >>> VERSION
    2
"""
PUBLIC_FORMAT, PUBLIC_VERSION = "discreet public protocol", 1
"""The file beside it that everybody may have (`public_file`)."""
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
EMPTY_ROOM = 4
"""The same for an empty list, which takes 64 bytes of memory: letters that nobody has have one each."""
FEW = 1 << 16
"""A file this small may be as dense as it likes."""
OPENING, CLOSING = (b"[", b"{"), (b"]", b"}")
REMEDY = "Ask for the file again from where it came from; do not edit it."


ESCAPED = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}


def encode(protocol: Protocol) -> bytes:
    """The bytes of the protocol file, in version 2."""
    where = f"{len(protocol.outputs):,} outputs of {len(protocol.inputs):,} letters"
    return readable_content(to_document_2(protocol), where, lambda size: too_many_cells(protocol, size))


def readable_content(
    document: dict[str, Any],
    where: str,
    refusal: Callable[[int], ProtocolError | None],
    form: str = FORMAT,
    version: int = VERSION,
) -> bytes:
    """The bytes of version 2; ProtocolError if they would not be read again, for `refusal` at their size or another."""
    data = b"".join(pieces_2(document, form, version))
    try:
        _check_size(data)
        _check_marks(data)
        if (found := refusal(len(data))) is not None:
            raise found
    except ProtocolError as error:
        raise ProtocolError(
            f"a protocol too large to be read again: {error.what}",
            where=where,
            remedy="Merge rare letters before designing, or choose fewer columns.",
        ) from None
    return data


def digest(protocol: Protocol) -> str:
    """The SHA-256 of the file's bytes, or of its content in version 1 if that is where it was first written."""
    return digest_of(pieces_1(protocol) if protocol.version == 1 else pieces_2(to_document_2(protocol)))


def decode(data: bytes) -> Protocol:
    """The protocol in these bytes, proven again."""
    version, content = parsed(data)
    with in_words_of_files():
        return _decoded_1(content) if version == 1 else _decoded_2(content, data)


def parsed(data: bytes) -> tuple[int, dict[str, Any]]:
    """The version of a protocol file, and its fields but the first two."""
    content = parsed_json(data)
    found = content.pop("format", None) if isinstance(content, dict) else None
    if found == PUBLIC_FORMAT:
        raise ProtocolError(
            "the public file, which has no counts",
            where="format",
            remedy="Use the full protocol file here; estimate and report take either.",
        )
    if found != FORMAT:
        raise ProtocolError("not a discreet protocol file", remedy="Choose a file that Protocol.save has written.")
    version = content.pop("version", None)
    if type(version) is not int or version not in (1, VERSION):
        raise ProtocolError("another version of the protocol file", remedy=f"This release reads 1 and {VERSION}.")
    return version, content


@contextmanager
def in_words_of_files() -> Iterator[None]:
    """Whatever is wrong with the content is a ProtocolError."""
    try:
        yield
    except ProtocolError:
        raise
    except (InputError, ProofError) as error:
        raise ProtocolError(error.what, where=error.where, remedy=REMEDY) from error
    except ArithmeticError as error:
        raise ProtocolError("a number beyond what the proof can handle", remedy=REMEDY) from error


def _decoded_1(content: dict[str, Any]) -> Protocol:
    stated = content.pop("sha256", None)
    if stated != digest_of(pieces({**content, "format": FORMAT, "version": 1})):
        raise ProtocolError("the content does not match its hash", where="sha256", remedy=REMEDY)
    protocol = from_document(content)
    if protocol.digest != stated:
        raise ProtocolError("a value that is not written in its canonical form", where="sha256", remedy=REMEDY)
    return protocol


def _decoded_2(content: dict[str, Any], data: bytes) -> Protocol:
    if "strata" in content:
        raise ProtocolError("a protocol with given columns", where="strata", remedy="Read it with dc.load_protocol.")
    protocol = from_document_2(content, len(data))
    content.clear()
    found = check_canonical(to_document_2(protocol), data)
    if protocol.version == VERSION:
        vars(protocol)["digest"] = found
    return protocol


def check_canonical(document: dict[str, Any], data: bytes, form: str = FORMAT, version: int = VERSION) -> str:
    """Written again it must be the same bytes: then their hash, which is returned, is its identity."""
    found = hashlib.sha256(data).hexdigest()
    if digest_of(pieces_2(document, form, version)) != found:
        raise ProtocolError("a file that is not in its canonical form", where="the file", remedy=REMEDY)
    return found


def read_limited(path: Path) -> bytes:
    """The file's bytes, never more than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise ProtocolError("the protocol file cannot be read", where=type(error).__name__) from error
    _check_size(data)
    return data


def canonical(content: Any) -> bytes:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ProtocolError("a number that JSON cannot carry", remedy=REMEDY) from error
    return text.encode("ascii")


def pieces_1(protocol: Protocol) -> Iterator[bytes]:
    """What version 1 of the file says, without its hash, piece by piece."""
    return pieces({"format": FORMAT, "version": 1, **to_document(protocol)})


def pieces_2(document: dict[str, Any], form: str = FORMAT, version: int = VERSION) -> Iterator[bytes]:
    """The bytes of version 2, or of another file that is identified by them, piece by piece."""
    for piece in pieces({"format": form, "version": version, **document}):
        for sign, escape in ESCAPED.items():
            piece = piece.replace(sign, escape)
        yield piece
    yield b"\n"


def digest_of(parts: Iterator[bytes]) -> str:
    found = hashlib.sha256()
    for piece in parts:
        found.update(piece)
    return found.hexdigest()


def pieces(content: Any) -> Iterator[bytes]:
    """`canonical` in pieces: a text of the whole would take nine times its own bytes on the way. An array is a list,
    an iterator the pieces of something that is written already."""
    if isinstance(content, Iterator):
        yield from content
    elif isinstance(content, dict) and all(isinstance(key, str) for key in content):
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
    elif isinstance(content, np.ndarray) or (isinstance(content, list) and len(content) > AT_ONCE):
        yield b"["
        for start in range(0, len(content), AT_ONCE):
            part = content[start : start + AT_ONCE]
            yield (b"," if start else b"") + canonical(part if isinstance(part, list) else part.tolist())[1:-1]
        yield b"]"
    else:
        yield canonical(content)


def parsed_json(data: bytes) -> Any:
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
        empty = mark == b"[" and data[found.end() : found.end() + 1] == b"]"
        room -= EMPTY_ROOM if empty else ROOM.get(mark, 0)
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
