"""A polytope of rows as one pivoting dictionary, compiled: what the walk and the climb both stand on (theory 1.1).

A row is written as its posterior y = p∘v, with Σ y = 1, y ≥ 0 and one slack for every condition:

    coefficients·(y, aux) + (0, slack) = (1, push),    y ≥ 0, slack ≥ 0, aux free

so that a vertex is a choice of basic variables, x_B = values − table·x_N. Letters come first, then the free auxiliary
columns of a lifted cone, then the slacks. The table is kept transposed: one line for every variable that is zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.compiling import compiled

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

PIVOT = 1e-10
"""An entry below this is no pivot: rounding leaves entries of 1e-14 where a zero belongs."""
NOTHING = -1  # no place in a dictionary


@compiled()
def factorised(
    coefficients: Floats, right: Floats, is_basic: NDArray[np.bool_], basic: Whole, zero: Whole
) -> tuple[bool, Floats, Floats]:
    """values and table of a basis from the conditions alone: (solved, values[R], table[N, R]).

    Only the basic columns that are not slacks need an inverse, on the rows whose slack is zero.
    """
    rows, columns = coefficients.shape
    inner = 0
    for i in range(rows):
        inner += basic[i] < columns
    letters = np.empty(inner, np.int64)
    at = 0
    for i in range(rows):
        if basic[i] < columns:
            letters[at] = basic[i]
            at += 1
    tight = np.empty(inner, np.int64)
    tight[0] = 0
    at = 1
    for i in range(1, rows):
        if not is_basic[columns + i - 1]:
            if at == inner:
                return False, right, coefficients
            tight[at] = i
            at += 1
    if at != inner:
        return False, right, coefficients
    matrix = np.empty((inner, inner))
    target = np.zeros((inner, 1 + len(zero)))
    for i in range(inner):
        target[i, 0] = right[tight[i]]
        for j in range(inner):
            matrix[i, j] = coefficients[tight[i], letters[j]]
        for j in range(len(zero)):
            if zero[j] < columns:
                target[i, 1 + j] = coefficients[tight[i], zero[j]]
            elif zero[j] - columns + 1 == tight[i]:
                target[i, 1 + j] = 1.0
    if not eliminated(matrix, target):
        return False, right, coefficients
    values = np.empty(rows)
    table = np.empty((len(zero), rows))
    at = 0
    for i in range(rows):
        if basic[i] < columns:
            values[i] = target[at, 0]
            table[:, i] = target[at, 1:]
            at += 1
        else:
            row = basic[i] - columns + 1
            total = right[row]
            for k in range(inner):
                total -= coefficients[row, letters[k]] * target[k, 0]
            values[i] = total
            for j in range(len(zero)):
                entry = coefficients[row, zero[j]] if zero[j] < columns else 0.0
                for k in range(inner):
                    entry -= coefficients[row, letters[k]] * target[k, 1 + j]
                table[j, i] = entry
    return True, values, table


@compiled()
def eliminated(matrix: Floats, target: Floats) -> bool:
    """target ← matrix⁻¹ target by elimination with the largest pivot; False if the matrix is singular to rounding."""
    size = len(matrix)
    for step in range(size):
        best = step
        for i in range(step + 1, size):
            if abs(matrix[i, step]) > abs(matrix[best, step]):
                best = i
        if abs(matrix[best, step]) < PIVOT:
            return False
        if best != step:
            for j in range(step, size):
                matrix[step, j], matrix[best, j] = matrix[best, j], matrix[step, j]
            for j in range(target.shape[1]):
                target[step, j], target[best, j] = target[best, j], target[step, j]
        for i in range(step + 1, size):
            factor = matrix[i, step] / matrix[step, step]
            if factor != 0.0:
                for j in range(step + 1, size):
                    matrix[i, j] -= factor * matrix[step, j]
                for j in range(target.shape[1]):
                    target[i, j] -= factor * target[step, j]
    for step in range(size - 1, -1, -1):
        for k in range(step + 1, size):
            for j in range(target.shape[1]):
                target[step, j] -= matrix[step, k] * target[k, j]
        for j in range(target.shape[1]):
            target[step, j] /= matrix[step, step]
    return True


@compiled()
def pivot(values: Floats, table: Floats, basic: Whole, zero: Whole, j: int, i: int) -> None:
    """The zero variable j and the basic variable i change places, in both directions the same."""
    line = table[j]
    inverse = 1.0 / line[i]
    step = values[i] * inverse
    for k in range(len(values)):
        values[k] -= step * line[k]
    values[i] = step
    for other in range(len(table)):
        if other != j:
            factor = table[other, i] * inverse
            if factor != 0.0:
                for k in range(len(values)):
                    table[other, k] -= factor * line[k]
            table[other, i] = factor
    for k in range(len(values)):
        line[k] *= -inverse
    line[i] = inverse
    basic[i], zero[j] = zero[j], basic[i]


@compiled()
def leaving(values: Floats, line: Floats, basic: Whole, first_free: int, columns: int) -> int:
    """Which basic variable reaches zero first when one zero variable grows; free ones never do."""
    best, least = NOTHING, np.inf
    for i in range(len(values)):
        if line[i] > PIVOT and (basic[i] < first_free or basic[i] >= columns):
            ratio = values[i] / line[i]
            if ratio < least:
                best, least = i, ratio
    return best
