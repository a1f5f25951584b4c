"""Files that the workers read themselves are released as the frame of them is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from standalone import missing

import discreet.spark
from discreet.exceptions import TableError
from discreet.spark.folder_carrier import FolderCarrier

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "Spark runs"),
    pytest.mark.xdist_group("spark"),
]


def test_equals_one_machine_cell_by_cell(spark: Any, source: Path, released: Any, alone: pa.Table) -> None:
    assert released(source).equals(alone)


def test_parts_are_all_row_groups_once(spark: Any, people: pa.Table, tmp_path: Path) -> None:
    for number, rows in enumerate((700, 3000, 50)):
        pq.write_table(people.slice(0, rows), tmp_path / f"{number}.parquet", row_group_size=100)
    parts = FolderCarrier(spark, str(tmp_path)).parts
    found = [(part.path, group) for part in parts for group in part.groups]
    assert len(found) == len(set(found)) == 7 + 30 + 1
    assert len(parts) >= 3


def test_what_cannot_be_read_as_files_is_refused(spark: Any, people: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(TableError, match="not Parquet files"):
        _ = FolderCarrier(spark, str(tmp_path / "nothing")).parts
    (tmp_path / "year=2020").mkdir()
    with pytest.raises(TableError, match="not Parquet files"):
        _ = FolderCarrier(spark, str(tmp_path)).parts
    (tmp_path / "year=2020").rmdir()
    pq.write_table(people, tmp_path / "0.parquet")
    pq.write_table(people.drop_columns("when"), tmp_path / "1.parquet")
    with pytest.raises(TableError, match="different columns"):
        _ = FolderCarrier(spark, str(tmp_path)).schema
    (tmp_path / "1.parquet").write_text("not Parquet")
    with pytest.raises(TableError, match="cannot be read"):
        _ = FolderCarrier(spark, str(tmp_path)).schema


def test_without_ids(spark: Any, source: Path, protocol: Any, people: pa.Table, tmp_path: Path) -> None:
    outcome = discreet.spark.sanitise(source, protocol, to=tmp_path / "out", ledger=tmp_path / "ledger", people="files")
    assert outcome.records == len(people) == len(pq.read_table(tmp_path / "out"))
