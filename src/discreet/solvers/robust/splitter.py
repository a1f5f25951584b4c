"""The best splitting of one secret under its bands, by column generation over shapes (theory 1.8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.solvers.lp import Program
from discreet.solvers.robust.climb import Climber
from discreet.solvers.robust.shapes import Band, Chosen, Others, Secret, Shapes

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
POOL, USED = 300, 1e-9
MEANS = np.array([0.0, 0.06, 0.12, 0.22, 0.36, 0.53, 0.72, 0.92])
"""Where between the lowest and the highest possible mean, on a logarithmic scale, two-level rows are looked for."""


@dataclass(frozen=True, eq=False)
class Setting:
    """For every kind of output the band of one secret, the share of the draw, and what the other secrets do."""

    bands: list[Band]
    shares: Floats
    others: Others


@dataclass(frozen=True, eq=False)
class Splitting:
    """Rows t + d·w with their kinds and weights, and the gain q (∇worth − α) of moving their entries."""

    shapes: Shapes
    level: Floats
    strength: Floats
    kind: Indices
    weights: Floats
    pull: Floats

    @property
    def rows(self) -> Floats:
        return _rows(self.shapes, self.level, self.strength)

    def of_kinds(self, number: Indices) -> Splitting:
        """Kinds renumbered, rows of kinds with a negative number left out."""
        kept = np.flatnonzero(number[self.kind] >= 0)
        return Splitting(
            self.shapes.take(kept),
            self.level[kept],
            self.strength[kept],
            number[self.kind[kept]],
            self.weights[kept],
            self.pull[kept],
        )


@dataclass(frozen=True, eq=False)
class Priced:
    """Rows of one secret with what they are worth, their weights, and what they gain at the prices of the letters."""

    rows: Floats
    strength: Floats
    worth: Floats
    weights: Floats
    prices: Floats
    gains: Floats
    per_kind: Floats


class Splitter:
    """maximise Σ_j q_j worth(v_j) subject to Σ_j q_j v_j = 1 for every letter and Σ_j q_j = share of every kind.

    The last conditions make the weights of different secrets add up to the same totals, so that they can be glued kind
    by kind; every kind has its own band. The shapes found for one band are kept for the next, weaker or stronger as the
    band allows.
    """

    def __init__(self, secret: Secret) -> None:
        self.secret = secret
        k = len(secret.p)
        self._shapes = secret.shapes(np.vstack([np.zeros((1, k)), np.eye(k)[: k if k > 1 else 0]]))
        self._level = np.ones(len(self._shapes.w))
        self._kind = np.zeros(len(self._level), dtype=np.intp)
        self._climber = Climber(secret)

    def search(self, setting: Setting, rounds: int, climbs: int, late: Callable[[], bool]) -> None:
        """Rounds of pricing: rows of two levels, and of any shape by climbing from the best so many of each kind."""
        for kind, band in enumerate(setting.bands):
            self._offer_constants(np.append(_means(band), 1.0), kind)
        for _ in range(rounds):
            if late():
                break
            now = self.priced(setting)
            fresh = False
            for kind, band in enumerate(setting.bands):
                others, price = setting.others.at(kind), float(now.per_kind[kind])
                sets, found = self.secret.best_sets(now.prices, price, _means(band), band, others)
                fresh |= self.offer(self.secret.shapes(sets), found, kind)
                if climbs and setting.shares[kind] > 0:
                    own = np.flatnonzero(self._kind[: len(now.gains)] == kind)
                    starts = now.rows[own[np.argsort(-now.gains[own])[:climbs]]]
                    higher = self._climber.climb(band, now.prices, starts, others, late)
                    fresh |= self.offer(self.secret.shapes(higher), higher @ self.secret.p, kind)
            if not fresh:
                break
            self._trim(now.gains)

    def priced(self, setting: Setting) -> Priced:
        """The best weights of all rows that fit into the bands; the others are forgotten."""
        strength = np.full(len(self._level), -1.0)
        for kind, band in enumerate(setting.bands):
            own = np.flatnonzero(self._kind == kind)
            strength[own] = self._shapes.take(own).strength(self._level[own], band)
        self._keep(strength >= 0)
        strength = strength[strength >= 0]
        rows = _rows(self._shapes, self._level, strength)
        worth = self.secret.worth(rows, setting.others.at(self._kind))
        marks = np.eye(len(setting.shares))[self._kind]
        weights, prices, per_kind = _weigh(rows, marks, worth, setting.shares)
        return Priced(rows, strength, worth, weights, prices, worth - rows @ prices - marks @ per_kind, per_kind)

    def splitting(self, setting: Setting) -> Splitting:
        now = self.priced(setting)
        used = np.flatnonzero(now.weights > USED)
        pull = now.weights[used, None] * (
            self.secret.slope(now.rows[used], setting.others.at(self._kind[used])) - now.prices
        )
        shapes, level, kind = self._shapes.take(used), self._level[used], self._kind[used]
        return Splitting(shapes, level, now.strength[used], kind, now.weights[used], pull)

    @property
    def kinds(self) -> Indices:
        return self._kind

    def offer(self, shapes: Shapes, level: Floats, kind: Indices | int) -> bool:
        """Further shapes at means; whether any of them was new."""
        kinds = np.broadcast_to(kind, level.shape)
        old, new = (
            zip(*part, strict=True) for part in ((self._shapes.w, self._level, self._kind), (shapes.w, level, kinds))
        )
        known = {(w.tobytes(), t, i) for w, t, i in old}
        fresh = [j for j, (w, t, i) in enumerate(new) if (w.tobytes(), t, i) not in known]
        self._shapes = self._shapes.joined(shapes.take(np.array(fresh, dtype=np.intp)))
        self._level = np.append(self._level, level[fresh])
        self._kind = np.append(self._kind, kinds[fresh])
        return bool(fresh)

    def renumber(self, number: Indices) -> None:
        """New numbers of the kinds; rows of kinds with a negative number are forgotten. Unknown kinds have none."""
        known = np.append(number, -1)[np.minimum(self._kind, len(number))]
        self._keep(known >= 0)
        self._kind = known[known >= 0]

    def _offer_constants(self, levels: Floats, kind: int) -> None:
        still = np.zeros((len(levels), len(self.secret.grid)))
        self.offer(Shapes(np.zeros((len(levels), len(self.secret.p))), still, still), levels, kind)

    def _trim(self, gains: Floats) -> None:
        """Forget what gains least, when there is too much of it. Newer rows stay, and the constant row of every kind,
        with which there are always weights that add up."""
        if len(gains) > POOL:
            kept = (self._level == 1) & ~self._shapes.w.any(axis=1)
            kept[np.argsort(-gains)[: POOL // 2]] = kept[len(gains) :] = True
            self._keep(kept)

    def _keep(self, index: Chosen) -> None:
        self._shapes, self._level, self._kind = self._shapes.take(index), self._level[index], self._kind[index]


def _means(band: Band) -> Floats:
    lowest, highest = band.floor[-1], band.ceiling[0]
    return np.asarray(lowest * (highest / lowest) ** MEANS)


def _rows(shapes: Shapes, level: Floats, strength: Floats) -> Floats:
    return np.asarray(np.maximum(level[:, None] + strength[:, None] * shapes.w, 0.0))


def _weigh(rows: Floats, marks: Floats, worth: Floats, shares: Floats) -> tuple[Floats, Floats, Floats]:
    """Weights, prices of the letters, and prices of the kinds; the constant row of mean one is in every kind."""
    k = rows.shape[1]
    totals = np.append(np.ones(k), shares)
    program = Program(np.zeros(0), np.zeros(0), np.zeros((len(totals), 0)), totals, totals, primal=True)
    program.add_columns(np.hstack([rows, marks]), worth)
    solution = program.solved()
    return solution.point, solution.prices[:k], solution.prices[k:]
