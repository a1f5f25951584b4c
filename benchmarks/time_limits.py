"""A time limit of T seconds ends within 1.2 T + 2 s, proof included: every notion and form up to 2,000 letters.

Run: python benchmarks/time_limits.py [T] [words that the name of a case must contain …]

Each case is one call of `design` with `time_limit=T` on a joint drawn at random, in a process of its own. Compiling is
no part of it. One line per case: seconds, what is allowed, seconds of processor (few: the machine was busy), method,
status, outputs, and the share of H(T) that is kept.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

import discreet as dc

SIZES = {"funnel": ((5, 40), (10, 300), (20, 2000)), "include_secret": ((4, 10), (10, 40), (20, 100))}
SIZES["sees_secret"] = SIZES["include_secret"]
NOTIONS = {
    "LDP": dc.LDP,
    "LIP": dc.LIP,
    "SRLIP": dc.SRLIP,
    "OrdinaryLDP": dc.OrdinaryLDP,
    "RLDP Exactly": lambda epsilon: dc.RLDP(epsilon, dc.Exactly()),
    "RLDP Everything": lambda epsilon: dc.RLDP(epsilon, dc.Everything()),
    "RLDP Renyi 0.5": lambda epsilon: dc.RLDP(epsilon, dc.Renyi(0.5, 0.03)),
    "RLDP ChiSquare": lambda epsilon: dc.RLDP(epsilon, dc.ChiSquare(0.95)),
    "RLDP Confidence": lambda epsilon: dc.RLDP(epsilon, dc.Confidence(0.95)),
    "RLIP Confidence": lambda epsilon: dc.RLIP(epsilon, dc.Confidence(0.95)),
    "Funnel": lambda epsilon: dc.Funnel(0.1 * epsilon),
    "MaximalLeakage": lambda epsilon: dc.MaximalLeakage(0.3 * epsilon),
    "PML": dc.PML,
    "ALIP": lambda epsilon: dc.ALIP(2 * epsilon, 0.5 * epsilon),
    "Shift": lambda epsilon: dc.Shift(0.1 * epsilon),
    "Guess": lambda epsilon: dc.Guess(0.5 * epsilon),
    "Perfect": lambda epsilon: dc.Perfect(),
}
RECORDS = 200_000
PATIENCE = 12  # times T, after which a case is given up


def cases() -> Iterator[str]:
    for form, sizes in SIZES.items():
        for secrets, letters in sizes:
            yield from (f"{notion}, {form}, {secrets}×{letters}" for notion in NOTIONS)
    yield from ("LIP, funnel, 2×2000", "LDP, funnel, 2×2000", "SRLIP, funnel, 2×10×10×20")


def joint_of(form: str, shape: tuple[int, ...]) -> dc.Joint:
    rng = np.random.default_rng(0)
    counts = rng.multinomial(RECORDS, rng.dirichlet(np.full(int(np.prod(shape)), 0.5))).reshape(shape)
    return dc.Joint.from_counts(counts, include_secret=form == "include_secret")


def run(name: str, limit: float) -> None:
    """One case, in this process."""
    import discreet.solvers.methods  # noqa: F401 (brings what can be compiled)
    from discreet.compiling import warm_up

    notion, form, size = name.split(", ")
    joint = joint_of(form, tuple(int(part) for part in size.split("×")))
    warm_up()
    started, worked = time.perf_counter(), time.process_time()
    found = dc.design(joint, NOTIONS[notion](1.0), sees_secret=form == "sees_secret", time_limit=limit)
    seconds, worked = time.perf_counter() - started, time.process_time() - worked
    mark = "" if seconds <= 1.2 * limit + 2 else "  TOO LONG"
    kept = found.utility / found.protocol.joint.entropy
    outputs = len(found.protocol.outputs)
    took = f"{seconds:7.2f} s of {1.2 * limit + 2:5.1f} ({worked:6.2f} of processor)"
    print(f"{name:36s} {took}  {found.method}, {found.status}, {outputs} outputs, {kept:.4f} kept{mark}", flush=True)


def main() -> None:
    limit = float(sys.argv[1]) if len(sys.argv) > 1 else 5.0
    if sys.argv[2:3] == ["--case"]:
        run(sys.argv[3], limit)
        return
    for name in cases():
        if all(word in name for word in sys.argv[2:]):
            try:
                subprocess.run(
                    [sys.executable, __file__, str(limit), "--case", name], timeout=PATIENCE * limit + 60, check=True
                )
            except subprocess.TimeoutExpired:
                print(f"{name:36s} given up  TOO LONG", flush=True)
            except subprocess.CalledProcessError:
                print(f"{name:36s} failed", flush=True)


if __name__ == "__main__":
    main()
