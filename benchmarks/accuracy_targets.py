"""Accuracy by lists, climbing and moments: the figures of theory 6, each checked from the matrix alone.

python benchmarks/accuracy_targets.py [adult] [large] [curator]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from discreet.datasets import adult
from discreet.solvers.vertices.accurate_rows import AccurateRows, accurate_rows, space_of
from discreet.solvers.vertices.balance_curve import BalanceCurve
from discreet.solvers.vertices.design_space import design_effects
from discreet.solvers.vertices.largest_effect import smallest_largest
from discreet.solvers.vertices.listed_rows import ListedRows, shared_draws
from discreet.solvers.vertices.pivots import Floats
from discreet.solvers.vertices.walk import lifted_ratios, list_vertices, polyhedron_of

PROBLEMS = (("marital-status", 0.5), ("occupation", 0.5), ("occupation", 1.5))
LARGE = (
    ("occupation", ("education", "sex")),
    ("race", ("education", "marital-status")),
    ("race", ("education", "relationship")),
    ("marital-status", ("education", "occupation")),
)


def counts(secret: str, *release: str) -> Floats:
    frame = adult().select([secret, *release]).to_pandas()
    letters = frame[list(release)].astype(str).agg("|".join, axis=1)
    return np.asarray(frame.groupby([frame[secret], letters]).size().unstack(fill_value=0), dtype=float)


def lip(table: Floats, epsilon: float) -> tuple[Floats, Floats, Floats]:
    joint = table / table.sum()
    prior, given = joint.sum(axis=0), joint / joint.sum(axis=1, keepdims=True)
    rows = np.vstack([given - np.exp(epsilon) * prior, np.exp(-epsilon) * prior - given])
    return prior, rows, given


def say(name: str, found: AccurateRows, prior: Floats, began: float, averaging: Floats | None = None) -> None:
    seen = found.rows if averaging is None else found.rows @ averaging
    effect = design_effects(found.weights, seen, prior).mean()
    balance = np.abs(found.weights @ found.rows - 1).max()
    print(
        f"{name:46s} {effect:9.4f} ≥ {found.lower_bound:8.4f}  gap {found.gap:7.3%}  {len(found.weights):5d} outputs "
        f"{time.monotonic() - began:6.2f} s  {'list' if found.listed else 'climb'}  balance {balance:.0e}",
        flush=True,
    )


def small() -> None:
    for secret, epsilon in PROBLEMS:
        prior, rows, given = lip(counts(secret, "education"), epsilon)
        began = time.monotonic()
        say(f"LIP {secret} {epsilon}", accurate_rows(prior, rows, seconds=15.0), prior, began)
        lifted, start = lifted_ratios(given, epsilon)
        began = time.monotonic()
        say(f"LDP {secret} {epsilon}", accurate_rows(prior, lifted, lifted_start=start), prior, began)
        space = space_of(prior, None, None)
        balance = BalanceCurve(space, ListedRows(space, list_vertices(polyhedron_of(prior, rows))))
        began = time.monotonic()
        _, _, value, bound = balance.informative
        print(f"    information {value:.7f} ≤ {bound:.7f} in {time.monotonic() - began:.2f} s")
        began = time.monotonic()
        say(f"    99 % kept, {secret} {epsilon}", balance.accurate(0.99), prior, began)
        began = time.monotonic()
        worst = smallest_largest(space, balance.source)
        effect = design_effects(worst.weights, worst.rows, prior).max()
        print(
            f"    largest {effect:.4f} ≥ {worst.lower_bound:.4f}, gap {worst.gap:.3%}, {time.monotonic() - began:.2f} s"
        )


def large() -> None:
    for secret, release in LARGE:
        table = counts(secret, *release)
        prior, rows, _ = lip(table, 0.5)
        began = time.monotonic()
        say(f"LIP {secret} {table.shape}", accurate_rows(prior, rows), prior, began)
    random = np.random.default_rng(0)
    for letters in (100, 300):
        mass = random.dirichlet(np.full(letters, 5.0))
        table = np.array([random.dirichlet(np.full(5, 3.0)) * share for share in mass]).T
        prior, rows, _ = lip(table, 0.5)
        began = time.monotonic()
        say(f"LIP synthetic {table.shape}", accurate_rows(prior, rows), prior, began)


def curators() -> None:
    for secret, epsilon in PROBLEMS[:2]:
        table = counts(secret, "education")
        joint = table / table.sum()
        present = joint.ravel() > 0
        who = np.repeat(np.arange(len(joint)), joint.shape[1])[present]
        what = np.tile(np.arange(joint.shape[1]), len(joint))[present]
        flat = joint.ravel()[present]
        given = np.where(who == np.arange(len(joint))[:, None], flat / joint.sum(axis=1)[who], 0.0)
        rows = np.vstack([given - np.exp(epsilon) * flat, np.exp(-epsilon) * flat - given])
        prior = joint.sum(axis=0)
        averaging = np.where(what[:, None] == np.arange(len(prior)), (flat / prior[what])[:, None], 0.0)
        reads_less = accurate_rows(*lip(table, epsilon)[:2])
        known = np.vstack([shared_draws(joint)[0][:, present], reads_less.rows[:, what]])
        began = time.monotonic()
        found = accurate_rows(flat, rows, averaging=averaging, known=known)
        say(f"curator {secret} {epsilon} ({len(flat)} cells)", found, prior, began, averaging)


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["adult", "large", "curator"]
    for name, run in (("adult", small), ("large", large), ("curator", curators)):
        if name in chosen:
            run()
