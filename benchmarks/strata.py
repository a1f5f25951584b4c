"""Given columns and whole persons: no violation on ten thousand tiny tables, and how often intervals cover.

    python benchmarks/strata.py tables [number]     every 2 × 2 × 2 table of counts up to 2, then random ones
    python benchmarks/strata.py pooled [draws]      intervals of all strata together
    python benchmarks/strata.py one [draws]         intervals from one row of each person

Levels are computed from weights and counts, in fractions; nothing of the package is asked for them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd

import discreet as dc
from discreet.given_columns import StratifiedJoint

EPSILON = 0.4
SECRETS, GIVEN, LETTERS = ((dc.Attribute(name, (0, 1)),) for name in "skx")


def tables(number: int) -> None:
    """max |ln P(s|y,k)/P(s|k)| of designs on tiny tables."""
    rng, worst, met = np.random.default_rng(0), 0.0, 0
    for counts in _every(number, rng):
        joint = StratifiedJoint.from_counts(counts, SECRETS, GIVEN, LETTERS)
        protocol = dc.design(joint, dc.LIP(EPSILON), force=True).protocol
        for (k,), one in protocol.strata.items():
            cells = counts[:, k]
            law = [[Fraction(int(w), 2**one.bits) for w in row] for row in one.weights]
            for out in law:
                told = [sum(int(c) * w for c, w in zip(row, out, strict=True)) for row in cells]
                for s, mass in enumerate(cells.sum(axis=1).tolist()):
                    if mass and sum(told):
                        ratio = Fraction(told[s] * int(cells.sum()), 1) / (mass * sum(told))
                        worst = max(worst, abs(math.log(ratio)) if ratio else math.inf)
        met += 1
    verdict = "no violation" if worst <= EPSILON * (1 + 1e-12) else "VIOLATION"
    print(f"{met:,} tables, worst level {worst:.12f} where {EPSILON} is promised: {verdict}")


def _every(number: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    met = 0
    for cells in product(range(3), repeat=8):
        counts = np.array(cells).reshape(2, 2, 2)
        if met < number and (counts.sum(axis=(1, 2)) > 0).all():
            met += 1
            yield counts
    while met < number:
        counts = rng.integers(0, 9, (2, 2, 2))
        if (counts.sum(axis=(1, 2)) > 0).all():
            met += 1
            yield counts


def pooled(draws: int) -> None:
    rng = np.random.default_rng(3)
    s, k = rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    frame = pd.DataFrame({"s": s, "k": k, "x": (s + 2 * k + rng.integers(0, 3, 4000)) % 3})
    joint = dc.Joint.from_table(frame, secret="s", release="x", given="k")
    protocol, law = dc.design(joint, dc.LIP(0.3)).protocol, np.bincount(frame["x"]) / 4000
    _cover(
        "all strata together", draws, law, lambda: protocol.sanitise(frame.iloc[rng.integers(0, 4000, 1500)]), protocol
    )


def one(draws: int) -> None:
    rng = np.random.default_rng(7)
    rows = rng.integers(1, 5, 1500)
    s = np.repeat(rng.integers(0, 2, 1500), rows)
    x = np.where(np.repeat(rows > 2, rows), 0, (s + rng.integers(0, 3, len(s))) % 3)
    frame = pd.DataFrame({"pid": np.repeat(np.arange(1500), rows), "s": s, "x": x})
    law = pd.crosstab(frame["pid"], frame["x"], normalize="index").mean().to_numpy()
    joint = dc.Joint.from_table(frame, secret="s", release="x", person="pid", rows="one")
    protocol, places = dc.design(joint, dc.LIP(0.3)).protocol, np.split(np.arange(len(frame)), np.cumsum(rows)[:-1])

    def released() -> pd.DataFrame:
        drawn = rng.integers(0, 1500, 500)
        sample = frame.iloc[np.concatenate([places[p] for p in drawn])]
        return protocol.sanitise(sample.assign(pid=np.repeat(np.arange(500), rows[drawn])))

    _cover("one row of each person", draws, law, released, protocol)


def _cover(name: str, draws: int, law: np.ndarray, released: object, protocol: object) -> None:
    hits, estimates = 0, []
    for _ in range(draws):
        found = dc.estimate(released(), protocol)
        limits = found.interval(0.95)
        hits += int(((limits[:, 0] <= law) & (law <= limits[:, 1])).sum())
        estimates.append(found.frequencies)
    away = (np.mean(estimates, axis=0) - law) / (np.std(estimates, axis=0) / math.sqrt(draws))
    covered, bias = hits / (draws * len(law)), float(np.abs(away).max())
    print(f"{name}: {covered:.4f} covered in {draws} draws, bias {bias:.1f} standard errors")


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["tables"]
    command, usual = {"tables": (tables, 10_000), "pooled": (pooled, 500), "one": (one, 500)}[what]
    command(int(rest[0]) if rest else usual)
