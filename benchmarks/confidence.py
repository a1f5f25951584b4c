"""Confidence sets over intervals: does the truth lie in them as often as they say, and what do mechanisms keep?

    python benchmarks/confidence.py coverage [draws]     simultaneous coverage, with and without noise
    python benchmarks/confidence.py utility [seconds]    Adult, proven levels and bounds
    python benchmarks/confidence.py private [seconds]    the same from counts with noise, ε0 = 1, and what that costs
    python benchmarks/confidence.py halves [seconds]     designed on half of Adult, the level on the other half

Coverage is counted without inverting anything: a limit excludes R exactly if the tail at R is at most its share of β.
"""

from __future__ import annotations

import sys
import tempfile
import time
from fractions import Fraction
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet import information
from discreet.audit.level_limits import level_limits
from discreet.datasets import adult
from discreet.uncertainty.confidence import SIZES_SHARE
from discreet.uncertainty.tail_guesses import closed_tail
from discreet.uncertainty.tails import Decay, noise_reach

Floats = NDArray[np.float64]
CONFIDENCE = dc.Confidence(0.95)
NOISES = (None, "3", "1", "0.5", "0.1")
SIZES = (100, 300, 1_000, 3_000, 10_000, 32_561)
BATCH = 1_000


def covered(truth: Floats, n: int, noise: Fraction | None, draws: int, seed: int) -> tuple[float, float]:
    """The share of draws whose conditionals all lie within their limits, and with the masses of secrets as well."""
    rng = np.random.default_rng(seed)
    secrets, letters = truth.shape
    masses = truth.sum(axis=1)
    conditional = truth / masses[:, None]
    a = 0.0 if noise is None else float(np.exp(-float(noise) / 2))
    good, good_with_masses = 0, 0
    for start in range(0, draws, BATCH):
        size = min(BATCH, draws - start)
        counts = rng.multinomial(n, truth.ravel(), size).reshape(size, secrets, letters)
        if noise is not None:
            shape = counts.shape
            counts = counts + rng.geometric(1 - a, shape) - rng.geometric(1 - a, shape)
        sizes = counts.sum(axis=2)
        for with_masses in (False, True):
            unknown = SIZES_SHARE * CONFIDENCE.beta / (secrets + with_masses)
            least, most = between(sizes, letters, unknown, noise, n)
            tail = float(CONFIDENCE.tail(truth.size, secrets, noisy=noise is not None, masses=with_masses))
            inside = cells_inside(conditional, counts, least, most, tail, a)
            if with_masses:
                fewest, whole = between(sizes.sum(axis=1, keepdims=True), truth.size, unknown, noise, n)
                above = closed_tail(whole, least, masses, 0.0) > tail
                below = (closed_tail(fewest, fewest - most, 1 - masses, 0.0) > tail) | (fewest == 0)
                good_with_masses += int((inside & (above & below).all(axis=1)).sum())
            else:
                good += int(inside.sum())
    return good / draws, good_with_masses / draws


def between(
    sums: NDArray[np.int64], cells: int, tail: Fraction, noise: Fraction | None, n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least and the largest numbers of records that sums of so many cells stand for."""
    reach = 0 if noise is None else _reach(cells, noise, tail)
    return np.clip(sums - reach, 0, n), np.clip(sums + reach, 0, n)


@lru_cache(maxsize=64)
def _reach(cells: int, noise: Fraction, tail: Fraction) -> int:
    return noise_reach(cells, Decay.of(noise / 2), tail)


def cells_inside(
    conditional: Floats, counts: NDArray[np.int64], least: NDArray[np.int64], most: NDArray[np.int64], tail: float,
    a: float,
) -> NDArray[np.bool_]:  # fmt: skip
    """Whether every cell of a draw is within its limits; equal cells are looked at once."""
    secrets, letters = conditional.shape
    good = np.ones(len(counts), dtype=bool)
    for s in range(secrets):
        for u in range(letters):
            keys = np.stack([most[:, s], least[:, s], counts[:, s, u]], axis=1)
            unique, back = np.unique(keys, axis=0, return_inverse=True)
            n_most, n_least, m = unique.T
            p = conditional[s, u]
            above = (closed_tail(n_most, m, p, a) > tail) | (n_most == 0)
            below = (closed_tail(n_least, n_least - m, 1 - p, a) > tail) | (n_least == 0)
            good &= (above & below)[back.ravel()]
    return good


def truths(n: int) -> dict[str, Floats]:
    """Adult as it is, with every cell possible, and a table of cells that are almost never met."""
    counts = dc.Joint.from_table(adult(), secret="occupation", release="education").counts
    assert counts is not None
    smoothed, rare = counts + 0.01, np.full((15, 16), 0.003 / n)
    rare[0, 0] = 1 - 239 * 0.003 / n
    return {
        "Adult 15×16": counts / counts.sum(),
        "0.01 added to each count": smoothed / smoothed.sum(),
        "239 cells with nP = 0.003": rare,
    }


def coverage(draws: int) -> None:
    """Every truth, number of records and noise; it ends with the smallest coverage and the number of cases too low."""
    enough = 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
    shares = []
    for n, noise in product(SIZES, NOISES):
        for name, truth in truths(n).items():
            started = time.process_time()
            found = covered(truth, n, None if noise is None else Fraction(noise), draws, n)
            shares.append(min(found))
            print(
                f"{name:26} n = {n:6} ε0 = {noise or 'none':4} {found[0]:.4f} with masses {found[1]:.4f} "
                f"{'ok' if min(found) >= enough else 'TOO LOW'} {time.process_time() - started:.1f} s of processor",
                flush=True,
            )
    low = sum(share < enough for share in shares)
    print(f"{len(shares)} cases of {draws} draws: smallest {min(shares):.4f}, {low} below {enough:.4f}")


def utility(seconds: float) -> None:
    pairs = (("occupation", "education"), ("marital-status", "education"), ("sex", "race"),
             ("native-country", "relationship"))  # fmt: skip
    for secret, release in pairs:
        joint = dc.Joint.from_table(adult(), secret=secret, release=release, include_secret=True)
        for epsilon in (1.5, 0.5):
            told(f"{secret} × {release}", joint, dc.RLDP(epsilon, CONFIDENCE), seconds)
    for kind in (dc.RLDP, dc.RLIP):
        told("sex, X only", dc.Joint.from_table(adult(), secret="sex", release="education"), kind(0.5), seconds)
        whole = dc.Joint.from_table(adult(), secret="marital-status", release="education")
        order = np.argsort(whole.secret_prior)[:4]
        merged = whole.merge_secrets([whole.secret_letters[s] for s in order], "other")
        told("marital-status in 4, X only", merged, kind(0.5), seconds)


def private(seconds: float) -> None:
    """What a private prior costs: both designs in the same time, each from a table that was counted once."""
    table = adult()
    for secret, release in (("occupation", "education"), ("marital-status", "education")):
        letters = {name: sorted(set(table[name].to_pylist())) for name in (secret, release)}
        columns = {"secret": secret, "release": release, "include_secret": True}
        exact = dc.Joint.from_table(table, **columns)
        with tempfile.TemporaryDirectory() as folder:
            noise = dc.Noise(1.0, ledger=f"{folder}/ledger")
            noisy = dc.Joint.from_table(table, **columns, letters=letters, private=noise)
        for epsilon in (1.5, 0.5):
            shares = []
            for joint in (exact, noisy):
                found = dc.design(joint, dc.RLDP(epsilon, CONFIDENCE), time_limit=seconds)
                shares.append(information.utility(exact, found.protocol.channel) / exact.entropy)
            lost = 1 - shares[1] / shares[0]
            print(
                f"{secret} × {release} ε = {epsilon}: {shares[0]:.4f} exact, {shares[1]:.4f} at ε0 = 1, "
                f"{lost:.1%} less",
                flush=True,
            )


def halves(seconds: float) -> None:
    """The level on people who were not counted, with its 95 % limits."""
    table, order = adult(), np.random.default_rng(0).permutation(len(adult()))
    mine, other = (table.take(part) for part in np.array_split(order, 2))
    for secret, release in (("sex", "education"), ("marital-status", "education"), ("race", "education")):
        first = dc.Joint.from_table(mine, secret=secret, release=release)
        second = dc.Joint.from_table(other, secret=secret, release=release)
        if (first.secrets, first.releases) != (second.secrets, second.releases):
            continue
        for notion in (dc.LIP(0.5), dc.RLIP(0.5, CONFIDENCE), dc.LDP(0.5), dc.RLDP(0.5, CONFIDENCE)):
            channel = dc.design(first, notion, time_limit=seconds).protocol.channel
            plain = dc.LIP(0.5) if isinstance(notion, (dc.LIP, dc.RLIP)) else dc.LDP(0.5)
            found = level_limits(channel, first, plain, second.counts)
            print(f"{secret} → {release}, {notion.words.name} 0.5: {found}", flush=True)


def told(name: str, joint: dc.Joint, notion: dc.RLDP | dc.RLIP, seconds: float) -> None:
    found = dc.design(joint, notion, time_limit=seconds)
    print(
        f"{name} {joint.table.shape} {notion.words.name} ε = {notion.epsilon}: {found.utility / joint.entropy:.5f} "
        f"of at most {found.upper_bound / joint.entropy:.5f}, level {found.protocol.epsilon:.9f}, "
        f"{len(found.protocol.outputs)} outputs, {found.seconds:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    what, *rest = sys.argv[1:] or ["coverage"]
    if what == "coverage":
        coverage(int((rest or ["5000"])[0]))
    else:
        {"utility": utility, "private": private, "halves": halves}[what](float((rest or ["60"])[0]))
