"""Every public name says what goes in, what comes out and what is raised, and has an example, which runs.

The names are those of `discreet.__all__` and of the rooms that export some. Arguments may be described by another name:
a line `…: those of `discreet.release.sanitise`.` stands for all of its arguments.
"""

from __future__ import annotations

import doctest
import inspect
import re
import runpy
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import discreet as dc
from discreet import exceptions

REFERENCE = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "scripts" / "reference.py")))
SECTION = REFERENCE.SECTION
NEEDS_A_CLUSTER = "spark"
"""Its examples need Java; `tests/spark` runs the same calls."""


def public_names() -> Iterator[tuple[str, str]]:
    """(module, name), each thing once."""
    seen: list[Any] = []
    for module in ("discreet", *(f"discreet.{room}" for room in REFERENCE.ROOMS)):
        for name in import_module(module).__all__:
            value = getattr(import_module(module), name)
            if not any(value is one for one in seen):
                seen.append(value)
                yield module, name


NAMES = list(public_names())


def sections(text: str) -> dict[str, str]:
    pieces = SECTION.split(text)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def described(text: str) -> set[str]:
    """The names at the beginning of the lines of a section, and those of another that is referred to."""
    found: set[str] = set()
    for line in inspect.cleandoc(text).splitlines():
        if other := re.match(r"…: those of `(discreet(?:\.\w+)*)\.(\w+)`", line):
            known = REFERENCE.docstring_of(import_module(other[1]), other[2])
            found |= described(sections(known).get("Arguments", ""))
        elif names := re.match(r"((?:\w+, )*\w+): \S", line):
            found |= set(names[1].split(", "))
    return found


def missing(value: Any, text: str) -> list[str]:
    """What a docstring does not say."""
    if not text:
        return ["a docstring"]
    said = sections(text)
    lacking = [] if "Example" in said else ["Example"]
    if inspect.isclass(value) and issubclass(value, Exception):
        return lacking
    if inspect.isclass(value):
        holds = {one.name for one in fields(value) if not one.name.startswith("_")} if is_dataclass(value) else set()
        takes = _parameters(value)
        wanted, section = (holds, "Attributes") if "Attributes" in said else (takes, "Arguments")
    elif inspect.isfunction(value):
        wanted, section = _parameters(value), "Arguments"
        lacking += [one for one in ("Returns", "Raises") if one not in said]
    else:
        return lacking
    told = described(said.get(section, ""))
    lacking += [f"{section}: {one}" for one in sorted(wanted - told)]
    for line in inspect.cleandoc(said.get("Raises", "")).splitlines():
        error = line.partition(":")[0]
        if not issubclass(getattr(exceptions, error, object), exceptions.DiscreetError):
            lacking.append(f"an error of ours in the place of {error}")
    return lacking


def _parameters(value: Any) -> set[str]:
    return {name for name in inspect.signature(value).parameters if name != "self"}


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}.{name}" for module, name in NAMES])
def test_a_name_says_all_of_it(module: str, name: str) -> None:
    home = import_module(module)
    assert missing(getattr(home, name), REFERENCE.docstring_of(home, name)) == []


@pytest.mark.parametrize(("module", "name"), NAMES, ids=[f"{module}.{name}" for module, name in NAMES])
def test_its_example_runs(module: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))  # ledgers of this test alone
    text = REFERENCE.docstring_of(import_module(module), name)
    found = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    skipped = [one for one in found.examples if one.options.get(doctest.SKIP)]
    assert len(found.examples) > (0 if NEEDS_A_CLUSTER in module else len(skipped))
    assert NEEDS_A_CLUSTER in module or not skipped
    assert doctest.DocTestRunner().run(found).failed == 0


def test_what_is_missing_is_seen() -> None:
    """The walk itself: a name without arguments, without an example, or with an error that is not ours."""
    text = REFERENCE.docstring_of(dc, "look")
    assert missing(dc.look, text) == []
    assert missing(dc.look, text.replace("    k:", "    q:")) == ["Arguments: k"]
    assert missing(dc.look, text.partition("Example:")[0]) == ["Example"]
    assert missing(dc.look, text.replace("TableError", "KeyError")) == ["an error of ours in the place of KeyError"]
    assert missing(dc.look, text.replace("Returns:\n", "")) == ["Returns"]
    held = REFERENCE.docstring_of(dc, "Design").replace("    seconds:", "    minutes:")
    assert missing(dc.Design, held) == ["Attributes: seconds"]
