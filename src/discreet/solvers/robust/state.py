"""Curves with the best rows under them, for all secrets together (theory 1.8).

Outputs come in a few kinds, each with its curves and with its share of the draw, the same for all secrets.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import xlogy

from discreet.solvers.dictionary import THREADS
from discreet.solvers.lp import INFINITE, optimum
from discreet.solvers.robust.curve import Curves, splits
from discreet.solvers.robust.gluing import cells
from discreet.solvers.robust.shapes import Others, Secret
from discreet.solvers.robust.splitter import USED, Setting, Splitter, Splitting

Floats = NDArray[np.float64]
CANDIDATES, EARNED, FLAT, SMALLEST_SHARE = 60, 1e-4, 1e-12, 1e-6


@dataclass(frozen=True, eq=False)
class Draw:
    """How the one draw is used: the share of every kind, the mean of every secret in every kind, and for every kind how
    much of what the means of single rows vary gluing leaves in t̄ (see `Others`)."""

    shares: Floats
    means: Floats
    left: Floats

    def joined(self, new: int) -> Draw:
        """Further kinds without a share."""
        means = np.hstack([self.means, np.ones((len(self.means), new))])
        return Draw(np.append(self.shares, np.zeros(new)), means, np.append(self.left, np.ones(new)))

    def take(self, kinds: NDArray[np.intp]) -> Draw:
        return Draw(self.shares[kinds], self.means[:, kinds], self.left[kinds])


@dataclass(frozen=True, eq=False)
class State:
    """Curves, the use of the draw, the best splittings found for both, and what they keep in nats."""

    curves: Curves
    draw: Draw
    parts: list[Splitting]
    value: float


def start(splitters: list[Splitter], curves: Curves, late: Callable[[], bool]) -> State:
    kinds = len(curves.phi)
    draw = Draw(np.full(kinds, 1 / kinds), np.ones((len(splitters), kinds)), np.ones(kinds))
    return evaluate(splitters, curves, draw, rounds=8, late=late)


def evaluate(
    splitters: list[Splitter],
    curves: Curves,
    draw: Draw,
    *,
    rounds: int,
    late: Callable[[], bool],
    climbs: int = 0,
) -> State:
    """The best splittings under these curves that rounds of pricing find, and the best shares for them."""
    settings = _settings(splitters, curves, draw)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(lambda z, setting: z.search(setting, rounds, climbs, late), splitters, settings))
    here = _judged(splitters, curves, draw)
    if len(draw.shares) == 1:
        return here
    there = _judged(splitters, curves, replace(draw, shares=_shares(splitters, settings, draw)))
    return max(here, there, key=lambda state: state.value)


def again(splitters: list[Splitter], state: State, *, rounds: int, late: Callable[[], bool], climbs: int = 0) -> State:
    """The same curves evaluated at the draw that the last evaluation found, if that is better."""
    there = evaluate(splitters, state.curves, state.draw, rounds=rounds, late=late, climbs=climbs)
    return max(state, there, key=lambda one: one.value)


def with_kinds(splitters: list[Splitter], state: State, further: list[Floats], late: Callable[[], bool]) -> State:
    """Further kinds of outputs, with these curves. They keep the shares that they earn."""
    new = state.draw.joined(len(further))
    wider = evaluate(splitters, state.curves.joined(further), new, rounds=3, late=late)
    while wider.value > state.value * (1 + EARNED) and not late():
        state, wider = wider, again(splitters, wider, rounds=1, late=late)
    return pruned(splitters, state)


def split(splitters: list[Splitter], state: State, tilt: float, late: Callable[[], bool]) -> State:
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


def pruned(splitters: list[Splitter], state: State) -> State:
    """Without the kinds that have no share."""
    kinds = np.flatnonzero(state.draw.shares > SMALLEST_SHARE)
    number = np.full(len(state.draw.shares), -1)
    number[kinds] = np.arange(len(kinds))
    for splitter in splitters:
        splitter.renumber(number)
    parts = [part.of_kinds(number) for part in state.parts]
    return State(state.curves.take(kinds), state.draw.take(kinds), parts, state.value)


def _masses(splitters: list[Splitter]) -> Floats:
    return np.array([splitter.secret.mass for splitter in splitters])


def _settings(splitters: list[Splitter], curves: Curves, draw: Draw) -> list[Setting]:
    masses = _masses(splitters)
    total = masses @ draw.means
    rest = total - masses[:, None] * draw.means
    return [
        Setting(curves.bands(z.secret.index), draw.shares, Others(own, total, draw.left))
        for z, own in zip(splitters, rest, strict=True)
    ]


def _judged(splitters: list[Splitter], curves: Curves, draw: Draw) -> State:
    """Σ_s P̂_s E[Σ_u p v ln v] − E[t̄ ln t̄], as glued. The secrets move in turn, each knowing where the others are."""
    masses, means, shares = _masses(splitters), draw.means.copy(), draw.shares
    parts: list[Splitting] = []
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
    return State(curves, Draw(shares, means, left), parts, float(masses @ np.array(worth)) - forgone)


def _shares(splitters: list[Splitter], settings: list[Setting], draw: Draw) -> Floats:
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
    return fresh, evaluate(fresh, state.curves.refined(size), state.draw, rounds=4, late=late)
