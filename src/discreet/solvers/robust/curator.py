"""The robust curator at scale: reads (S, U), judged by I(U;Y) alone, so that S itself need not be told (theory 1.10).

Under bands every secret has its own splitting, and any row of one secret may meet any row of another: the conditions
are on each row. Where I(S,U;Y) is wanted, it hardly matters which rows meet. Here it does: an output tells about U when
the rows of all secrets in it favour the same letters. So the splittings of a coupling are glued again, secret by
secret, by the transport of mass between cells and rows that makes the cells say most about U. That is only a beginning:
a row that says all about U for one secret may be of no use beside those of the others, so the outputs are then polished
as a whole. What counts is the finished channel, which is brought to level ε.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.attribute import Form
from discreet.channel import Channel, fewer_outputs, output_terms
from discreet.exceptions import UnfinishedError
from discreet.information import utility
from discreet.joint import Joint
from discreet.linear_program import solve_once
from discreet.mechanisms.calibration import robust
from discreet.notions.rldp import RLDP
from discreet.solvers.driver import solve
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.solvers.robust.bands.search import search_bands
from discreet.solvers.robust.funnel import begin_with_letters
from discreet.solvers.robust.polishing import polished
from discreet.solvers.robust.rescaling import at_level, merged_to, provable
from discreet.uncertainty.sets import ball_around

LIGHTEST = 1e-12
"""Mass that a transport leaves in a cell by rounding."""
SAME = 7
"""Rows of one secret that agree in so many digits are one."""
LOSSLESS = 1e-9
"""The share of the information that merging equal outputs may lose, by rounding."""
SHARES = (1.0, 0.7, 0.5)
"""Parts of ε at which couplings are tried; what suits depends on how much U tells about S."""
BEGINNING = 0.25
"""The share of the time that the couplings get."""
GLUING = 0.3
"""The share of the time that is left which gluing one of them for release may take."""
MERGED = 500
"""Up to so many outputs every two are compared for one last merging, which takes no longer than a second."""
POLISHED = 400
"""Up to so many letters polishing ends within the minute that a robust design has."""


def polish_curator(problem: Problem, effort: Effort) -> Iterator[Solution]:
    """A robust mechanism for a joint in curator form: couplings, glued for U, then polished as a whole."""
    joint, asked = problem.asked
    notion = robust(asked, "coupling")
    best = _begun(joint, notion, effort)
    yield Solution.of_channel(problem, named(joint, best))
    status = Status.LOCAL
    if len(joint.letters) <= POLISHED:
        best, status = polished(joint, notion, best, effort)
    if len(best.outputs) <= MERGED:
        best = fewer_outputs(joint, best, LOSSLESS)
    yield Solution.of_channel(problem, named(joint, best), status=status)


def _begun(joint: Joint, notion: RLDP, effort: Effort) -> Channel:
    """The best of a few couplings, aligned. One at ε spends some of it on S, which is of no use here: couplings at less
    are tried too, and then grow."""
    told, found = replace(joint, form=Form.RELEASES_SECRET), list[Channel]()
    ball, beginning = ball_around(notion.uncertainty, joint), effort.share(BEGINNING)
    whole = beginning.left()
    if ball.radius in (0.0, np.inf):
        return begin_with_letters(joint, notion, provable(ball, whole))
    for i, share in enumerate(SHARES):
        if found and beginning.late():
            break
        part = Problem.of(told, RLDP(share * notion.epsilon, notion.uncertainty))
        turn = beginning.share(1 / (len(SHARES) - i)).quiet()
        try:
            coupled = solve(search_bands, part, turn, kinds=False, known_bound=np.inf)
            widths, rows = glued_for_release(joint.table, coupled.channel, effort.share(GLUING).deadline)
        except UnfinishedError:
            if not found:
                found.append(begin_with_letters(joint, notion, provable(ball, whole)))
            break
        rows = rows.reshape(len(widths), -1)
        if len(widths) > (most := provable(ball, whole / len(SHARES))):
            widths, rows = merged_to(joint, widths, rows, most)
        found.append(at_level(joint, notion, widths, rows, grow=True))
    if len(joint.letters) > (most := provable(ball, whole)):
        found.append(begin_with_letters(joint, notion, most))
    return max(found, key=lambda channel: utility(joint, channel))


def glued_for_release(table: Floats, channel: Channel, deadline: float = np.inf) -> tuple[Floats, Floats]:
    """The same splitting of every secret, glued so that the cells tell about U: widths, and v[cell, s, u]."""
    c, k = table.shape
    widths, cells, masses = np.ones(1), np.ones((1, c, k)), np.zeros((1, k))
    for s in np.argsort(-table.sum(axis=1), kind="stable"):
        weights, rows = _splitting(table[s], channel.matrix.reshape(-1, c, k)[:, s])
        moved = _transport(output_terms(masses[:, None] + table[s] * rows), widths, weights, deadline)
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


def _transport(gains: Floats, supply: Floats, demand: Floats, deadline: float) -> Floats:
    """max Σ x_ij gain_ij over x ≥ 0 with these row and column sums: at most m + n − 1 entries are positive."""
    m, n = gains.shape
    sums = sparse.csr_array(
        sparse.vstack([sparse.kron(sparse.eye(m), np.ones((1, n))), sparse.kron(np.ones((1, m)), sparse.eye(n))])
    )
    wanted = np.concatenate([supply, demand * (supply.sum() / demand.sum())])
    found = solve_once(gains.ravel(), np.zeros(m * n), np.full(m * n, np.inf), sums, wanted, wanted, deadline=deadline)
    if found is None:
        raise UnfinishedError(
            "a transport of mass was not found", where="curator", remedy="Drop letters that hardly occur."
        )
    return found.point.reshape(m, n)
