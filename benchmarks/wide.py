"""What thousands of letters cost, step by step: two secrets, LIP 0.5, a million records, from design to publication.

Run: python benchmarks/wide.py [SIZE …]     (16, 1,000, 10,000 and 100,000 letters if nothing is named)

Every size has a process of its own. A line has the processor seconds of each step, the size of the protocol's file and
the peak memory of the process. Sanitising is done from a frame, from CSV to CSV and from Parquet to Parquet; the bar is
70 % of the speed with 16 letters at 10,000.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import discreet as dc
from discreet.audit import audit
from discreet.estimate import estimate
from discreet.protocol import Protocol
from discreet.release import Job, sanitise, sanitise_file
from discreet.release.rehearse import rehearse
from discreet.report import page
from discreet.study import Study

RECORDS = 1_000_000
SIZES = (16, 1_000, 10_000, 100_000)
STEPS = (
    "read", "design", "save", "load", "frame", "csv", "parquet", "check", "estimate", "report", "audit", "publish",
)  # fmt: skip


def table(letters: int) -> pa.Table:
    """Every letter about as often, with its own probability of the secret."""
    random = np.random.default_rng(0)
    code = random.integers(0, letters, RECORDS)
    secret = random.random(RECORDS) < random.beta(2, 3, letters)[code]
    names = pa.array([f"value {number:06}" for number in range(letters)])
    return pa.table({"secret": pa.array(["no", "yes"]).take(pa.array(secret.astype(int))), "letter": names.take(code)})


class Clock:
    """The processor seconds of every step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, step: str, work: Callable[[], Any]) -> Any:
        started = time.process_time()
        result = work()
        self.seconds[step] = time.process_time() - started
        return result


def line(letters: int) -> str:
    """All steps at one size."""
    records, clock = table(letters), Clock()
    frame = records.to_pandas(types_mapper=pd.ArrowDtype)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        path, csv, parquet = (Path(folder, name) for name in ("protocol.json", "table.csv", "table.parquet"))
        pacsv.write_csv(records, csv)
        pq.write_table(records, parquet)
        joint = clock("read", lambda: dc.Joint.from_table(records, secret="secret", release="letter"))
        warmed_up()
        found = clock("design", lambda: dc.design(joint, dc.LIP(0.5)))
        clock("save", lambda: found.protocol.save(path))
        protocol = clock("load", lambda: Protocol.load(path))
        released = clock("frame", lambda: sanitise(frame, protocol, one_row_per_person=True))
        for name, source in (("csv", csv), ("parquet", parquet)):
            job = Job(path, str(source), str(Path(folder, f"released.{name}")), data=name)
            clock(name, partial(sanitise_file, job))
        clock("check", lambda: rehearse(records, protocol))
        clock("estimate", lambda: estimate(released, protocol))
        clock("report", lambda: page(Study(protocol).with_curves().with_costs()))
        clock("audit", lambda: audit(protocol))
        clock("publish", lambda: protocol.public().save(Path(folder, "public.json")))
        octets = path.stat().st_size
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    steps = " ".join(f"{clock.seconds[step]:8.2f}" for step in STEPS)
    return f"{letters:8,} {steps} {octets / 1e6:7.2f} {memory:7.0f}"


def warmed_up() -> None:
    """A table of two letters goes first: what is loaded or compiled once is not what a size costs."""
    few = pa.table({"secret": ["no", "yes"] * 2, "letter": list("abba")})
    protocol = dc.design(dc.Joint.from_table(few, secret="secret", release="letter"), dc.LIP(0.5)).protocol
    estimate(sanitise(few, protocol, one_row_per_person=True), protocol)
    page(Study(protocol).with_curves().with_costs())


def main(sizes: list[str]) -> None:
    if len(sizes) == 2 and sizes[0] == "line":
        print(line(int(sizes[1])), flush=True)
        return
    print(f"{'letters':>8} {' '.join(f'{step:>8}' for step in STEPS)} {'file MB':>7} {'peak MB':>7}", flush=True)
    for size in sizes or map(str, SIZES):
        subprocess.run([sys.executable, __file__, "line", size.replace(",", "")], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
