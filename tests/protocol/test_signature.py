"""Detached signatures: made with a key that nobody else can read, checked by this program and by another."""

import shutil
import stat
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from public_cases import protocol_of, twins

import discreet as dc
from discreet.protocol import signature
from discreet.protocol.signature import make_keys, signature_beside, signed, verify


def _pem(kind: str, content: str) -> bytes:
    return f"-----BEGIN {kind} KEY-----\n{content}\n-----END {kind} KEY-----\n".encode()


OTHER_KINDS = (
    _pem("PUBLIC", "MCowBQYDK2V/AyEAYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="),
    _pem("PRIVATE", "MC0CAQAwBQYDK2VwBCEEH2FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="),
)
"""Of an algorithm that nobody knows, and of Ed25519 with 31 bytes: cryptography has errors of its own for both."""


@pytest.fixture
def signed_file(tmp_path):
    """A public file, its signature, and the keys KEY and KEY.pub."""
    make_keys(tmp_path / "KEY")
    path = tmp_path / "public.json"
    protocol_of(twins()[0]).public().save(path)
    signature_beside(path).write_bytes(signed(path.read_bytes(), tmp_path / "KEY"))
    return path


def test_a_signature_holds_for_this_file_and_this_key(signed_file):
    folder = signed_file.parent
    verify(signed_file, folder / "KEY.pub")
    make_keys(folder / "OTHER")
    with pytest.raises(dc.ProtocolError, match="does not belong"):
        verify(signed_file, folder / "OTHER.pub")
    content = bytearray(signed_file.read_bytes())
    content[100] ^= 1
    signed_file.write_bytes(content)
    with pytest.raises(dc.ProtocolError, match="does not belong"):
        verify(signed_file, folder / "KEY.pub")


def test_keys_are_private_and_never_replaced(tmp_path):
    public = make_keys(tmp_path / "KEY")
    assert stat.S_IMODE((tmp_path / "KEY").stat().st_mode) == 0o600
    before = (tmp_path / "KEY").read_bytes(), public.read_bytes()
    with pytest.raises(dc.ReleaseError, match="there already"):
        make_keys(tmp_path / "KEY")
    public.rename(tmp_path / "kept")
    with pytest.raises(dc.ReleaseError, match="there already"):
        make_keys(tmp_path / "KEY")
    assert not public.exists()
    assert before == ((tmp_path / "KEY").read_bytes(), (tmp_path / "kept").read_bytes())
    with pytest.raises(dc.ReleaseError, match="cannot write"):
        make_keys(tmp_path / "no folder" / "KEY")


def test_a_key_that_others_can_read_signs_nothing(tmp_path):
    make_keys(tmp_path / "KEY")
    (tmp_path / "KEY").chmod(0o644)
    with pytest.raises(dc.ReleaseError, match="others can read"):
        signed(b"content", tmp_path / "KEY")


def test_a_file_of_any_size_is_not_read_whole(signed_file, monkeypatch):
    monkeypatch.setattr(signature, "LARGEST_SIGNED", signed_file.stat().st_size - 1)
    with pytest.raises(dc.ProtocolError, match="larger than any file"):
        verify(signed_file, signed_file.parent / "KEY.pub")


def test_what_is_no_key_is_refused(signed_file):
    folder = signed_file.parent
    other = generate_private_key(SECP256R1())
    pem = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "EC").write_bytes(pem)
    (folder / "EC").chmod(0o600)
    (folder / "EC.pub").write_bytes(other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    (folder / "noise").write_bytes(b"\x00" * 100)
    (folder / "noise").chmod(0o600)
    unknown, short = OTHER_KINDS
    (folder / "unknown").write_bytes(unknown)
    (folder / "short").write_bytes(short)
    for key in ("short", "EC", "noise", "KEY.pub"):
        (folder / key).chmod(0o600)
        with pytest.raises(dc.ReleaseError, match="Ed25519"):
            signed(b"content", folder / key)
    for key in ("EC.pub", "noise", "unknown", "KEY"):
        with pytest.raises(dc.ProtocolError, match="Ed25519"):
            verify(signed_file, folder / key)
    with pytest.raises(dc.ProtocolError, match="cannot be read"):
        verify(signed_file, folder / "nowhere")


def test_a_signature_that_is_missing_or_longer_is_refused(signed_file):
    key, beside = signed_file.with_name("KEY.pub"), signature_beside(signed_file)
    beside.write_bytes(beside.read_bytes() + b"\n")
    with pytest.raises(dc.ProtocolError, match="does not belong"):
        verify(signed_file, key)
    beside.unlink()
    with pytest.raises(dc.ProtocolError, match="cannot be read"):
        verify(signed_file, key)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_another_program_agrees(signed_file):
    key, beside = signed_file.with_name("KEY.pub"), signature_beside(signed_file)
    asked = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(key), "-rawin", "-in", str(signed_file)]
    assert subprocess.run([*asked, "-sigfile", str(beside)], capture_output=True, check=False).returncode == 0
    beside.write_bytes(bytes(64))
    assert subprocess.run([*asked, "-sigfile", str(beside)], capture_output=True, check=False).returncode != 0
