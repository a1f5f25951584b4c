from __future__ import annotations

import io
from typing import Any

import pytest

from discreet.exceptions import AlphabetError, TableError
from discreet.records.csvfile import BLOCK_BYTES, CsvRecords


class Drip(io.BytesIO):
    """A pipe that hands out one byte at a time."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(1 if size else 0)


def read(data: bytes, stream: type[io.BytesIO] = io.BytesIO, **options: Any) -> tuple[list[tuple[Any, Any]], int]:
    records = CsvRecords(stream(data), ["a"], ["b"], **options)
    columns = [[map(octets, column.to_pylist()) for column in batch.columns] for batch in records]
    return [pair for batch in columns for pair in zip(*batch, strict=True)], records.unreadable


def octets(cell: str | None) -> bytes | None:
    return None if cell is None else cell.encode()


NONE = (None, None)


@pytest.mark.parametrize("stream", [io.BytesIO, Drip])
@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"a,b\n1,2\n3,4\n", [(b"1", b"2"), (b"3", b"4")]),
        (b"a,b\n1,2\n3,4", [(b"1", b"2"), (b"3", b"4")]),
        (b"a,b\r\n1,2\r\n", [(b"1", b"2")]),
        (b"a,b\r1,2\r", [(b"1", b"2")]),
        (b"\n\r\na,b\n1,2\n\n\n3,4\n", [(b"1", b"2"), (b"3", b"4")]),
        (b" a , b \n1,2\n", [(b"1", b"2")]),
        (b'"a","b"\n"1","2"\n', [(b"1", b"2")]),
        (b"c,b,a\nx,2,1\n", [(b"1", b"2")]),
        (b"a;b\n1;2,5\n", [(b"1", b"2,5")]),
        (b"a\tb\n1\t2\n", [(b"1", b"2")]),
        (b"a|b\n1|2\n", [(b"1", b"2")]),
        (b'a,b\n"1\n1","2,2"\n', [(b"1\n1", b"2,2")]),
        (b'a,b\n"1""1",2\n', [(b'1"1', b"2")]),
        (b'a,b\n1"1,2\n', [(b'1"1', b"2")]),
        (b'"a","b","c\nd"\n1,2,3\n', [(b"1", b"2")]),
        (b"a,b\n", []),
        (b"a,b", []),
        (b"a,b\n,\n", [(b"", b"")]),
        (b"a,b\n1\n2,3\n4,5,6\n", [NONE, (b"2", b"3"), NONE]),
        (b"a,b\n1,2\nx\n", [(b"1", b"2"), NONE]),
        (b"a,b\nx\n\n1,2\ny\ny\n3,4\n", [NONE, (b"1", b"2"), NONE, NONE, (b"3", b"4")]),
        (b"a,b\n\x00,\x01\n", [(b"\x00", b"\x01")]),
        (b"\xef\xbb\xbfa,b\n1,2\n", [(b"1", b"2")]),
    ],
)
def test_the_policy(data: bytes, rows: list[Any], stream: type[io.BytesIO]) -> None:
    assert read(data, stream) == (rows, rows.count(NONE))


@pytest.mark.parametrize(
    ("data", "likely"),
    [
        (b"a,b\ncaf\xe9,2\n", "latin-1"),
        (b"a,b\n\x93caf\xe9\x94,2\n", "cp1252"),
        ("a,b\né,ü\n".encode() + b"\xc3,x\n", "latin-1"),
        (b"a,b\n\x00\xff,\xe9\n", "no text"),
    ],
)
def test_what_is_not_utf8_is_refused_with_what_it_probably_is(data: bytes, likely: str) -> None:
    with pytest.raises(TableError, match=likely):
        read(data)


def test_what_does_not_fit_a_declared_encoding_is_refused() -> None:
    with pytest.raises(TableError, match="do not fit the encoding utf-8"):
        read(b"a,b\n\xff\xfe,\xe9\n\xe8,\xc3\n", encoding="utf-8")


@pytest.mark.parametrize("encoding", ["hex", "base64", "rot13", "klingon", "zlib"])
def test_what_is_no_encoding_of_text_is_refused(encoding: str) -> None:
    with pytest.raises(TableError, match="unknown encoding"):
        read(b"a,b\n1,2\n", encoding=encoding)


def test_where_the_order_does_not_matter_no_record_is_lost() -> None:
    lines = [b"ragged" if i % 1_000 == 7 else b"%d,%s" % (i, b"x" * 50) for i in range(3 * BLOCK_BYTES // 50)]
    rows, unreadable = read(b"a,b\n" + b"\n".join(lines) + b"\nragged", in_order=False)
    assert len(rows) == len(lines) + 1
    assert unreadable == 1 + sum(line == b"ragged" for line in lines)
    expected = sorted(line.split(b",")[0] for line in lines if line != b"ragged")
    assert sorted(row[0] for row in rows if row != NONE) == expected


@pytest.mark.parametrize("encoding", ["utf-32", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252", "utf-8-sig"])
def test_encodings(encoding: str) -> None:
    data = "a,b\né,ü\n".encode(encoding)
    assert read(data, encoding=encoding)[0] == [("é".encode(), "ü".encode())]
    assert read(data, Drip, encoding=encoding)[0] == [("é".encode(), "ü".encode())]


def test_a_mark_beats_the_declaration() -> None:
    assert read("a,b\né,ü\n".encode("utf-16"), encoding="latin-1")[0] == [("é".encode(), "ü".encode())]


def test_ragged_rows_keep_their_place_across_blocks() -> None:
    """Three blocks of records, every thousandth of them ragged."""
    lines = [b"ragged" if i % 1_000 == 7 else b"%d,%s" % (i, b"x" * 50) for i in range(3 * BLOCK_BYTES // 50)]
    rows, unreadable = read(b"a,b\n" + b"\n".join(lines) + b"\n")
    assert len(rows) == len(lines)
    assert unreadable == sum(line == b"ragged" for line in lines)
    assert all(
        row[0] is None if line == b"ragged" else row[0] == line.split(b",")[0]
        for row, line in zip(rows, lines, strict=True)
    )


def test_a_million_characters() -> None:
    assert read(b"a,b\n" + b"x" * 1_000_000 + b",1\n2,3\n")[0][1] == (b"2", b"3")


def test_a_blank_line_is_a_missing_cell_where_there_is_one_column() -> None:
    records = CsvRecords(io.BytesIO(b"a\n1\n\n2\n"), ["a"], [])
    assert [cell for batch in records for cell in batch.column(0).to_pylist()] == ["1", "", "2"]


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (b'a,b\n1,"2\n3,4\n', TableError, "not closed"),
        (b'a,b\n1,2\n3,"4', TableError, "not closed"),
        (b'a,b\n"' + b"x" * (3 * BLOCK_BYTES) + b'",1\n', TableError, "longer than"),
        (b"a,c\n1,2\n", AlphabetError, "no such column"),
        (b"a,b,a\n1,2,3\n", AlphabetError, "two columns"),
        (b"", AlphabetError, "no such column"),
        (b"\n\n", AlphabetError, "no such column"),
        (b'"a,b\n1,2\n', AlphabetError, "no such column"),
    ],
)
def test_what_is_no_table(data: bytes, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        read(data)
    assert "xxx" not in str(caught.value)


def test_an_unknown_encoding() -> None:
    with pytest.raises(TableError, match="unknown encoding"):
        read(b"a,b\n1,2\n", encoding="klingon")
