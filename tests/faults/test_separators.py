"""Whoever reads a CSV file meets the same columns, whatever is asked for: the separator does not depend on it."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dc
from discreet.records.columns import EVERY
from discreet.records.header import column_names
from discreet.records.source import open_records

TWO_WAYS = b"x,a;b;c\n1,u;2;3\n4,v;5;6\n"


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (TWO_WAYS, ("x,a", "b", "c")),
        (b"a, b, c;x\n1;2\n3;4\n", ("a, b, c", "x")),
        (b"x,a;b\n1,2\n3,4\n", ("x", "a;b")),
        (b"x\n1,2\n", ("x",)),
        (b"s\tx,y\n1\t2\n", ("s", "x,y")),
    ],
)
def test_one_rule(data: bytes, names: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    assert column_names(path) == names
    for wanted in ((), *((name,) for name in names), names):
        with open_records(str(path), wanted, others=EVERY) as source:
            assert tuple(one.name for one in source.others) == names
            assert sum(map(len, source)) == data.count(b"\n") - 1


def test_a_column_that_is_there_by_another_separator_only_is_not(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TWO_WAYS)
    with pytest.raises(dc.AlphabetError, match="no such column"):
        open_records(str(tmp_path / "t.csv"), ["x"])


def test_secrets_of_persons_are_read_where_the_header_may_be_a_record(tmp_path: Path) -> None:
    """Their rows must share the secret: that was judged by the names of another reading."""
    rows = [(i // 2, i % 2, i % 3, 7) for i in range(120)]
    (tmp_path / "t.csv").write_text("pid,s,x,7\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    joint = dc.Joint.from_table(tmp_path / "t.csv", secret="s", release="x")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    with pytest.raises(dc.DistributionError, match="different values of the secret"):
        protocol.sanitise(tmp_path / "t.csv", person="pid", rows="one")
