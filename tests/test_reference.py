"""The reference is what the code says today, and every example in a docstring of a public name runs."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc

ROOT = Path(__file__).parents[1]
SECTIONS = {
    "Joint.from_table": ("Returns:", "Raises:", "Example:"),
    "design": ("Arguments:", "Returns:", "Raises:", "Example:"),
    "LIP": ("Arguments:", "Example:"),
    "LDP": ("Arguments:", "Example:"),
    "RLIP": ("Arguments:", "Raises:", "Example:"),
    "Confidence": ("Arguments:", "Raises:", "Example:"),
    "Protocol": ("Raises:", "Example:"),
    "Protocol.sanitise": ("Arguments:", "Returns:", "Raises:", "Example:"),
    "estimate": ("Returns:", "Raises:", "Example:"),
    "audit": ("Arguments:", "Returns:", "Raises:", "Example:"),
    "look": ("Returns:", "Raises:", "Example:"),
    "Accuracy": ("Example:",),
    "Agreement": ("Example:",),
}


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def named(path: str) -> Any:
    value: Any = dc
    for word in path.split("."):
        value = getattr(value, word)
    return value


@pytest.mark.parametrize("page", ["commands.md", "methods.md", "api.md"])
def test_a_page_is_current(page: str) -> None:
    made = script("reference").PAGES[page]()
    assert (ROOT / "docs" / page).read_text() == made, "run python scripts/reference.py"


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    examples = script("command_examples")
    page = examples.shown((ROOT / "docs" / "commands.md").read_text())
    now = examples.printed(tmp_path)
    assert set(page) == set(now), "run python scripts/reference.py"
    assert [told for one in examples.EXAMPLES if (told := examples.differ(one, page[one.typed], now[one.typed]))] == []


def test_another_word_another_number_or_a_missing_line_is_seen() -> None:
    examples = script("command_examples")
    exact, drawn = examples.Example("", "discreet x"), examples.Example("", "discreet x", drawn=True)
    line = "outputs 16, kept 94.9% (0.2)"
    assert examples.differ(exact, line, "outputs   16,\nkept 94.8% (0.2)") is None
    for other in ("outputs 16, lost 94.9% (0.2)", "outputs 17, kept 94.9% (0.2)", "outputs 16, kept 94.9%"):
        assert examples.differ(exact, line, other) is not None
    assert examples.differ(drawn, line, "outputs 17, kept 12.0% (0.3)") is None
    assert examples.differ(drawn, line, "outputs 16, lost 94.9% (0.2)") is not None


def test_every_command_has_an_example() -> None:
    parts = re.split(r"^##+ (discreet .*)$", (ROOT / "docs" / "commands.md").read_text(), flags=re.MULTILINE)
    groups = {"discreet study", "discreet papers"}  # of commands
    bare = [name for name, text in zip(parts[1::2], parts[2::2], strict=True) if "```text\n$ " not in text]
    assert set(bare) == groups


def test_the_decision_picture_is_current() -> None:
    assert (ROOT / "docs" / "choose.svg").read_text() == script("choose_picture").picture()


def test_every_number_of_the_note_to_the_authors_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    note = script("check_note")
    assert note.check() == 0
    monkeypatch.setattr(note, "EXAMPLE", [[8, 9], [26, 57]])  # a planted fault is seen
    assert note.check() > 0


@pytest.mark.parametrize("name", SECTIONS)
def test_the_most_used_names_say_what_goes_in_and_comes_out(name: str) -> None:
    text = inspect.getdoc(named(name)) or ""
    assert [section for section in SECTIONS[name] if section not in text] == []


@pytest.mark.parametrize("name", SECTIONS)
def test_an_example_runs(name: str) -> None:
    found = doctest.DocTestParser().get_doctest(inspect.getdoc(named(name)) or "", {}, name, None, None)
    assert found.examples
    assert doctest.DocTestRunner().run(found).failed == 0


TABLE = pa.table({"a": ["x", "y"] * 60, "b": ["p", "q", "q", "p"] * 30, "id": [str(i) for i in range(120)]})
JOINT = dc.Joint.from_counts([[3, 1], [1, 3]])
PROTOCOL = dc.Protocol([[3, 1], [1, 3]], 2, JOINT, dc.LDP(1))
RAISED: list[tuple[str, type[Exception], Callable[[], Any]]] = [
    ("Joint.from_table", dc.AlphabetError, lambda: dc.Joint.from_table(TABLE, secret="a", release="no")),
    ("Joint.from_table", dc.AlphabetError, lambda: dc.Joint.from_table(TABLE, secret="a", release="id")),
    ("Joint.from_table", dc.TableError, lambda: dc.Joint.from_table("no.csv", secret="a", release="b")),
    ("Joint.from_table", dc.TableError, lambda: dc.Joint.from_table(TABLE.slice(0, 0), secret="a", release="b")),
    ("Joint.from_table", dc.ParameterError, lambda: dc.Joint.from_table(TABLE, secret="a", release="b", letters={})),
    ("design", dc.ParameterError, lambda: dc.design(JOINT, dc.LIP(0.5), method="polyopt")),
    ("RLIP", dc.ParameterError, lambda: dc.design(dc.Joint([[0.4, 0.1], [0.1, 0.4]]), dc.RLIP(0.5))),
    ("Confidence", dc.ParameterError, lambda: dc.Confidence(2)),
    ("Protocol", dc.ProofError, lambda: dc.Protocol([[3, 1], [1, 3]], 2, JOINT, dc.LDP(0.01), epsilon=0.01)),
    ("Protocol", dc.ChannelError, lambda: dc.Protocol([[3, 1], [1, 2]], 2, JOINT, dc.LDP(1))),
    ("Protocol.sanitise", dc.AlphabetError, lambda: PROTOCOL.sanitise(TABLE)),
    ("estimate", dc.TableError, lambda: dc.estimate(pa.table({"release": ["no output"]}), PROTOCOL)),
    ("estimate", dc.AlphabetError, lambda: dc.estimate(TABLE, PROTOCOL)),
    ("estimate", dc.ParameterError, lambda: dc.estimate([TABLE], [PROTOCOL, PROTOCOL])),
    ("audit", dc.ParameterError, lambda: dc.audit([[0.5, 0.5], [0.5, 0.5]])),
    ("audit", dc.ChannelError, lambda: dc.audit([[0.5, 0.5], [0.5, 0.4]], JOINT)),
    ("look", dc.AlphabetError, lambda: dc.look(TABLE, secret="no")),
    ("look", dc.TableError, lambda: dc.look("no.csv")),
]


@pytest.mark.parametrize(("name", "error", "call"), RAISED, ids=[f"{name}-{e.__name__}" for name, e, _ in RAISED])
def test_what_is_said_to_be_raised_is_raised(name: str, error: type[Exception], call: Callable[[], Any]) -> None:
    assert f"{error.__name__}:" in (inspect.getdoc(named(name)) or "")
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
