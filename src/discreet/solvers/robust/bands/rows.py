"""The best splitting of one secret under its bands, by column generation over shapes (theory 1.4, 1.8).

Rows of two levels come from a subset-sum problem. Rows of any shape come from climbing: worth(v) − α·v is convex in v,
so maximising its tangent over the band leads to a vertex in a few steps. The band is known through cuts
R·v ≤ ceiling(x), R·v ≥ floor(x), one for every conditional R that a row was found to break.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Indices
from discreet.linear_program import INFINITE, Program
from discreet.solvers.restricted_master import RestrictedMaster
from discreet.solvers.robust.bands.shapes import Band, Chosen, OtherSecrets, SecretUnderBand, Shapes
from discreet.uncertainty.extremes import largest, smallest

POOL = 300
"""Above so many shapes the least promising half is forgotten: the program over them takes milliseconds until then."""
USED = 1e-9
"""Rows rarer than this are not in use: below what the program knows of its equations."""
MEANS = np.array([0.0, 0.06, 0.12, 0.22, 0.36, 0.53, 0.72, 0.92])
"""Where between the lowest and the highest possible mean, on a logarithmic scale, two-level rows are looked for."""
CLIMBS, ROUNDS, AT_ONCE, KEPT = 8, 25, 3, 300
"""Steps of a climb, rounds of cuts for each, cuts taken at once, and cuts kept from band to band."""
BROKEN, GAINED = 1e-4, 1e-6
"""A row that leaves the band by less is made a little weaker instead of cut; a step that gains less ends a climb."""


@dataclass(frozen=True, eq=False)
class KindSettings:
    """For every kind of output the band of one secret, the share of the draw, and what the other secrets do."""

    bands: list[Band]
    shares: Floats
    others: OtherSecrets


@dataclass(frozen=True, eq=False)
class SecretSplitting:
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

    def of_kinds(self, number: Indices) -> SecretSplitting:
        """Kinds renumbered, rows of kinds with a negative number left out."""
        kept = np.flatnonzero(number[self.kind] >= 0)
        return SecretSplitting(
            self.shapes.take(kept),
            self.level[kept],
            self.strength[kept],
            number[self.kind[kept]],
            self.weights[kept],
            self.pull[kept],
        )


@dataclass(frozen=True, eq=False)
class WeighedRows:
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

    def __init__(self, secret: SecretUnderBand) -> None:
        self.secret = secret
        k = len(secret.p)
        self._shapes = secret.shapes(np.vstack([np.zeros((1, k)), np.eye(k)[: k if k > 1 else 0]]))
        self._level = np.ones(len(self._shapes.w))
        self._kind = np.zeros(len(self._level), dtype=np.intp)
        self._climber = BandClimber(secret)

    def search(self, setting: KindSettings, rounds: int, climbs: int, late: Callable[[], bool]) -> None:
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

    def priced(self, setting: KindSettings) -> WeighedRows:
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
        return WeighedRows(rows, strength, worth, weights, prices, worth - rows @ prices - marks @ per_kind, per_kind)

    def splitting(self, setting: KindSettings) -> SecretSplitting:
        now = self.priced(setting)
        used = np.flatnonzero(now.weights > USED)
        pull = now.weights[used, None] * (
            self.secret.slope(now.rows[used], setting.others.at(self._kind[used])) - now.prices
        )
        shapes, level, kind = self._shapes.take(used), self._level[used], self._kind[used]
        return SecretSplitting(shapes, level, now.strength[used], kind, now.weights[used], pull)

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
    master = RestrictedMaster(np.append(np.ones(k), shares))
    master.add(np.hstack([rows, marks]), worth)
    weighing = master.weigh()
    return weighing.weights, weighing.prices[:k], weighing.prices[k:]


class BandClimber:
    """Cuts stay valid from band to band: only their right-hand sides move."""

    def __init__(self, secret: SecretUnderBand) -> None:
        self.secret = secret
        nothing = np.zeros(0, dtype=np.intp)
        self._cuts, self._split, self._above = np.zeros((0, len(secret.p))), nothing, nothing.astype(bool)

    def climb(
        self, band: Band, prices: Floats, starts: Floats, others: OtherSecrets, late: Callable[[], bool]
    ) -> Floats:
        """From every start the row where its climb ends, inside the band; starts that lead nowhere are left out."""
        program, found = self._program(band), []
        for start in starts:
            row, gain = start, self._gain(start, prices, others)
            for _ in range(CLIMBS):
                if late():
                    break
                higher = self._vertex(program, band, self.secret.slope(row[None], others)[0] - prices)
                if higher is None or self._gain(higher, prices, others) <= gain + GAINED:
                    break
                row, gain = higher, self._gain(higher, prices, others)
            if row is not start:
                found.append(row)
        return np.array(found).reshape(len(found), len(self.secret.p))

    def _gain(self, row: Floats, prices: Floats, others: OtherSecrets) -> float:
        return float(self.secret.worth(row[None], others)[0] - row @ prices)

    def _program(self, band: Band) -> Program:
        p = self.secret.p
        means = np.array([band.floor[-1]]), np.array([band.ceiling[0]])
        program = Program(np.zeros(len(p)), max(means[1][0], 0.0) / p, p[None], *means)
        kept = slice(max(len(self._cuts) - KEPT, 0), None)
        self._cuts, self._split, self._above = self._cuts[kept], self._split[kept], self._above[kept]
        _add(program, band, self._cuts, self._split, self._above)
        return program

    def _vertex(self, program: Program, band: Band, cost: Floats) -> Floats | None:
        """The row of the band that is best at this cost, up to a little strength."""
        secret = self.secret
        upward, downward = secret.radii
        program.set_cost(cost)
        for _ in range(ROUNDS):
            solution = program.solve()
            if solution is None:
                return None
            row = solution.point
            high = largest(row, secret.p, upward, secret.ball.order)
            low = smallest(row, secret.p, downward, secret.ball.order)
            above, below = _worst(high.value - band.ceiling), _worst(band.floor - low.value)
            if not len(above) + len(below):
                break
            cuts = np.vstack([high.attained_at[above], low.attained_at[below]])
            split, side = np.append(above, below), np.arange(len(cuts)) < len(above)
            _add(program, band, cuts, split, side)
            self._cuts = np.vstack([self._cuts, cuts])
            self._split, self._above = np.append(self._split, split), np.append(self._above, side)
        mean = float(np.clip(row @ secret.p, band.floor[-1], band.ceiling[0]))
        shape = secret.shapes(row[None])
        strength = min(1.0, float(shape.strength(np.array([mean]), band)[0]))
        return np.maximum(mean + strength * shape.w[0], 0.0) if strength > 0 else None


def _worst(excess: Floats) -> NDArray[np.intp]:
    worst = np.argsort(-excess)[:AT_ONCE]
    return worst[excess[worst] > BROKEN]


def _add(program: Program, band: Band, cuts: Floats, split: NDArray[np.intp], above: NDArray[np.bool_]) -> None:
    lower = np.where(above, -INFINITE, band.floor[split])
    program.add_rows(cuts, lower, np.where(above, band.ceiling[split], INFINITE))
