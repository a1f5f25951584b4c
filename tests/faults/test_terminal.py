"""Names and letters that would move the cursor, clear the screen or turn the text: shown as escapes, everywhere."""

import json
import unicodedata
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.cli.app import run
from discreet.exceptions import UNSEEN
from discreet.wording import other_people

HOSTILE = "\x1b[2J\x07\x9b31m\u202eevil\u2028\x7f\x00[bold]"
SECRET, RELEASED = f"secret{HOSTILE}", f"released{HOSTILE}"


def unseen(text):
    return {hex(ord(sign)) for sign in text if unicodedata.category(sign) in UNSEEN and sign != "\n"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    letters = [f"{name}{HOSTILE}" for name in "abc"]
    people = rng.choice([f"p{HOSTILE}", f"q{HOSTILE}"], 300)
    table = pa.table({SECRET: people, RELEASED: rng.choice(letters, 300), f"group{HOSTILE}": people})
    with pa.OSFile("t.arrow", "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    joint = dc.Joint.from_table(table, secret=SECRET, release=RELEASED)
    matrix = 0.3 * np.eye(3) + 0.7 / 3
    dc.Protocol.make(dc.Channel(matrix, joint.letters, letters), joint, dc.LIP(2.0)).save("p.json")
    released = dc.Protocol.load("p.json").sanitise(table, keep=[f"group{HOSTILE}"], keep_anyway=True)
    with pa.OSFile("o.arrow", "wb") as sink, pa.ipc.new_file(sink, released.schema) as writer:
        writer.write_table(released)
    return tmp_path


COMMANDS = [
    ["sanitise", "p.json", "t.arrow", "out.csv", "--data", HOSTILE.replace("\0", "")],
    ["sanitise", "p.json", "t.arrow", "out.csv", "--keep", "none\x1b"],
    ["audit", "p.json"],
    ["estimate", "p.json", "o.arrow"],
    ["estimate", "p.json", "o.arrow", "--by", f"group{HOSTILE}"],
    ["estimate", "p.json", "t.arrow"],
    ["report", "p.json", "--out", "page.html"],
    ["design", "t.arrow", "--secret", "secret\x1b[2J", "--release", "x"],
    ["design", "none\x1b[2J.csv", "--secret", "a", "--release", "b"],
    ["audit", "none\x9b.json"],
]


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: " ".join(command)[:40].encode("unicode_escape").decode()
)
def test_nothing_that_acts_on_a_terminal_is_printed(folder, capfd, command, as_json):
    arguments = [*command, *(["--json"] if as_json else [])]
    code = run(arguments)
    shown = capfd.readouterr()
    assert not unseen(shown.out)
    assert not unseen(shown.err)
    if as_json and code in (0, 3, 5, 6) and shown.out.strip():
        json.loads(shown.out)
    if code == 0 and command[0] == "estimate" and not as_json:
        assert "\\x1b[2J" in shown.out
        assert "[bold]" in shown.out


def test_nothing_of_it_is_in_words_about_other_people():
    assert not unseen(other_people(HOSTILE, 0.5))


def test_nothing_of_it_is_in_the_report(folder, capfd):
    assert run(["report", "p.json", "--out", "page.html"]) == 0
    page = Path("page.html").read_text()
    assert not unseen(page)
    assert "\\x1b[2J" in page


def test_the_same_in_errors():
    error = dc.AlphabetError(f"no such column {HOSTILE}", where=HOSTILE, remedy=HOSTILE)
    assert not unseen(str(error) + error.what + error.where + error.remedy)
    assert unseen(HOSTILE)


MARKUP = [r"nope\[/b]", r"nope\[link=http://evil.example]click", "nope[blink]m[/blink]", ":bomb:", "nope\\"]


@pytest.mark.parametrize("name", MARKUP)
def test_names_that_look_like_markup_are_shown_as_they_are(name, tmp_path, monkeypatch, capfd):
    """A backslash before a bracket once ended in another library's error, or in a link of a column's making."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run(["look", f"{name}.csv"]) == 3
    assert f"{name}.csv" in capfd.readouterr().err.replace("\n", "")
    table = pa.table({"secret": ["f", "m"] * 60, f"{name}x": [name, "b", "b"] * 40})
    with pa.OSFile("t.arrow", "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    assert run(["look", "t.arrow", "--secret", "secre"]) == 3
    assert run(["design", "t.arrow", "--secret", "secret", "--release", f"{name}y"]) == 3
    told = capfd.readouterr()
    assert f"{name}x" in told.err.replace("\n", "")
    assert "\x1b]8" not in told.err


@pytest.mark.parametrize("name", MARKUP)
def test_letters_that_look_like_markup_are_shown_by_an_audit(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FORCE_COLOR", "1")
    joint = dc.Joint.from_counts([[9, 4], [3, 7]], [name, "q"], [dc.Attribute("x", (name, "b"))])
    dc.design(joint, dc.LIP(0.5)).protocol.save("p.json")
    assert run(["audit", "p.json"]) == 0
    told = capfd.readouterr().out
    assert name.split("[")[0].rstrip("\\") in told
    assert "\x1b]8" not in told
    assert "\x1b[5m" not in told
    assert "\N{BOMB}" not in told


@pytest.mark.parametrize(
    "line",
    [
        ["audit", "p.json", f"--bi{HOSTILE}ts"],
        ["audit", "p.json", f"--inputs={HOSTILE}"],
        [f"au{HOSTILE}dit", "p.json"],
        [f"--js{HOSTILE}on"],
        ["estimate", "p.json", "o.arrow", f"--level={HOSTILE}"],
        ["study", f"ru{HOSTILE}n"],
        ["audit", "p.json", f"one{HOSTILE}", f"more{HOSTILE}"],
    ],
)
def test_a_line_that_cannot_be_understood_is_repeated_with_escapes(line, capsys):
    """The command line library repeats what it does not know as it is."""
    assert run(line) == 2
    told = capsys.readouterr()
    assert unseen(told.out + told.err) == set()
    assert told.err
