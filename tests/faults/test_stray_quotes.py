"""Stray quotes make one cell of several records, and a kept cell is published: malformed quoting is refused."""

from __future__ import annotations

import csv
import io
import random
from typing import Any

import pytest

import discreet as dc
from discreet.records.csvfile import CsvRecords
from discreet.records.quotes import QuoteCheck

SECRET = "cancer"


class Drip(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        return super().read(1 if size else 0)

    def readinto(self, room: Any) -> int:
        return super().readinto(memoryview(room)[:1])


def read(data: bytes, stream: type[io.BytesIO] = io.BytesIO, **options: Any) -> list[tuple[Any, ...]]:
    records = CsvRecords(stream(data), ["a"], ["c"], **options)
    return [row for batch in records for row in zip(*(one.to_pylist() for one in batch.columns), strict=True)]


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("stream", [io.BytesIO, Drip])
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ('1,2,"3\n4,cancer,5\n6,7,"8"\n', "line 4"),
        ('1,2,"3"x\n', "line 2"),
        ('1,2,"3" \n', "line 2"),
        ('1,2,3\n"4"5,6,7\n', "line 3"),
        ('1,2,3\n\n"4"5,6,7\n', "line 4"),
        ('1,2,"3\n4,cancer,5\n', "line 2"),
        ('1,2,3\r\n"4,cancer,5\r\n', "line 3"),
        ('1,2"x,3\n4,"cancer,5\n6,7,8"9\n', "line 4"),
        ('"""",2,"3"""\n"1""",2,""""3\n', "line 3"),
        ('1,2,"3\n4,cancer,5"\n', "row 0"),
        ('1,"2,3\n4,cancer,5\n6,7",8\n', None),
        ('"1,2,3\n4,cancer,5\n6",7,8\n', "row 0"),
    ],
)
def test_malformed(body: str, line: str | None, stream: type[io.BytesIO], in_order: bool) -> None:
    if line is None:
        assert len(read(b"a,b,c\n" + body.encode(), stream, in_order=in_order)) == 1, "not a column that is read"
        return
    with pytest.raises(dc.TableError) as caught:
        read(b"a,b,c\n" + body.encode(), stream, in_order=in_order)
    assert line in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("stream", [io.BytesIO, Drip])
@pytest.mark.parametrize(
    ("body", "rows"),
    [
        ('1,2,"street 5\n1234 town, country"\n', [("1", "street 5\n1234 town, country")]),
        ('1,2,"a ""b"" c"\n"","",""\n', [("1", 'a "b" c'), ("", "")]),
        ('5" pipe,2,a "b" c\n1, "2",3\n', [('5" pipe', 'a "b" c'), ("1", "3")]),
        ('"""1""",2,"\n"\n', [('"1"', "\n")]),
        ('1,2,"3"', [("1", "3")]),
        ('1,2,"3"\r4,5,""""\r', [("1", "3"), ("4", '"')]),
    ],
)
def test_lawful(body: str, rows: list[Any], stream: type[io.BytesIO]) -> None:
    assert read(b"a,b,c\n" + body.encode(), stream) == rows


def test_a_header_is_held_to_the_same() -> None:
    with pytest.raises(dc.TableError, match=r"line 1\)"):
        read(b'a,"b"x,c\n1,2,3\n')
    assert read(b'\n\n"a","b\nb","c"\n1,2,3\n') == [("1", "3")]


def verdict(data: bytes, cuts: int, source: random.Random) -> bool:
    check, places = QuoteCheck(",", 0), sorted(source.randrange(len(data) + 1) for _ in range(cuts))
    try:
        for start, end in zip([0, *places], [*places, len(data)], strict=True):
            check.add(data[start:end])
        check.end()
    except dc.TableError:
        return False
    return True


def plainly(text: str) -> bool:
    """The rule byte by byte."""
    state = "begin"
    for here in text + "\n":
        if state == "in" and here == '"':
            state = "closed"
        elif state == "closed" and here == '"':
            state = "in"
        elif state == "closed" and here not in ",\n\r":
            return False
        elif state != "in":
            state = "begin" if here in ",\n\r" else "in" if state == "begin" and here == '"' else "field"
    return state != "in"


def test_blocks_of_any_size_say_the_same_as_byte_by_byte() -> None:
    source, lawful = random.Random(5), 0
    for _ in range(20_000):
        text = "".join(source.choices('"",\na', k=source.randrange(1, 12)))
        expected = plainly(text)
        lawful += expected
        for cuts in (0, 1, 3):
            assert verdict(text.encode(), cuts, source) is expected, text
    assert 4_000 < lawful < 16_000


def test_what_python_writes_is_lawful() -> None:
    source = random.Random(6)
    for _ in range(300):
        rows = [["".join(source.choices('",\n\ra ', k=5)) for _ in range(3)] for _ in range(4)]
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
            out = io.StringIO(newline="")
            csv.writer(out, quoting=quoting).writerows(rows)
            assert verdict(out.getvalue().encode(), 2, source)
