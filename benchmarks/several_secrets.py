"""Several secrets and thousands of letters. Run: python benchmarks/several_secrets.py [part of a name]

Prints one line per `design`: what was kept in nats, its proven gap as a share of it with the gap aimed at, seconds by
the clock and of the processor, outputs, non-zero weights of letters that somebody has, the size of the file, and the
peak memory. Every case has a process of its own. A line ends with what fell short of: gap, seconds, level, outputs,
non-zeros, file, memory, or a curator that keeps less than a mechanism without the secret.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import discreet as dc
from discreet.compiling import warm_up
from discreet.datasets import adult

COLUMNS = ["education", "sex", "marital-status", "relationship", "workclass", "occupation"]
NOTION = dc.LIP(0.5)
MEGABYTE = 1e6
MOST_FILE, MOST_MEMORY = 10 * MEGABYTE, 1e9


def census(secret: str, columns: int) -> dc.Joint:
    return dc.Joint.from_table(adult(), secret=secret, release=COLUMNS[:columns])


def synthetic(secrets: int, letters: int) -> dc.Joint:
    """Letters of very different mass, all of different posterior, about as far from the prior as those of a census."""
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.full(secrets, 3.0))
    posteriors = rng.dirichlet(3.0 * prior * secrets, size=letters)
    masses = rng.gamma(0.7, size=letters) + 1e-3
    table = (posteriors * masses[:, None]).T
    return dc.Joint(table / table.sum())


@dataclass(frozen=True)
class Case:
    """A joint, the gap aimed at as a share of what is kept, the time limit, and whether a curator designs."""

    name: str
    joint: Callable[[], dc.Joint]
    gap: float
    seconds: float = 60.0
    curator: bool = False


CASES = (
    Case("race, 3 columns", partial(census, "race", 3), 0.003, 10),
    Case("race, 4 columns", partial(census, "race", 4), 0.002, 30),
    Case("race, 5 columns", partial(census, "race", 5), 0.006),
    Case("race, 6 columns", partial(census, "race", 6), 0.008),
    Case("synthetic 5 × 10,000", partial(synthetic, 5, 10_000), 0.03),
    Case("synthetic 5 × 20,000", partial(synthetic, 5, 20_000), 0.04),
    Case("occupation, 3 columns", partial(census, "occupation", 3), 0.08),
    Case("occupation, 5 columns", partial(census, "occupation", 5), 0.06),
    Case("curator, race, 3 columns", partial(census, "race", 3), np.inf, 10, True),
    Case("curator, race, 5 columns", partial(census, "race", 5), np.inf, 60, True),
)


def measured(case: Case) -> str:
    warm_up()
    joint = case.joint()
    letters, secrets = int((joint.prior > 0).sum()), len(joint.seen)
    clock, processor = time.monotonic(), time.process_time()
    found = dc.design(joint, NOTION, time_limit=case.seconds, sees_secret=case.curator)
    clock, processor = time.monotonic() - clock, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "protocol.json"
        found.protocol.save(path)
        size, level = path.stat().st_size, dc.Protocol.load(path).epsilon
    outputs, share = len(found.protocol.outputs), found.gap / found.utility
    nonzeros = int(np.diff(found.protocol.columns.indptr)[found.protocol.joint.prior > 0].sum())
    limits = {
        "gap": share <= case.gap,
        "seconds": clock <= 1.2 * case.seconds + 2,
        "level": level <= NOTION.epsilon,
        "file": size <= MOST_FILE,
        "memory": memory <= MOST_MEMORY,
    }
    if case.curator:
        without = dc.design(joint, NOTION, time_limit=case.seconds)
        limits["at least as good"] = found.utility >= without.utility - 1e-6
    else:
        limits |= {"outputs": outputs <= letters, "non-zeros": nonzeros <= secrets * letters}
    short = ", ".join(name for name, met in limits.items() if not met)
    return (
        f"{case.name:26s} {secrets:2d} × {letters:6,d} kept {found.utility:.5f} gap {share:7.3%} (≤ {case.gap:5.1%}) "
        f"{clock:5.1f} s, processor {processor:5.1f} s, {outputs:6,d} outputs, {nonzeros:7,d} non-zeros, "
        f"{size / MEGABYTE:5.2f} MB, memory {memory / MEGABYTE:4.0f} MB, {found.method}, {found.status}"
        + (f"; short of: {short}" if short else "")
    )


def main() -> None:
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    warm_up()
    apart = multiprocessing.get_context("spawn")
    for case in CASES:
        if wanted in case.name:
            with apart.Pool(1) as process:
                print(process.apply(measured, (case,)), flush=True)


if __name__ == "__main__":
    main()
