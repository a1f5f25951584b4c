"""Arrows point one way: a module imports from its own layer and from those above it in this list.

Read from the source with `ast`: imports inside functions and under TYPE_CHECKING count as well.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from discreet import _HOME

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src/discreet"

LAYERS = (
    "exceptions arrays compiling randomness linear_program",
    "attribute joint task_column channel information phrases given_columns",
    "files records utilities",
    "uncertainty",
    "notions",
    "mechanisms certify",
    "solvers",
    "protocol policy",
    "wording",
    "design audit release estimate",
    "study study_file look",
    "report cli studio spark papers testing datasets",
    "__main__",
)
LAYER = {name: depth for depth, names in enumerate(LAYERS) for name in names.split()}
# Who proves, audits, releases and estimates must not share code with who designs.
APART = {(part, "solvers") for part in ("certify", "audit", "protocol", "release", "estimate")}
# `Attribute` knows how a column was grouped. `Joint.from_table(table)` hands over to `records`, and
# `protocol.sanitise(table)` to `release`.
SHORTCUTS = {("attribute.py", "records"), ("joint.py", "records"), ("protocol/protocol.py", "release")}
# Siblings on one layer that stay strangers: `records` leans on `files`; who estimates need not be able to release.
STRANGERS = {("files", "records"), ("estimate", "release"), ("release", "estimate")}
# The studio is a skin: it renders what these say, and one file of it asks them (`studio/tasks.py`). `compiling` tells a
# worker when it may be stopped.
STUDIO_SEES = {
    "compiling", "exceptions", "files", "phrases", "notions", "wording", "records", "protocol", "release", "look",
    "study", "study_file", "report", "datasets",
}  # fmt: skip
STUDIO_COMPUTES = ("studio/tasks.py", "studio/searches.py")
EXTRAS = {"papers": "papers", "spark": "spark", "studio": "studio", "testing": "dev"}  # who may lean on an extra

Arrow = tuple[str, str]


@cache
def parsed(code: str) -> ast.Module:
    return ast.parse(code)


@cache
def imported(code: str) -> tuple[str, ...]:
    """Full names of what a module imports: `a.b.c` for both `import a.b.c` and `from a.b import c`.

    A relative import does not say what it takes, so it counts as an import of the whole package.
    """
    found: list[str] = []
    for node in ast.walk(parsed(code)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += ["discreet" if node.level else f"{node.module}.{alias.name}" for alias in node.names]
    return tuple(found)


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


def test_the_studio_is_a_skin() -> None:
    """Pages compute nothing: outside of two files they see errors, files, their study file, how to stop a worker."""
    seen = {(path, other) for path, other in arrows(package()) if part_of(path) == "studio"}
    assert {other for _, other in seen} <= STUDIO_SEES
    assert {other for path, other in seen if path not in STUDIO_COMPUTES} <= {
        "compiling",
        "exceptions",
        "files",
        "study_file",
        "datasets",
    }


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


# ---- sizes and names ------------------------------------------------------------------------------------------------

MOST_LINES = 400
SKINS = {"cli", "studio", "papers"}
IN_ONE_FILE = {"papers/funnel_2", "papers/robust_2"}  # by what they print, in tests/papers
ACROSS = {"faults", "goldens", "theorems"}


def too_long(sources: dict[str, str]) -> list[str]:
    return [path for path, code in sorted(sources.items()) if len(code.splitlines()) > MOST_LINES]


def repeated_classes(sources: dict[str, str]) -> dict[str, list[str]]:
    """Names of classes that stand in several files, underscores in front ignored."""
    found: dict[str, list[str]] = {}
    for path, code in sorted(sources.items()):
        for node in parsed(code).body:
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name.lstrip("_"), []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1}


def test_no_file_is_too_long() -> None:
    assert too_long(package()) == []


def test_no_two_classes_have_one_name() -> None:
    assert repeated_classes(package()) == {}


def test_a_long_file_and_a_second_class_are_caught() -> None:
    assert too_long({"joint.py": "x = 1\n" * 401, "channel.py": "x = 1\n" * 400}) == ["joint.py"]
    planted = {**package(), "cli/show.py": "class _Joint:\n    pass\n"}
    assert repeated_classes(planted) == {"Joint": ["cli/show.py", "joint.py"]}


def repeated_functions(sources: dict[str, str]) -> dict[str, list[str]]:
    """Names of public functions that stand in several files. Skins may call a function after the one that they show."""
    found: dict[str, list[str]] = {}
    for path, code in sorted(sources.items()):
        if part_of(path) not in SKINS:
            names = {node.name for node in parsed(code).body if isinstance(node, ast.FunctionDef)}
            for name in names:
                found.setdefault(name, []).append(path)
    return {name: paths for name, paths in found.items() if len(paths) > 1 and not name.startswith("_")}


def test_no_two_public_functions_have_one_name() -> None:
    assert repeated_functions(package()) == {}


def test_a_second_function_is_caught() -> None:
    planted = {**package(), "joint.py": "def design():\n    pass\n"}
    assert repeated_functions(planted) == {"design": ["design.py", "joint.py"]}


# ---- numbers that explain themselves --------------------------------------------------------------------------------


def unexplained(sources: dict[str, str]) -> list[str]:
    """Constants with a number of which nothing says why: no comment, and no words below them or below their group."""
    found = []
    for path, code in sorted(sources.items()):
        lines, body = code.splitlines(), parsed(code).body
        for i, node in enumerate(body):
            name = _constant(node)
            if name is None:
                continue
            end = i + 1
            while end < len(body) and _constant(body[end]) and body[end].lineno == (body[end - 1].end_lineno or 0) + 1:
                end += 1
            below = body[end] if end < len(body) else None
            told = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
            beside = "#" in "".join(lines[max(0, node.lineno - 2) : node.end_lineno])
            if not (told or beside):
                found.append(f"{path}: {name}")
    return found


def _constant(node: ast.stmt) -> str | None:
    """Its name, if it is one in capitals with a number in it; formulas over other names and tables of code are none."""
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return None
    target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
    name = ast.unparse(target)
    numbers = [
        one for one in ast.walk(node.value)
        if isinstance(one, ast.Constant) and isinstance(one.value, int | float) and not isinstance(one.value, bool)
    ]  # fmt: skip
    return name if name.upper() == name and numbers else None


def test_every_number_says_why_it_has_its_value() -> None:
    core = {path: code for path, code in package().items() if part_of(path) not in SKINS}
    assert unexplained(core) == []


def test_a_bare_number_is_caught() -> None:
    assert unexplained({"a.py": "MOST = 3\nOTHER = 4\nx = MOST\n"}) == ["a.py: MOST", "a.py: OTHER"]
    assert unexplained({"a.py": 'MOST = 3\nOTHER = 4\n"""Why."""\nLAST = 5  # why\n'}) == []


# ---- tests beside what they test ------------------------------------------------------------------------------------


def rooms() -> set[str]:
    """Folders of the package with modules in them."""
    return {str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("*/__init__.py")}


def rooms_with_tests() -> set[str]:
    tests = ROOT / "tests"
    return {str(path.parent.relative_to(tests)) for path in tests.rglob("*/test_*.py")}


def test_every_room_has_its_tests_in_a_folder_of_its_name() -> None:
    assert rooms() - rooms_with_tests() <= IN_ONE_FILE
    assert rooms_with_tests() - rooms() == ACROSS


def untested(sources: dict[str, str], tests: dict[str, str]) -> list[str]:
    """Files above sixty lines that no test imports, itself or through others of its part; commands are run by name."""
    modules = {f"discreet.{path[:-3].replace('/', '.').removesuffix('.__init__')}": path for path in sources}

    def named(code: str) -> set[str]:
        homes = {f"discreet.{_HOME[name]}" for name in re.findall(r"\b(?:dc|discreet)\.(\w+)", code) if name in _HOME}
        return {name for full in imported(code) for name in (full, full.rpartition(".")[0]) if name in modules} | homes

    entered: set[str] = set()
    todo = {name for code in tests.values() for name in named(code)}
    todo |= {f"discreet.{path[5:-3]}" for path in tests if path.startswith("test_")} & set(modules)
    while todo:
        entered |= todo
        further = {(one, name) for one in todo for name in named(sources[modules[one]])}
        todo = {name for one, name in further if part_of(modules[one]) == part_of(modules[name])} - entered
    long = {name for name, path in modules.items() if len(sources[path].splitlines()) > 60}
    return sorted(modules[name] for name in long - entered if part_of(modules[name]) != "cli")


def every_test() -> dict[str, str]:
    folder = ROOT / "tests"
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*.py")}


def test_every_file_is_entered_by_a_test() -> None:
    assert untested(package(), every_test()) == []


def test_a_file_that_no_test_enters_is_caught() -> None:
    planted = {**package(), "records/forgotten.py": "x = 1\n" * 61, "records/short.py": "x = 1\n"}
    assert untested(planted, every_test()) == ["records/forgotten.py"]
