"""Walks along the edges of the permitted posteriors, by what they are really worth; compiled.

A posterior w over letters is permitted if G w ≤ 0 and Σ w = 1. With slacks that is one equation for each condition and
one more, so a vertex is a *basis*: as many variables as equations, letters and slacks. At given losses β of the letters
a row gains β·w − H(w), which is convex in w: its largest value is at a vertex. From a vertex every other variable may
enter; the walk goes to the neighbour that gains most, until none gains more. Slopes would not do: at w_x = 0 the slope
of w ln w is −∞, so that along it no letter would ever enter.
"""

from __future__ import annotations

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiling import compiled, example

TINY = 1e-11
"""Entries of a dictionary below this are rounding, and nobody pivots on them."""
BETTER = 1e-10
"""A neighbour must gain so much more, or rounding could lead in circles."""
MOST_STEPS = 60  # of one walk, each to a better neighbour; it begins near its end


@compiled()
def _dictionary(system, basis):  # type: ignore[no-untyped-def]
    """B⁻¹ [A | b] for a basis; None of it is refined: a walk is a few pivots long."""
    inverse = np.linalg.inv(np.ascontiguousarray(system[:, basis]))
    return inverse @ system


@compiled()
def _pivot(table, basis, row, column):  # type: ignore[no-untyped-def]
    table[row] /= table[row, column]
    for i in range(len(table)):
        if i != row:
            factor = table[i, column]
            if factor != 0.0:
                table[i] -= factor * table[row]
    basis[row] = column


@compiled()
def _leaving(table, column):  # type: ignore[no-untyped-def]
    """The row that becomes zero first when a variable enters, and how much of it enters."""
    best, row = np.inf, -1
    for i in range(len(table)):
        if table[i, column] > 1e-11:
            ratio = max(table[i, -1], 0.0) / table[i, column]
            if ratio < best:
                best, row = ratio, i
    return row, best


@compiled()
def _gain(weight, loss):  # type: ignore[no-untyped-def]
    return weight * (loss + np.log(weight)) if weight > 1e-15 else 0.0


@compiled()
def _walk(table, basis, losses, steps):  # type: ignore[no-untyped-def]
    """To the best neighbour again and again, among letters with losses (the others, and slacks, are worth nothing)."""
    letters = len(losses)
    basic = np.zeros(table.shape[1] - 1, np.bool_)
    basic[basis] = True
    here = 0.0
    for i in range(len(basis)):
        if basis[i] < letters:
            here += _gain(table[i, -1], losses[basis[i]])
    for _ in range(steps):
        best, column, row = here + 1e-10, -1, -1
        for j in range(table.shape[1] - 1):
            if basic[j]:
                continue
            leaves, entered = _leaving(table, j)
            if leaves < 0:
                continue
            value = _gain(entered, losses[j]) if j < letters else 0.0
            for i in range(len(basis)):
                if basis[i] < letters and i != leaves:
                    value += _gain(table[i, -1] - entered * table[i, j], losses[basis[i]])
            if value > best:
                best, column, row = value, j, leaves
        if column < 0:
            return here
        basic[basis[row]] = False
        basic[column] = True
        _pivot(table, basis, row, column)
        here = best
    return here


@compiled()
def walk_from(system, bases, losses, steps):  # type: ignore[no-untyped-def]
    """Walks from every basis: the bases where they end, the weights of their variables, and what they gain."""
    ends, weights, gains = bases.copy(), np.zeros(bases.shape), np.full(len(bases), -np.inf)
    for k in range(len(bases)):
        table = _dictionary(system, ends[k])
        if table[:, -1].min() < -1e-9:
            continue
        gains[k] = _walk(table, ends[k], losses, steps)
        weights[k] = table[:, -1]
    return ends, weights, gains


@compiled()
def largest_weights(system, basis, letters):  # type: ignore[no-untyped-def]
    """For every letter the vertex where it is largest, from one to the next by linear programs; its basis and weight.

    The walk starts anew from its basis every now and then, so that rounding does not build up.
    """
    rows = len(basis)
    bases, most = np.zeros((letters, rows), basis.dtype), np.zeros(letters)
    at = basis.copy()
    table = _dictionary(system, at)
    for x in range(letters):
        if x % 64 == 63:
            table = _dictionary(system, at)
        for _ in range(200):
            row = -1
            for i in range(rows):
                if at[i] == x:
                    row = i
            if row < 0:
                leaves, _entered = _leaving(table, x)
                if leaves < 0:
                    break
                _pivot(table, at, leaves, x)
                continue
            column, steepest = -1, -1e-10
            for j in range(table.shape[1] - 1):
                if table[row, j] < steepest and j != x and _leaving(table, j)[0] >= 0:
                    column, steepest = j, table[row, j]
            if column < 0:
                break
            leaves, _entered = _leaving(table, column)
            _pivot(table, at, leaves, column)
        bases[x] = at
        for i in range(rows):
            if at[i] == x:
                most[x] = table[i, -1]
    return bases, most


@compiled()
def proven_weights(system, bases, most_of_others):  # type: ignore[no-untyped-def]
    """For every letter x an upper bound of its weight in any permitted posterior, from the basis where it is largest.

    Let y be the row of B⁻¹ that belongs to x. Every permitted point z ≥ 0 has (y·A) z = y·b. Where y·A_j ≥ −η_j for the
    others and y·A_x > 0, the weight of x is at most (y·b + the most that Σ η_j z_j can be) / y·A_x: letters add up to
    one, the other variables have a most each. This holds for any y; a bad basis makes the bound large, never wrong.
    """
    letters = len(bases)
    found = np.ones(letters)
    for x in range(letters):
        row = -1
        for i in range(bases.shape[1]):
            if bases[x, i] == x:
                row = i
        if row < 0:
            continue
        inverse = np.linalg.inv(np.ascontiguousarray(system[:, bases[x]]))
        line = np.ascontiguousarray(inverse[row]) @ system
        short, others = 0.0, 0.0
        for j in range(letters):
            if j != x:
                short = max(short, -line[j])
        for j in range(letters, len(line) - 1):
            others += max(0.0, -line[j]) * most_of_others[j - letters]
        if line[x] > 0.5:
            found[x] = min(1.0, (line[-1] + short + others) / line[x] * (1 + 1e-12) + 1e-15)
    return found


@example("walks along edges")
def compile_walks() -> None:
    system = np.array(
        [[1.0, 1.0, 1.0, 0.0, 0.0, 1.0], [0.4, -0.6, 0.1, 1.0, 0.0, 0.0], [-0.5, 0.4, -0.1, 0.0, 1.0, 0.0]]
    )
    basis = np.array([2, 4, 0])
    bases, _ = largest_weights(system, basis, 3)
    proven_weights(system, bases, np.ones(2))
    walk_from(system, bases, np.ones(3), MOST_STEPS)


def as_system(conditions: Floats, letters: int) -> Floats:
    """[A | b]: Σ w = 1 over the first `letters` variables and conditions·w + slack = 0."""
    count, variables = conditions.shape
    whole = np.concatenate([np.arange(variables) < letters, np.zeros(count)])
    body = np.vstack([whole, np.hstack([conditions, np.eye(count)])])
    return np.ascontiguousarray(np.column_stack([body, np.eye(count + 1)[0]]))


def walked_rows(bases: Integers, weights: Floats, letters: int) -> tuple[Integers, Integers, Floats]:
    """(row, letter, weight) of every letter that is there."""
    row, place = np.nonzero((bases < letters) & (weights > TINY))
    return row, bases[row, place], weights[row, place]
