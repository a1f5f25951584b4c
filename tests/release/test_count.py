from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from discreet.exceptions import DiscreetError, TableError
from discreet.joint import Joint
from discreet.release import joint_of_file


def same(left: Joint, right: Joint) -> None:
    assert np.array_equal(left.counts, right.counts)  # type: ignore[arg-type]
    assert (left.secrets, left.releases, left.n) == (right.secrets, right.releases, right.n)


def test_a_file_counts_like_its_table(people: pa.Table, tmp_path: Path) -> None:
    pq.write_table(people, tmp_path / "in.parquet", row_group_size=700)
    columns: dict[str, Any] = {"secret": ["health"], "release": ["colour", "size"]}
    same(joint_of_file(str(tmp_path / "in.parquet"), **columns), Joint.from_table(people, **columns))
    pacsv.write_csv(people, tmp_path / "in.csv")
    texts = people.set_column(3, "size", people["size"].cast(pa.string()))
    same(joint_of_file(str(tmp_path / "in.csv"), **columns), Joint.from_table(texts, **columns))


def test_spaces_missing_and_ragged_rows(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_bytes("health;colour\nill; red\nwell;red \nill;\nwell;gr\u00fcn\nragged\n".encode("latin-1"))
    joint = joint_of_file(str(path), secret=["health"], release=["colour"], encoding="latin-1")
    assert joint.secrets[0].letters == ("ill", "well", None)
    assert joint.releases[0].letters == ("grün", "red", None)
    assert joint.counts is not None
    assert joint.counts.tolist() == [[0, 1, 1], [1, 1, 0], [0, 0, 1]]


def test_nothing_to_count(tmp_path: Path) -> None:
    path = tmp_path / "in.csv"
    path.write_text("health,colour\n")
    with pytest.raises(TableError, match="no records"):
        joint_of_file(str(path), secret=["health"], release=["colour"])
    path.write_text("health,colour\nill,red\n")
    with pytest.raises(DiscreetError, match="one value"):
        joint_of_file(str(path), secret=["health"], release=["colour"])
