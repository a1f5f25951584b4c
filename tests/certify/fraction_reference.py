"""A second implementation of every notion, in `Fraction` and loops, that shares no code with discreet.certify.

Slow and literal on purpose: it follows the definitions cell by cell. e^ε comes from `decimal`, which rounds correctly.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product

import numpy as np

INFINITE = Fraction(10) ** 400


def exact_cells(joint):
    """P(s, x) as a dictionary of fractions {(s, (x1, …, xm)): p}."""
    given = joint.probabilities if joint.counts is None else joint.counts
    cells = {place: Fraction(given[place].item()) for place in np.ndindex(given.shape)}
    total = sum(cells.values())
    return {(place[0], place[1:]): p / total for place, p in cells.items()}


def entry(weights, bits, joint, y, s, x):
    """Q(y | s, x)"""
    position = int(np.ravel_multi_index(x, joint.shape))
    if joint.reads_secret:
        position += s * int(np.prod(joint.shape))
    return Fraction(int(weights[y, position]), 1 << bits)


def worst_ratio(name, weights, bits, joint):
    """The largest ratio that the notion compares with e^ε."""
    assert all(sum(int(w) for w in column) == 1 << bits for column in weights.T)
    rule = {"LDP": ldp, "LIP": lip, "SRLIP": srlip, "OrdinaryLDP": ordinary, "Everything": everything, "Exactly": ldp}
    return rule[name](weights, bits, joint)


def ldp(weights, bits, joint):
    cells, secrets, letters = exact_cells(joint), range(len(joint.probabilities)), list(np.ndindex(joint.shape))
    worst = Fraction(0)
    for y in range(len(weights)):
        given = {}
        for s in secrets:
            mass = sum(cells[s, x] for x in letters)
            if mass:
                given[s] = sum(cells[s, x] * entry(weights, bits, joint, y, s, x) for x in letters) / mass
        worst = max([worst, *(ratio(given[s], given[t]) for s in given for t in given if s != t)])
    return worst


def lip(weights, bits, joint):
    return max(moves(weights, bits, joint, exact_cells(joint), y) for y in range(len(weights)))


def srlip(weights, bits, joint):
    cells, m, worst = exact_cells(joint), len(joint.shape), Fraction(0)
    for size in range(m + 1):
        for known in combinations(range(m), size):
            for values in product(*(range(joint.shape[j]) for j in known)):
                told = {
                    (s, x): p if all(x[j] == v for j, v in zip(known, values, strict=True)) else Fraction(0)
                    for (s, x), p in cells.items()
                }
                if sum(told.values()):
                    worst = max([worst, *(moves(weights, bits, joint, told, y) for y in range(len(weights)))])
    return worst


def moves(weights, bits, joint, cells, y):
    """The largest of P(y|s)/P(y) and P(y)/P(y|s) under (unnormalised) cells."""
    total = sum(cells.values())
    seen = sum(p * entry(weights, bits, joint, y, s, x) for (s, x), p in cells.items()) / total
    worst = Fraction(0)
    for s in range(len(joint.probabilities)):
        mass = sum(p for (t, _), p in cells.items() if t == s)
        if mass:
            given = sum(p * entry(weights, bits, joint, y, t, x) for (t, x), p in cells.items() if t == s) / mass
            worst = max(worst, ratio(given, seen), ratio(seen, given))
    return worst


def ordinary(weights, bits, joint):
    return max(ratio(Fraction(int(max(row))), Fraction(int(min(row)))) for row in weights)


def everything(weights, bits, joint):
    letters, worst = list(np.ndindex(joint.shape)), Fraction(0)
    for y in range(len(weights)):
        rows = [[entry(weights, bits, joint, y, s, x) for x in letters] for s in range(len(joint.probabilities))]
        worst = max([worst, *(ratio(max(a), min(b)) for i, a in enumerate(rows) for j, b in enumerate(rows) if i != j)])
    return worst


def ratio(a, b):
    if a == 0:
        return Fraction(0)
    return a / b if b else INFINITE


def exp_enclosure(epsilon):
    """Fractions on either side of e^ε, for an exact float or Fraction, relative width 1e-50."""
    x = Fraction(epsilon)
    with localcontext() as context:
        context.prec = 120
        value = (Decimal(x.numerator) / Decimal(x.denominator)).exp()
        return Fraction(value) * (1 - Fraction(1, 10**50)), Fraction(value) * (1 + Fraction(1, 10**50))


def violates(name, weights, bits, joint, epsilon):
    """Whether the notion is certainly broken at this level."""
    return worst_ratio(name, weights, bits, joint) > exp_enclosure(epsilon)[1]
