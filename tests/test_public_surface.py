"""The names people may import, and nothing else by accident."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import discreet


def test_all_is_sorted_and_real():
    assert sorted(discreet.__all__, key=lambda n: (not n.isupper(), not n[0].isupper(), n)) == discreet.__all__
    assert all(hasattr(discreet, name) for name in discreet.__all__)


def test_settled_names_are_there():
    settled = {
        *("Joint", "Channel", "Protocol", "Design", "design", "plan", "audit", "estimate"),
        *("LDP", "LIP", "SRLIP", "RLDP", "OrdinaryLDP", "ChiSquare", "Renyi", "Everything", "Exactly"),
        *("MutualInformation", "ChiSquareInformation", "CorrectGuess"),
    }
    assert settled <= set(discreet.__all__)


def test_every_name_has_a_home_and_is_spelled_out_for_readers():
    """The lazy table, the list and the imports under TYPE_CHECKING say the same."""
    tree = ast.parse(Path(discreet.__file__).read_text())
    shown = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("discreet.")
        for alias in node.names
    }
    assert shown == {(f"discreet.{home}", name) for name, home in discreet._HOME.items()}
    assert {name for _, name in shown} == set(discreet.__all__)


ORDERS = ["", "import discreet.design, discreet.audit, discreet.estimate", "import discreet.cli.app", "discreet.design"]


@pytest.mark.parametrize("first", ORDERS)
def test_a_function_is_not_hidden_by_the_module_of_its_name(first):
    called = "discreet.design, discreet.audit, discreet.estimate"
    code = f"import discreet\n{first}\nassert all(callable(f) for f in ({called}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = discreet.nothing_of_that_name


def test_importing_it_imports_nothing_heavy():
    code = "import discreet, sys; print(*{name.split('.')[0] for name in sys.modules})"
    heavy = {"numpy", "scipy", "numba", "pyarrow", "highspy", "narwhals", "typer", "rich"}
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not heavy & set(loaded)
