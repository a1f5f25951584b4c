"""How fast and how small a release is, beside its peers and beside a plain copy, in one run.

Run: python benchmarks/release.py [kernel] [files] [memory] [kills]     (kernel and files if nothing is named)

kernel   rows a second on one core, and the ratio to GRR of pure-ldp and multi-freq-ldpy on the same values
         (pip install --no-deps pure-ldp multi-freq-ldpy xxhash; left out where they are not installed)
files    CSV to CSV and Parquet to Parquet against copying the same file through pyarrow's reader and writer
memory   200 M records of Parquet, with the peak memory of the process (about 2 GB of disk)
kills    200 releases killed at random moments
"""

from __future__ import annotations

import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from discreet.channel import Channel
from discreet.datasets import adult
from discreet.joint import Joint
from discreet.mechanisms.randomised_response import grr
from discreet.notions import LIP
from discreet.protocol import Protocol
from discreet.randomness import Keystream
from discreet.release import Job, sanitise_file
from discreet.release.sampling import Sampler

LETTERS = 16
EPSILON = 1.0
RECORDS = 6_000_000
MANY = 200_000_000


def best(work: Callable[[], object], times: int = 5) -> float:
    """The shortest of several runs, in seconds."""
    durations = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        durations.append(time.perf_counter() - started)
    return min(durations)


# ---- the kernel -----------------------------------------------------------------------------------------------------


def kernel() -> None:
    joint = Joint(np.full((2, LETTERS), 0.5 / LETTERS))
    protocol = Protocol.make(grr(joint, EPSILON), joint, LIP(5.0))
    sampler, stream = Sampler(protocol.weights), Keystream.fresh()
    codes = np.random.default_rng(0).integers(0, LETTERS, 1 << 24).astype(np.uint8)
    ours = len(codes) / best(lambda: sampler.sample(codes, stream))
    print(f"kernel, a = {LETTERS}, one core: {ours / 1e6:.0f} M rows/s   (bar 60)")
    for name, bar, rate in (("pure-ldp", 30, pure_ldp(codes)), ("multi-freq-ldpy", 10, multi_freq(codes))):
        told = "not installed" if rate is None else f"{rate / 1e6:.3f} M rows/s, ratio {ours / rate:.0f}   (bar {bar})"
        print(f"  GRR of {name}: {told}")


def pure_ldp(codes: np.ndarray) -> float | None:
    try:
        client = importlib.import_module("pure_ldp.frequency_oracles.direct_encoding.de_client").DEClient
    except ImportError as error:
        print(f"  ({error})")
        return None
    one = client(EPSILON, LETTERS, lambda value: value)
    values = codes[:300_000].tolist()
    return len(values) / best(lambda: [one.privatise(value) for value in values], 3)


def multi_freq(codes: np.ndarray) -> float | None:
    try:
        draw = importlib.import_module("multi_freq_ldpy.pure_frequency_oracles.GRR").GRR_Client
    except ImportError as error:
        print(f"  ({error})")
        return None
    values = codes[:300_000].tolist()
    draw(values[0], LETTERS, EPSILON)
    return len(values) / best(lambda: [draw(value, LETTERS, EPSILON) for value in values], 3)


# ---- files ----------------------------------------------------------------------------------------------------------


def some_protocol(release: list[str], path: Path) -> None:
    joint = Joint.from_table(adult(), secret="occupation", release=release)
    size = len(joint.letters)
    outputs = tuple(f"output {i}" for i in range(size))
    Protocol.make(Channel(0.5 * np.eye(size) + 0.5 / size, joint.letters, outputs), joint, LIP(9.0)).save(path)


def records(columns: list[str], size: int, seed: int = 0) -> pa.Table:
    drawn = np.random.default_rng(seed).integers(0, 32_561, size)
    table = adult().select(columns).take(pa.array(drawn)).combine_chunks()
    return pa.table({name: table[name].cast(pa.string()) for name in columns})


def copy_csv(source: Path, target: Path) -> None:
    reader = pacsv.open_csv(source, parse_options=pacsv.ParseOptions(newlines_in_values=True))
    with pacsv.CSVWriter(target, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)


def copy_parquet(source: Path, target: Path) -> None:
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches(1 << 20):
            writer.write_batch(batch)


SHAPES = {
    "all three columns sanitised": (["sex", "race", "relationship"], ["sex", "race", "relationship"], ()),
    "one sanitised, two kept": (["education", "marital-status", "race"], ["education"], ("marital-status", "race")),
}


def files() -> None:
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as name:
        folder = Path(name)
        for shape, (columns, release, keep) in SHAPES.items():
            table = records(columns, RECORDS)
            pacsv.write_csv(table, folder / "in.csv")
            pq.write_table(table, folder / "in.parquet", row_group_size=1 << 20)
            some_protocol(release, folder / "protocol.json")
            del table
            for kind, copy in (("csv", copy_csv), ("parquet", copy_parquet)):
                compare(folder, shape, kind, copy, keep)


def compare(
    folder: Path, shape: str, kind: str, copy: Callable[[Path, Path], None], keep: tuple[str, ...], times: int = 9
) -> None:
    """Copy, shuffled and ordered release in turn, so that whatever else runs on the machine hits all three.

    Shares of the copy: of the shortest times, and the median of the shares round by round.
    """
    source, target = folder / f"in.{kind}", folder / f"out.{kind}"

    def release(keep_order: bool) -> None:
        (folder / "protocol.json.ledger").unlink(missing_ok=True)
        sanitise_file(Job(folder / "protocol.json", str(source), str(target), keep, keep_order))

    work = {"copy": lambda: copy(source, target), "shuffled": lambda: release(False), "ordered": lambda: release(True)}
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in work}
    for _ in range(times):
        for name, one in work.items():
            started, used = time.perf_counter(), time.process_time()
            one()
            spent[name].append((time.perf_counter() - started, time.process_time() - used))
    print(f"{kind} to {kind}, {shape}, {times} rounds   (bar 75 % of the copy)")
    for column, told in enumerate(("wall clock", "processor time")):
        seconds = {name: np.array(rounds)[:, column] for name, rounds in spent.items()}
        rates = ", ".join(f"{name} {RECORDS / each.min() / 1e6:.2f}" for name, each in seconds.items())
        shares = ", ".join(
            f"{name} {seconds['copy'].min() / seconds[name].min():.0%} "
            f"(rounds {np.median(seconds['copy'] / seconds[name]):.0%})"
            for name in ("shuffled", "ordered")
        )
        print(f"  {told}: {rates} M rows/s; of the copy: {shares}", flush=True)


# ---- memory ---------------------------------------------------------------------------------------------------------


def memory() -> None:
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as name:
        folder = Path(name)
        columns, release, keep = SHAPES["one sanitised, two kept"]
        some_protocol(release, folder / "protocol.json")
        block = records(columns, 1 << 20)
        with pq.ParquetWriter(folder / "in.parquet", block.schema) as writer:
            for start in range(0, MANY, len(block)):
                writer.write_table(block.slice(0, min(len(block), MANY - start)))
        del block
        code = (
            "import sys; from pathlib import Path; from discreet.release import Job, sanitise_file;"
            f"sanitise_file(Job(Path(sys.argv[1]), sys.argv[2], sys.argv[3], keep={keep!r}))"
        )
        paths = [str(folder / name) for name in ("protocol.json", "in.parquet", "out.parquet")]
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code, *paths], check=True)
        seconds = time.perf_counter() - started
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
        rows = pq.read_metadata(folder / "out.parquet").num_rows
        size = (folder / "in.parquet").stat().st_size / 2**20
        print(f"{rows / 1e6:.0f} M records ({size:.0f} MB) in {seconds:.0f} s, {rows / seconds / 1e6:.2f} M rows/s")
        print(f"peak memory {peak:.2f} GB   (bar 1 GB)")


# ---- kills ----------------------------------------------------------------------------------------------------------


def kills() -> None:
    test = Path(__file__).parents[1] / "tests/release/test_kill.py"
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(test)], check=True, env={**os.environ, "DISCREET_KILLS": "200"}
    )
    print(f"200 kills in {time.perf_counter() - started:.0f} s")


PARTS = {"kernel": kernel, "files": files, "memory": memory, "kills": kills}

if __name__ == "__main__":
    for part in sys.argv[1:] or ["kernel", "files"]:
        PARTS[part]()
