"""Structured problems: two secrets, known distributions, products. Run: python benchmarks/structured.py

Prints one line per case: what was found, its proven gap, seconds, and the peak memory of the process so far.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import discreet as dc
from discreet.datasets import adult
from discreet.joint import Joint


def random_joint(*shape: int, seed: int = 0) -> Joint:
    cells = np.random.default_rng(seed).random(shape)
    return Joint(cells / cells.sum())


def timed(label: str, run: Callable[[], str]) -> None:
    started = time.perf_counter()
    text = run()
    seconds, memory = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{label:58s} {text:52s} {seconds:8.3f} s {memory:6.2f} GiB", flush=True)


def designed(joint: Joint, notion: dc.LDP | dc.LIP | dc.SRLIP, method: str, utility: object = None) -> str:
    """What a user calls: search, rounding and proof."""
    found = dc.design(joint, notion, method=method, time_limit=60, **({"utility": utility} if utility else {}))
    kept, outputs = found.utility / joint.entropy, len(found.protocol.outputs)
    return f"I/H {kept:.5f}, gap {found.gap:.1e}, {outputs} outputs, {found.status}"


def two_secrets() -> None:
    designed(random_joint(2, 5), dc.LDP(0.5), "pairs")
    cases = [
        (5, dc.LDP(0.5)),
        (1000, dc.LDP(0.5)),
        (10_000, dc.LDP(0.5)),
        (10_000, dc.LIP(0.5)),
        (10_000, dc.LIP(0.05)),
    ]
    for letters, notion in cases:
        joint = random_joint(2, letters)
        timed(f"two secrets, {letters} letters, {notion}", partial(designed, joint, notion, "pairs"))
    joint = random_joint(2, 1000)
    other = partial(designed, joint, dc.LIP(0.5), "pairs", dc.ChiSquareInformation)
    timed("two secrets, 1000 letters, LIP(0.5), chi-square", other)


def known_distribution() -> None:
    table = adult()
    pairs = [("marital-status", "education"), ("occupation", "education"), ("native-country", "relationship")]
    for secret, release in pairs:
        joint = Joint.from_table(table, secret=secret, release=release, include_secret=True)
        for notion in (dc.LDP(0.5), dc.LDP(1.5), dc.LDP(3.0), dc.LIP(0.5), dc.LIP(1.5)):
            timed(f"{secret}, {release} {joint.table.shape}, {notion}", partial(designed, joint, notion, "nr"))


def products() -> None:
    cases = [(f"3×3×4, draw {seed}", random_joint(2, 3, 3, 4, seed=seed), (0.5, 1.0, 2.0)) for seed in range(3)]
    cases.append(("ten binary attributes", random_joint(2, *(2,) * 10), (1.0,)))
    for name, joint, epsilons in cases:
        for epsilon in epsilons:
            for method in ("product", "product-safe"):
                label = f"{name}, SRLIP({epsilon}), {method}"
                timed(label, partial(designed, joint, dc.SRLIP(epsilon), method))


if __name__ == "__main__":
    two_secrets()
    known_distribution()
    products()
