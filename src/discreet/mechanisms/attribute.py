"""Conditions on the mechanism of one attribute, under which a product of such mechanisms may be private (`product`).

Both are cones of rows over the letters of one attribute. They grow with the budget ε_j, so a condition is built once
for an attribute and then asked for its cone at any budget.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations, permutations

import numpy as np

from discreet.joint import Joint
from discreet.notions.cone import Cone, Floats
from discreet.notions.lip import two_sided

LISTED = 1_000
CUTS_AT_ONCE = 20
MARGIN = 1e-12

Condition = Callable[[Joint, int], Callable[[float], Cone]]


def attribute_prior(joint: Joint, j: int) -> Floats:
    """p(x_j)"""
    others = tuple(axis for axis in range(joint.probabilities.ndim) if axis != j + 1)
    return np.asarray(joint.probabilities.sum(axis=others))


def paper_condition(joint: Joint, j: int) -> Callable[[float], Cone]:
    """ε_j-LIP with respect to P(S, X^j | x_J) for every J without j and every x_J: funnel-2, eqs. (25) and (26)."""
    others = [i for i in range(len(joint.shape)) if i != j]
    subsets = chain.from_iterable(combinations(others, size) for size in range(len(others) + 1))
    laws, averages = [], []
    for known in subsets:
        cells = _cells(joint, j, known)
        masses, together = cells.sum(axis=2, keepdims=True), cells.sum(axis=0, keepdims=True)
        seen = masses[:, :, 0] > 0
        laws.append(cells[seen] / masses[seen])
        average = np.divide(together, masses.sum(axis=0), out=np.zeros_like(together), where=masses.sum(axis=0) > 0)
        averages.append(np.broadcast_to(average, cells.shape)[seen])
    law, average = np.vstack(laws), np.vstack(averages)

    def cone(epsilon: float) -> Cone:
        rows = _needed(two_sided(law, average, epsilon))
        if len(rows) <= LISTED:
            return Cone(rows)
        return Cone(_needed(two_sided(laws[0], averages[0], epsilon)), lambda v: _worst(rows, v))

    return cone


def safe_condition(joint: Joint, j: int) -> Callable[[float], Cone]:
    """P(Y^j = y | s, x_{−j}) ≤ e^{ε_j} P(Y^j = y | s', x'_{−j}) for s ≠ s' wherever both have positive probability."""
    laws = laws_by_secret(joint, j)
    few = [_corners(law) for law in laws]
    many = sum(len(a) * len(b) for a, b in permutations(laws, 2)) > LISTED

    def cone(epsilon: float) -> Cone:
        listed = few if many else laws
        nothing = np.zeros((0, joint.shape[j]))
        rows = _needed(np.vstack([nothing, *(_comparisons(a, b, epsilon) for a, b in permutations(listed, 2))]))
        return Cone(rows, (lambda v: _violated(laws, v, epsilon)) if many and joint.shape[j] > 2 else None)

    return cone


def laws_by_secret(joint: Joint, j: int) -> list[Floats]:
    """P(x_j | s, x_{−j}) for every x_{−j} of positive probability, a list over the seen secrets; each law once."""
    cells = _cells(joint, j, tuple(range(len(joint.shape))))
    masses = cells.sum(axis=2)
    return [np.unique(cells[s][masses[s] > 0] / masses[s][masses[s] > 0, None], axis=0) for s in joint.seen]


def _cells(joint: Joint, j: int, known: tuple[int, ...]) -> Floats:
    """P(s, x_J, x_j) as an array [s, x_J, x_j]."""
    summed = tuple(1 + i for i in range(len(joint.shape)) if i != j and i not in known)
    cells = np.moveaxis(joint.probabilities.sum(axis=summed, keepdims=True), 1 + j, -1)
    return np.asarray(cells.reshape(len(cells), -1, joint.shape[j]))


def _corners(laws: Floats) -> Floats:
    """The laws that give some letter the most or the least; for two letters that is all of their hull."""
    return np.asarray(laws[np.unique([laws.argmin(axis=0), laws.argmax(axis=0)])])


def _comparisons(first: Floats, second: Floats, epsilon: float) -> Floats:
    """first·v ≤ e^ε second·v for every two of them."""
    return np.asarray((first[:, None] - np.exp(epsilon) * second[None, :]).reshape(-1, first.shape[1]))


def _violated(laws: list[Floats], v: Floats, epsilon: float) -> Floats:
    """Comparisons of the laws that give v the most and the least."""
    ranked = [law[np.argsort(law @ v)] for law in laws]
    pairs = [_comparisons(a[-CUTS_AT_ONCE:], b[:CUTS_AT_ONCE], epsilon) for a, b in permutations(ranked, 2)]
    return _worst(np.vstack(pairs), v)


def _needed(rows: Floats) -> Floats:
    """Rows that v ≥ 0 does not imply, each once; for two letters only the tightest from either side."""
    rows = rows[(rows > 0).any(axis=1)]
    if rows.shape[1] != 2 or not len(rows):
        return np.unique(rows, axis=0)
    facing = [rows[rows[:, x] > 0] for x in (0, 1)]
    return np.array([side[np.argmax(side[:, 1 - x] / side[:, x])] for x, side in enumerate(facing) if len(side)])


def _worst(rows: Floats, v: Floats) -> Floats:
    """The rows that v violates most, a few of them."""
    excess = rows @ v
    order = np.argsort(-excess)[:CUTS_AT_ONCE]
    return np.asarray(rows[order[excess[order] > MARGIN * np.abs(v).max()]])
