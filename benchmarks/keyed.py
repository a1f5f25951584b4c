"""Keyed draws: records per second of processor for the draw alone, and the whole command beside the unkeyed one.

python benchmarks/keyed.py [million rows of the whole command; 2 if not given]
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
import pyarrow.parquet as pq

import discreet as dc
from discreet.release import Job, RowsAsked, sanitise_file
from discreet.release.keyed_draws import KeyedDraws
from discreet.release.sampling import Sampler

LETTERS, BATCH, TIMES = 16, 1 << 16, 20
ONE = RowsAsked(one_row_per_person=True)


def best(work: Callable[[], object], times: int) -> float:
    """The least processor time of several runs."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def draws() -> None:
    rng = np.random.default_rng(0)
    sampler = Sampler(np.full((LETTERS, LETTERS), (1 << 52) // LETTERS), compressed=True)
    codes = rng.integers(0, LETTERS, BATCH).astype(np.uint8)
    numbers = rng.permutation(10**7)[:BATCH]
    kinds = {
        "integer ids": pa.array(numbers),
        "text ids of 12 characters": pa.array([f"id{number:010d}" for number in numbers]),
        "whole numbers as text": pa.array(numbers.astype(str)),
    }
    for name, ids in kinds.items():

        def once(ids: pa.Array = ids) -> None:
            keyed = KeyedDraws("id", bytes(range(64)), "5" * 64)
            sampler.draw(codes, keyed.words(ids, codes, 1))

        print(f"{name}: {BATCH / best(once, TIMES) / 1e6:.1f} M records a second of processor")


def command(rows: int) -> None:
    rng = np.random.default_rng(0)
    joint = dc.Joint.from_counts(
        rng.integers(50, 500, (2, LETTERS)), ["a", "b"], [f"value {x}" for x in range(LETTERS)]
    )
    matrix = 0.5 * np.eye(LETTERS) + 0.5 / LETTERS
    protocol = dc.Protocol.make(dc.Channel(matrix, joint.letters), joint, dc.LIP(9.0))
    letters = pa.DictionaryArray.from_arrays(rng.integers(0, LETTERS, rows).astype(np.int8), list(joint.letters))
    table = pa.table({"id": pa.array(rng.permutation(rows)), "release": letters})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_DATA_HOME"] = name
        protocol.save(folder / "protocol.json")
        pq.write_table(table, folder / "people.parquet")
        (folder / "KEY").write_bytes(os.urandom(32))
        (folder / "KEY").chmod(0o600)
        seconds = {}
        for kind, keyed in {"unkeyed": {}, "keyed": {"key": folder / "KEY", "identity": "id"}}.items():

            def once(kind: str = kind, keyed: dict = keyed) -> None:  # type: ignore[type-arg]
                people = f"{kind} {time.monotonic_ns()}"
                source, target = str(folder / "people.parquet"), str(folder / "out.parquet")
                sanitise_file(Job(folder / "protocol.json", source, target, data=people, rows=ONE, **keyed))

            seconds[kind] = best(once, 2)
            print(f"whole command, {kind}: {seconds[kind]:.2f} s of processor for {rows:,} rows")
        print(f"ratio: {seconds['keyed'] / seconds['unkeyed']:.2f}")


if __name__ == "__main__":
    draws()
    command(int(1e6 * float(sys.argv[1] if len(sys.argv) > 1 else 2)))
