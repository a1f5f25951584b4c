"""Conditions a·x ≤ 0 on the simplex Σ x = 1, made few: as low ≤ b·x ≤ high, and without those that others imply."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def two_sided(conditions: Floats, massive: Floats, top: Floats) -> tuple[Floats, Floats, Floats]:
    """The conditions as low ≤ b·x ≤ high, for 0 ≤ x ≤ top and Σ x = 1 over the letters that have mass.

    On Σ x = 1 a condition a·x ≤ 0 may be shifted: b = a − m, b·x ≤ −m. With m the mean of a and ±b as one row, the two
    conditions of LIP become one. Rows with zeros keep them (m = 0). Where only one side is known, the other is what
    0 ≤ x ≤ top implies.
    """
    mean = (conditions @ massive) / massive.sum()
    mean[((conditions == 0) & (massive > 0)).any(axis=1)] = 0.0
    shifted = conditions - mean[:, None] * massive
    size = np.abs(shifted).max(axis=1, initial=0.0)
    size[size == 0] = 1.0
    b, limit = shifted / size[:, None], -mean / size
    first = np.abs(b) > 0.5
    sign = np.sign(b[np.arange(len(b)), first.argmax(axis=1)])
    b, limit = b * sign[:, None], limit * sign
    _, which, group = np.unique(np.round(b, 11), axis=0, return_index=True, return_inverse=True)
    rows = b[which]
    low, high = np.minimum(rows, 0.0) @ top, np.maximum(rows, 0.0) @ top
    rounding = np.abs(b - rows[group]) @ top
    np.minimum.at(high, group[sign > 0], (limit + rounding)[sign > 0])
    np.maximum.at(low, group[sign < 0], (limit - rounding)[sign < 0])
    return rows, low, high


def not_implied(conditions: Floats) -> NDArray[np.bool_]:
    """False for conditions a·x ≤ 0 that another one, b·x ≤ 0 with a ≤ t b for some t ≥ 0, implies on x ≥ 0."""
    needed = np.ones(len(conditions), dtype=np.bool_)
    for i, a in enumerate(conditions):
        ratio = np.divide(a, conditions, out=np.zeros_like(conditions), where=conditions != 0)
        least = np.where(conditions > 0, ratio, 0.0).max(axis=1)
        most = np.where(conditions < 0, ratio, np.inf).min(axis=1)
        implies = needed & (least <= most) & ((conditions != 0) | (a <= 0)).all(axis=1)
        implies[i] = False
        needed[i] = not implies.any()
    return needed
