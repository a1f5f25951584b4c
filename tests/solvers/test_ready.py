"""Time limits do not pay for compiling: what searches run is compiled before their clocks start."""

import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
import discreet as dc
from discreet.solvers.robust import ready

def compiled():
    return {
        (name, entry, kinds)
        for name, module in sys.modules.items() if name.startswith("discreet.")
        for entry, value in vars(module).items() if isinstance(value, Dispatcher)
        for kinds in value.signatures
    }

before = compiled()
if sys.argv[1] == "ready":
    ready.compiled()
    before = compiled()
draws = np.random.default_rng(1)
table = draws.integers(20, 400, (3, 3, 4))
dc.design(dc.Joint.from_counts(table), dc.SRLIP(1.0), time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0]), dc.LIP(0.1))
dc.design(dc.Joint.from_counts(table[:2, 0], include_secret=True), dc.RLDP(1.0), time_limit=2)
dc.design(dc.Joint.from_counts(table[:, 0], include_secret=True), dc.RLDP(1.0), method="coupling", time_limit=2)
print(*sorted({f"{name}.{entry}" for name, entry, _ in compiled() - before}))
"""


def late(start: str) -> list[str]:
    command = [sys.executable, "-c", SCRIPT, start]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_nothing_is_compiled_once_a_clock_runs() -> None:
    assert late("ready") == []


def test_what_is_compiled_late_is_noticed() -> None:
    assert "discreet.uncertainty.kernel.search" in late("cold")
