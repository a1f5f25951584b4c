"""Files of letters that take for ever, or say two things about one column."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import discreet as dc
from discreet.records.private_prior import LARGEST_ALPHABETS, read_letters

ONE_HASH = (1 << 61) - 1
"""Python's hash of a whole number is its rest by this prime."""


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"s": ["a", "b"], "s": ["a"], "x": [1]}', "declared twice"),
        (json.dumps({"s": [ONE_HASH, 2 * ONE_HASH]}), "too many digits"),
        ('{"s": [' + "9" * 5000 + "]}", "too many digits"),
        (json.dumps({"s": list(range(50_000))}), "more than 32,768 letters"),
    ],
)
def test_refused(text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "letters.json").write_text(text)
    with pytest.raises(dc.ParameterError, match=what) as caught:
        read_letters(tmp_path / "letters.json")
    assert "999" not in str(caught.value)


def test_numbers_with_one_hash_take_no_time(tmp_path: Path) -> None:
    (tmp_path / "letters.json").write_text(json.dumps({"s": [i * ONE_HASH for i in range(1, 500_000)]}))
    assert (tmp_path / "letters.json").stat().st_size < LARGEST_ALPHABETS
    start = time.monotonic()
    with pytest.raises(dc.ParameterError):
        read_letters(tmp_path / "letters.json")
    assert time.monotonic() - start < 5
    (tmp_path / "letters.json").write_text(json.dumps({"s": [10**17 + i for i in range(3)], "x": ["a", None, True]}))
    assert read_letters(tmp_path / "letters.json")["s"][2] == 10**17 + 2
