"""The header alone: the columns and the number of records of every kind of table, and no other value of it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from discreet.exceptions import TableError
from discreet.records.header import column_names, header_of

TABLE = pa.table({"town": ["A", "B", "B"], "age": [1, 2, 3]})


def test_columns_and_records_of_every_kind_of_file(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("town;age\nA;1\nB;2\nB;3\n")
    pq.write_table(TABLE, tmp_path / "t.parquet")
    feather.write_feather(TABLE, str(tmp_path / "t.arrow"), compression="uncompressed")
    for name in ("t.csv", "t.parquet", "t.arrow"):
        assert header_of(str(tmp_path / name)) == (("town", "age"), 3)


def test_columns_of_a_frame() -> None:
    assert tuple(column_names(TABLE)) == ("town", "age")


def test_a_column_with_a_name_of_its_own_is_needed(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("secretword,secretword\n1,2\n")
    with pytest.raises(TableError) as error:
        header_of(str(tmp_path / "t.csv"))
    assert "secretword" not in str(error.value)
