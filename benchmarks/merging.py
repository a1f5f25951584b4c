"""The field's heuristics for the privacy funnel beside its certified optimum: same tables, same M, one run.

python benchmarks/merging.py

*Pairs* (Makhdoumi, Salamatian, Fawaz and Médard 2014): letters are merged two at a time; of the pairs that leave I(X;Y)
at least R, the one that lowers I(S;Y) most. *Sets* (Ding and Sadeghi 2019): the set of letters whose merging lowers
I(S;Y) − λ I(X;Y) most is merged, until none does; their submodular search is exact, and so is listing all sets of 16
letters here. Both are deterministic, so each R and each λ gives one mechanism: the one that keeps most under M counts.
Written again from the descriptions.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.special import rel_entr

import discreet as dc
from discreet.arrays import Floats
from discreet.datasets import adult

SECRETS = ("sex", "race", "marital-status", "occupation")
SHARES = (0.5, 0.1, 0.02)
STEPS = 40
"""Values of R, and of λ."""
WEIGHTS = np.geomspace(1e-3, 1.0, STEPS)


def entropy(masses: Floats) -> float:
    return -float(np.sum(masses * np.log(np.where(masses > 0, masses, 1.0))))


def told(table: Floats) -> float:
    """I(S;Y) of P(s, y)."""
    return float(np.sum(rel_entr(table, np.outer(table.sum(axis=1), table.sum(axis=0)))))


def merged(table: Floats, which: tuple[int, ...]) -> Floats:
    others = [x for x in range(table.shape[1]) if x not in which]
    return np.column_stack([table[:, others], table[:, list(which)].sum(axis=1)])


def pairs(table: Floats) -> list[tuple[float, float]]:
    """(I(S;Y), I(X;Y)) of every mechanism met, for all R."""
    found = []
    for least in np.linspace(0.0, entropy(table.sum(axis=0)), STEPS):
        now = table
        while now.shape[1] > 1:
            every = [merged(now, pair) for pair in combinations(range(now.shape[1]), 2)]
            allowed = [one for one in every if entropy(one.sum(axis=0)) >= least]
            if not allowed:
                break
            now = min(allowed, key=told)
            found.append((told(now), entropy(now.sum(axis=0))))
    return found


def sets(table: Floats) -> list[tuple[float, float]]:
    """The same for sets, for all λ."""
    found = []
    for weight in WEIGHTS:
        now = table
        while now.shape[1] > 1:
            change = _changes(now, weight)
            best = int(change.argmin())
            if change[best] >= -1e-12:
                break
            now = merged(now, tuple(x for x in range(now.shape[1]) if best >> x & 1))
            found.append((told(now), entropy(now.sum(axis=0))))
    return found


def _changes(table: Floats, weight: float) -> Floats:
    """By how much merging each set changes I(S;Y) − λ I(X;Y); sets are numbers in binary."""
    chosen = (np.arange(1 << table.shape[1])[:, None] >> np.arange(table.shape[1])) & 1
    prior, secret = table.sum(axis=0), table.sum(axis=1)
    own_told = np.asarray(rel_entr(table, np.outer(secret, prior))).sum(axis=0)
    own_kept = -prior * np.log(prior)
    masses, together = chosen @ prior, chosen @ table.T
    with_told = np.asarray(rel_entr(together, np.outer(masses, secret))).sum(axis=1)
    with_kept = -masses * np.log(np.where(masses > 0, masses, 1.0))
    change = (with_told - chosen @ own_told) - weight * (with_kept - chosen @ own_kept)
    change[chosen.sum(axis=1) < 2] = 0.0
    return np.asarray(change)


def main() -> None:
    people = adult()
    print("| secret | M, share of I(S;X) | pairs | sets | funnel, proven |\n|---|---|---|---|---|")
    for secret in SECRETS:
        joint = dc.Joint.from_table(people, secret=secret, release="education")
        every = {"pairs": pairs(joint.table), "sets": sets(joint.table)}
        whole = told(joint.table)
        for share in SHARES:
            kept = [max((k for t, k in one if t <= share * whole), default=0.0) for one in every.values()]
            best = dc.design(joint, dc.Funnel.share(share, joint), time_limit=60)
            cells = " | ".join(f"{value / joint.entropy:.3f}" for value in (*kept, best.utility))
            print(f"| {secret} | {share:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
