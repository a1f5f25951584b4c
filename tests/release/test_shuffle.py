from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import chisquare

from discreet.randomness import Keystream
from discreet.records import kinds
from discreet.records.kinds import Draft, Numbered, batches_of
from discreet.release import shuffle
from discreet.release.shuffle import MemoryLimit, permutation, shuffled

TINY = MemoryLimit(octets=2_000, records=100)


def batches(size: int, rows: int = 37) -> list[pa.RecordBatch]:
    names = [f"name {i}" for i in range(size)]
    few = ["many" if i % 3 else "few" for i in range(size)]
    table = pa.table({"number": np.arange(size), "name": names, "few": few})
    return list(table.to_batches(max_chunksize=rows))


def records(drafts: Iterable[Draft]) -> list[dict[str, Any]]:
    return [record for draft in drafts for part in batches_of(draft) for record in part.to_pylist()]


@pytest.mark.parametrize(
    "room", [MemoryLimit(), TINY, MemoryLimit(octets=2_000, records=10**9), MemoryLimit(octets=10**9, records=70)]
)
def test_records_stay_whole_and_none_is_lost(room: MemoryLimit, tmp_path: Path) -> None:
    out = records(shuffled(batches(5_000), Keystream.fresh(), tmp_path, room))
    assert sorted(record["number"] for record in out) == list(range(5_000))
    assert all(r["name"] == f"name {r['number']}" and (r["few"] == "many") == bool(r["number"] % 3) for r in out)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("most", [0, 20, 40, 1 << 16])
@pytest.mark.parametrize("room", [MemoryLimit(), TINY])
def test_records_of_few_kinds_are_counted_until_they_are_many(
    most: int, room: MemoryLimit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dictionaries that differ from batch to batch, nulls, and kinds that become too many on the way."""
    monkeypatch.setattr(kinds, "MOST_KINDS", most)
    rng = np.random.default_rng(0)
    parts = []
    for i in range(20):
        texts = [None if x == 0 else f"text {x}" for x in rng.integers(0, 2 + i // 3, 97)]
        column = pa.array(texts, pa.string())
        parts.append(
            pa.record_batch(
                [
                    pa.array(rng.integers(0, 3, 97).astype(np.int8)),
                    column.dictionary_encode("encode" if i % 2 else "mask"),
                    pa.array(rng.integers(0, 2, 97).astype(bool)),
                ],
                names=["output", "text", "flag"],
            )
        )
    drafts = list(shuffled(parts, Keystream.fresh(), room=room))
    assert {type(draft) is Numbered for draft in drafts} == {most == 1 << 16}
    before, after = (Counter(map(str, records(some))) for some in (parts, drafts))
    assert before == after


@pytest.mark.parametrize(
    "column",
    [
        pa.array([-1, 2, 2, None], pa.int8()),
        pa.array([1.5, 0.0, -0.0, None]),
        pa.array([2**40, -3, 0, None]),
        pa.array([b"a", b"\xff", b"", None]),
        pa.nulls(4),
    ],
)
def test_columns_of_any_type_survive(column: pa.Array) -> None:
    batch = pa.record_batch([column, pa.array(list("abab"))], names=["x", "y"])
    out = records(shuffled([batch, batch.slice(0, 0), batch], Keystream.fresh()))
    assert Counter(map(str, out)) == Counter(map(str, 2 * batch.to_pylist()))


def test_long_texts_come_in_small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "PART_OCTETS", 25_000)
    monkeypatch.setattr(shuffle, "BUCKETS", 2)
    batch = pa.record_batch([pa.array(["x" * 10_000, "y"] * 10)], names=["x"])
    drafts = list(shuffled([batch], Keystream.fresh()))
    assert max(len(part) for draft in drafts for part in batches_of(draft)) == 2
    assert len(records(drafts)) == 20


def test_nothing_and_a_single_huge_record() -> None:
    assert list(shuffled([], Keystream.fresh())) == []
    huge = pa.record_batch({"text": ["x" * 10_000]})
    (out,) = shuffled([huge], Keystream.fresh(), room=TINY)
    assert len(out) == 1


@pytest.mark.parametrize("most", [0, 1 << 16])
def test_every_order_is_equally_likely(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 orders of four records, through two buckets and further ones, moved and counted; 1e-6."""
    monkeypatch.setattr(shuffle, "BUCKETS", 2)
    monkeypatch.setattr(kinds, "MOST_KINDS", most)
    source, stream = batches(4, 1), Keystream.fresh()
    found = Counter(
        tuple(record["number"] for record in records(shuffled(source, stream, room=room)))
        for room, times in ((MemoryLimit(), 1_200), (MemoryLimit(octets=1, records=1), 100))
        for _ in range(times)
    )
    assert len(found) == 24
    assert chisquare(list(found.values())).pvalue > 1e-6


def test_every_arrangement_of_equal_records_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    """a a b c in 12 arrangements; dealing without putting the buckets in order fails."""
    monkeypatch.setattr(shuffle, "BUCKETS", 2)
    source, stream = [pa.record_batch({"x": list("ab")}), pa.record_batch({"x": list("ac")})], Keystream.fresh()

    def p_value() -> float:
        found = Counter(
            "".join(record["x"] for record in records(shuffled(source, stream, room=MemoryLimit(records=size))))
            for size in (1, 100)
            for _ in range(500)
        )
        return float(chisquare([*found.values(), *[0] * (12 - len(found))]).pvalue)

    assert p_value() > 1e-6
    monkeypatch.setattr(shuffle, "permutation", lambda size, _: np.arange(size))
    assert p_value() < 1e-6


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
