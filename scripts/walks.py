"""The files that a reader of the package passes on a walk: `python scripts/walks.py [walk …]`, with --list by name.

    protocol     a table (CSV) → a protocol: Joint.from_table, design(LIP(0.5)), save
    release      a file → a released file: `discreet sanitise`
    robust       a robust design to its proof, RLDP with ChiSquare, 7 × 16 letters
    robust small the same with 2 × 5 letters, below 17, where the optimum is searched
    estimate     a release → an estimate with its intervals: Protocol.load, estimate, interval

Each walk runs in a process of its own. A file counts when one of its functions is called (sys.setprofile, all threads),
calls while a module of the package is being imported or looked up by a lazy name left out. Compiled functions do not
show up there: a dispatcher of numba counts when it has been given a signature during the walk, with the dispatchers
that its code names. What these add is told apart, after the plus sign. The walks of the small and of the large robust
design are counted one by one.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

import discreet as dc
from discreet.cli import main as command_line
from discreet.datasets import adult

ROOT = str(Path(dc.__file__).parent)
SECONDS = 5.0


class Trace:
    """The files of the package with a function that was called, compiled ones apart."""

    def __init__(self) -> None:
        self.called: set[str] = set()
        self.compiled: set[str] = set()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        before = {id(one): len(one.signatures) for one in _dispatchers()}
        threading.setprofile(self._event)
        sys.setprofile(self._event)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        todo = [one for one in _dispatchers() if len(one.signatures) > before.get(id(one), 0)]
        seen: set[int] = set()
        while todo:
            one = todo.pop()
            if id(one) not in seen:
                seen.add(id(one))
                self.compiled.add(one.py_func.__code__.co_filename)
                named = (one.py_func.__globals__.get(name) for name in one.py_func.__code__.co_names)
                todo += [other for other in named if _is_dispatcher(other)]

    def _event(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or code.co_filename in self.called or not code.co_filename.startswith(ROOT):
            return
        if code.co_flags & inspect.CO_OPTIMIZED and not _importing(frame):
            self.called.add(code.co_filename)


def _importing(frame: FrameType | None) -> bool:
    """Whether the body of one of the package's modules is being run, or one is looked for by a lazy name."""
    while frame is not None:
        lazy = frame.f_code.co_filename == dc.__file__
        if lazy or (frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(ROOT)):
            return True
        frame = frame.f_back
    return False


def _is_dispatcher(one: Any) -> bool:
    return hasattr(one, "py_func") and hasattr(one, "signatures") and one.py_func.__code__.co_filename.startswith(ROOT)


def _dispatchers() -> list[Any]:
    """Every compiled function of the package that a module holds."""
    modules = [module for name, module in list(sys.modules.items()) if name.split(".")[0] == "discreet"]
    return list({id(one): one for module in modules for one in vars(module).values() if _is_dispatcher(one)}.values())


# ---- the walks ------------------------------------------------------------------------------------------------------


def protocol(trace: Trace) -> None:
    _people()
    with trace.watching():
        joint = dc.Joint.from_table("people.csv", secret="marital-status", release="education")
        dc.design(joint, dc.LIP(0.5)).protocol.save("protocol.json")


def release(trace: Trace) -> None:
    _prepared()
    with trace.watching():
        _sanitised()


def estimate(trace: Trace) -> None:
    _prepared()
    _sanitised()
    with trace.watching():
        dc.estimate("released.csv", dc.Protocol.load("protocol.json")).interval()


def robust(trace: Trace) -> None:
    _robust(trace, 7, 16)


def robust_small(trace: Trace) -> None:
    _robust(trace, 2, 5)


def _robust(trace: Trace, c: int, k: int) -> None:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(32_561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k)
    joint = dc.Joint.from_counts(counts, include_secret=True)
    with trace.watching():
        dc.design(joint, dc.RLDP(0.5, dc.ChiSquare(0.9)), time_limit=SECONDS)


def _people() -> None:
    table = adult()
    pacsv.write_csv(pa.table({name: table[name] for name in ("marital-status", "education")}), "people.csv")


def _prepared() -> None:
    _people()
    joint = dc.Joint.from_table("people.csv", secret="marital-status", release="education")
    dc.design(joint, dc.LIP(0.5)).protocol.save("protocol.json")


def _sanitised() -> None:
    with contextlib.redirect_stderr(io.StringIO()), contextlib.suppress(SystemExit):
        command_line(["sanitise", "protocol.json", "people.csv", "released.csv"])


WALKS: dict[str, Callable[[Trace], None]] = {
    "protocol": protocol, "release": release, "robust": robust, "robust small": robust_small, "estimate": estimate,
}  # fmt: skip


def walked(name: str) -> tuple[list[str], list[str]]:
    """The files of one walk, and those that only compiled functions add, from a process of its own."""
    done = subprocess.run([sys.executable, __file__, "--one", name], check=True, stdout=subprocess.PIPE, text=True)
    called, compiled = json.loads(done.stdout.splitlines()[-1])
    return called, compiled


def one(name: str) -> None:
    trace = Trace()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["XDG_DATA_HOME"] = folder  # the ledger of all copies of a protocol counts this run alone
        WALKS[name](trace)
    called = sorted(os.path.relpath(path, ROOT) for path in trace.called)
    added = sorted(os.path.relpath(path, ROOT) for path in trace.compiled - trace.called)
    print(json.dumps([called, added]))


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        one(arguments[1])
        return
    listed = "--list" in arguments
    for name in [given for given in arguments if given != "--list"] or list(WALKS):
        called, added = walked(name)
        print(f"{name}: {len(called)} files" + (f" + {len(added)} through compiled functions alone" if added else ""))
        if listed:
            print("".join(f"  {path}\n" for path in called) + "".join(f"  + {path}\n" for path in added), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
