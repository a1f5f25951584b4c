"""More classes than one master can weigh: blocks that look like the whole, one after the other (theory 10.2).

Classes are dealt to blocks in the order of their posteriors, common ones to many blocks with a part of their mass in
each, so that every block has about the same law of the secret. A split of every block, with the mass of the block, is a
split of the whole. Losses depend on the posterior, hardly on the block: each block begins with those of the nearest
posteriors of the blocks before it.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from discreet.arrays import Floats, Indices
from discreet.exceptions import UnfinishedError
from discreet.solvers.problem import Effort
from discreet.solvers.wide.classes import LetterClasses
from discreet.solvers.wide.row_search import PosteriorSplit, RowSearch, completed, letter_vertices, weighed

SMALLEST, LARGEST = 120, 400
"""Classes that are dealt to a block, beside the common ones: fewer lose pairs, more take long to settle."""
BLOCK_SECONDS, GROWS = 0.22, 1.9
"""A search over the smallest block takes so long with five secrets, and per class as this power of the block."""
COPIES = 15.0
"""A class with the mass of a block has a part in so many of them."""
WEIGH_SECONDS = 2.0
"""For the weights of one block after its search."""


def split_in_blocks(
    classes: LetterClasses, conditions: Floats, effort: Effort
) -> tuple[PosteriorSplit, sparse.csr_array]:
    """The splits of all blocks as one, and all rows that were found. What a block that did not end would have told is
    left in one row of everything."""
    size = classes.size
    blocks = max(2, -(-size // _block(size, effort.left())))
    dealt = deal(classes, blocks)
    losses, rows, splits, weights = np.ones(size), [], [], []
    known = np.zeros(size, bool)
    for number, (members, masses) in enumerate(dealt):
        part = effort.share(1 / (len(dealt) - number))
        columns = np.concatenate([members, np.arange(size, conditions.shape[1])])
        own = np.ascontiguousarray(conditions[:, columns])
        mass = float(masses.sum())
        search = RowSearch(masses / mass, own, letter_vertices(own, len(members)), part, number)
        try:
            search.run(losses[members] if known.any() else None)
            found = weighed(search.rows, masses / mass, own, part.deadline + WEIGH_SECONDS)
        except UnfinishedError:
            continue
        losses[members], known[members] = found.losses, True
        if not known.all():
            tree = cKDTree(classes.posteriors[known])
            losses[~known] = losses[known][tree.query(classes.posteriors[~known])[1]]
        rows.append(_placed(search.rows, members, size))
        splits.append(_placed(found.rows, members, size))
        weights.append(mass * found.weights)
    if not splits:
        raise UnfinishedError("no block was weighed in time", where="wide", remedy="Give it more time.")
    together = sparse.csr_array(sparse.vstack(splits))
    split = completed(PosteriorSplit(together, np.concatenate(weights), losses), classes.prior, conditions)
    return split, sparse.csr_array(sparse.vstack([together, *rows]))


def _block(size: int, seconds: float) -> int:
    """The largest block with which all searches take half of the time."""
    all_smallest = BLOCK_SECONDS * size / SMALLEST
    room = max(1.0, 0.5 * min(seconds, 1e6) / all_smallest)
    return int(min(LARGEST, SMALLEST * room ** (1 / GROWS)))


def deal(classes: LetterClasses, blocks: int) -> list[tuple[Indices, Floats]]:
    """The classes of every block and the mass they have there."""
    prior = classes.prior
    copies = np.clip(np.ceil(COPIES * blocks * prior), 1, blocks).astype(int)
    centred = classes.posteriors - prior @ classes.posteriors
    direction = np.linalg.svd(centred * np.sqrt(prior)[:, None], full_matrices=False)[2][0]
    members: list[list[int]] = [[] for _ in range(blocks)]
    at = 0
    for x in np.argsort(centred @ direction, kind="stable"):
        for k in range(copies[x]):
            members[(at + k) % blocks].append(int(x))
        at += int(copies[x])
    found = [np.array(sorted(block)) for block in members]
    return [(block, prior[block] / copies[block]) for block in found]


def improved(
    split: PosteriorSplit, rows: sparse.csr_array, prior: Floats, conditions: Floats, deadline: float
) -> PosteriorSplit:
    """All rows weighed together, where that ends in time and is better."""
    try:
        whole = weighed(rows, prior, conditions, deadline)
    except UnfinishedError:
        return split
    return whole if whole.entropy < split.entropy else split


def _placed(rows: sparse.csr_array, members: Indices, size: int) -> sparse.csr_array:
    return sparse.csr_array((rows.data, members[rows.indices], rows.indptr), shape=(rows.shape[0], size))
