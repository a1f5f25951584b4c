"""Names for outputs that a person can read: what seeing the output suggests about the released data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np
from numpy.typing import NDArray

from discreet.joint import Joint

Floats = NDArray[np.float64]
CERTAIN, MOSTLY, MOST_NAMED = 0.999, 0.6, 3


def named_outputs(joint: Joint, matrix: Floats) -> tuple[str, ...]:
    """A different name for every row of Q[y, z], from the posterior P(t | y)."""
    labels = [label(letter) for letter in joint.target_letters]
    names = [_name(row, joint.target_prior, labels) for row in posteriors(joint, matrix)]
    total, seen = Counter(names), Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if total[name] == 1 else f"{name} #{seen[name]}")
    return tuple(unique)


def posteriors(joint: Joint, matrix: Floats) -> Floats:
    """P(t | y), a row an output; the prior for an output that never occurs."""
    masses = np.zeros((len(matrix), len(joint.target_letters)))
    np.add.at(masses.T, joint.target_of, (matrix * joint.prior).T)
    totals = masses.sum(axis=1, keepdims=True)
    return np.where(totals > 0, masses / np.where(totals > 0, totals, 1), joint.target_prior)


def label(letter: Hashable) -> str:
    """A letter in words; the parts of a product joined by a slash."""
    if isinstance(letter, tuple):
        return " / ".join(label(part) for part in letter)
    return "missing" if letter is None else str(letter)


def _name(posterior: Floats, prior: Floats, labels: list[str]) -> str:
    if np.abs(posterior - prior).max() <= 1e-9:
        return "no information"
    order = [int(i) for i in np.argsort(-posterior, kind="stable")]
    support = int((posterior > 1e-9).sum())
    needed = int(np.searchsorted(np.cumsum(posterior[order]), MOSTLY)) + 1
    if posterior[order[0]] >= CERTAIN:
        return labels[order[0]]
    if support <= MOST_NAMED:
        return _either([labels[i] for i in order[:support]])
    chosen = [labels[i] for i in order[: min(needed, MOST_NAMED)]]
    return "mostly " + _either(chosen) if needed <= MOST_NAMED else "often " + _either(chosen)


def _either(labels: list[str]) -> str:
    return labels[0] if len(labels) == 1 else ", ".join(labels[:-1]) + " or " + labels[-1]
