from __future__ import annotations

from pathlib import Path

import pytest

from discreet.exceptions import ReleaseError
from discreet.files.sealed_file import SealedFile, SealedWriter, seekable


def test_sealed_files_hold_nothing_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canary = b"CANARY" * 1_000
    with SealedFile(tmp_path) as sealed:
        places = [sealed.append(canary[:size]) for size in (1, 15, 16, 17, 6_000)]
        raw = sealed._file
        raw.seek(0)
        stored = raw.read()
        assert b"CANARY" not in stored
        assert len(stored) == sealed.size == sum(length for _, length in places)
        assert [sealed.read(*place) for place in places] == [canary[:size] for size in (1, 15, 16, 17, 6_000)]
        assert list(tmp_path.iterdir()) == []

        def full(*_: object) -> int:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.pwrite", full)
        with pytest.raises(ReleaseError, match="no room"):
            sealed.append(b"more")


def test_a_pipe_becomes_seekable(tmp_path: Path) -> None:
    content = bytes(range(256)) * 100
    path = tmp_path / "source"
    path.write_bytes(content)
    with SealedFile(tmp_path) as sealed, path.open("rb") as stream:
        file = seekable(stream, sealed)
        assert file.seek(-100, 2) == len(content) - 100
        assert file.read() == content[-100:]
        file.seek(77)
        assert file.read(1_000) == content[77:1_077]
        assert file.tell() == 1_077
    with SealedFile(tmp_path) as sealed:
        writer = SealedWriter(sealed)
        writer.write(b"abc")
        writer.write(memoryview(b"def"))
        assert (writer.tell(), sealed.read(0, 99)) == (6, b"abcdef")
