"""What is shown beside the pages: quoted for its language, and for every choice what the package accepts."""

from __future__ import annotations

import ast
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from discreet.records.grouping import Grouping
from discreet.studio import scripts
from discreet.studio.choices import Choices
from discreet.studio.desk import Desk
from discreet.studio.jobs import Jobs
from discreet.studio.project import STUDY, Project
from discreet.studio.scripts import save_study
from discreet.study_file import StudyFile

NASTY = (
    "plain",
    "two words",
    "it's",
    'say "x"',
    "a\\b",
    "$HOME `ls` !",
    "bell\x07",
    "line\nbreak",
    "\u202eturned",
    "é",
    "",
)
ROLES = {"s": "secret", "a b": "release", "k": "given", "o": "out"}


@pytest.mark.parametrize("text", NASTY)
def test_a_word_of_the_shell_is_that_word(text: str) -> None:
    word = scripts.quoted(text)
    assert not any(ord(sign) < 32 for sign in word)
    ran = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True)
    assert ran.stdout.decode() == text


@pytest.mark.parametrize("value", [*NASTY, {"a": ["b", "c'\""]}, ["x"], 3, True])
def test_a_value_in_python_is_that_value(value: Any) -> None:
    written = scripts.spelled(value)
    assert ast.literal_eval(written) == value
    assert not any(ord(sign) < 32 for sign in written)


def choices(**more: Any) -> Choices:
    return Choices(
        table="t.csv", name="n", roles=ROLES, bins={"a b": ["1", "2"]}, merge={"s": {"A or B": ["A", "B"]}},
        rare={"k": 50}, **more,
    )  # fmt: skip


@pytest.mark.parametrize("more", [{}, {"row": "visit", "person": "o"}, {"row": "household", "person": "o"}])
def test_every_command_parses_and_the_whole_study_compiles(more: dict[str, Any]) -> None:
    for purpose in ("values", "statistics", "information"):
        now = choices(purpose=purpose, sees_secret=True, people="wave 1", **more)
        compile(scripts.whole_study(now, "protocol.json", "released.csv", 60), "study.py", "exec")
        unfinished = scripts.whole_study(now, "protocol.json", "released.csv", 60, finished=False)
        compile(unfinished, "study.py", "exec")
        assert "\nfound" not in unfinished  # the rules that were found are used, not other ones
        words = shlex.split(scripts.wrapped(scripts.design_words(now, "protocol.json")).replace("\\\n", " "))
        assert words[:3] == ["discreet", "design", "t.csv"]
        assert words[words.index("--for") + 1] == purpose
        told = [words[i + 1] for i, word in enumerate(words) if word == "--merge"]
        group = Grouping.parse([words[words.index("--bins") + 1]], told)
        assert group.bins == {"a b": ["1", "2"]}
        assert group.merge == {"s": {"A or B": ["A", "B"]}}
        drawn = scripts.draw_words(now, "protocol.json", "released.csv")
        assert ("--one-row-per-person" in drawn) == (not more)


def test_the_study_file_says_the_same(tmp_path: Path) -> None:
    project = Project.begin(tmp_path / "p", choices(epsilon=0.5))
    save_study(project, project.saved().now)
    study = StudyFile.read(project.folder / STUDY)
    assert (study.secret, study.release, study.given, study.epsilon) == (("s",), ("a b",), ("k",), 0.5)
    assert Grouping.parse(study.bins, study.merge).merge == {"s": {"A or B": ["A", "B"]}}
    assert study.one_row_per_person
    assert not study.several_rows


@pytest.mark.parametrize("row", ["visit", "household"])
@pytest.mark.parametrize("person", ["", "a b"])
def test_several_rows_and_no_column_for_them(tmp_path: Path, row: str, person: str) -> None:
    """None that says whose they are, or one that is released: everything that is written says so."""
    now = choices(epsilon=0.5, row=row, person=person)
    project = Project.begin(tmp_path / "p", now)
    save_study(project, now)
    study = StudyFile.read(project.folder / STUDY)
    assert (study.several_rows, study.one_row_per_person, now.stated()) == (True, False, {})
    assert study.job().several_rows
    assert "--several-rows" in scripts.draw_words(now, "protocol.json", "released.csv")
    assert "several_rows=True" in scripts.job_python(now, "protocol.json", "released.csv")
    assert Desk.of(project, Jobs()).job("0")["several_rows"]
    assert any(one.startswith("several rows") for one in scripts.private_obstacles(now))
    known = Choices.of({**now.plain(), "person": "id"})  # negative control: a column that says it
    assert not known.several_rows
    assert "--several-rows" not in scripts.draw_words(known, "protocol.json", "released.csv")


def test_what_a_command_line_cannot_say_is_not_said_wrongly(tmp_path: Path) -> None:
    now = Choices(table="t.csv", name="n", roles=ROLES, merge={"s": {"x": ["A, B", "C"]}})
    assert scripts.group_texts(now) is None
    assert "Python" in scripts.group_options(now)[0]
    project = Project.begin(tmp_path / "p", now)
    (project.folder / STUDY).write_text("old")
    save_study(project, now)
    assert not (project.folder / STUDY).exists()
