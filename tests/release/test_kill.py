"""SIGKILL at random moments: no partial output, no raw value anywhere, the ledger never below the truth.

DISCREET_KILLS sets how many times; the benchmark runs 200.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from discreet.protocol import Protocol
from discreet.release.ledger import Ledger

KILLS = int(os.environ.get("DISCREET_KILLS", "20"))
CANARY = b"CANARYx51c9"
RECORDS = 400_000
LAUNCHER = """
import os, sys, time
from pathlib import Path
from discreet.release import Job, sanitise_file

for line in sys.stdin:
    protocol, source, target, data = line.rstrip("\\n").split("\\t")
    began, child = time.monotonic(), os.fork()
    if child == 0:
        sanitise_file(Job(Path(protocol), source, target, keep=("region",), data=data, budget=1e6))
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - began, flush=True)
"""


class Launcher:
    """Starts releases in processes of their own, with everything already imported, so that a kill hits the work."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(place / "tmp")},
        )

    def run(self, target: Path, kill_after: float | None = None) -> tuple[int, float]:
        """The exit code of a release, killed after so many seconds, and how many it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        parts = (self.place / "work/protocol.json", self.place / "raw.csv", target, target.name)
        print(*parts, sep="\t", file=self._process.stdin, flush=True)
        child = int(self._process.stdout.readline())
        if kill_after is not None:
            time.sleep(kill_after)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        code, seconds = self._process.stdout.readline().split()
        return int(code), float(seconds)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def place(protocol: Protocol, tmp_path: Path) -> Path:
    """A folder with a protocol, and beside it the raw table, full of canaries, and a folder for temporary files."""
    rng = np.random.default_rng(0)
    canaries = pa.array([f"{CANARY.decode()}{i % 97}" for i in range(RECORDS)])
    table = pa.table(
        {
            "health": canaries,
            "colour": pa.array(np.where(rng.random(RECORDS) < 0.01, CANARY.decode(), "red").tolist()),
            "size": rng.integers(1, 3, RECORDS),
            "region": pa.array([f"region {i % 1000}" for i in range(RECORDS)]),
        }
    )
    pacsv.write_csv(table, tmp_path / "raw.csv")
    (tmp_path / "work").mkdir()
    (tmp_path / "tmp").mkdir()
    protocol.save(tmp_path / "work" / "protocol.json")
    return tmp_path


def test_killed_at_random_moments(place: Path, protocol: Protocol) -> None:
    work, launcher = place / "work", Launcher(place)
    whole = min(finished(launcher, work / name) for name in ("warm.csv", "whole.csv"))
    codes, published = [], Counter[str]()
    for i in range(KILLS):
        target = work / f"out{i % 3}.csv"
        code, seconds = launcher.run(target, random.uniform(0, 1.1 * whole))
        whole = seconds if code == 0 else whole  # a machine is not always equally busy
        codes.append(code)
        published[target.name] += check(place, target, protocol)
        assert Ledger(work / "protocol.json.ledger", protocol, target.name).draws() >= published[target.name]
    assert set(codes) <= {0, -signal.SIGKILL}
    assert codes.count(-signal.SIGKILL) > KILLS // 4
    assert published.total() >= codes.count(0)
    finished(launcher, work / "again.csv")
    assert check(place, work / "again.csv", protocol) == 1
    launcher.close()


def finished(launcher: Launcher, target: Path) -> float:
    """Seconds of a release that nobody disturbs."""
    code, seconds = launcher.run(target)
    assert code == 0
    return seconds


def check(place: Path, target: Path, protocol: Protocol) -> int:
    """Whether the release exists, after checking that it is whole and everything else is as it should be."""
    for path in [*(place / "work").iterdir(), *(place / "tmp").iterdir()]:
        assert CANARY not in path.read_bytes()
        assert not path.name.startswith(".")
    assert not list((place / "tmp").iterdir())
    if not target.exists():
        return 0
    content = target.read_bytes()
    assert content.count(b"\n") == RECORDS + 1
    manifest = json.loads(Path(f"{target}.manifest.json").read_text())
    if manifest["file"]["sha256"] != hashlib.sha256(content).hexdigest():
        assert Ledger(place / "work/protocol.json.ledger", protocol, target.name).draws() >= 2
    target.unlink()
    return 1


def test_the_check_sees_a_raw_value_and_a_cut_file(place: Path, protocol: Protocol) -> None:
    stray = place / "tmp" / "stray"
    stray.write_bytes(b"..." + CANARY)
    with pytest.raises(AssertionError):
        check(place, place / "work/out0.csv", protocol)
    stray.unlink()
    (place / "work/out0.csv").write_bytes(b"half a table")
    with pytest.raises(AssertionError):
        check(place, place / "work/out0.csv", protocol)
