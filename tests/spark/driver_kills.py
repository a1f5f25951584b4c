"""A driver that is killed: nothing of its release is seen, or all of it, and the ledger is never below the truth."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
from standalone import wait_for

from discreet.protocol.strata import load_protocol
from discreet.release.ledger import Ledger

DRIVER = """
import sys
import discreet.spark
from pathlib import Path
protocol, source, key, folder = sys.argv[1:]
spark = discreet.spark.session("local[2]", {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"})
frame = spark.read.parquet(source)
frame.count()
for line in sys.stdin:
    print("begins", flush=True)
    name = line.strip()
    discreet.spark.sanitise(frame, protocol, to=Path(folder, name), key=key, identity="id", people=name, budget=1e6)
    print("ends", flush=True)
"""


class Driver:
    """A process of its own that releases when it is told a name."""

    def __init__(self, protocol: Path, source: Path, key: Path, folder: Path) -> None:
        self.protocol, self.folder = protocol, folder
        self._process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, str(protocol), str(source), str(key), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip

    def release(self, name: str) -> float:
        """Seconds of a release that nobody disturbs."""
        started = self._told(name)
        assert self._line() == "ends"
        return time.monotonic() - started

    def killed(self, name: str, when: Callable[[], bool]) -> None:
        """Begin a release, and end the driver with everything that it started once `when` is true."""
        self._told(name)
        try:
            wait_for(when, "the moment to kill", pause=0.001)
        finally:
            self.end()

    def killed_after(self, name: str, seconds: float) -> None:
        """The same so many seconds after the driver said that it has begun: starting it takes longer than a release."""
        moment = self._told(name) + seconds
        time.sleep(max(0.0, moment - time.monotonic()))
        self.end()

    def end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _told(self, name: str) -> float:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        assert self._line() == "begins"
        return time.monotonic()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()


def verdict(protocol: Path, folder: Path, name: str, records: int) -> str:
    """What a killed release left: nothing, an entry without a release, or a whole release with its entry."""
    draws = Ledger.beside(protocol, load_protocol(protocol), name).draws()
    target = folder / name
    if not target.exists():
        return "entered" if draws else "nothing"
    assert draws >= 1, "released and not entered"
    manifest = json.loads((target / "_manifest.json").read_text())
    for one in manifest["files"]:
        assert hashlib.sha256((target / one["name"]).read_bytes()).hexdigest() == one["sha256"]
    assert len(pq.read_table(target)) == records, "a part of a release can be seen"
    return "released"
