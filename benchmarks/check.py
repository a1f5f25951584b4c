"""What a check costs against reading the table: processor seconds of both, on CSV and Parquet.

    python benchmarks/check.py [RECORDS …]

Reading is the release's own reader over the columns that the check needs, with nothing done to them. The table is
Adult, drawn with replacement; marital-status is the secret, education is released. Best of three runs each.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import discreet as dc
from discreet.datasets import adult
from discreet.records.source import open_records
from discreet.release import Job, rehearse_file

SECRET, RELEASED, KEPT = "marital-status", "education", ("sex", "race")


def seconds(work: Callable[[], object]) -> float:
    """The least processor time of three runs."""
    found = []
    for _ in range(3):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)


def read(path: Path, names: list[str]) -> None:
    with open_records(path, names, in_order=False) as source:
        for _ in source:
            pass


def compared(path: Path, protocol: Path, keep: tuple[str, ...]) -> str:
    job = Job(protocol=protocol, source=str(path), target="", keep=keep, keep_anyway=True)
    reading = seconds(lambda: read(path, [RELEASED, SECRET, *keep]))
    checking = seconds(lambda: rehearse_file(job))
    times = f"read {reading:.3f} s, check {checking:.3f} s, {checking / reading:.2f} x"
    return f"{path.suffix[1:]:8} kept {len(keep)}: {times}"


def main(sizes: list[int]) -> None:
    table = pa.table(adult())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_DATA_HOME"] = name
        design = dc.design(dc.Joint.from_table(table, secret=SECRET, release=RELEASED), dc.LIP(0.5))
        design.protocol.save(folder / "protocol.json")
        for records in sizes:
            drawn = table.take(np.random.default_rng(0).integers(0, len(table), records))
            pacsv.write_csv(drawn, folder / "t.csv")
            pq.write_table(drawn, folder / "t.parquet")
            for suffix in ("csv", "parquet"):
                for keep in ((), KEPT):
                    found = compared(folder / f"t.{suffix}", folder / "protocol.json", keep)
                    print(f"{records:>12,} records, {found}", flush=True)


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or [1_000_000, 10_000_000])
