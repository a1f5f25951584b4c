"""The curve φ that every band hangs on, and the rows under it, improved together (theory 1.8).

If A_s(v_s; x) ≤ e^ε φ(x) and φ(x) ≤ B_s(v_s; κ − x) for every secret and split x, a row is (ε, F)-RLDP, since no P
in F can spend the budget twice. Given φ the problem falls apart into one splitting a secret.

φ itself is found by sequential linear programming: at the rows in use the value is linear in their entries, and what
bounds them is linear in entries and curve together. A trust region keeps the steps honest, and every step is judged by
the best splittings under the new curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from discreet.solvers.lp import INFINITE, optimum
from discreet.solvers.robust.shapes import Band, Secret
from discreet.solvers.robust.splitter import Splitter, Splitting
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
MEANS = np.array([1.0, 1.05, 1.1, 1.2, 1.35, 1.55, 1.8, 2.2])
SHORTEST, REACH = 1e-3, 3.0


def splits(ball: Ball, size: int) -> Floats:
    """The grid of splits, denser at both ends where the bands are steep."""
    grid = ball.budget * np.sin(np.linspace(0, np.pi / 2, size)) ** 2
    grid[-1] = ball.budget
    return np.asarray(grid)


def first_curve(size: int, price: float) -> Floats:
    """1 − b (1 − x/κ)^0.3: near enough to be improved, at all privacy levels."""
    return np.asarray(1 - (1 - 1 / price) * 0.85 * np.cos(np.linspace(0, np.pi / 2, size)) ** 0.6)


@dataclass(frozen=True, eq=False)
class State:
    """A curve, the best splittings under it, and what they keep in nats (up to gluing)."""

    price: float
    phi: Floats
    parts: list[Splitting]
    value: float


def evaluate(splitters: list[Splitter], price: float, phi: Floats, rounds: int) -> State:
    band, levels = Band(price * phi, phi), phi[-1] * MEANS
    parts = [splitter.solve(band, levels, rounds) for splitter in splitters]
    value = sum(splitter.secret.mass * part.value for splitter, part in zip(splitters, parts, strict=True))
    return State(price, phi, parts, float(value))


def refined(splitters: list[Splitter], state: State, size: int) -> tuple[list[Splitter], State]:
    """The same rows and curve on a finer grid, where they have to give way a little between the old splits."""
    angles, finer = (np.linspace(0, 1, n) for n in (len(state.phi), size))
    fresh = []
    for splitter, part in zip(splitters, state.parts, strict=True):
        old = splitter.secret
        fresh.append(Splitter(Secret(old.ball, old.index, splits(old.ball, size))))
        fresh[-1].offer(fresh[-1].secret.shapes(part.rows), part.level)
    return fresh, evaluate(fresh, state.price, np.interp(finer, angles, state.phi), rounds=4)


def improve(
    splitters: list[Splitter], state: State, *, free: bool, region: float, steps: int, late: Callable[[], bool]
) -> State:
    """Steps in curve and rows. `free` moves every entry of the rows, otherwise only their means and strengths."""
    for _ in range(steps):
        if late() or region < SHORTEST:
            break
        moved = _step(splitters, state, region, free)
        if moved is None:
            region /= 3
            continue
        phi, rows = moved
        for splitter, old, new in zip(splitters, state.parts, rows, strict=True):
            splitter.offer(splitter.secret.shapes(new) if free else old.shapes, new @ splitter.secret.p)
        there = evaluate(splitters, state.price, phi, rounds=2)
        better = there.value > state.value
        region = region * 1.3 if better else region / 3
        state = there if better else state
    return state


def _step(splitters: list[Splitter], state: State, region: float, free: bool) -> tuple[Floats, list[Floats]] | None:
    """One linear program over the curve and the rows; None if it was not solved."""
    blocks = [_block(z, part, state.price, region, free) for z, part in zip(splitters, state.parts, strict=True)]
    on_curve = sparse.vstack([block.on_curve for block in blocks])
    matrix = sparse.csr_array(sparse.hstack([on_curve, sparse.block_diag([block.on_moves for block in blocks])]))
    solution = optimum(
        np.concatenate([np.zeros(len(state.phi)), *(block.cost for block in blocks)]),
        np.concatenate([np.maximum(state.phi - region, 1 / state.price), *(block.lower for block in blocks)]),
        np.concatenate([np.minimum(state.phi + region, 1.0), *(block.upper for block in blocks)]),
        matrix,
        np.full(matrix.shape[0], -INFINITE),
        np.zeros(matrix.shape[0]),
    )
    if solution is None:
        return None
    phi, *parts = np.split(solution.point, len(state.phi) + np.cumsum([0, *(len(block.cost) for block in blocks)]))[:-1]
    return np.clip(phi, 1 / state.price, 1.0), [block.rows(part) for block, part in zip(blocks, parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Block:
    """The part of one secret: its rows as combinations of a few basis vectors each, all conditions as "≤ 0"."""

    basis: Floats
    cost: Floats
    lower: Floats
    upper: Floats
    on_curve: sparse.csr_array
    on_moves: sparse.csr_array

    def rows(self, coefficients: Floats) -> Floats:
        count, size, _ = self.basis.shape
        return np.asarray(np.maximum(np.einsum("jb,jbu->ju", coefficients.reshape(count, size), self.basis), 0.0))


def _block(splitter: Splitter, part: Splitting, price: float, region: float, free: bool) -> Block:
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
    height = conditions.shape[1]
    on_moves = sparse.csr_array(
        (conditions[j, i, b], (j * height + i, j * basis.shape[1] + b)), shape=(count * height, now.size)
    )
    size = len(splitter.secret.grid)
    one = sparse.vstack([-price * sparse.eye_array(size), sparse.eye_array(size), sparse.csr_array((k, size))])
    radius = REACH * region * (1 + now)
    cost = splitter.secret.mass * np.einsum("ju,jbu->jb", part.pull, basis)
    return Block(
        basis,
        cost.ravel(),
        (now - radius).ravel(),
        (now + radius).ravel(),
        sparse.csr_array(sparse.vstack([one] * count)),
        on_moves,
    )
