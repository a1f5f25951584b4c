"""Columns, letters and numbers for people."""

from __future__ import annotations

import math

import pytest

from discreet.attribute import Attribute
from discreet.phrases import BITS, NATS, names, quoted, shown, visible


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("plain, ß, 日本, 'quoted'", "plain, ß, 日本, 'quoted'"),
        ("bell\a", r"bell\x07"),
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("two\nlines\r", r"two\nlines\r"),
        ("c1 \x9b", r"c1 \x9b"),
        ("\u202eabc", r"\u202eabc"),
        ("a\u2028b", r"a\u2028b"),
        ("lone \ud800", r"lone \ud800"),
        ("می\u200cخواهم", "می\u200cخواهم"),
    ],
)
def test_what_acts_on_a_text_is_shown_as_an_escape(given: str, seen: str) -> None:
    assert visible(given) == seen
    assert shown(given) == seen
    assert quoted(given) == f"'{seen}'"
    assert names([Attribute(given, ("a", "b"))]) == seen


def test_a_letter_of_parts() -> None:
    assert shown(("a\t", None, 3)) == r"a\t / missing / 3"


def test_zero_has_no_sign() -> None:
    assert NATS(-1e-12) == "0.0000 nats"
    assert NATS(-1e-3) == "-0.0010 nats"
    assert NATS(1.0) == "1.0000 nats"
    assert BITS(math.log(2)) == "1.0000 bits"
