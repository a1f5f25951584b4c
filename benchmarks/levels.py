"""How long the exact level of a large channel takes. Run: python benchmarks/levels.py"""

from __future__ import annotations

import time

import numpy as np

from discreet.channel import Channel
from discreet.joint import Joint
from discreet.mechanisms.unary_encoding import oue_information
from discreet.notions import LIP
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare


def timed(name: str, bar: float, work: object) -> None:
    started = time.perf_counter()
    result = work()  # type: ignore[operator]
    print(f"{name:60s} {time.perf_counter() - started:8.3f} s   (bar {bar} s)   value {result:.6f}")


def main() -> None:
    rng = np.random.default_rng(0)
    wide = Joint(rng.dirichlet(np.ones(10_000)).reshape(10, 1_000))
    tall = Channel(rng.dirichlet(np.ones(10_000), size=1_000).T)
    timed("LIP level, 10,000 × 1,000, c = 10", 1.0, lambda: LIP(1.0).level(tall, wide).epsilon)

    counts = rng.multinomial(32_561, rng.dirichlet(np.full(240, 0.5))).reshape(15, 16)
    joint = Joint.from_counts(counts, include_secret=True)
    channel = Channel(rng.dirichlet(np.ones(40), size=240).T)
    notion = RLDP(1.0, ChiSquare(0.95))
    timed("RLDP level, 240 letters, 40 outputs, 210 pairs", 1.0, lambda: notion.level(channel, joint).epsilon)

    sixteen = Joint(rng.dirichlet(np.ones(48)).reshape(3, 16))
    timed("OUE's information at a = 16 (65,536 outputs)", 1.0, lambda: oue_information(sixteen, 1.0).value)


if __name__ == "__main__":
    main()
