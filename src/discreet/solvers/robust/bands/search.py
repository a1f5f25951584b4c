"""The robust mechanism for large alphabets: bands under curves, glued by a shared uniform draw (theory 1.8).

Curves and rows are improved together, by sequential linear programming. At the rows in use the value is linear in their
entries, and what bounds them is linear in entries and curves together. A trust region keeps the steps honest, and every
step is judged by the best splittings under the new curves.

What counts is the finished channel. Its exact level over F is computed, and its rows are moved away from the constant
row, or towards it, until that level is ε: the curve is kept on a grid only, and gluing leaves some room.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from discreet.arrays import Floats
from discreet.exceptions import ParameterError
from discreet.linear_program import INFINITE, solve_once
from discreet.mechanisms.calibration import robust
from discreet.solvers.driver import Ending
from discreet.solvers.problem import Effort, Problem, Solution, Status, named
from discreet.solvers.robust.bands.curves import (
    SMALLEST_SHARE,
    BandState,
    Curves,
    again,
    evaluate,
    pruned,
    refined,
    split,
    splits,
    start,
    with_kinds,
)
from discreet.solvers.robust.bands.rows import SecretSplitting, Splitter
from discreet.solvers.robust.bands.shapes import SecretUnderBand
from discreet.solvers.robust.gluing import Glued, glue, side_by_side
from discreet.solvers.robust.optimum import compile_robust_search
from discreet.solvers.robust.polishing import polished
from discreet.solvers.robust.rescaling import at_level, merged_to, proof_seconds, provable, robust_bound
from discreet.uncertainty.renyi_ball import RenyiBall
from discreet.uncertainty.sets import ball_around

SHORTEST, REACH = 1e-3, 3.0
"""The smallest trust region of the curves that is worth a program; entries of rows move so many times as far."""
COARSE, FINE, FINEST = 20, 40, 160
"""How many splits of the budget the curves are kept at, while searching and in the end."""
FEW_CLIMBS, MANY_CLIMBS = 6, 30
"""From so many rows of each secret and kind climbs start, at first and once that settles."""
TILT, PROMISING = 0.15, 0.997
"""How much steeper and flatter curves become when a kind of outputs is made into two, and the share of the value that
two kinds must reach soon to be pursued."""
SETTLED = 2e-4
"""A round of climbs that gains less than this share is the last of its kind."""
LEAST_FOR_PROOF = 0.15
"""The share of the time that is kept for bringing the channel to level ε and proving it."""
BOUND_SHARE = 0.1
"""The share of the time that the bound gets: the report on S is solved within seconds or hardly at all."""
POLISHED = 100
"""Up to so many letters polishing all secrets at once gains more than another round of bands."""


def search_bands(
    problem: Problem, effort: Effort, kinds: bool = True, known_bound: float | None = None
) -> Iterator[Solution]:
    """The best robust mechanism that bands and gluing find, for a joint with `include_secret`, then polished.

    A linear program that fails on the way ends the search with what it has, and so does ctrl-C.
    With only one kind of output any row of one secret may meet any row of another. `known_bound` was proven elsewhere.
    """
    joint, asked = problem.asked
    notion = robust(asked, "coupling")
    ball = ball_around(notion.uncertainty, joint)
    if not joint.include_secret or ball.radius in (0.0, np.inf):
        raise ParameterError(
            "coupling is for X = (S, U) and a set F between a point and everything",
            where="coupling",
            remedy="Use include_secret=True; for Exactly() use method nr, for Everything() srr.",
        )
    compile_robust_search()
    bound = robust_bound(joint, notion, effort.share(BOUND_SHARE).quiet()) if known_bound is None else known_bound
    limit = effort.left()
    search = _BandSearch(ball, float(np.exp(notion.epsilon)), effort, kinds)
    states = search.states()
    state = next(states)
    with (ending := Ending()):
        for state in states:
            effort.tell(state.value, bound)
    glued = _glued(ball, search.splitters, state)
    widths, rows = glued.widths, glued.rows.reshape(len(glued.widths), -1)
    most = provable(ball, max(effort.left(), LEAST_FOR_PROOF * limit))
    if len(widths) > most:
        widths, rows = merged_to(joint, widths, rows, most)
    best = at_level(joint, notion, widths, rows, grow=True)
    status = Status.LOCAL if search.settled else Status.TIME_LIMIT
    if ending.status is Status.INTERRUPTED:
        status = Status.INTERRUPTED
    elif kinds and len(joint.letters) <= POLISHED:
        best, ended = polished(joint, notion, best, effort.below(bound))
        status = ended if ended is Status.INTERRUPTED else status
    yield Solution.of_channel(problem, named(joint, best), bound, status)


class _BandSearch:
    """Better and better states. Of the time that is given, the last third is for the finer grid, and some of that for
    the proof."""

    def __init__(self, ball: RenyiBall, price: float, effort: Effort, kinds: bool) -> None:
        self.ball, self.price, self._effort, self._kinds = ball, price, effort, kinds
        self._started = time.monotonic()
        self.splitters = [
            Splitter(SecretUnderBand(ball, int(s), splits(ball, COARSE))) for s in np.flatnonzero(ball.mass > 0)
        ]
        self.settled = False

    def states(self) -> Iterator[BandState]:
        """One kind of output first, then further ones."""
        late = self.after(0.65)
        state = start(self.splitters, Curves.first(COARSE, self.price, int(self.ball.mass.argmax())), self.after(0.3))
        yield state
        state = improve(self.splitters, state, free=False, region=0.05, steps=8, late=late)
        yield state
        if self._kinds:
            state = with_kinds(self.splitters, state, [state.curves.alone()], late)
            state = self._better(state, late)
            yield state
            two = split(self.splitters, state, TILT, late)
            two = improve(self.splitters, two, free=False, region=0.05, steps=8, late=late)
            if two.value > PROMISING * state.value:
                two = self._better(two, late)
            state = pruned(self.splitters, max(state, two, key=lambda one: one.value))
            yield state
        for climbs in (FEW_CLIMBS, MANY_CLIMBS):
            self.settled = False
            while not (late() or self.settled):
                before = state.value
                state = self._better(state, late, climbs)
                self.settled = state.value < before * (1 + SETTLED)
                yield state
        late = self.after(1.0, outputs=sum(len(part.weights) for part in state.parts))
        if late():
            return
        self.splitters, state = refined(self.splitters, state, FINE, late)
        state = improve(self.splitters, state, free=True, region=0.02, steps=6, late=late)
        yield state
        if late():
            return
        self.splitters, state = refined(self.splitters, state, FINEST, late)
        yield state

    def _better(self, state: BandState, late: Callable[[], bool], climbs: int = FEW_CLIMBS) -> BandState:
        state = improve(self.splitters, state, free=False, region=0.03, steps=4, late=late)
        state = improve(self.splitters, state, free=True, region=0.03, steps=3, late=late)
        return again(self.splitters, state, rounds=2, late=late, climbs=climbs)

    def after(self, share: float, outputs: int = 0) -> Callable[[], bool]:
        """Whether this share of the time is over, with so many outputs still to be proven."""
        limit = self._effort.deadline - self._started
        if limit == math.inf:
            return lambda: False
        proof = max(proof_seconds(self.ball, outputs), LEAST_FOR_PROOF * limit) if outputs else 0.0
        end = self._started + share * limit - proof
        return lambda: time.monotonic() > end


def _glued(ball: RenyiBall, splitters: list[Splitter], state: BandState) -> Glued:
    """All secrets on all letters, kind by kind. A secret never seen has constant rows; so it is with letters never seen
    with one."""
    c, k = ball.estimate.shape
    glued = []
    for kind in np.flatnonzero(state.draw.shares > SMALLEST_SHARE):
        weights, rows, means = [np.ones(1)] * c, [np.ones((1, k))] * c, [np.ones(1)] * c
        for splitter, part in zip(splitters, state.parts, strict=True):
            secret, own = splitter.secret, part.kind == kind
            mean = part.rows[own] @ secret.p
            full = np.repeat(mean[:, None], k, axis=1)
            full[:, secret.letters] = part.rows[own][:, secret.group]
            weights[secret.index], rows[secret.index], means[secret.index] = part.weights[own], full, mean
        glued.append(glue(ball.mass, weights, rows, means))
    return side_by_side(state.draw.shares[state.draw.shares > SMALLEST_SHARE], glued)


# ---- steps in curves and rows ---------------------------------------------------------------------------------------


def improve(
    splitters: list[Splitter], state: BandState, *, free: bool, region: float, steps: int, late: Callable[[], bool]
) -> BandState:
    """Steps in curves and rows. `free` moves every entry of the rows, otherwise only their means and strengths."""
    for _ in range(steps):
        if late() or region < SHORTEST:
            break
        moved = _step(splitters, state, region, free)
        if moved is None:
            region /= 3
            continue
        phi, rows = moved
        for splitter, old, new in zip(splitters, state.parts, rows, strict=True):
            splitter.offer(splitter.secret.shapes(new) if free else old.shapes, new @ splitter.secret.p, old.kind)
        there = evaluate(splitters, replace(state.curves, phi=phi), state.draw, rounds=2, late=late)
        better = there.value > state.value
        region = region * 1.3 if better else region / 3
        state = there if better else state
    return state


def _step(splitters: list[Splitter], state: BandState, region: float, free: bool) -> tuple[Floats, list[Floats]] | None:
    """One linear program over the curves and the rows; None if it was not solved."""
    curves, phi = state.curves, state.curves.phi.ravel()
    blocks = [_block(z, part, curves, region, free) for z, part in zip(splitters, state.parts, strict=True)]
    moves = sparse.block_diag([block.on_moves for block in blocks])
    matrix = sparse.hstack([sparse.vstack([block.on_curves for block in blocks]), moves])
    if len(splitters) > 2:
        eye = sparse.eye_array(curves.size)
        ordered = sparse.kron(sparse.eye_array(len(curves.phi)), sparse.hstack([eye, -eye]))
        matrix = sparse.vstack([matrix, sparse.hstack([ordered, sparse.csr_array((ordered.shape[0], moves.shape[1]))])])
    solution = solve_once(
        np.concatenate([np.zeros(len(phi)), *(block.cost for block in blocks)]),
        np.concatenate([np.maximum(phi - region, 1 / curves.price), *(block.lower for block in blocks)]),
        np.concatenate([np.minimum(phi + region, 1.0), *(block.upper for block in blocks)]),
        sparse.csr_array(matrix),
        np.full(matrix.shape[0], -INFINITE),
        np.zeros(matrix.shape[0]),
    )
    if solution is None:
        return None
    phi, *parts = np.split(solution.point, len(phi) + np.cumsum([0, *(len(block.cost) for block in blocks)]))[:-1]
    rows = [block.rows(part) for block, part in zip(blocks, parts, strict=True)]
    return np.clip(phi, 1 / curves.price, 1.0).reshape(curves.phi.shape), rows


@dataclass(frozen=True, eq=False)
class Block:
    """The part of one secret: its rows as combinations of a few basis vectors each, all conditions as "≤ 0"."""

    basis: Floats
    cost: Floats
    lower: Floats
    upper: Floats
    on_curves: sparse.csr_array
    on_moves: sparse.csr_array

    def rows(self, coefficients: Floats) -> Floats:
        count, size, _ = self.basis.shape
        return np.asarray(np.maximum(np.einsum("jb,jbu->ju", coefficients.reshape(count, size), self.basis), 0.0))


def _block(splitter: Splitter, part: SecretSplitting, curves: Curves, region: float, free: bool) -> Block:
    """R·v ≤ e^ε φ for the conditionals R that are worst now, R·v ≥ φ for the others, and v ≥ 0."""
    count, k = part.shapes.w.shape
    if free:
        basis, now = np.broadcast_to(np.eye(k), (count, k, k)), part.rows
    else:
        basis = np.stack([np.ones((count, k)), part.shapes.w], axis=1)
        now = np.stack([part.level, part.strength], axis=1)
    highest, lowest = splitter.secret.extremes(part.shapes)
    upward, downward = (np.einsum("jiu,jbu->jib", worst, basis) for worst in (highest, lowest))
    conditions = np.concatenate([upward, -downward, -np.swapaxes(basis, 1, 2)], axis=1)
    j, i, b = np.nonzero(conditions)
    height, size = conditions.shape[1], curves.size
    on_moves = sparse.csr_array(
        (conditions[j, i, b], (j * height + i, j * basis.shape[1] + b)), shape=(count * height, now.size)
    )
    side = np.array(curves.sides(splitter.secret.index))[part.kind]
    j, i = (index.ravel() for index in np.indices((count, 2 * size)))
    above = i < size
    column = (2 * part.kind[j] + np.where(above, side[j, 0], side[j, 1])) * size + i % size
    on_curves = sparse.csr_array(
        (np.where(above, -curves.price, 1.0), (j * height + i, column)), shape=(count * height, curves.phi.size)
    )
    radius = REACH * region * (1 + now)
    cost = splitter.secret.mass * np.einsum("ju,jbu->jb", part.pull, basis)
    return Block(basis, cost.ravel(), (now - radius).ravel(), (now + radius).ravel(), on_curves, on_moves)
