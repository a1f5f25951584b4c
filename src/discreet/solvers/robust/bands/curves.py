"""The curves that every band hangs on (theory 1.8).

If A_s(v_s; x) ≤ e^ε φ(x) and φ(x) ≤ B_s(v_s; κ − x) for every secret and split x, a row is (ε, F)-RLDP, since no P
in F can spend the budget twice. Given φ the problem falls apart into one splitting per secret.

No secret is compared with itself, so one of them may go beyond: with two curves φ₀ ≤ φ₁ the others stay between φ₁ and
e^ε φ₀, and it between φ₀ and e^ε φ₁. (Nothing more is to be had at one x: the largest A_s and the smallest B_t either
belong to two secrets, and one curve lies between them, or to one secret, and two curves do.)

Outputs come in a few kinds, each with its curves and with its share of the draw, the same for all secrets. A
`BandState` holds the curves, the use of the draw, and the best rows found under them, for all secrets together.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.arrays import Floats
from discreet.linear_program import INFINITE, solve_once
from discreet.solvers.columns.simplex import THREADS
from discreet.solvers.robust.bands.rows import USED, KindSettings, SecretSplitting, Splitter
from discreet.solvers.robust.bands.shapes import Band, OtherSecrets, SecretUnderBand
from discreet.solvers.robust.gluing import cells
from discreet.uncertainty.renyi_ball import RenyiBall

CANDIDATES = 60
"""Rows of each secret among which the shares of the kinds are chosen."""
EARNED = 1e-4
"""Another evaluation of further kinds has to gain this share."""
FLAT = 1e-12
"""Less than this is lost by gluing: nothing to divide by."""
SMALLEST_SHARE = 1e-6
"""Kinds with less of the draw are left out: their outputs would be rarer than one in a million."""


def splits(ball: RenyiBall, size: int) -> Floats:
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

    def tilted(self, by: float) -> Floats:
        """The first curves, steeper or (by < 0) flatter."""
        tilt = np.exp(by * (np.linspace(0, 2, self.size) - 1))
        return np.asarray(np.clip(self.phi[0] * tilt, 1 / self.price, 1.0))

    def joined(self, others: list[Floats]) -> Curves:
        """Further kinds, in which the same secret may go beyond."""
        phi = np.concatenate([self.phi, np.array(others)])
        return replace(self, phi=phi, special=self.special + self.special[:1] * len(others))

    def take(self, kinds: NDArray[np.intp]) -> Curves:
        return replace(self, phi=self.phi[kinds], special=tuple(self.special[kind] for kind in kinds))

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
class SharedDraw:
    """How the one draw is used: the share of every kind, the mean of every secret in every kind, and for every kind how
    much of what the means of single rows vary gluing leaves in t̄ (see `OtherSecrets`)."""

    shares: Floats
    means: Floats
    left: Floats

    def joined(self, new: int) -> SharedDraw:
        """Further kinds without a share."""
        means = np.hstack([self.means, np.ones((len(self.means), new))])
        return SharedDraw(np.append(self.shares, np.zeros(new)), means, np.append(self.left, np.ones(new)))

    def take(self, kinds: NDArray[np.intp]) -> SharedDraw:
        return SharedDraw(self.shares[kinds], self.means[:, kinds], self.left[kinds])


@dataclass(frozen=True, eq=False)
class BandState:
    """Curves, the use of the draw, the best splittings found for both, and what they keep in nats."""

    curves: Curves
    draw: SharedDraw
    parts: list[SecretSplitting]
    value: float


def start(splitters: list[Splitter], curves: Curves, late: Callable[[], bool]) -> BandState:
    kinds = len(curves.phi)
    draw = SharedDraw(np.full(kinds, 1 / kinds), np.ones((len(splitters), kinds)), np.ones(kinds))
    return evaluate(splitters, curves, draw, rounds=8, late=late)


def evaluate(
    splitters: list[Splitter],
    curves: Curves,
    draw: SharedDraw,
    *,
    rounds: int,
    late: Callable[[], bool],
    climbs: int = 0,
) -> BandState:
    """The best splittings under these curves that rounds of pricing find, and the best shares for them."""
    settings = _settings(splitters, curves, draw)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda z, setting: z.search(setting, rounds, climbs, late), splitters, settings))
    here = _judged(splitters, curves, draw)
    if len(draw.shares) == 1:
        return here
    there = _judged(splitters, curves, replace(draw, shares=_shares(splitters, settings, draw)))
    return max(here, there, key=lambda state: state.value)


def again(
    splitters: list[Splitter], state: BandState, *, rounds: int, late: Callable[[], bool], climbs: int = 0
) -> BandState:
    """The same curves evaluated at the draw that the last evaluation found, if that is better."""
    there = evaluate(splitters, state.curves, state.draw, rounds=rounds, late=late, climbs=climbs)
    return max(state, there, key=lambda one: one.value)


def with_kinds(
    splitters: list[Splitter], state: BandState, further: list[Floats], late: Callable[[], bool]
) -> BandState:
    """Further kinds of outputs, with these curves. They keep the shares that they earn."""
    new = state.draw.joined(len(further))
    wider = evaluate(splitters, state.curves.joined(further), new, rounds=3, late=late)
    while wider.value > state.value * (1 + EARNED) and not late():
        state, wider = wider, again(splitters, wider, rounds=1, late=late)
    return pruned(splitters, state)


def split(splitters: list[Splitter], state: BandState, tilt: float, late: Callable[[], bool]) -> BandState:
    """The first kind made into two, one with steeper curves and one with flatter ones."""
    curves, draw, new = state.curves, state.draw, len(state.draw.shares)
    phi = np.concatenate([curves.tilted(tilt)[None], curves.phi[1:], curves.tilted(-tilt)[None]])
    both = draw.take(np.append(np.arange(new), 0))
    both.shares[[0, new]] /= 2
    for splitter, part in zip(splitters, state.parts, strict=True):
        own = np.flatnonzero(part.kind == 0)
        splitter.offer(part.shapes.take(own), part.level[own], new)
    two = replace(curves, phi=phi, special=(*curves.special, curves.special[0]))
    return evaluate(splitters, two, both, rounds=3, late=late)


def pruned(splitters: list[Splitter], state: BandState) -> BandState:
    """Without the kinds that have no share."""
    kinds = np.flatnonzero(state.draw.shares > SMALLEST_SHARE)
    number = np.full(len(state.draw.shares), -1)
    number[kinds] = np.arange(len(kinds))
    for splitter in splitters:
        splitter.renumber(number)
    parts = [part.of_kinds(number) for part in state.parts]
    return BandState(state.curves.take(kinds), state.draw.take(kinds), parts, state.value)


def _masses(splitters: list[Splitter]) -> Floats:
    return np.array([splitter.secret.mass for splitter in splitters])


def _settings(splitters: list[Splitter], curves: Curves, draw: SharedDraw) -> list[KindSettings]:
    masses = _masses(splitters)
    total = masses @ draw.means
    rest = total - masses[:, None] * draw.means
    return [
        KindSettings(curves.bands(z.secret.index), draw.shares, OtherSecrets(own, total, draw.left))
        for z, own in zip(splitters, rest, strict=True)
    ]


def _judged(splitters: list[Splitter], curves: Curves, draw: SharedDraw) -> BandState:
    """Σ_s P̂_s E[Σ_u p v ln v] − E[t̄ ln t̄], as glued. The secrets move in turn, each knowing where the others are."""
    masses, means, shares = _masses(splitters), draw.means.copy(), draw.shares
    parts: list[SecretSplitting] = []
    for s, splitter in enumerate(splitters):
        parts.append(splitter.splitting(_settings(splitters, curves, replace(draw, means=means))[s]))
        heavy = np.bincount(parts[s].kind, parts[s].weights * (parts[s].rows @ splitter.secret.p), len(shares))
        means[s, shares > USED] = (heavy / np.maximum(shares, USED))[shares > USED]
    own = [part.rows @ splitter.secret.p for splitter, part in zip(splitters, parts, strict=True)]
    worth = [part.weights @ xlogy(part.rows, part.rows) @ z.secret.p for z, part in zip(splitters, parts, strict=True)]
    forgone, left = 0.0, draw.left.copy()
    for kind in np.flatnonzero(shares > USED):
        used = [part.kind == kind for part in parts]
        weights = [part.weights[here] / part.weights[here].sum() for part, here in zip(parts, used, strict=True)]
        levels = [level[here] for level, here in zip(own, used, strict=True)]
        cut = cells(masses, weights, levels)
        total = sum(m * t[chosen] for m, t, chosen in zip(masses, levels, cut.chosen.T, strict=True))
        average = float(masses @ means[:, kind])
        base = float(xlogy(average, average))
        alone = [average + m * (t - q @ t) for m, q, t in zip(masses, weights, levels, strict=True)]
        glued = float(cut.widths @ xlogy(total, total))
        apart = sum(float(q @ xlogy(t, t)) - base for q, t in zip(weights, alone, strict=True))
        forgone += shares[kind] * glued
        left[kind] = np.clip((glued - base) / apart, 0.0, 1.0) if apart > FLAT else left[kind]
    return BandState(curves, SharedDraw(shares, means, left), parts, float(masses @ np.array(worth)) - forgone)


def _shares(splitters: list[Splitter], settings: list[KindSettings], draw: SharedDraw) -> Floats:
    """The best shares for the most promising rows of all secrets together: one linear program."""
    shares, total = draw.shares, _masses(splitters) @ draw.means
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
    solution = solve_once(costs, np.zeros(len(costs)), np.full(len(costs), INFINITE), matrix, totals, totals)
    if solution is None:
        return shares
    found = np.maximum(solution.point[: len(shares)], 0.0)
    return np.asarray(found / found.sum())


def refined(
    splitters: list[Splitter], state: BandState, size: int, late: Callable[[], bool]
) -> tuple[list[Splitter], BandState]:
    """The same rows and curves on a finer grid, where they have to give way a little between the old splits."""
    fresh = []
    for splitter, part in zip(splitters, state.parts, strict=True):
        old = splitter.secret
        fresh.append(Splitter(SecretUnderBand(old.ball, old.index, splits(old.ball, size))))
        fresh[-1].offer(fresh[-1].secret.shapes(part.rows), part.level, part.kind)
    return fresh, evaluate(fresh, state.curves.refined(size), state.draw, rounds=4, late=late)
