from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from discreet.records import kinds
from discreet.records.kinds import Counts, Kinds, Numbered, batches_of, counted, expanded, finished

FIRST = pa.record_batch({"output": pa.array([0, 2, 0], pa.int8()), "text": ["a", None, "a"]})
SECOND = pa.record_batch({"output": pa.array([1, 2], pa.int8()), "text": ["b", None]})


def test_counting_keeps_every_record_in_its_bucket() -> None:
    counts = Counts(FIRST.schema, buckets=2)
    assert counts.add(FIRST, np.array([0, 1, 0], np.uint8))
    assert counts.add(SECOND, np.array([1, 1], np.uint8))
    for bucket, records in enumerate(
        [[(0, "a"), (0, "a")], [(2, None), (1, "b"), (2, None)]],
    ):
        numbers = np.concatenate(list(expanded(counts.each[bucket], 2)))
        found = [
            (record["output"], record["text"])
            for part in batches_of(Numbered(counts.kinds, numbers))
            for record in part.to_pylist()
        ]
        assert Counter(found) == Counter(records)


def test_too_many_kinds_are_refused_before_anything_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts(FIRST.schema, buckets=1)
    assert counts.add(FIRST, np.zeros(3, np.uint8))
    monkeypatch.setattr(kinds, "MOST_KINDS", 6)
    assert not counts.add(SECOND, np.zeros(2, np.uint8))
    assert counts.each.sum() == 3


@pytest.mark.parametrize(
    ("kind", "suits"),
    [(pa.int64(), True), (pa.large_string(), True), (pa.bool_(), True), (pa.float64(), False), (pa.date32(), False)],
)
def test_only_what_is_written_alike_when_equal_is_counted(kind: pa.DataType, suits: bool) -> None:
    assert Counts.suits(pa.schema([("x", kind)])) is suits
    assert Counts.suits(pa.schema([("x", pa.dictionary(pa.int8(), kind))])) is suits


def test_records_are_finished_once_per_kind() -> None:
    calls = []

    def finish(batch: pa.RecordBatch) -> pa.RecordBatch:
        calls.append(len(batch))
        return batch

    shared = Kinds(FIRST)
    drafts = [Numbered(shared, np.array([0, 1, 1, 2], np.uint16)), Numbered(shared, np.array([2], np.uint16)), SECOND]
    told: list[tuple[str, int]] = []
    done = list(counted(finished(drafts, finish), "written", lambda stage, records: told.append((stage, records))))
    assert (calls, [len(draft) for draft in done]) == ([3, 2], [4, 1, 2])
    assert told == [("written", 4), ("written", 5), ("written", 7)]
