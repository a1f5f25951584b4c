"""Compiled code is never stale, is kept in the user's cache folder, and is compiled before clocks start."""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from discreet import compiling

SOURCE = Path(__file__).parents[1] / "src/discreet"

SEARCHES = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
import discreet as dc
from discreet.compiling import warm_up
import discreet.solvers.methods

def compiled():
    return {
        (name, entry, kinds)
        for name, module in sys.modules.items() if name.startswith("discreet.")
        for entry, value in vars(module).items() if isinstance(value, Dispatcher)
        for kinds in value.signatures
    }

before = compiled()
if sys.argv[1] == "ready":
    warm_up()
    before = compiled()
draws = np.random.default_rng(1)
table = draws.integers(20, 400, (3, 3, 4))
dc.design(dc.Joint.from_counts(table), dc.SRLIP(1.0), time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0]), dc.LIP(0.1))
ball = dc.RLDP(1.0, dc.ChiSquare())
dc.design(dc.Joint.from_counts(table[:2, 0], include_secret=True), ball, time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0], include_secret=True), ball, method="coupling", time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0], include_secret=True), dc.RLDP(1.0), time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0]).curator(), dc.RLDP(1.0), time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0]), dc.RLIP(1.0), time_limit=2)
print(*sorted({f"{name}.{entry}" for name, entry, _ in compiled() - before}))
"""


def late(start: str) -> list[str]:
    command = [sys.executable, "-c", SEARCHES, start]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_nothing_is_compiled_once_a_clock_runs() -> None:
    assert late("ready") == []


def test_what_is_compiled_late_is_noticed() -> None:
    assert "discreet.uncertainty.extremes.search" in late("cold")


CALLEE = "from discreet.compiling import compiled\n\n\n@compiled()\ndef answer(x):\n    return x + {}\n"
CALLER = """from discreet.compiling import compiled
from discreet.callee import answer


@compiled()
def ask(x):
    return 10 * answer(x)
"""
ASK = "from discreet.caller import ask; print(ask(1), sum(ask.stats.cache_hits.values()))"


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A package with the real `compiling` and two kernels in two files, one calling the other."""
    package = tmp_path / "discreet"
    package.mkdir()
    (package / "__init__.py").touch()
    shutil.copy(SOURCE / "compiling.py", package)
    (package / "callee.py").write_text(CALLEE.format(1))
    (package / "caller.py").write_text(CALLER)
    return package


def asked(package: Path) -> list[int]:
    """The answer, and how many compiled copies were found on disk."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(package.parent / "cache")}
    command = [sys.executable, "-B", "-c", ASK]
    found = subprocess.run(command, env=environment, cwd=package.parent, capture_output=True, text=True, check=True)
    return [int(word) for word in found.stdout.split()]


def test_an_edited_kernel_renews_its_callers(kernels: Path) -> None:
    assert asked(kernels) == [20, 0]
    assert asked(kernels) == [20, 1], "an unchanged start hits the cache"
    (kernels / "callee.py").write_text(CALLEE.format(2))
    assert asked(kernels) == [30, 0]
    assert not list(kernels.rglob("*.nbi")), "nothing is kept beside the installed files"


def test_numba_alone_keeps_the_old_one(kernels: Path) -> None:
    """What this guards against: without the common stamp the caller goes on running what it was compiled with."""
    for name in ("callee.py", "caller.py"):
        path = kernels / name
        text = path.read_text().replace("from discreet.compiling import compiled", "from numba import njit")
        path.write_text(text.replace("@compiled()", "@njit(cache=True)"))
    assert asked(kernels) == [20, 0]
    changed = (kernels / "callee.py").read_text().replace("x + 1", "x + 2")
    (kernels / "callee.py").write_text(changed)
    assert asked(kernels)[0] == 20


def foreign(sources: dict[str, str]) -> set[str]:
    """Names of the package that a kernel takes from a file outside of the stamp: an edit there would not renew it."""
    kernels = {name for name, code in sources.items() if "discreet.compiling import" in code}
    found = set()
    for name in kernels:
        body = ast.parse(sources[name]).body
        taken = {
            alias.asname or alias.name: node.module
            for node in body if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("discreet.")
            for alias in node.names
        }  # fmt: skip
        for node in body:
            if isinstance(node, ast.FunctionDef) and any("compiled" in ast.unparse(one) for one in node.decorator_list):
                used = {one.id for part in node.body for one in ast.walk(part) if isinstance(one, ast.Name)}
                found |= {f"{name}: {one}" for one in used & set(taken) if taken[one] not in kernels}
    return found


def package() -> dict[str, str]:
    return {
        "discreet." + ".".join(path.relative_to(SOURCE).with_suffix("").parts): path.read_text()
        for path in SOURCE.rglob("*.py")
    }


def test_kernels_take_nothing_from_a_file_without_kernels() -> None:
    assert foreign(package()) == set()


def test_a_number_from_elsewhere_in_a_kernel_is_caught() -> None:
    sources = package()
    name = "discreet.solvers.columns.simplex"
    planted = sources[name].replace(
        "from discreet.compiling", "from discreet.arrays import NEW\nfrom discreet.compiling"
    )
    planted = planted.replace("age[0] <= FRESH_AFTER", "age[0] <= NEW")
    assert foreign({**sources, name: planted}) == {f"{name}: NEW"}


def test_without_a_cache_folder_everything_still_runs(kernels: Path) -> None:
    (kernels.parent / "cache").write_text("a file where the folder should be")
    assert asked(kernels) == [20, 0]


def test_a_stop_waits_until_what_is_compiled_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    @compiling.example("a test of stops")
    def run() -> None:
        compiling.stop()
        done.append("whole")

    monkeypatch.setattr(compiling, "_folder", lambda: tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == ["whole"]
    with pytest.raises(KeyboardInterrupt):
        compiling.stop()
    with pytest.raises(KeyboardInterrupt):  # it was stopped, so it runs again when it is asked for again
        run()
    assert done == ["whole", "whole"]
    del compiling.EXAMPLES["a test of stops"]
