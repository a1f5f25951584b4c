"""Gluing: every secret splits one shared uniform draw into its own rows (theory 1.6 and 1.8).

The weights of the rows of each secret add up to one, so they cut the unit interval. An output is a cell of the common
refinement; a record of secret s meets in it the row of s that covers the cell. With n_s rows for secret s there are at
most Σ_s (n_s − 1) + 1 outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
NARROWEST = 1e-12


@dataclass(frozen=True, eq=False)
class Glued:
    """Widths of the cells and the rows v[cell, s, u] in them, Q[cell, (s, u)] = width · v."""

    widths: Floats
    rows: Floats


def glue(masses: Floats, weights: list[Floats], rows: list[Floats]) -> Glued:
    """Glue the splittings of all secrets (`rows[s][j]` over the letters, `weights[s][j]` adding up to one).

    What all secrets together say about themselves is lost in E[t̄ ln t̄], t̄ the mean of the rows in a cell under P̂. So
    each secret in turn, the weightiest first, puts its heavy rows where the others are light: the cells have no order
    of their own and may be sorted at will.
    """
    k = rows[0].shape[1]
    widths, cells, load = np.ones(1), np.ones((1, len(rows), k)), np.zeros(1)
    for s in np.argsort(-masses, kind="stable"):
        level = rows[s].mean(axis=1)
        light, heavy = np.argsort(load, kind="stable"), np.argsort(-level, kind="stable")
        widths, cells, load = widths[light], cells[light], load[light]
        ends, cuts = np.cumsum(widths), np.cumsum(weights[s][heavy] / weights[s].sum())
        ends[-1] = cuts[-1] = 1.0
        edges = np.unique(np.concatenate([ends, cuts]))
        edges = edges[np.diff(edges, prepend=0.0) > NARROWEST]
        edges[-1] = 1.0
        middles = edges - np.diff(edges, prepend=0.0) / 2
        old = np.minimum(np.searchsorted(ends, middles), len(ends) - 1)
        own = heavy[np.minimum(np.searchsorted(cuts, middles), len(cuts) - 1)]
        widths, cells, load = np.diff(edges, prepend=0.0), cells[old].copy(), load[old]
        cells[:, s] = rows[s][own]
        load = load + masses[s] * level[own]
    return Glued(widths, cells)


def together(shares: Floats, parts: list[Glued]) -> Glued:
    """Cells of several kinds side by side, the rows scaled so that they add up exactly."""
    widths = np.concatenate([share / shares.sum() * part.widths for share, part in zip(shares, parts, strict=True)])
    cells = np.concatenate([part.rows for part in parts])
    return Glued(widths, cells / np.einsum("y,ysu->su", widths, cells))
