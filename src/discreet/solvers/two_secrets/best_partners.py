"""The best pair of every letter without looking at all pairs: maxima along the rows of a Monge matrix (theory 10.3).

A letter within the end has A = 1/distance to it, one beyond it B likewise; the pair has weights A/(A+B) and B/(A+B).
With the gain g of each letter, −ln p less its price, the pair is worth (A g_i + B g_j − φ(A, B)) / (A + B), φ as in
`chain`. It is worth at most δ exactly if

    M_δ(i, j) = A_i (g_i − δ) + B_j (g_j − δ) − φ(A_i, B_j) ≤ 0,

and φ is supermodular, so that in the order of A and B the best partner j of i under M_δ moves one way: if j beats a
larger j' for i, it does so for every larger i. The best partner of the middle row halves the places where those of the
others can be, and so on: n log n evaluations. The largest worth is found as the δ at which the largest M_δ is zero
(Dinkelbach).

Rounding may put the best partner of a row in the wrong place, by a value that it is then behind at most; every row
inherits such mistakes from at most log n others. `slack` says how much that can come to.
"""

from __future__ import annotations

from math import log1p

import numpy as np

from discreet.arrays import Floats, Indices
from discreet.compiling import compiled, example

ROUNDS = 60
"""The ratio of two linear functions is settled in a handful."""
ROUNDED = 8e-16
"""The relative error of one evaluation of M: four roundings."""


def best_partners(a: Floats, b: Floats, within: Floats, beyond: Floats) -> tuple[Indices, Indices, float, float]:
    """For every letter within the best one beyond, for every one beyond the best within, the largest worth of any
    pair, and by how much rounding may have understated it. `within` and `beyond` are the gains of the letters."""
    rows, columns = np.argsort(a, kind="stable"), np.argsort(-b, kind="stable")
    a_rows, b_columns, g_rows, g_columns = a[rows], b[columns], within[rows], beyond[columns]
    delta = 0.0
    for _ in range(ROUNDS):
        forth = _row_maxima(a_rows, b_columns, g_columns - delta)
        back = _row_maxima(b_columns[::-1].copy(), a_rows[::-1].copy(), g_rows[::-1] - delta)
        best = float(_worth(a_rows, b_columns[forth], g_rows, g_columns[forth]).max())
        if abs(best - delta) <= ROUNDED * (1 + abs(delta)):
            break
        delta = best
    partner, other = np.empty(len(a), np.intp), np.empty(len(b), np.intp)
    partner[rows] = columns[forth]
    other[columns[::-1]] = rows[::-1][back]
    size = float(b.max()) * (1 + float(np.abs(beyond - best).max()) + log1p(float(a.max() / b.min())))
    slack = ROUNDED * (1 + np.log2(len(a))) * size / float(a.min() + b.min())
    return partner, other, best, slack


def _worth(a: Floats, b: Floats, g_a: Floats, g_b: Floats) -> Floats:
    return np.asarray((a * g_a + b * g_b - a * np.log1p(b / a) - b * np.log1p(a / b)) / (a + b))


@compiled()
def _row_maxima(a, b, gain):  # type: ignore[no-untyped-def]
    """For every row i, a rising, the place j, b falling, where b_j gain_j − φ(a_i, b_j) is largest: it never falls."""
    rows, columns = len(a), len(b)
    best = np.zeros(rows, np.int64)
    stack = np.empty((128, 4), np.int64)
    stack[0] = 0, rows, 0, columns - 1
    depth = 1
    while depth:
        depth -= 1
        first, last, low, high = stack[depth]
        if first >= last:
            continue
        middle = (first + last) // 2
        place, most = low, -np.inf
        for j in range(low, high + 1):
            value = b[j] * gain[j] - a[middle] * np.log1p(b[j] / a[middle]) - b[j] * np.log1p(a[middle] / b[j])
            if value > most:
                place, most = j, value
        best[middle] = place
        stack[depth] = first, middle, low, place
        stack[depth + 1] = middle + 1, last, place, high
        depth += 2
    return best


@example("the best pairs")
def compile_partners() -> None:
    ones = np.ones(3)
    best_partners(ones, ones, ones, ones)
