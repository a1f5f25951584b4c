"""Curves and rows improved together, by sequential linear programming (theory 1.8).

At the rows in use the value is linear in their entries, and what bounds them is linear in entries and curves together.
A trust region keeps the steps honest, and every step is judged by the best splittings under the new curves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.solvers.lp import INFINITE, optimum
from discreet.solvers.robust.curve import Curves
from discreet.solvers.robust.splitter import Splitter, Splitting
from discreet.solvers.robust.state import State, evaluate

Floats = NDArray[np.float64]
SHORTEST, REACH = 1e-3, 3.0


def improve(
    splitters: list[Splitter], state: State, *, free: bool, region: float, steps: int, late: Callable[[], bool]
) -> State:
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


def _step(splitters: list[Splitter], state: State, region: float, free: bool) -> tuple[Floats, list[Floats]] | None:
    """One linear program over the curves and the rows; None if it was not solved."""
    curves, phi = state.curves, state.curves.phi.ravel()
    blocks = [_block(z, part, curves, region, free) for z, part in zip(splitters, state.parts, strict=True)]
    moves = sparse.block_diag([block.on_moves for block in blocks])
    matrix = sparse.hstack([sparse.vstack([block.on_curves for block in blocks]), moves])
    if len(splitters) > 2:
        eye = sparse.eye_array(curves.size)
        ordered = sparse.kron(sparse.eye_array(len(curves.phi)), sparse.hstack([eye, -eye]))
        matrix = sparse.vstack([matrix, sparse.hstack([ordered, sparse.csr_array((ordered.shape[0], moves.shape[1]))])])
    solution = optimum(
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


def _block(splitter: Splitter, part: Splitting, curves: Curves, region: float, free: bool) -> Block:
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
