"""Proofs and audits, measured: `python benchmarks/certify.py [designs|files|parsing|empirical|time|cost] [number]`.

designs    random designs through rounding and proof, judged by the second implementation of the tests
files      mutated protocol files, refused or still true
parsing    files made to stop a reader: seconds at 1 and 4 MiB, and the most memory, in files
empirical  lower bounds for GRR at ε = 1 with a million draws per input, and the three known faults
time       seconds to prove large protocols
cost       utility lost by rounding and repair on designs for Adult
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

import numpy as np

import discreet as dc
from discreet.audit import lower_bound
from discreet.certify import BITS, prove, round_columns
from discreet.datasets import adult
from discreet.protocol.file import decode

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "certify"))


def designs(number: int = 10_000) -> None:
    from test_ratio_proofs import judged

    rng = np.random.default_rng(20_000)
    _report("designs", Counter(judged(rng) for _ in range(number)))


def files(number: int = 10_000) -> None:
    from file_mutations import originals
    from test_mutated_files import judged

    rng = np.random.default_rng(20_000)
    made = originals(rng, 24)
    before = getrusage(RUSAGE_SELF).ru_maxrss
    _report("files", Counter(judged(rng, made) for _ in range(number)))
    print(f"memory grown by {(getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024:.0f} MiB")


def parsing() -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))
    from hostile_files import SHAPES

    worst = 0.0, 0.0
    for name, shape in SHAPES.items():
        first, later = (min(_reading(shape(size << 20)) for _ in range(3)) for size in (1, 4))
        data = shape(1 << 20)
        tracemalloc.start()
        _reading(data)
        memory = 1 + tracemalloc.get_traced_memory()[1] / len(data)
        tracemalloc.stop()
        worst = max(worst[0], later / max(first, 0.01)), max(worst[1], memory)
        print(f"{name:32s} {first:7.3f} s {later:7.3f} s   × {later / max(first, 0.01):4.1f}   memory × {memory:4.1f}")
    print(f"at most × {worst[0]:.1f} in time (of 10 ms or more), × {worst[1]:.1f} in memory")


def _reading(data: bytes) -> float:
    started = time.process_time()
    with suppress(dc.ProtocolError):
        decode(data)
    return time.process_time() - started


def empirical(number: int = 1000) -> None:
    rng = np.random.default_rng(0)
    for size, runs in ((2, number), (10, number), (32, number), (100, number)):
        matrix = _grr(size, 1.0)
        bounds = np.array([_bound(rng, matrix) for _ in range(runs)])
        print(
            f"GRR k = {size:3d}: {runs} runs, bound in [{bounds.min():.4f}, {bounds.max():.4f}], "
            f"above ε {np.count_nonzero(bounds > 1)}, below 0.9 ε {np.count_nonzero(bounds < 0.9)}"
        )
    for size in (2, 10, 100):
        scaled = np.array([_bound(rng, _grr(size, 1.175)) for _ in range(50)])
        print(
            f"noise scaled by 1.175, k = {size:3d}: {np.count_nonzero(scaled > 1)} of 50 caught, "
            f"least {scaled.min():.4f}"
        )


def timing() -> None:
    rng = np.random.default_rng(0)
    matrix = _grr(1000, 1.0)
    weights = round_columns(matrix)
    for c in (2, 50, 1000):
        joint = dc.Joint.from_counts(rng.integers(1, 1000, (c, 1000)))
        _timed(f"LDP 1000 × 1000, {c} secrets", lambda joint=joint: prove(weights, BITS, joint, dc.LDP(1.0)))
    for name, joint, notion, channel in _robust_cases():
        exact = dc.Protocol.make(channel, joint, notion)
        _timed(
            f"{name}: {len(joint.letters)} letters, {len(exact.outputs)} outputs",
            lambda e=exact, j=joint, n=notion: prove(e.weights, e.bits, j, n, e.epsilon),
        )


def cost() -> None:
    table = adult()
    for secret, release in (
        ("marital-status", "education"),
        ("occupation", "education"),
        ("occupation", "relationship"),
    ):
        joint = dc.Joint.from_table(table, secret=secret, release=[release])
        for notion in (dc.LIP(0.1), dc.LIP(1.0), dc.LDP(0.5), dc.LDP(2.0)):
            found = dc.design(joint, notion, time_limit=10)
            p = found.protocol
            print(
                f"{secret} → {release} {notion}: cost {p.cost / max(p.utility, 1e-300):+.1e} relative, "
                f"proven {p.epsilon!r}, {found.status}"
            )


def _robust_cases() -> Iterator[tuple[str, dc.Joint, dc.RLDP, dc.Channel]]:
    for c, k in ((15, 16), (42, 6)):
        rng = np.random.default_rng(0)
        counts = rng.multinomial(32561, rng.dirichlet(np.full(c * k, 0.5))).reshape(c, k)
        joint, notion = dc.Joint.from_counts(counts, include_secret=True), dc.RLDP(1.5, dc.ChiSquare(0.9))
        for method in ("srr", "ir"):
            yield f"RLDP {c}×{k} {method}", joint, notion, dc.design(joint, notion, method=method).protocol.channel
        yield f"RLDP {c}×{k} random sets", joint, notion, _random_sets(rng, joint, notion)


def _random_sets(rng: np.random.Generator, joint: dc.Joint, notion: dc.RLDP) -> dc.Channel:
    """As many outputs as letters, each a random set of letters, as strong as the notion allows."""
    size = len(joint.letters)
    sets = rng.random((size, size)) < 0.3
    low, high = 0.0, 1.0
    for _ in range(30):
        strength = (low + high) / 2
        matrix = (1 - strength) + strength * sets
        channel = dc.Channel(matrix / matrix.sum(axis=0), joint.letters)
        low, high = (strength, high) if notion.level(channel, joint).epsilon < notion.epsilon else (low, strength)
    return channel


def _grr(size: int, epsilon: float) -> np.ndarray:
    matrix = np.ones((size, size)) + np.expm1(epsilon) * np.eye(size)
    return matrix / matrix.sum(axis=0)


def _bound(rng: np.random.Generator, matrix: np.ndarray, draws: int = 1_000_000) -> float:
    return lower_bound(*(rng.multinomial(draws // 2, matrix.T) for _ in range(2))).epsilon


def _timed(name: str, run: Callable[[], object]) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    run()
    print(f"{name}: {time.perf_counter() - wall:.2f} s ({time.process_time() - processor:.2f} s of processor)")


def _report(what: str, outcomes: Counter[str]) -> None:
    print(f"{sum(outcomes.values())} {what}: " + ", ".join(f"{n} {name}" for name, n in outcomes.most_common()))


COMMANDS = {
    "designs": designs,
    "files": files,
    "parsing": parsing,
    "empirical": empirical,
    "time": timing,
    "cost": cost,
}

if __name__ == "__main__":
    asked = sys.argv[1:2] or list(COMMANDS)
    for command in asked:
        started = time.perf_counter()
        COMMANDS[command](*(int(number) for number in sys.argv[2:]))
        print(f"— {command}: {time.perf_counter() - started:.0f} s\n")
