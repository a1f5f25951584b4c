"""Confidence sets over intervals: does the truth lie in them as often as they say, and what do mechanisms keep?

    python benchmarks/confidence.py coverage [draws]     simultaneous coverage, with and without noise
    python benchmarks/confidence.py utility [seconds]    Adult, proven levels and bounds

Coverage is counted without inverting anything: a limit excludes R exactly if the tail at R is at most its share of β.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

import discreet as dc
from discreet.datasets import adult
from discreet.uncertainty.confidence import SIZES_SHARE
from discreet.uncertainty.tail_guesses import closed_tail
from discreet.uncertainty.tails import Decay, noise_reach

Floats = NDArray[np.float64]
CONFIDENCE = dc.Confidence(0.95)
NOISES = (None, "3", "1", "0.5", "0.1")
BATCH = 250


def covered(truth: Floats, n: int, noise: Fraction | None, draws: int, seed: int) -> tuple[float, float]:
    """The share of draws whose conditionals all lie within their limits, and with the masses of secrets as well."""
    rng = np.random.default_rng(seed)
    secrets, letters = truth.shape
    masses = truth.sum(axis=1)
    conditional = truth / masses[:, None]
    a = 0.0 if noise is None else float(np.exp(-float(noise) / 2))
    reach = 0
    if noise is not None:
        reach = noise_reach(letters, Decay.of(noise / 2), SIZES_SHARE * CONFIDENCE.beta / secrets)
    good, good_with_masses = 0, 0
    for start in range(0, draws, BATCH):
        size = min(BATCH, draws - start)
        counts = rng.multinomial(n, truth.ravel(), size).reshape(size, secrets, letters)
        if noise is not None:
            shape = counts.shape
            counts = counts + rng.geometric(1 - a, shape) - rng.geometric(1 - a, shape)
        sizes = counts.sum(axis=2)
        least, most = np.clip(sizes - reach, 0, n), np.clip(sizes + reach, 0, n)
        for with_masses in (False, True):
            tail = float(CONFIDENCE.tail(truth.size, secrets, noisy=noise is not None, masses=with_masses))
            inside = cells_inside(conditional, counts, least, most, tail, a)
            if with_masses:
                above = closed_tail(n, least, masses, 0.0) > tail
                below = closed_tail(n, n - most, 1 - masses, 0.0) > tail
                good_with_masses += int((inside & (above & below).all(axis=1)).sum())
            else:
                good += int(inside.sum())
    return good / draws, good_with_masses / draws


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


def truths() -> dict[str, tuple[Floats, tuple[int, ...]]]:
    counts = dc.Joint.from_table(adult(), secret="occupation", release="education").counts
    assert counts is not None
    smoothed = counts + 0.01
    rare = np.full((15, 16), 0.003)
    named = {
        "Adult 15×16": (counts / counts.sum(), (100, 1_000, 32_561)),
        "0.01 added to each count": (smoothed / smoothed.sum(), (1_000, 32_561)),
    }
    for n in (100, 1_000, 32_561):
        cells = rare / n
        cells[0, 0] = 1 - 239 * 0.003 / n
        named[f"240 cells, nP = 0.003, n = {n}"] = (cells, (n,))
    return named


def coverage(draws: int) -> None:
    for name, (truth, sizes) in truths().items():
        for n in sizes:
            for noise in NOISES:
                started = time.monotonic()
                share, with_masses = covered(truth, n, None if noise is None else Fraction(noise), draws, n)
                enough = 0.95 - 3 * np.sqrt(0.95 * 0.05 / draws)
                verdict = "ok" if min(share, with_masses) >= enough else "TOO LOW"
                print(
                    f"{name:34} n = {n:6} ε0 = {noise or 'none':5} {share:.4f} with masses {with_masses:.4f} "
                    f"{verdict} {time.monotonic() - started:.0f} s",
                    flush=True,
                )


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
    {"coverage": lambda: coverage(int((rest or ["5000"])[0])), "utility": lambda: utility(float((rest or ["60"])[0]))}[
        what
    ]()
