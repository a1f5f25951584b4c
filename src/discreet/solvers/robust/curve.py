"""The curves that every band hangs on, and the rows under them, improved together (theory 1.8).

If A_s(v_s; x) ≤ e^ε φ(x) and φ(x) ≤ B_s(v_s; κ − x) for every secret and split x, a row is (ε, F)-RLDP, since no P
in F can spend the budget twice. Given φ the problem falls apart into one splitting a secret.

No secret is compared with itself, so one of them may go beyond: with two curves φ₀ ≤ φ₁ the others stay between φ₁ and
e^ε φ₀, and it between φ₀ and e^ε φ₁. (Nothing more is to be had at one x: the largest A_s and the smallest B_t either
belong to two secrets, and one curve lies between them, or to one secret, and two curves do.)

Outputs come in a few kinds, each with its curves and with its share of the draw, the same for all secrets. The curves
are found by sequential linear programming: at the rows in use the value is linear in their entries, and what bounds
them is linear in entries and curves together. A trust region keeps the steps honest, and every step is judged by the
best splittings under the new curves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.solvers.lp import INFINITE, optimum
from discreet.solvers.robust.shapes import Band, Secret
from discreet.solvers.robust.splitter import USED, Setting, Splitter, Splitting
from discreet.uncertainty.ball import Ball

Floats = NDArray[np.float64]
SHORTEST, REACH = 1e-3, 3.0
CANDIDATES, EARNED = 60, 1e-4


def splits(ball: Ball, size: int) -> Floats:
    """The grid of splits, denser at both ends where the bands are steep."""
    grid = ball.budget * np.sin(np.linspace(0, np.pi / 2, size)) ** 2
    grid[-1] = ball.budget
    return np.asarray(grid)


@dataclass(frozen=True, eq=False)
class Curves:
    """φ[kind, 0 or 1, split], and for every kind the secret that may go beyond."""

    price: float
    phi: Floats
    special: tuple[int, ...]

    @classmethod
    def first(cls, size: int, price: float, heaviest: int) -> Curves:
        """φ₀ = φ₁ = a (1 − b (1 − x/κ)^½): near enough to be improved, at all privacy levels."""
        curve = price**-0.2 * (1 - (1 - price**-0.53) * np.cos(np.linspace(0, np.pi / 2, size)))
        return cls(price, np.stack([curve, curve])[None], (heaviest,))

    def alone(self) -> Floats:
        """Curves that leave nearly all of e^2ε to the secret that may go beyond."""
        rest = np.cos(np.linspace(0, np.pi / 2, self.size)) ** 0.6
        return np.stack([np.full(self.size, 1 / self.price), 1 - 0.1 * rest])

    @property
    def size(self) -> int:
        return int(self.phi.shape[2])

    def refined(self, size: int) -> Curves:
        old, new = (np.linspace(0, 1, n) for n in (self.size, size))
        between = np.array([np.interp(new, old, curve) for curve in self.phi.reshape(-1, self.size)])
        return replace(self, phi=between.reshape(*self.phi.shape[:2], size))

    def sides(self, secret: int) -> list[tuple[int, int]]:
        """For every kind which of its curves is under the ceiling of this secret, and which is its floor."""
        return [(1, 0) if secret == special else (0, 1) for special in self.special]

    def bands(self, secret: int) -> list[Band]:
        return [Band(self.price * phi[c], phi[f]) for phi, (c, f) in zip(self.phi, self.sides(secret), strict=True)]


@dataclass(frozen=True, eq=False)
class State:
    """Curves, the share of every kind, the best splittings under them, the mean of every secret in every kind, and what
    they keep in nats (up to gluing)."""

    curves: Curves
    shares: Floats
    parts: list[Splitting]
    means: Floats
    value: float


def start(splitters: list[Splitter], curves: Curves, late: Callable[[], bool]) -> State:
    kinds = len(curves.phi)
    means = np.ones((len(splitters), kinds))
    return evaluate(splitters, curves, np.full(kinds, 1 / kinds), means, rounds=8, late=late)


def evaluate(
    splitters: list[Splitter],
    curves: Curves,
    shares: Floats,
    means: Floats,
    *,
    rounds: int,
    late: Callable[[], bool],
    climb: bool = False,
) -> State:
    """The best splittings under these curves that rounds of pricing find, and the best shares for them."""
    settings = _settings(splitters, curves, shares, means)
    for splitter, setting in zip(splitters, settings, strict=True):
        splitter.search(setting, rounds, climb, late)
    here = _judged(splitters, curves, settings, means)
    if len(shares) == 1:
        return here
    other = _settings(splitters, curves, _shares(splitters, settings, means), means)
    there = _judged(splitters, curves, other, means)
    return max(here, there, key=lambda state: state.value)


def again(
    splitters: list[Splitter], state: State, *, rounds: int, late: Callable[[], bool], climb: bool = False
) -> State:
    """The same curves evaluated at the means that the last evaluation found."""
    return evaluate(splitters, state.curves, state.shares, state.means, rounds=rounds, late=late, climb=climb)


def with_kinds(splitters: list[Splitter], state: State, late: Callable[[], bool]) -> State:
    """A kind of output more: the heaviest secret alone, the others nearly constant. It keeps the share it earns."""
    curves = state.curves
    curves = replace(
        curves,
        phi=np.concatenate([curves.phi, curves.alone()[None]]),
        special=(*curves.special, curves.special[0]),
    )
    means = np.hstack([state.means, np.ones((len(splitters), 1))])
    wider = evaluate(splitters, curves, np.append(state.shares, 0.0), means, rounds=3, late=late)
    while wider.value > state.value * (1 + EARNED) and not late():
        state, wider = wider, again(splitters, wider, rounds=1, late=late)
    return state


def _settings(splitters: list[Splitter], curves: Curves, shares: Floats, means: Floats) -> list[Setting]:
    masses = np.array([splitter.secret.mass for splitter in splitters])
    rest = masses @ means - masses[:, None] * means
    return [Setting(curves.bands(z.secret.index), shares, own) for z, own in zip(splitters, rest, strict=True)]


def _judged(splitters: list[Splitter], curves: Curves, settings: list[Setting], means: Floats) -> State:
    """Σ_s P̂_s E[Σ_u p v ln v] − E[t̄ ln t̄], up to second order in what different secrets do independently."""
    shares = settings[0].shares
    parts = [splitter.splitting(setting) for splitter, setting in zip(splitters, settings, strict=True)]
    masses, used = np.array([splitter.secret.mass for splitter in splitters]), shares > USED
    means = means.copy()
    for s, (splitter, part) in enumerate(zip(splitters, parts, strict=True)):
        heavy = np.bincount(part.kind, part.weights * (part.rows @ splitter.secret.p), len(shares))
        means[s, used] = heavy[used] / shares[used]
    total = masses @ means
    value = -float(shares @ xlogy(total, total))
    for splitter, part, own in zip(splitters, parts, means, strict=True):
        mass, rows = splitter.secret.mass, part.rows
        rest = (total - mass * own)[part.kind]
        about_secret = splitter.secret.worth(rows, rest) + xlogy(total, total)[part.kind] / mass
        value += mass * float(part.weights @ about_secret)
    return State(curves, shares, parts, means, value)


def _shares(splitters: list[Splitter], settings: list[Setting], means: Floats) -> Floats:
    """The best shares for the most promising rows of all secrets together: one linear program."""
    shares = settings[0].shares
    total = np.array([splitter.secret.mass for splitter in splitters]) @ means
    cost, blocks, kinds = [(len(splitters) - 1) * xlogy(total, total)], [], []
    for splitter, setting in zip(splitters, settings, strict=True):
        now = splitter.priced(setting)
        best = np.argsort(-now.gains)[: CANDIDATES + len(splitter.secret.p)]
        cost.append(splitter.secret.mass * now.worth[best])
        blocks.append(sparse.csr_array(np.vstack([now.rows[best].T, np.eye(len(shares))[:, splitter.kinds[best]]])))
        kinds.append(np.vstack([np.zeros((len(splitter.secret.p), len(shares))), -np.eye(len(shares))]))
    left = sparse.csr_array(np.vstack([*kinds, np.ones((1, len(shares)))]))
    right = sparse.csr_array(sparse.block_diag(blocks))
    right = sparse.vstack([right, sparse.csr_array((1, right.shape[1]))])
    totals = np.append(np.concatenate([(part.sum(axis=1) == 0).astype(float) for part in kinds]), 1.0)
    matrix = sparse.csr_array(sparse.hstack([left, right]))
    costs = np.concatenate(cost).astype(float)
    solution = optimum(costs, np.zeros(len(costs)), np.full(len(costs), INFINITE), matrix, totals, totals)
    if solution is None:
        return shares
    found = np.maximum(solution.point[: len(shares)], 0.0)
    return np.asarray(found / found.sum())


def refined(
    splitters: list[Splitter], state: State, size: int, late: Callable[[], bool]
) -> tuple[list[Splitter], State]:
    """The same rows and curves on a finer grid, where they have to give way a little between the old splits."""
    fresh = []
    for splitter, part in zip(splitters, state.parts, strict=True):
        old = splitter.secret
        fresh.append(Splitter(Secret(old.ball, old.index, splits(old.ball, size))))
        fresh[-1].offer(fresh[-1].secret.shapes(part.rows), part.level, part.kind)
    return fresh, evaluate(fresh, state.curves.refined(size), state.shares, state.means, rounds=4, late=late)


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
        there = evaluate(splitters, replace(state.curves, phi=phi), state.shares, state.means, rounds=2, late=late)
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
