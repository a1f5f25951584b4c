"""The protocol file as bytes: canonical JSON with a content hash, read within limits.

Canonical means sorted keys, no white space, ASCII, shortest floats: the same protocol is the same bytes. Reading parses
plain data only, checks the hash, and rebuilds the protocol, which proves it again.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.exceptions import InputError, ProofError, ProtocolError
from discreet.protocol.document import from_document, to_document

if TYPE_CHECKING:
    from discreet.protocol.protocol import Protocol

FORMAT, VERSION = "discreet protocol", 1
LARGEST_FILE = 128 * 2**20
DEEPEST = 8
STRING_OR_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
REMEDY = "Ask for the file again from where it came from; do not edit it."


def encode(protocol: Protocol) -> bytes:
    """The bytes of the protocol file."""
    content = _content(protocol)
    return canonical({**content, "sha256": _hash(content)}) + b"\n"


def digest(protocol: Protocol) -> str:
    return _hash(_content(protocol))


def decode(data: bytes) -> Protocol:
    """The protocol in these bytes, proven again."""
    content = _parsed(data)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ProtocolError("not a discreet protocol file", remedy="Choose a file that Protocol.save has written.")
    if content.get("version") != VERSION or isinstance(content["version"], bool):
        raise ProtocolError("another version of the protocol file", remedy=f"This release reads version {VERSION}.")
    stated = content.pop("sha256", None)
    try:
        if stated != _hash(content):
            raise ProtocolError("the content does not match its hash", where="sha256", remedy=REMEDY)
        return from_document({key: content[key] for key in content if key not in ("format", "version")})
    except ProtocolError:
        raise
    except (InputError, ProofError) as error:
        raise ProtocolError(error.what, where=error.where, remedy=REMEDY) from error
    except ArithmeticError as error:
        raise ProtocolError("a number beyond what the proof can handle", remedy=REMEDY) from error


def read_limited(path: Path) -> bytes:
    """The file's bytes, never more than the limit."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ProtocolError("the protocol file cannot be read", where=type(error).__name__) from error
    if len(data) > LARGEST_FILE:
        raise ProtocolError(f"a protocol file above {LARGEST_FILE // 2**20} MiB", remedy=REMEDY)
    return data


def canonical(content: Any) -> bytes:
    try:
        text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ProtocolError("a number that JSON cannot carry", remedy=REMEDY) from error
    return text.encode("ascii")


def _content(protocol: Protocol) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, **to_document(protocol)}


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(content)).hexdigest()


def _parsed(data: bytes) -> Any:
    if len(data) > LARGEST_FILE:
        raise ProtocolError(f"a protocol file above {LARGEST_FILE // 2**20} MiB", remedy=REMEDY)
    try:
        text = data.decode("utf-8")
        _check_depth(data)
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ProtocolError("not JSON", remedy=REMEDY) from error


def _check_depth(data: bytes) -> None:
    depth = 0
    for token in STRING_OR_BRACKET.finditer(data):
        first = token[0][:1]
        depth += (first in b"[{") - (first in b"]}")
        if depth > DEEPEST:
            raise ProtocolError(f"nested deeper than {DEEPEST}", remedy=REMEDY)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) != len(pairs):
        raise ProtocolError("a key occurs twice", remedy=REMEDY)
    return dict(pairs)


def _refuse(constant: str) -> NoReturn:
    raise ProtocolError("a number that is not finite", remedy=REMEDY)
