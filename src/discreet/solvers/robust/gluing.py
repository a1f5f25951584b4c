"""Gluing: every secret splits one shared uniform draw into its own rows (theory 1.6 and 1.8).

The weights of the rows of each secret add up to one, so they cut the unit interval. An output is a cell of the common
refinement; a record of secret s meets in it the row of s that covers the cell. With n_s rows for secret s there are at
most Σ_s (n_s − 1) + 1 outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats

NARROWEST = 1e-12
"""Intervals of the shared draw that are shorter come from rounding."""


@dataclass(frozen=True, eq=False)
class GluedCells:
    """Widths of the cells, and for every cell and secret which of its rows covers it."""

    widths: Floats
    chosen: NDArray[np.intp]


def cells(masses: Floats, weights: list[Floats], means: list[Floats]) -> GluedCells:
    """Cut the draw for all secrets; `means[s][j]` is the mean of row j of secret s, of weight `weights[s][j]`.

    What all secrets together say about themselves is lost in E[t̄ ln t̄], t̄ the mean of all rows of a cell under P̂. So
    each secret in turn, the one whose mean varies most first, puts its heavy rows where the others are light: the cells
    have no order of their own and may be sorted at will.
    """
    shares = [own / own.sum() for own in weights]
    spread = [m * np.sqrt(q @ (t - q @ t) ** 2) for m, q, t in zip(masses, shares, means, strict=True)]
    widths, chosen, load = np.ones(1), np.zeros((1, len(masses)), dtype=np.intp), np.zeros(1)
    for s in np.argsort(-np.array(spread), kind="stable"):
        light, heavy = np.argsort(load, kind="stable"), np.argsort(-means[s], kind="stable")
        ends, cuts = np.cumsum(widths[light]), np.cumsum(shares[s][heavy])
        ends[-1] = cuts[-1] = 1.0
        edges = np.unique(np.concatenate([ends, cuts]))
        edges = edges[np.diff(edges, prepend=0.0) > NARROWEST]
        edges[-1] = 1.0
        widths = np.diff(edges, prepend=0.0)
        middles = edges - widths / 2
        old = light[np.minimum(np.searchsorted(ends, middles), len(ends) - 1)]
        own = heavy[np.minimum(np.searchsorted(cuts, middles), len(cuts) - 1)]
        chosen, load = chosen[old], load[old] + masses[s] * means[s][own]
        chosen[:, s] = own
    return GluedCells(widths, chosen)


@dataclass(frozen=True, eq=False)
class Glued:
    """Widths of the cells and the rows v[cell, s, u] in them, Q[cell, (s, u)] = width · v."""

    widths: Floats
    rows: Floats


def glue(masses: Floats, weights: list[Floats], rows: list[Floats], means: list[Floats]) -> Glued:
    """The rows of all secrets (`rows[s][j]` over the letters) in their cells."""
    cut = cells(masses, weights, means)
    return Glued(cut.widths, np.stack([own[chosen] for own, chosen in zip(rows, cut.chosen.T, strict=True)], axis=1))


def side_by_side(shares: Floats, parts: list[Glued]) -> Glued:
    """Cells of several kinds side by side, the rows scaled so that they add up exactly."""
    widths = np.concatenate([share / shares.sum() * part.widths for share, part in zip(shares, parts, strict=True)])
    cells = np.concatenate([part.rows for part in parts])
    return Glued(widths, cells / np.einsum("y,ysu->su", widths, cells))
