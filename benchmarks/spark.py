"""Spark against itself: a release over a copy of the same column, and two executors over one.

    python benchmarks/spark.py [millions of rows, 20]

Ratios are of wall clock and of processor time of all processes together: on a machine that does other things as well,
the second is the one to read. Needs Java and about 1 GB of room in the folder for temporary files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dc
import discreet.spark
from discreet import datasets

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "spark"))
from standalone import Cluster, missing

ROUNDS = 3
TICK = os.sysconf("SC_CLK_TCK")


def processor_seconds(extra: tuple[int, ...] = ()) -> float:
    """Of this process, those of `extra`, and all that they started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout.split()
    children: dict[int, list[int]] = {}
    for pid, parent in zip(map(int, listed[::2]), map(int, listed[1::2]), strict=True):
        children.setdefault(parent, []).append(pid)
    todo, total = [os.getpid(), *extra], 0
    while todo:
        pid = todo.pop()
        todo += children.get(pid, [])
        try:
            total += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
        except OSError:
            continue
    return total / TICK


def timed(work: Callable[[], Any], extra: tuple[int, ...] = ()) -> tuple[float, float]:
    started, used = time.perf_counter(), processor_seconds(extra)
    work()
    return time.perf_counter() - started, processor_seconds(extra) - used


def table(folder: Path, rows: int) -> Path:
    adult = datasets.adult()
    chosen = pa.array(np.random.default_rng(1).integers(0, len(adult), rows))
    ids = np.random.default_rng(2).permutation(rows).astype(np.int64) + 10**9
    columns = {
        name: adult[name].combine_chunks().cast(pa.string()).take(chosen) for name in ("marital-status", "education")
    }
    pq.write_table(pa.table({"id": ids, **columns}), folder / "table.parquet", row_group_size=1 << 20)
    return folder / "table.parquet"


def key_in(folder: Path) -> Path:
    path = folder / "key"
    path.touch(0o600)
    path.write_bytes(os.urandom(32))
    return path


def release(frame: Any, protocol: Any, folder: Path) -> None:
    number = len(list(folder.iterdir()))
    discreet.spark.sanitise(
        frame, protocol, to=folder / f"out{number}", key=folder / "key", identity="id", ledger=folder / "ledger"
    )


def against_a_copy(source: Path, folder: Path) -> None:
    spark = discreet.spark.session("local[2]", {"spark.ui.enabled": "false", "spark.driver.memory": "3g"})
    frame = spark.read.parquet(str(source))
    protocol = dc.design(
        discreet.spark.joint(frame, secret="marital-status", release="education"), dc.LIP(0.5)
    ).protocol

    def copy() -> None:
        frame.select("education").write.mode("overwrite").parquet(str(folder / "copy"))

    for name, table in {"of the files": source, "of a frame": frame}.items():
        copy()
        release(table, protocol, folder)
        _compared(f"release {name}", copy, lambda: release(table, protocol, folder))  # noqa: B023
    spark.stop()


def _compared(name: str, copy: Callable[[], None], work: Callable[[], None]) -> None:
    figures = [(*timed(copy), *timed(work)) for _ in range(ROUNDS)]
    for wall, used, longer, more in figures:
        print(
            f"copy {wall:6.2f} s ({used:6.2f} of processor), {name} {longer:6.2f} s ({more:6.2f} of processor)",
            flush=True,
        )
    wall, used = (median(figure[i + 2] / figure[i] for figure in figures) for i in (0, 1))
    print(f"{name} over copy: {wall:.2f} of wall clock, {used:.2f} of processor (bar 1.6)", flush=True)


def executors(source: Path, folder: Path, protocol_source: Path) -> None:
    joint = dc.Joint.from_table(protocol_source, secret="marital-status", release="education")
    protocol = dc.design(joint, dc.LIP(0.5)).protocol
    found = {}
    for count in (1, 2):
        cluster = Cluster(folder / f"cluster{count}", workers=count)
        try:
            settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "900m"}
            spark = discreet.spark.session(cluster.master, {**settings, "spark.sql.files.maxPartitionBytes": "8m"})
            frame = spark.read.parquet(str(source))
            release(frame, protocol, folder)
            found[count] = median(timed(lambda: release(frame, protocol, folder))[0] for _ in range(ROUNDS))  # noqa: B023
            print(f"{count} executor{'s' * (count > 1)} of one core: {found[count]:.2f} s")
            spark.stop()
        finally:
            cluster.stop()
    print(f"one executor over two: {found[1] / found[2]:.2f} (bar 1.3)")


def main() -> None:
    if reason := missing():
        print(f"left out: {reason}")
        return
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        os.environ["XDG_DATA_HOME"] = place
        key_in(folder)
        source = table(folder, round(millions * 1e6))
        print(f"{millions:g} million rows, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        against_a_copy(source, folder)
        executors(source, folder, source)


if __name__ == "__main__":
    main()
