"""How long a start takes, in seconds of processor: `import discreet` and `discreet --help` beside `import numpy`.

Run: python benchmarks/start.py [times]

Each is a process of its own, all in turn so that a busy machine slows all of them, and the median counts. Allowed are
five times `import numpy` for the package, three times for the help: heavy imports only where they are used.
"""

from __future__ import annotations

import platform
import resource
import subprocess
import sys
from datetime import date
from statistics import median

CODES = {
    "python -c pass": "pass",
    "import numpy": "import numpy",
    "import discreet": "import discreet",
    "discreet --help": "import sys; sys.argv = ['discreet', '--help']; from discreet.cli import main; main()",
    "import discreet; discreet.Joint": "import discreet; discreet.Joint",
    "import discreet; discreet.design": "import discreet; discreet.design",
}
ALLOWED = {"import discreet": 5.0, "discreet --help": 3.0}
"""Times `import numpy`."""
TIMES = 9


def processor_seconds(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(times: int) -> int:
    for code in CODES.values():  # byte code is compiled once, and is no part of a start
        processor_seconds(code)
    measured: dict[str, list[float]] = {name: [] for name in CODES}
    for _ in range(times):
        for name, code in CODES.items():
            measured[name].append(processor_seconds(code))
    unit = median(measured["import numpy"])
    print(f"{date.today()}, Python {platform.python_version()}, {platform.machine()}, median of {times}")
    print(f"{'':34}{'s':>7}{'× numpy':>9}{'allowed':>9}")
    for name, found in measured.items():
        allowed = f"{ALLOWED[name]:9.1f}" if name in ALLOWED else ""
        print(f"{name:34}{median(found):7.3f}{median(found) / unit:9.2f}{allowed}")
    return int(any(median(measured[name]) > most * unit for name, most in ALLOWED.items()))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TIMES))
