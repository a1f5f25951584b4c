"""What somebody learns who sees a table with noise and a release: by brute force, from channel and definition alone."""

from fractions import Fraction
from itertools import permutations

import numpy as np


def corners(low, high):
    """Every extreme point of {l ≤ R ≤ u, Σ R = 1}, in fractions."""
    found = set()
    for order in permutations(range(len(low))):
        row, left = [Fraction(one) for one in low], 1 - sum(map(Fraction, low))
        for u in order:
            step = min(left, Fraction(high[u]) - Fraction(low[u]))
            row[u], left = row[u] + step, left - step
        found.add(tuple(row))
    return sorted(found)


def combined(protocol, m, others, weights, a, given):
    """The largest Pr[m, y|s]/Pr[m, y|s'] over outputs of record i, where the others' tables have these weights."""
    secrets, letters = given.shape[:2]
    reads = protocol.joint.reads_secret
    law = [[Fraction(int(w), 2**protocol.bits) for w in row] for row in protocol.weights]
    kernel = {}
    for z in range(secrets * letters):
        cell = np.eye(secrets * letters, dtype=int)[z]
        kernel[z] = sum(w * a ** int(np.abs(m - one - cell).sum()) for one, w in zip(others, weights, strict=True))
    worst = Fraction(0)
    for out in law:
        told = [
            sum(given[s][x] * out[s * letters + x if reads else x] * kernel[s * letters + x] for x in range(letters))
            for s in range(secrets)
        ]
        for one in told:
            for other in told:
                worst = max(worst, one / other)
    return worst
