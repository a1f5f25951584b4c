"""Structured solvers: two secrets, X = (S, U) with a known distribution, products. Run: python benchmarks/structured.py

Prints one line a case: what was found, its proven gap (or level), seconds, and the peak memory of the process so far.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable

import numpy as np

from discreet.datasets import adult
from discreet.joint import Joint
from discreet.mechanisms.attribute import safe_condition
from discreet.notions import LDP, LIP, SRLIP
from discreet.solvers import binary, nonrobust
from discreet.solvers.problem import Splitting
from discreet.solvers.product import Found, audited_product, safe_product
from discreet.utilities import ChiSquareInformation


def random_joint(*shape: int, seed: int = 0) -> Joint:
    cells = np.random.default_rng(seed).random(shape)
    return Joint(cells / cells.sum())


def timed(label: str, run: Callable[[], str]) -> None:
    started = time.perf_counter()
    text = run()
    seconds, memory = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{label:58s} {text:52s} {seconds:8.3f} s {memory:6.2f} GiB", flush=True)


def two_secrets() -> None:
    small = random_joint(2, 5)
    binary.solve(Splitting.from_joint(small, LDP(0.5)))
    cases = [(5, LDP(0.5)), (1000, LDP(0.5)), (10_000, LDP(0.5)), (10_000, LIP(0.5)), (10_000, LIP(0.05))]
    for letters, notion in cases:
        timed(f"two secrets, {letters} letters, {notion}", lambda a=letters, n=notion: _binary(random_joint(2, a), n))
    joint = random_joint(2, 1000)
    timed("two secrets, 1000 letters, LIP(0.5), chi-square", lambda: _binary(joint, LIP(0.5), ChiSquareInformation))


def _binary(joint: Joint, notion: LDP | LIP, *utility: object) -> str:
    split = binary.solve(Splitting.from_joint(joint, notion, *utility))
    return f"{split.value:.6f}, gap {split.gap:.1e}, {split.status}"


def known_distribution() -> None:
    table = adult()
    pairs = [("marital-status", "education"), ("occupation", "education"), ("native-country", "relationship")]
    for secret, release in pairs:
        joint = Joint.from_table(table, secret=secret, release=release, include_secret=True)
        for notion in (LDP(0.5), LDP(1.5), LDP(3.0), LIP(0.5), LIP(1.5)):
            timed(f"{secret}, {release} {joint.table.shape}, {notion}", lambda j=joint, n=notion: _known(j, n))


def _known(joint: Joint, notion: LDP | LIP) -> str:
    found = nonrobust.solve(joint, notion, time_limit=60)
    gap = found.upper_bound - found.value
    return f"I/H {found.value / joint.entropy:.5f}, gap {gap:.1e}, {len(found.channel.outputs)} outputs"


def products() -> None:
    for seed in range(3):
        joint = random_joint(2, 3, 3, 4, seed=seed)
        for epsilon in (0.5, 1.0, 2.0):
            label = f"3×3×4, draw {seed}, {SRLIP(epsilon)}, product"
            timed(f"{label}, papers' condition", lambda j=joint, e=epsilon: _product(j, audited_product(j, e)))
            timed(
                f"{label}, safe, audited", lambda j=joint, e=epsilon: _product(j, audited_product(j, e, safe_condition))
            )
            timed(f"{label}, safe", lambda j=joint, e=epsilon: _product(j, safe_product(j, e)))
    joint = random_joint(2, *(2,) * 10)
    timed("ten binary attributes, SRLIP(1), safe", lambda: _product(joint, safe_product(joint, 1.0, time_limit=60)))
    timed(
        "ten binary attributes, SRLIP(1), papers' condition",
        lambda: _product(joint, audited_product(joint, 1.0, time_limit=60)),
    )


def _product(joint: Joint, found: Found) -> str:
    return f"I/H {found.value / joint.entropy:.5f}, level {found.level:.6f}, {found.status}"


if __name__ == "__main__":
    two_secrets()
    known_distribution()
    products()
