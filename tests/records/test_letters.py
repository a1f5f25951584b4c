from __future__ import annotations

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pytest

from discreet.attribute import Attribute
from discreet.exceptions import AlphabetError, TableError
from discreet.records.cells import MARK, readable
from discreet.records.letters import LetterReader

TEXT = LetterReader((Attribute("colour", ("red", "blå", "")),))
NUMBERS = LetterReader((Attribute("size", (1, 2.5, -3, None)),))
NONE = 3


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (pa.array(["red", "blå", "green", None, ""]), [0, 1, NONE, 2, 2]),
        (pa.array([" red", "blå\t", "\u00a0red ", "  ", "re d"]), [0, 1, 0, 2, NONE]),
        (pa.array(["red", "blå"]).dictionary_encode(), [0, 1]),
        (pa.array(["red", None], pa.large_string()), [0, 2]),
        (pa.array(["red", None], pa.string_view()), [0, 2]),
        (pa.array([b"red", b"bl\xc3\xa5", b"bl\xe5", b"\xff\xfe", b""]), [0, 1, NONE, NONE, 2]),
        (pa.nulls(2), [2, 2]),
        (pa.array([1, 2]), [NONE, NONE]),
        (pa.array(["x" * 1_000_000, "red"]), [NONE, 0]),
        (pa.array([], pa.string()), []),
        (pa.array([datetime.date(2020, 1, 1), None]), [NONE, 2]),
    ],
)
def test_text(cells: pa.Array, codes: list[int]) -> None:
    assert TEXT.codes([cells]).tolist() == codes


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        (pa.array([1, -3, 7, None], pa.int64()), [0, 2, 4, 3]),
        (pa.array([1, 2**64 - 3], pa.uint64()), [0, 4]),
        (pa.array([1.0, 2.5, float("nan"), float("inf"), -3.0]), [0, 1, 3, 4, 2]),
        (pa.array(["1", "1.0", "2.5", " -3 ", "", "one"]), [0, 0, 1, 2, 3, 4]),
        (pa.array([decimal.Decimal("2.5"), None]), [1, 3]),
        (pa.array([True, False]), [4, 4]),
    ],
)
def test_numbers(cells: pa.Array, codes: list[int]) -> None:
    assert NUMBERS.codes([cells]).tolist() == codes


def test_sliced_arrays() -> None:
    cells = pa.array(["red", "blå", "green", None]).dictionary_encode()
    assert TEXT.codes([cells.slice(1, 2)]).tolist() == [1, NONE]


def test_several_attributes_in_c_order_and_one_gap_is_enough() -> None:
    reading = LetterReader((Attribute("a", ("x", "y")), Attribute("b", (0, 1, 2))))
    a = pa.array(["x", "y", "y", "?", "x", "?"])
    b = pa.array([2, 0, 2, 1, 9, 9])
    assert reading.codes([a, b]).tolist() == [2, 3, 5, 6, 6, 6]


def test_many_letters_do_not_overflow() -> None:
    reading = LetterReader(tuple(Attribute(name, tuple(range(60))) for name in "abc"))
    cells = [pa.array([59, 99, 0])] * 3
    assert reading.codes(cells).tolist() == [60**3 - 1, 60**3, 0]


@pytest.mark.parametrize("letters", [("a", "a "), (1, "1"), (1.0, " 1.0")])
def test_letters_written_alike_are_refused(letters: tuple[object, ...]) -> None:
    with pytest.raises(AlphabetError, match="written alike"):
        LetterReader((Attribute("x", letters),)).codes([pa.array(["a"])])


def test_lists_are_refused_by_their_type() -> None:
    with pytest.raises(TableError, match="list"):
        TEXT.check(pa.schema([("colour", pa.list_(pa.int8()))]))


def test_text_that_is_published_is_utf8_and_bytes_are_bytes() -> None:
    octets = pa.array([b"a\xff", None, b"\xc3\xa5"])
    for cells in (octets, octets.dictionary_encode(), octets.cast(pa.large_binary())):
        assert readable(cells).to_pylist() == octets.to_pylist()
    text = pa.StringArray.from_buffers(3, *octets.buffers()[1:3], octets.buffers()[0])
    for cells in (text, text.dictionary_encode()):
        assert readable(cells).to_pylist() == [rf"{MARK}a\xff", None, "å"]
    assert np.array_equal(readable(pa.array([1, 2])), [1, 2])
