from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
from hypothesis import given
from hypothesis import strategies as st

from discreet.records.kinds import Kinds, Numbered
from discreet.records.letters import spreadsheet_safe
from discreet.records.writer import csv_lines, write_records

texts = st.none() | st.text() | st.sampled_from(["", '"', "=1+1", "-2", "\t", "\r\n", "a,b", "\0", "'=x", " "])
rows = st.lists(st.tuples(texts, texts, st.none() | st.booleans(), st.none() | st.integers(-(2**63), 2**63 - 1)))


def batch_of(cells: list[tuple[str | None, str | None, bool | None, int | None]]) -> pa.RecordBatch:
    labels, kept, flags, numbers = zip(*cells, strict=True) if cells else ((), (), (), ())
    columns = [
        pa.array(labels, pa.string()).dictionary_encode(),
        pa.array(kept, pa.large_string()),
        pa.array(flags, pa.bool_()),
        pa.array(numbers, pa.int64()),
    ]
    return pa.record_batch(columns, names=["label", "kept", "flag", "number"])


@given(rows)
def test_lines_are_those_of_pyarrow(cells: list[tuple[str | None, str | None, bool | None, int | None]]) -> None:
    batch = batch_of(cells)
    safe = [[None if x is None else spreadsheet_safe(x) for x in batch.column(i).to_pylist()] for i in (0, 1)]
    plain = pa.table([pa.array(safe[0], pa.string()), pa.array(safe[1], pa.string()), *batch.columns[2:]], list("abcd"))
    sink = io.BytesIO()
    pacsv.write_csv(plain, sink, pacsv.WriteOptions(include_header=False))
    assert b"".join(csv_lines(batch).to_pylist()) == sink.getvalue()


def test_numbered_and_plain_records_can_follow_each_other() -> None:
    batch = batch_of([("a", "=b", True, 1), ('"', None, None, None), (None, "é\n", False, -1)])
    numbers = np.array([2, 0, 0, 1], np.uint16)
    written = []
    for drafts in ([batch.take(pa.array(numbers)), batch], [Numbered(Kinds(batch), numbers), batch]):
        sink = io.BytesIO()
        close, sink.close = sink.close, lambda: None  # type: ignore[method-assign]
        assert write_records(sink, drafts, batch.schema, "csv") == 7
        written.append(sink.getvalue())
        close()
    assert written[0] == written[1]
    assert written[0].count(b"'=b") == 3
