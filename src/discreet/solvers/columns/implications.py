"""What linear conditions imply for a box: each letter is bounded by what a condition leaves for it (theory 1.4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Integers
from discreet.compiling import compiled

NEARLY, TINY = 1e-12, 1e-9
"""A condition that is met up to rounding is met; coefficients below TINY imply no bound that is worth having."""


class Implications(NamedTuple):
    """Conditions Σ_k a_k x_k ≤ high by their entries other than zero: the positive ones first, up to `middles`."""

    starts: Integers
    middles: Integers
    columns: Integers
    entries: Floats
    inverses: Floats
    high: Floats


def implications(rows: Floats, low: Floats, high: Floats) -> Implications:
    """What low ≤ rows·x ≤ high says for x in [0, 1]; entries too small to imply anything loosen the limits instead."""
    rows, high = np.vstack([rows, -rows]), np.concatenate([high, -low])
    large = np.abs(rows) > TINY
    high = high + np.where(large, 0.0, np.abs(rows)).sum(axis=1)
    rows = np.where(large, rows, 0.0)
    telling = np.maximum(rows, 0.0).sum(axis=1) > high
    rows, high = rows[telling], high[telling]
    order = np.argsort(np.where(rows > 0, 0, np.where(rows < 0, 1, 2)), axis=1, kind="stable")
    sizes, positive = (rows != 0).sum(axis=1), (rows > 0).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    taken = np.arange(rows.shape[1]) < sizes[:, None]
    entries = np.take_along_axis(rows, order, axis=1)[taken]
    return Implications(starts, starts[:-1] + positive, order[taken].astype(np.int64), entries, 1 / entries, high)


@compiled(nogil=True)
def shrink(conditions, lower, upper):  # type: ignore[no-untyped-def]
    """A box inside [0, 1] made smaller, in place, by each condition in turn; False if nothing is left.

    A condition can only tell where less room is `left` than some letter takes up.
    """
    columns, entries, inverses = conditions.columns, conditions.entries, conditions.inverses
    for i in range(len(conditions.high)):
        start, middle, end = conditions.starts[i], conditions.middles[i], conditions.starts[i + 1]
        least, widest = 0.0, 0.0
        for e in range(start, middle):
            a, k = entries[e], columns[e]
            low = a * lower[k]
            least += low
            widest = max(widest, a * upper[k] - low)
        for e in range(middle, end):
            a, k = entries[e], columns[e]
            low = a * upper[k]
            least += low
            widest = max(widest, a * lower[k] - low)
        left = conditions.high[i] - least + NEARLY
        if left < 0:
            return False
        if left >= widest:
            continue
        for e in range(start, middle):
            k = columns[e]
            upper[k] = min(upper[k], lower[k] + left * inverses[e])
        for e in range(middle, end):
            k = columns[e]
            lower[k] = max(lower[k], upper[k] + left * inverses[e])
    return True
