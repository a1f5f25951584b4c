"""First rows for a curator: one shared draw tells x and nothing about s (theory 1.6, judged by X alone).

Give every letter an interval of length P(x|s) on [0, 1), for each secret s, and draw a point of the interval of the
true (s, x). The point is uniform whatever s is, so its cell among the intervals of all secrets has level 0. A cell in
which all secrets have the same letter tells it. First comes what all secrets have in common, min over s of P(x|s), at
one place; the rest follows in an order that may be chosen, and several orders are several mechanisms to start from.
"""

from __future__ import annotations

import numpy as np

from discreet.solvers.vertices.pivots import Floats, Whole

DUST = 1e-12
"""Cells shorter than this are rounding."""
ORDERS = 6


def shared_draws(table: Floats, seed: int = 1) -> tuple[Floats, Floats]:
    """Rows v over all (s, x) of P(S, X), flattened, and weights that balance: several orders of letters, mixed.

    Rows are zero where P(s, x) is; every one has Σ_x P(x|s) v_{s,x} = 1 for every secret of positive mass.
    """
    given = table / table.sum(axis=1, keepdims=True)
    random = np.random.default_rng(seed)
    letters = table.shape[1]
    heavy = np.argsort(-table.sum(axis=0))
    orders = [np.arange(letters), heavy, *(random.permutation(letters) for _ in range(ORDERS - 2))]
    found = [_one_draw(given, order) for order in orders]
    return np.vstack([rows for rows, _ in found]), np.concatenate([weights for _, weights in found]) / len(orders)


def _one_draw(given: Floats, order: Whole) -> tuple[Floats, Floats]:
    common = given.min(axis=0)
    rest = (given - common)[:, order]
    walls = np.concatenate(
        [np.cumsum(common)[None, :].repeat(len(given), 0), common.sum() + np.cumsum(rest, axis=1)], axis=1
    )
    names = np.concatenate([np.arange(given.shape[1]), order])
    cuts = np.unique(np.concatenate([[0.0], np.clip(walls.ravel(), 0.0, 1.0), [1.0]]))
    cuts = cuts[np.concatenate([[True], np.diff(cuts) > DUST])]
    middle, weights = (cuts[:-1] + cuts[1:]) / 2, np.diff(cuts)
    rows = np.zeros((len(middle), *given.shape))
    for s, line in enumerate(walls):
        letter = names[np.minimum(np.searchsorted(line, middle), len(names) - 1)]
        rows[np.arange(len(middle)), s, letter] = 1.0
    told = np.divide(rows, given, out=np.zeros_like(rows), where=given > 0)
    return told.reshape(len(middle), -1), weights
