"""The robust curator at scale: reads (S, U), judged by I(U;Y) alone, so that S itself need not be told (theory 1.10).

Under bands every secret has its own splitting, and any row of one secret may meet any row of another: the conditions
are on each row. Where I(S,U;Y) is wanted, it hardly matters which rows meet. Here it does: an output tells about U when
the rows of all secrets in it favour the same letters. So the splittings of a coupling are glued again, secret by
secret, by the transport of mass between cells and rows that makes the cells say most about U. That is only a beginning:
a row that says all about U for one secret may be of no use beside those of the others, so the outputs are then polished
as a whole. What counts is the finished channel, which is brought to level ε.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.channel import Channel
from discreet.exceptions import UnfinishedError
from discreet.information import utility
from discreet.joint import Joint
from discreet.notions.rldp import RLDP
from discreet.solvers.lp import optimum
from discreet.solvers.robust import coupling
from discreet.solvers.robust.fewer import fewer_outputs, size
from discreet.solvers.robust.polish import Tell, polished
from discreet.solvers.robust.private import at_level

Floats = NDArray[np.float64]
LIGHTEST = 1e-12
SAME = 7
"""Rows of one secret that agree in so many digits are one."""
LOSSLESS = 1e-9
SHARES = (1.0, 0.7, 0.5)
BEGINNING = 0.25
"""The share of the time that the couplings get."""
POLISHED = 400


def solve(joint: Joint, notion: RLDP, *, time_limit: float = np.inf, tell: Tell = lambda value: None) -> Channel:
    """A robust mechanism for a joint in curator form. `tell` is called with what the best so far keeps."""
    started = time.monotonic()
    best = _begun(joint, notion, BEGINNING * time_limit)
    tell(utility(joint, best))
    if len(joint.letters) <= POLISHED:
        best = polished(joint, notion, best, started + time_limit, tell)
    return fewer_outputs(joint, best, LOSSLESS)


def _begun(joint: Joint, notion: RLDP, seconds: float) -> Channel:
    """The best of a few couplings, aligned. One at ε spends some of it on S, which is of no use here: couplings at less
    are tried too, and then grow."""
    told, found = replace(joint, include_secret=True, sees_secret=False), []
    for share in SHARES:
        part, limit = RLDP(share * notion.epsilon, notion.uncertainty), seconds / len(SHARES)
        coupled = coupling.solve(told, part, time_limit=limit, kinds=False, known_bound=np.inf)
        widths, rows = aligned(joint.table, coupled.channel)
        found.append(at_level(joint, notion, widths, rows.reshape(len(widths), -1), grow=True))
    return max(found, key=lambda channel: utility(joint, channel))


def aligned(table: Floats, channel: Channel) -> tuple[Floats, Floats]:
    """The same splitting of every secret, glued so that the cells tell about U: widths, and v[cell, s, u]."""
    c, k = table.shape
    widths, cells, masses = np.ones(1), np.ones((1, c, k)), np.zeros((1, k))
    for s in np.argsort(-table.sum(axis=1), kind="stable"):
        weights, rows = _splitting(table[s], channel.matrix.reshape(-1, c, k)[:, s])
        moved = _transport(size(masses[:, None] + table[s] * rows), widths, weights)
        at, own = np.nonzero(moved > LIGHTEST)
        widths, cells, masses = moved[at, own], cells[at].copy(), masses[at] + table[s] * rows[own]
        cells[:, s] = rows[own]
    widths = widths / widths.sum()
    return widths, cells / np.einsum("y,ysu->su", widths, cells)


def _splitting(masses: Floats, likelihoods: Floats) -> tuple[Floats, Floats]:
    """The weights and different rows of one secret, from its P(y | u); each row has mean one."""
    p = masses / masses.sum() if masses.any() else np.full(len(masses), 1 / len(masses))
    weights = likelihoods @ p
    used = weights > LIGHTEST
    rows = likelihoods[used] / weights[used, None]
    _, group = np.unique(np.round(rows, SAME), axis=0, return_inverse=True)
    member = sparse.csr_array((weights[used], (group.ravel(), np.arange(used.sum()))))
    total = np.asarray(member.sum(axis=1)).ravel()
    return total / total.sum(), np.asarray((member @ rows) / total[:, None])


def _transport(gains: Floats, supply: Floats, demand: Floats) -> Floats:
    """max Σ x_ij gain_ij over x ≥ 0 with these row and column sums: at most m + n − 1 entries are positive."""
    m, n = gains.shape
    sums = sparse.csr_array(
        sparse.vstack([sparse.kron(sparse.eye(m), np.ones((1, n))), sparse.kron(np.ones((1, m)), sparse.eye(n))])
    )
    wanted = np.concatenate([supply, demand * (supply.sum() / demand.sum())])
    found = optimum(gains.ravel(), np.zeros(m * n), np.full(m * n, np.inf), sums, wanted, wanted)
    if found is None:
        raise UnfinishedError(
            "a transport of mass was not found", where="curator", remedy="Drop letters that hardly occur."
        )
    return found.point.reshape(m, n)
