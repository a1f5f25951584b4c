"""Arrows point one way: a module imports from its own layer and from those above it in this list.

Read from the source with `ast`: imports inside functions and under TYPE_CHECKING count as well.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/discreet"

LAYERS = (
    "exceptions arrays compiling randomness linear_program",
    "joint channel information phrases given_columns",
    "files records utilities",
    "uncertainty",
    "notions",
    "mechanisms certify",
    "solvers",
    "protocol policy",
    "wording",
    "design audit release estimate",
    "study study_file",
    "report cli studio spark papers testing datasets",
)
LAYER = {name: depth for depth, names in enumerate(LAYERS) for name in names.split()}
# Who proves, audits, releases and estimates must not share code with who designs.
APART = {(part, "solvers") for part in ("certify", "audit", "protocol", "release", "estimate")}
# `Joint.from_table(table)` hands over to `records`, `protocol.sanitise(table)` to `release`.
SHORTCUTS = {("joint.py", "records"), ("protocol/protocol.py", "release")}
# Siblings on one layer that stay strangers: `records` leans on `files`; who estimates need not be able to release.
STRANGERS = {("files", "records"), ("estimate", "release"), ("release", "estimate")}
EXTRAS = {"papers": "papers", "studio": "studio", "testing": "dev"}  # modules that may lean on an extra

Arrow = tuple[str, str]


def imported(code: str) -> Iterator[str]:
    """Full names of what a module imports: `a.b.c` for both `import a.b.c` and `from a.b import c`.

    A relative import does not say what it takes, so it counts as an import of the whole package.
    """
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ("discreet" if node.level else f"{node.module}.{alias.name}" for alias in node.names)


def part_of(path: str) -> str:
    """A part of the package: one of its modules or folders."""
    return path.split("/")[0].removesuffix(".py")


def arrows(sources: dict[str, str]) -> set[Arrow]:
    """(file, part it imports from), without those inside a part."""
    found = set()
    for path, code in sources.items():
        names = [name.split(".") for name in imported(code) if name.split(".")[0] == "discreet"]
        others = {name[1] if len(name) > 1 else "discreet" for name in names} - {part_of(path)}
        found |= {(path, other) for other in others}
    return found


def faults(found: set[Arrow]) -> list[str]:
    """What is wrong with these arrows, in words."""
    unknown = {part_of(path) for path, _ in found} | {other for _, other in found}
    wrong = [f"{part} has no layer" for part in sorted(unknown - set(LAYER))]
    for path, other in sorted(found - SHORTCUTS):
        if part_of(path) in LAYER and other in LAYER and LAYER[other] > LAYER[part_of(path)]:
            wrong.append(f"{path} imports {other}, which stands on it")
    wrong += [
        f"{path} imports {other}, a stranger" for path, other in sorted(found) if (part_of(path), other) in STRANGERS
    ]
    for part, other in sorted(APART):
        if other in reachable(part, found):
            wrong.append(f"{part} reaches {other}")
    return wrong


def reachable(start: str, found: set[Arrow]) -> set[str]:
    seen: set[str] = set()
    todo = {start}
    while todo:
        part = todo.pop()
        new = {other for path, other in found if part_of(path) == part} - seen
        seen |= new
        todo |= new
    return seen


def package() -> dict[str, str]:
    paths = [path for path in SOURCE.rglob("*.py") if path != SOURCE / "__init__.py"]
    return {str(path.relative_to(SOURCE)): path.read_text() for path in paths}


def test_arrows_point_one_way() -> None:
    assert faults(arrows(package())) == []


def test_every_part_has_a_layer() -> None:
    assert {part_of(path) for path in package()} <= set(LAYER)


@pytest.mark.parametrize(
    ("path", "code", "fault"),
    [
        ("joint.py", "from discreet.solvers import columns", "joint.py imports solvers"),
        (
            "notions/lip.py",
            "def f():\n    import discreet.mechanisms.randomised_response",
            "notions/lip.py imports mechanisms",
        ),
        (
            "uncertainty/renyi_ball.py",
            "if TYPE_CHECKING:\n    from discreet import protocol",
            "uncertainty/renyi_ball.py imports protocol",
        ),
        ("certify/proof.py", "from discreet.solvers.problem import Problem", "certify reaches solvers"),
        ("audit/channel_audit.py", "from discreet.solvers.problem import Problem", "audit reaches solvers"),
        ("protocol/file.py", "from discreet.release import sanitise", "protocol/file.py imports release"),
        ("estimate/result.py", "from discreet.release import sanitise", "estimate/result.py imports release"),
        ("files/sealed_file.py", "import discreet.records.source", "files/sealed_file.py imports records"),
        ("notions/lip.py", "from .. import cli", "discreet has no layer"),
        ("joint.py", "import discreet", "discreet has no layer"),
        ("brand_new.py", "import discreet.joint", "brand_new has no layer"),
    ],
)
def test_a_planted_import_is_caught(path: str, code: str, fault: str) -> None:
    sources = package()
    assert any(fault in found for found in faults(arrows({**sources, path: sources.get(path, "") + "\n" + code})))


def test_a_detour_is_caught() -> None:
    detour = {"audit/exact.py": "import discreet.protocol", "protocol.py": "from discreet.solvers import columns"}
    assert "audit reaches solvers" in faults(arrows(detour))


# ---- what the package needs to be installed -------------------------------------------------------------------------


def undeclared(sources: dict[str, str]) -> set[str]:
    """Packages imported that pyproject.toml does not list: among the core's, or the extra of the module."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def names(requirements: list[str]) -> set[str]:
        return {re.split(r"[^\w-]", requirement)[0] for requirement in requirements}

    found = set()
    for path, code in sources.items():
        extra = EXTRAS.get(part_of(path))
        allowed = names(project["dependencies"] + (project["optional-dependencies"][extra] if extra else []))
        found |= {name.split(".")[0] for name in imported(code)} - allowed - {"discreet"} - sys.stdlib_module_names
    return found


def test_every_package_used_is_declared() -> None:
    assert undeclared(package()) == set()


def test_an_undeclared_package_is_caught() -> None:
    assert undeclared({"joint.py": "import cdd\nimport numpy.linalg"}) == {"cdd"}
    assert undeclared({"joint.py": "import matplotlib"}) == {"matplotlib"}
    assert undeclared({"papers/figure.py": "import matplotlib"}) == set()
