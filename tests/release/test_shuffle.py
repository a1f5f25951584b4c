from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from discreet.exceptions import ReleaseError
from discreet.release import shuffle
from discreet.release.randomness import Keystream
from discreet.release.sealed import SealedFile, SealedWriter, seekable
from discreet.release.shuffle import Room, permutation, shuffled

TINY = Room(octets=2_000, records=100)


def batches(size: int, rows: int = 37) -> list[pa.RecordBatch]:
    names = [f"name {i}" for i in range(size)]
    few = ["many" if i % 3 else "few" for i in range(size)]
    table = pa.table({"number": np.arange(size), "name": names, "few": few})
    return list(table.to_batches(max_chunksize=rows))


@pytest.mark.parametrize("room", [Room(), TINY, Room(octets=2_000, records=10**9), Room(octets=10**9, records=70)])
def test_records_stay_whole_and_none_is_lost(room: Room, tmp_path: Path) -> None:
    out = pa.Table.from_batches(
        [part.cast(batches(1)[0].schema) for part in shuffled(batches(5_000), Keystream.fresh(), tmp_path, room)]
    ).to_pylist()
    assert sorted(record["number"] for record in out) == list(range(5_000))
    assert all(r["name"] == f"name {r['number']}" and (r["few"] == "many") == bool(r["number"] % 3) for r in out)
    assert list(tmp_path.iterdir()) == []


def test_nothing_and_a_single_huge_record() -> None:
    assert list(shuffled([], Keystream.fresh())) == []
    huge = pa.record_batch({"text": ["x" * 10_000]})
    (out,) = shuffled([huge], Keystream.fresh(), room=TINY)
    assert len(out) == 1


def test_every_order_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """24 orders of four records, through two buckets and spilling; 1e-6."""
    monkeypatch.setattr(shuffle, "BUCKETS", 2)
    source = batches(4, 1)
    stream = Keystream.fresh()
    found = Counter(
        tuple(itertools.chain.from_iterable(part.column(0).to_pylist() for part in shuffled(source, stream, room=room)))
        for room, times in ((Room(), 2_000), (Room(octets=1, records=1), 200))
        for _ in range(times)
    )
    assert len(found) == 24
    assert chisquare(list(found.values())).pvalue > 1e-6


def test_equal_keys_are_ordered_at_random(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of one bit make nearly everything tie; without a tie-break the order would be far from uniform."""
    draw = Keystream.halves
    monkeypatch.setattr(Keystream, "halves", lambda self, count: draw(self, count) & np.uint16(1))
    stream = Keystream.fresh()
    found = Counter(tuple(permutation(3, stream).tolist()) for _ in range(6_000))
    assert len(found) == 6
    assert chisquare(list(found.values())).pvalue > 1e-6


@pytest.mark.parametrize("size", [0, 1, 2, 65_536, 65_537, 300_000])
def test_permutations(size: int) -> None:
    order = permutation(size, Keystream.fresh())
    assert np.array_equal(np.sort(order), np.arange(size))
    if size > 1_000:
        assert abs(np.corrcoef(order, np.arange(size))[0, 1]) < 6 / np.sqrt(size)


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
