"""File names that are not text, signs that TOML or an output does not have, a terminal without columns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.exceptions import ParameterError
from discreet.study_file import StudyFile, commented

RUN = [sys.executable, "-m", "discreet"]


@pytest.mark.parametrize("sign", ["\x7f", "\x80", "\x01", "\u2028", '"', "\\", "é", "\U0001f600"])
def test_a_study_is_read_as_it_was_written(tmp_path: Path, sign: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(StudyFile(table=f"x{sign}.csv", secret=(f"a{sign}b",), release=("c",)).text())
    found = StudyFile.read(path)
    assert (found.secret, found.table) == ((f"a{sign}b",), f"x{sign}.csv")
    text = commented(f"x{sign}.csv", (f"a{sign}b", "c"), 4)
    path.write_text(text.replace("secret = []", 'secret = ["c"]').replace("release = []", 'release = ["c"]'))
    assert "\x7f" not in text


def test_a_file_name_that_is_not_text() -> None:
    name = os.fsdecode(b"caf\xe9.csv")
    with pytest.raises(ParameterError, match="a name that is not text"):
        commented(name, ("a", "b"), 4)
    with pytest.raises(ParameterError, match="a name that is not text"):
        StudyFile(table=name, secret=("a",), release=("b",)).text()


def asked(*words: str, **more: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*RUN, *words], capture_output=True, env={**os.environ, **more})


def test_outputs_of_another_encoding(tmp_path: Path) -> None:
    table = tmp_path / "people.csv"
    table.write_text("fee,sex\n" + "é,m\n●,f\n" * 120, encoding="utf-8")
    shown = asked("look", str(table), "--secret", "sex", PYTHONIOENCODING="ascii")
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert shown.stdout.isascii()
    told = asked("look", str(table), "--secret", "sex", "--json", PYTHONIOENCODING="ascii")
    values = [one["value"] for one in json.loads(told.stdout)["columns"][0]["top"]]
    assert sorted(values) == ["é", "●"]


def test_a_refusal_is_said_without_columns() -> None:
    for columns in ("0", "00", ""):
        refused = asked("audit", "not-there.json", COLUMNS=columns)
        assert refused.returncode != 0
        assert b"the protocol file cannot be read" in refused.stderr
