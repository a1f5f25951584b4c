"""Detached Ed25519 signatures (RFC 8032): whoever has the public key knows who published a file, and that it is whole.

The signature is over the very bytes of the file and stands beside it as FILE.sig, 64 bytes. Keys are PEM, so that other
tools read them:

    openssl pkeyutl -verify -pubin -inkey KEY.pub -rawin -in public.json -sigfile public.json.sig
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from cryptography.exceptions import InternalError, InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from discreet.exceptions import ProtocolError, ReleaseError
from discreet.files.atomic_file import check_writable

LARGEST_PEM: Final = 1 << 14
"""16 KiB: a key of Ed25519 in PEM has some hundred characters."""
LARGEST_SIGNED: Final = 1 << 28
"""256 MiB: what is read after its signature, a protocol or a matrix, has at most so much."""
SIGNATURE_BYTES: Final = 64
"""Of a signature of Ed25519 (RFC 8032)."""
NO_KEY: Final = ValueError, TypeError, UnsupportedAlgorithm, InternalError
"""What reading a key raises of bytes that are none, or one of a kind that OpenSSL does not know."""
MADE: Final = "Make one with `discreet keygen KEY`, which writes KEY and KEY.pub."


def signature_beside(path: str | os.PathLike[str]) -> Path:
    return Path(f"{os.fspath(path)}.sig")


def make_keys(path: Path) -> Path:
    """A new key that its owner alone can read, and beside it its public half. Neither replaces a file."""
    key = Ed25519PrivateKey.generate()
    public = Path(f"{path}.pub")
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    check_writable(path)
    check_writable(public)
    if public.exists():
        raise _in_the_way(public)
    _write_new(path, private, 0o600)
    _write_new(public, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), 0o644)
    return public


def signed(content: bytes, key: Path) -> bytes:
    """The signature of the content under a private key file."""
    data, mode = _read(key, "key")
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        raise ReleaseError("others can read the key", where=str(key), remedy=f"chmod 600 {key.name}")
    try:
        private = load_pem_private_key(data, None)
    except NO_KEY:
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise ReleaseError("not an Ed25519 key without a passphrase", where=str(key), remedy=MADE)
    return private.sign(content)


def verify(path: Path, public_key: Path) -> bytes:
    """The bytes of the file, once the signature beside it is one of theirs under this public key; ProtocolError if not.

    What was verified are these bytes: who reads the file again may read another."""
    data, _ = _read(public_key, "public key")
    try:
        public = load_pem_public_key(data)
    except NO_KEY:
        public = None
    if not isinstance(public, Ed25519PublicKey):
        raise ProtocolError("not an Ed25519 public key", where=str(public_key), remedy=MADE)
    signature, _ = _read(signature_beside(path), "signature")
    content, _ = _read(path, "file", LARGEST_SIGNED + 1)
    if len(content) > LARGEST_SIGNED:
        raise ProtocolError("larger than any file that is signed", where=str(path), remedy="Ask for the file again.")
    try:
        if len(signature) != SIGNATURE_BYTES:
            raise InvalidSignature
        public.verify(signature, content)
    except InvalidSignature:
        raise ProtocolError(
            "the signature does not belong to this file and this key",
            where=str(path),
            remedy="Ask for file and signature again; use neither until they agree.",
        ) from None
    return content


def _read(path: Path, what: str, most: int = LARGEST_PEM) -> tuple[bytes, int]:
    try:
        with path.open("rb") as file:
            return file.read(most), os.fstat(file.fileno()).st_mode
    except (OSError, ValueError) as error:
        reason = os.strerror(error.errno or 0) if isinstance(error, OSError) else "not a path"
        raise ProtocolError(f"the {what} cannot be read ({reason})", where=str(path)) from None


def _write_new(path: Path, content: bytes, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        raise _in_the_way(path) from None
    except OSError as error:
        raise ReleaseError(f"cannot write there ({error.strerror})", where=str(path)) from None
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _in_the_way(path: Path) -> ReleaseError:
    return ReleaseError(
        "a file of this name is there already", where=str(path), remedy="Keys are never replaced; give another name."
    )
