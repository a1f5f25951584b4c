"""Estimates at full size: coverage, rare letters, bias, multi-freq-ldpy side by side, ten million rows.

Run: python benchmarks/estimate.py [coverage | rare | bias | peers | rows] …   (all of them if none is named)
`peers` needs multi-freq-ldpy; it is left out, and says so, where that is not installed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from scipy.special import ndtri

from discreet.channel import Channel
from discreet.design import design
from discreet.estimate import estimate
from discreet.estimate.fitting import Sample
from discreet.estimate.functionals import Analysis, Functionals
from discreet.joint import Joint
from discreet.mechanisms.calibration import calibrate
from discreet.mechanisms.randomised_response import grr
from discreet.mechanisms.unary_encoding import oue
from discreet.notions import LIP, SRLIP
from discreet.notions.rldp import RLDP
from discreet.uncertainty import Exactly

RELEASES = 2_000
DRAWS = 20_000
TRUTH = np.array([0.5, 0.3, 0.15, 0.04, 0.009, 0.001])
BAND = (0.93, 0.97)
RARE_SEED, RARE_PROBLEMS, RARE_RELEASES = 90210, 24, 1_000
Case = tuple[str, np.ndarray, np.ndarray, np.ndarray]


def cases() -> Iterator[Case]:
    """(name, channel, prior that the protocol states, distribution that the records really have)"""
    rng = np.random.default_rng(7)
    stated = 0.7 * TRUTH + 0.3 * rng.dirichlet(np.ones(6))
    table = rng.dirichlet(np.ones(3), size=6).T * stated
    joint = Joint(table)
    pair = Joint(table.reshape(3, 2, 3))
    yield "GRR", calibrate(grr, joint, LIP(1.0)).channel.matrix, stated, TRUTH
    yield "OUE", calibrate(oue, joint, LIP(1.0)).channel.matrix, stated, TRUTH
    yield "optimal LIP", design(joint, LIP(0.5)).protocol.matrix, stated, TRUTH
    yield "optimal SRLIP", design(pair, SRLIP(0.5)).protocol.matrix, stated, TRUTH
    whole = Joint(rng.dirichlet(np.full(9, 0.7)).reshape(3, 3), include_secret=True)
    coupled = design(whole, RLDP(1.0, Exactly())).protocol.matrix
    yield "coupling", coupled, whole.prior, 0.8 * whole.prior + 0.2 * rng.dirichlet(np.ones(9))


def coverage() -> None:
    """The share of 95 % intervals that contain the truth, for every letter.

    `atom` is the probability of the most likely value of T: where it is large, coverage can only move in such steps.
    """
    print(f"95 % intervals, {RELEASES} releases each, 99.9 % of simulation error: ± {3.3 * 0.0049:.3f}")
    for name, matrix, prior, truth in cases():
        for n in (100, 1_000, 100_000):
            for method in ("linear", "likelihood"):
                _coverage(name, matrix, prior, truth, n, method)


def _coverage(name: str, matrix: np.ndarray, prior: np.ndarray, truth: np.ndarray, n: int, method: str) -> None:
    rng = np.random.default_rng(n)
    started = time.perf_counter()
    q = matrix @ truth
    rows = np.eye(len(truth))
    inside, switched, statistics = np.zeros(len(truth)), np.zeros(len(truth)), []
    for counts in rng.multinomial(n, q / q.sum(), size=RELEASES):
        found = Functionals(Analysis(Sample.of([(matrix, counts)]), prior, method), rows)
        limits = found.limits(0.95)
        inside += (limits[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= limits[:, 1])
        switched += found.switched
        statistics.append(found.blind_scores @ counts)
    known = found.determined
    bounded = f"   not determined: {(inside[~known] / RELEASES).min():.3f} or more" if not known.all() else ""
    covered, truth = inside[known] / RELEASES, truth[known]
    atoms = [
        np.unique(np.round(column, 6), return_counts=True)[1].max() / RELEASES for column in np.array(statistics).T
    ]
    outside = (covered < BAND[0]) | (covered > BAND[1])
    each = 1e3 * (time.perf_counter() - started) / RELEASES
    print(
        f"{name:14s} {method:10s} n = {n:<7,d} covered {covered.min():.3f} … {covered.max():.3f}   "
        f"switched {switched.mean() / RELEASES:4.0%}   {each:5.1f} ms each{bounded}"
    )
    for i in np.flatnonzero(outside):
        print(f"    outside the band: p = {truth[i]:.4f} covered {covered[i]:.4f} (atom {atoms[i]:.3f})")


def rare() -> None:
    """Random optimal channels for LIP: the two rarest letters, where some letters are expected 0.3 to 3 times."""
    rng = np.random.default_rng(RARE_SEED)
    shares: list[float] = []
    for _ in range(RARE_PROBLEMS):
        a, n = int(rng.integers(4, 8)), int(rng.choice([50, 100, 200, 300]))
        few = np.exp(rng.uniform(np.log(0.3), np.log(3), size=min(int(rng.integers(1, 4)), a - 2))) / n
        truth = np.concatenate([(1 - few.sum()) * rng.dirichlet(np.full(a - len(few), 2.0)), few])
        stated = 0.7 * truth + 0.3 * rng.dirichlet(np.ones(a))
        joint = Joint(rng.dirichlet(np.ones(int(rng.integers(2, 4))), size=a).T * stated)
        matrix = design(joint, LIP(float(rng.choice([0.3, 0.5, 1.0, 2.0])))).protocol.matrix
        rows = np.eye(a)[np.argsort(truth)[:2]]
        inside, statistics = np.zeros(2), []
        for counts in rng.multinomial(n, matrix @ truth / (matrix @ truth).sum(), size=RARE_RELEASES):
            found = Functionals(Analysis(Sample.of([(matrix, counts)]), stated), rows)
            if not found.determined.all():
                break
            limits = found.limits(0.95)
            inside += (limits[:, 0] <= rows @ truth + 1e-12) & (rows @ truth - 1e-12 <= limits[:, 1])
            statistics.append(found.blind_scores @ counts[matrix.any(axis=1)])
        else:
            for i, expected in enumerate(n * rows @ truth):
                atom = np.unique(np.round(np.array(statistics)[:, i], 6), return_counts=True)[1].max() / RARE_RELEASES
                print(f"n = {n:3d}, expected {expected:6.2f}: {inside[i] / RARE_RELEASES:.3f} (atom {atom:.2f})")
                shares.append(inside[i] / RARE_RELEASES)
    low, high = np.sum(np.array(shares) < BAND[0]), np.sum(np.array(shares) > BAND[1])
    print(f"{len(shares)} letters: {low} below the band, {high} above it")


def bias() -> None:
    """Linear estimates are unbiased: the largest |z| of the mean of 20,000 estimates, against its 1e-6 quantile."""
    for name, matrix, prior, truth in cases():
        q = matrix @ truth
        counts = np.random.default_rng(0).multinomial(100, q / q.sum(), size=20_000)
        found = Functionals(Analysis(Sample.of([(matrix, counts[0])]), prior), np.eye(len(truth)))
        values = counts[:, matrix.any(axis=1)] @ found.scores.T / 100
        z = (values.mean(axis=0) - truth[found.determined]) / (values.std(axis=0, ddof=1) / np.sqrt(len(values)))
        print(f"{name:14s} largest |z| {np.abs(z).max():.2f}   (bar {-ndtri(1e-6 / 2 / len(truth)):.2f})")


def peers() -> None:
    """multi-freq-ldpy on GRR and OUE: its estimate is clipped and rescaled, so ours is projected to the simplex.

    Both depend on the counts alone, so the errors are compared on many draws of these, the times on lists of records.
    """
    try:
        from multi_freq_ldpy.estimators.Histogram_estimator import MI
        from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI
        from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI
    except ImportError:
        print("multi-freq-ldpy is not installed: left out")
        return
    rng, a, epsilon = np.random.default_rng(3), 10, 1.0
    truth = rng.dirichlet(np.full(a, 0.5))
    flat = Joint(np.full((2, a), 1 / (2 * a)))
    truths = np.exp(epsilon)
    odds = {"GRR": (truths / (truths + a - 1), 1 / (truths + a - 1)), "OUE": (0.5, 1 / (truths + 1))}
    for name, family in (("GRR", grr), ("OUE", oue)):
        channel = Channel(family(flat, epsilon).matrix)
        q = channel.matrix @ truth
        for n in (10_000, 1_000_000):
            draws = rng.multinomial(n, q / q.sum(), size=DRAWS)
            set_bits = draws if name == "GRR" else draws @ _bits(np.arange(len(q)), a)
            theirs = _errors(np.array([MI(ones, n, *odds[name]) for ones in set_bits]), truth)
            linear = np.array([estimate(counts, channel, on="simplex").frequencies for counts in draws])
            likely = [estimate(counts, channel, method="likelihood").frequencies for counts in draws[:RELEASES]]
            for method, ours in (("linear", _errors(linear, truth)), ("likelihood", _errors(np.array(likely), truth))):
                paired = theirs[: len(ours)]
                noise = (ours - paired).std(ddof=1) / np.sqrt(len(ours)) / paired.mean()
                print(
                    f"{name} n = {n:<9,d} mean squared error, ours / theirs, {len(ours):,} paired draws: "
                    f"{method} × {ours.mean() / paired.mean():.4f} ± {noise:.4f}"
                )
        seconds = []
        for _ in range(7):
            outputs = rng.choice(len(q), size=n, p=q / q.sum())
            table = pa.table({"output": pa.array(outputs.astype(np.int32))})
            reports = list(outputs) if name == "GRR" else list(_bits(outputs, a))
            started = time.perf_counter()
            estimate(table, channel, on="simplex").frequencies.sum()
            between = time.perf_counter()
            GRR_Aggregator_MI(reports, a, epsilon) if name == "GRR" else UE_Aggregator_MI(reports, epsilon)
            seconds.append((between - started, time.perf_counter() - between))
        fast, slow = np.median(seconds, axis=0)
        print(f"{name} n = {n:<9,d} median time {fast:.4f} s against {slow:.4f} s: {slow / fast:.0f} × faster")


def _errors(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    return np.asarray(((found - truth) ** 2).mean(axis=1))


def _bits(outputs: np.ndarray, a: int) -> np.ndarray:
    return ((outputs[:, None] >> np.arange(a)) & 1).astype(float)


def rows() -> None:
    """Ten million released rows of 240 outputs, from a file; bar 10 s.

    Half of the channel tells the truth, so the errors of the letters are nearly independent and the share of the
    intervals that contain the truth is 95 % give or take 3. (A purely random matrix has one direction with nearly all
    of the variance: its letters are right or wrong together, and that share says nothing.)
    """
    rng, n, b = np.random.default_rng(5), 10_000_000, 240
    matrix = 0.5 * rng.dirichlet(np.full(b, 0.3), size=b).T + 0.5 * np.eye(b)
    channel = Channel(matrix, outputs=tuple(f"mostly letter {i} or {i + 1}" for i in range(b)))
    truth = rng.dirichlet(np.ones(b))
    drawn = pa.array(rng.choice(b, size=n, p=matrix @ truth).astype(np.int16))
    table = pa.table({"output": pa.DictionaryArray.from_arrays(drawn, pa.array(channel.outputs))})
    with tempfile.TemporaryDirectory() as folder:
        for suffix, write in ((".parquet", pq.write_table), (".csv", pacsv.write_csv)):
            path = Path(folder) / f"released{suffix}"
            write(table if suffix == ".parquet" else table.cast(pa.schema([("output", pa.string())])), path)
            for method in ("linear", "likelihood"):
                started = time.perf_counter()
                found = estimate(path, channel, method=method)
                limits = found.interval()
                seconds = time.perf_counter() - started
                inside = ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).mean()
                print(
                    f"{n:,} rows of {b} outputs, {suffix} ({path.stat().st_size / 1e6:.0f} MB), {method:10s} "
                    f"{seconds:.2f} s (bar 10 s), {inside:.1%} of the intervals contain the truth"
                )


PARTS = {"coverage": coverage, "rare": rare, "bias": bias, "peers": peers, "rows": rows}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        print(f"-- {part}")
        PARTS[part]()
