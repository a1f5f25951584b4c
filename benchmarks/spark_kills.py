"""The driver of a release on Spark is killed at random moments: what is left of it, each time.

    python benchmarks/spark_kills.py [times, 20]

Stops with an error if a part of a release can be seen, or a release that the ledger does not count.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dc

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "spark"))
from driver_kills import Driver, verdict
from standalone import missing

RECORDS = 2_000_000
FIRST_OVER_SECOND = 1.2
"""Moments are taken over a first release, which Java and Python have to warm up for, and a little beyond it."""


def reached(folder: Path, name: str) -> str:
    """How far a killed release had come, by what it left."""
    if (folder / name).exists():
        return "published"
    staged = [path for path in folder.glob(f".{name}.*") if path.is_dir()]
    files = {path.suffix for path in staged[0].rglob("*")} if staged else set()
    if not staged:
        return "before staging"
    return "ordering" if ".parquet" in files else "drawing" if ".drafts" in files else "staged"


def main() -> None:
    if reason := missing():
        print(f"left out: {reason}")
        return
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["XDG_DATA_HOME"] = place
        rng = np.random.default_rng(5)
        secret, told = rng.integers(0, 3, RECORDS), rng.integers(0, 4, RECORDS)
        table = pa.table({"id": np.arange(RECORDS), "s": secret, "x": (secret + (told > 2)) % 4})
        pq.write_table(table, folder / "table.parquet", row_group_size=1 << 18)
        protocol, key = folder / "protocol.json", folder / "key"
        dc.design(dc.Joint.from_table(table, secret="s", release="x"), dc.LIP(0.5)).protocol.save(protocol)
        key.touch(0o600)
        key.write_bytes(os.urandom(32))

        def driver() -> Driver:
            return Driver(protocol, folder / "table.parquet", key, folder)

        first = driver()
        seconds = first.release("undisturbed")
        first.end()
        print(
            f"a first release takes {seconds:.1f} s, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
            flush=True,
        )
        found: Counter[str] = Counter()
        for number in range(times):
            victim = driver()
            moment = random.uniform(0, FIRST_OVER_SECOND * seconds)
            victim.killed_after(f"kill{number}", moment)
            stage, left = reached(folder, f"kill{number}"), verdict(protocol, folder, f"kill{number}", RECORDS)
            print(f"killed after {moment:5.1f} s, {stage}: {left}", flush=True)
            found[f"{left} ({stage})"] += 1
        print(f"{times} kills: {dict(found)}; no part was seen, the ledger was never below the truth")


if __name__ == "__main__":
    main()
